/**
 * Makes the service's keys: the first of a purpose, and the successor of the current one. Each is
 * made by one replica, under the lock of the keys.
 */
import type { KeyObject } from 'node:crypto';
import { AppError } from '@governance/shared/errors';
import {
  type KeyRotation,
  SignedRotation,
  signRotation,
} from '@governance/shared/evidence/evidence-keys';
import { serviceKeyContext } from './ciphertext-kinds.ts';
import {
  ALG,
  generateServiceKey,
  type ServiceKeyPurpose,
  STATEMENT_PURPOSE,
  toPublicJwk,
} from './key-kinds.ts';
import { type KeyRow, keyStore } from './key-store.ts';
import type { MasterKey } from './master-key.ts';
import { type KeyOpener, pickSigning } from './opened-keys.ts';
import type { StoredRotation } from './stored-rotation.ts';
import type { Actor, PlatformTransaction } from './tenant-scope.ts';

export interface RotationOrder {
  /**
   * The old key is compromised: it ends now, and nothing it signed is accepted any more. Where the
   * keys sign a class of tokens, all earlier ones end with it.
   */
  revoke: boolean;
  reason: string | null;
  actor: Actor;
  requestId: string;
}

type MadeKey = Awaited<ReturnType<typeof generateServiceKey>>;

/** Per purpose: keys.json of a package holds 1,000 rotations, of four purposes. */
const MAX_ROTATIONS = 200;

export function createKeyMaker(deps: {
  masterKey: MasterKey;
  opener: Pick<KeyOpener, 'openRing'>;
  /** The first key of a purpose, if it is not to be made here. */
  given?: Partial<Record<ServiceKeyPurpose, KeyObject>> | undefined;
  /** From a key's creation to its first signature. */
  overlapMs: number;
  now(): Date;
}) {
  const { masterKey, now } = deps;

  async function insert(
    tx: PlatformTransaction,
    purpose: ServiceKeyPurpose,
    { privateKey, publicJwk }: MadeKey,
    validFrom: Date | null,
  ): Promise<KeyRow> {
    const { kid } = publicJwk;
    const der = privateKey.export({ format: 'der', type: 'pkcs8' });
    const privateCiphertext = masterKey.encrypt(der, serviceKeyContext(purpose, kid));
    const dates = { createdAt: now(), validFrom, retiredAt: null };
    const row: KeyRow = {
      ...{ kid, purpose, publicJwk, privateCiphertext, ...dates },
      revokedAt: null,
      revokeReason: null,
    };
    await keyStore(tx).insert(row);
    return row;
  }

  return {
    /** All keys of a purpose, oldest first; the first is made on a new database. */
    async findOrMake(tx: PlatformTransaction, purpose: ServiceKeyPurpose): Promise<KeyRow[]> {
      const store = keyStore(tx);
      const found = await store.list([purpose]);
      if (found.length > 0) return found;
      // Replicas that start together must not each make one.
      await store.lock();
      const made = await store.list([purpose]);
      if (made.length > 0) return made;
      return [await insert(tx, purpose, await makeKey(purpose, deps.given?.[purpose]), null)];
    },

    /**
     * Stores a key as the successor of the current one, which ends when the successor starts to
     * sign.
     *
     * @throws AppError as `ServiceKeys.rotate`
     */
    async succeed(
      tx: PlatformTransaction,
      purpose: ServiceKeyPurpose,
      next: MadeKey,
      order: RotationOrder,
    ): Promise<StoredRotation> {
      const store = keyStore(tx);
      await store.lock();
      const at = now();
      const rows = await store.list([purpose]);
      const ring = deps.opener.openRing(purpose, rows);
      const isPending = [...ring.keys, ...ring.barred].some(({ from }) => from > at);
      if (isPending) throw new AppError('KEY_ROTATION_PENDING');
      if (rows.length > MAX_ROTATIONS) throw new AppError('KEY_ROTATIONS_EXHAUSTED');
      const before = pickSigning(ring, at);
      const validFrom = order.revoke ? at : new Date(at.getTime() + deps.overlapMs);
      await insert(tx, purpose, next, validFrom);
      const { kid } = next.publicJwk;
      const statement: KeyRotation = {
        type: 'key_rotation',
        v: 1,
        purpose: STATEMENT_PURPOSE[purpose],
        old_kid: before.kid,
        new_key: { kid, jwk: next.publicJwk },
        valid_from: validFrom.toISOString(),
        time: at.toISOString(),
      };
      const signed = signRotation(statement, before, { kid, key: next.privateKey });
      await store.end(before.kid, validFrom, order.revoke ? { at, reason: order.reason } : null);
      if (order.revoke && STATEMENT_PURPOSE[purpose] === 'token') {
        // The compromised one may be an earlier key, whose tokens still live.
        for (const { kid, retiredAt, revokedAt } of rows) {
          if (kid === before.kid || revokedAt) continue;
          await store.end(kid, retiredAt ?? validFrom, { at, reason: order.reason });
        }
      }
      const rotation: StoredRotation = {
        number: (await store.lastNumber()) + 1,
        purpose,
        oldKid: before.kid,
        newKid: kid,
        signed: SignedRotation.parse(signed),
        revokes: order.revoke,
        reason: order.reason,
        actor: order.actor,
        requestId: order.requestId,
        rotatedAt: at,
      };
      await store.insertRotation(rotation);
      return rotation;
    },
  };
}

async function makeKey(purpose: ServiceKeyPurpose, given: KeyObject | undefined): Promise<MadeKey> {
  if (!given) return generateServiceKey(purpose);
  return { privateKey: given, publicJwk: await toPublicJwk(given, ALG[purpose]) };
}
