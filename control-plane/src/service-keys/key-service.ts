/**
 * Rotates the service's keys by order of a super-admin. A committed rotation stands, whatever fails
 * afterwards: every replica, tenant and data plane learns of it as soon as possible.
 */

import { AppError } from '@governance/shared/errors';
import { inTime } from '@governance/shared/time/in-time';
import { type ChangeBus, PLATFORM } from '../platform/database/change-bus.ts';
import { isSuperseded } from '../platform/keys/key-choice.ts';
import { SERVICE_KEY_PURPOSES } from '../platform/keys/key-kinds.ts';
import type {
  DatedKey,
  RotationOrder,
  ServiceKeys,
  StoredRotation,
  UnusableKey,
} from '../platform/keys/keys.ts';
import type { TokenKeys } from '../platform/keys/token-keys.ts';
import type { KeyAnnouncements } from './key-announcements.ts';
import { type KeyPurposeName, purposeOf } from './key-purpose.ts';

/** How long the request waits for the announcements to the tenants; the leader makes the rest. */
const TELL_WITHIN_MS = 5_000;

export type KeyState = 'signing' | 'next' | 'accepted' | 'revoked';

export interface KeyView extends DatedKey {
  state: KeyState;
}

export interface KeyServiceDeps {
  serviceKeys: ServiceKeys;
  tokenKeys: Pick<TokenKeys, 'isConfigured'>;
  announcements: Pick<KeyAnnouncements, 'announceAll'>;
  /** Builds and signs every tenant's bundle again. */
  buildAll(): Promise<void>;
  changes: Pick<ChangeBus, 'publish'>;
  log: { warn(fields: object, message: string): void };
  /** By which keys begin and end. */
  keyNow: () => Date;
}

export type KeyService = ReturnType<typeof createKeyService>;

export function createKeyService(deps: KeyServiceDeps) {
  const { serviceKeys, tokenKeys, announcements, changes, log, keyNow } = deps;

  const warn = (message: string) => (error: unknown) => log.warn({ err: error }, message);

  return {
    /** Every key of the service, the oldest first, and its rotations. */
    list: async (): Promise<{
      keys: KeyView[];
      rotations: StoredRotation[];
      unusable: UnusableKey[];
    }> => {
      const purposes = SERVICE_KEY_PURPOSES.filter(
        (purpose) => purpose !== 'token-signing' || !tokenKeys.isConfigured,
      );
      const [keys, rotations, signers] = await Promise.all([
        serviceKeys.listKeys(purposes),
        serviceKeys.listRotations(purposes),
        serviceKeys.findSigners(),
      ]);
      const signing = new Set(signers.map(({ kid }) => kid));
      const at = keyNow();
      return {
        keys: keys.map((key) => ({ ...key, state: stateOf(key, signing.has(key.kid), at) })),
        rotations,
        unusable: await serviceKeys.findUnusable(),
      };
    },

    /** @throws AppError KEY_CONFIGURED, KEY_ROTATION_PENDING, KEY_ROTATIONS_EXHAUSTED */
    rotate: async (name: KeyPurposeName, order: RotationOrder): Promise<StoredRotation> => {
      const purpose = purposeOf(name);
      if (purpose === 'token-signing' && tokenKeys.isConfigured) {
        throw new AppError('KEY_CONFIGURED');
      }
      const rotation = await serviceKeys.rotate(purpose, order);
      changes.publish({ tenantId: PLATFORM });
      const telling = announcements
        .announceAll()
        .catch(warn('not every tenant was told of a new key; the leader will tell the rest'));
      // Data planes refuse bundles that the revoked key signed, so every bundle is signed again.
      if (order.revoke && purpose === 'bundle-signing') {
        void deps
          .buildAll()
          .catch(warn('not every bundle was signed again; the leader will retry'));
      }
      await inTime(telling, TELL_WITHIN_MS, () => undefined);
      return rotation;
    },
  };
}

function stateOf(key: DatedKey, isSigning: boolean, at: Date): KeyState {
  if (key.revokedAt) return 'revoked';
  if (isSigning) return 'signing';
  return key.from > at && !isSuperseded(key) ? 'next' : 'accepted';
}
