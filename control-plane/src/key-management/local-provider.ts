/** The service's own master key as a key provider: AES-256-GCM, within the process. */
import { dataKeyContext } from '../platform/keys/ciphertext-kinds.ts';
import type { MasterKey } from '../platform/keys/master-key.ts';
import { type KeyContext, type KeyProvider, KeyProviderError } from './key-provider.ts';

export function createLocalProvider(masterKey: MasterKey): KeyProvider {
  const contextOf = ({ tenant_id, purpose }: KeyContext) => dataKeyContext(tenant_id, purpose);
  return {
    wrap: async (_keyId, dataKey, context) => masterKey.encrypt(dataKey, contextOf(context)),
    unwrap: async (_keyId, wrapped, context) => {
      try {
        return masterKey.decrypt(wrapped, contextOf(context));
      } catch (cause) {
        const message = 'the data key is not one of this SERVICE_MASTER_KEY, or was tampered with';
        throw new KeyProviderError(message, { cause });
      }
    },
    // There is only one key, so every id is accepted.
    findKeyIdFault: () => null,
  };
}
