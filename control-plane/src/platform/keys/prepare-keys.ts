/**
 * The service starts with a key for each purpose, but one damaged key must not stop the rest of it.
 * Proven by prepare-keys.pg.test.ts.
 */
import { AppError } from '@governance/shared/errors';
import { StartError } from '@governance/shared/process/start-error';
import { SERVICE_KEY_PURPOSES, type ServiceKeyPurpose } from './key-kinds.ts';
import type { ServiceKeys } from './keys.ts';

/**
 * Makes missing keys. An unusable key does not stop the start; only signing with it is refused.
 *
 * @throws StartError when there are keys and none opens: the master key is probably wrong, and the
 *   right one could not open keys made now
 */
export async function prepareServiceKeys(
  serviceKeys: Pick<ServiceKeys, 'signingKey' | 'listKeys' | 'findUnusable'>,
  purposes: readonly ServiceKeyPurpose[],
  log: { error(fields: object, message: string): void },
): Promise<void> {
  const usable = await serviceKeys.listKeys(SERVICE_KEY_PURPOSES);
  const [fault] = (await serviceKeys.findUnusable()).filter(({ purpose }) => purpose !== null);
  if (usable.length === 0 && fault) {
    throw new StartError(`no stored service key opens: ${fault.reason}`);
  }
  for (const purpose of purposes) {
    try {
      await serviceKeys.signingKey(purpose);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'UNAVAILABLE') throw error;
      log.error({ err: error, purpose }, 'nothing can be signed for this purpose');
    }
  }
}
