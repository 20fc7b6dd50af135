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
import { CLOCK_JUMP_MS } from '@governance/shared/time/clock-jumps';
import type { Actor, PlatformTransaction } from '../database/tenant-scope.ts';
import { serviceKeyContext } from './ciphertext-kinds.ts';
import { type DatedLife, isSuperseded, listLiving } from './key-choice.ts';
import {
  ALG,
  generateServiceKey,
  type ServiceKeyPurpose,
  STATEMENT_PURPOSE,
  toPublicJwk,
} from './key-kinds.ts';
import { type KeyRow, keyStore, lifeOf } from './key-store.ts';
import type { MasterKey } from './master-key.ts';
import { type KeyOpener, pickSigning } from './opened-keys.ts';
import type { StoredRotation } from './stored-rotation.ts';

export interface RotationOrder {
  /**
   * The old key is compromised: it ends now, with any that was to follow it, and nothing it signed is
   * accepted any more. So do those that were superseded, and, where the keys sign a class of tokens,
   * all earlier ones.
   */
  revoke: boolean;
  reason: string | null;
  actor: Actor;
  requestId: string;
}

type MadeKey = Awaited<ReturnType<typeof generateServiceKey>>;

const CLOCK_AHEAD =
  "The machine's clock has jumped ahead, as after a pause: rotate when it has shown this time for ten minutes. A revocation does not wait.";

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
  /** Whether the machine's clock, by which records are dated, has jumped ahead of `now`. */
  isClockAhead(): boolean;
}) {
  const { masterKey, now } = deps;

  /** Whether it is about to sign. One that is further off was made while the clock was ahead. */
  const isNext = ({ from }: DatedLife, at: Date): boolean =>
    from > at && from.getTime() - at.getTime() <= deps.overlapMs + CLOCK_JUMP_MS;

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
     * sign. So do keys that were to follow, where they cannot be waited for.
     *
     * @throws AppError as `ServiceKeys.rotate`
     */
    async succeed(
      tx: PlatformTransaction,
      purpose: ServiceKeyPurpose,
      next: MadeKey,
      order: RotationOrder,
    ): Promise<StoredRotation> {
      // A key would end before the records that it has just signed, and they would not verify.
      if (!order.revoke && deps.isClockAhead()) {
        throw new AppError('KEY_ROTATION_PENDING', CLOCK_AHEAD);
      }
      const store = keyStore(tx);
      await store.lock();
      const at = now();
      const rows = await store.list([purpose]);
      const ring = deps.opener.openRing(purpose, rows);
      const before = pickSigning(ring, at);
      const living = listLiving([...ring.keys, ...ring.barred], at);
      if (!order.revoke && living.some((key) => key !== before && isNext(key, at))) {
        throw new AppError('KEY_ROTATION_PENDING');
      }
      if (rows.length > MAX_ROTATIONS) throw new AppError('KEY_ROTATIONS_EXHAUSTED');
      const validFrom = order.revoke ? at : new Date(at.getTime() + deps.overlapMs);
      await insert(tx, purpose, next, validFrom);
      const { kid } = next.publicJwk;
      // Where a key follows already, anchors and data planes may know that one as the last.
      const last = ring.keys.findLast((key) => key.to === null && living.includes(key)) ?? before;
      const statement: KeyRotation = {
        type: 'key_rotation',
        v: 1,
        purpose: STATEMENT_PURPOSE[purpose],
        old_kid: last.kid,
        new_key: { kid, jwk: next.publicJwk },
        valid_from: validFrom.toISOString(),
        time: at.toISOString(),
      };
      const signed = signRotation(statement, last, { kid, key: next.privateKey });
      // Those that were to follow never sign. With a clock that ran back, one of them may be the key
      // that was in use, and that somebody else has.
      const revocation = order.revoke ? { at, reason: order.reason } : null;
      for (const { kid, to } of living) {
        await store.end(kid, to && to < validFrom ? to : validFrom, revocation);
      }
      if (order.revoke) {
        // The compromised one may be an earlier key: one whose tokens still live, or one that was in
        // use while the clock was ahead.
        const isOfTokens = STATEMENT_PURPOSE[purpose] === 'token';
        for (const row of rows) {
          if (row.revokedAt || living.some(({ kid }) => kid === row.kid)) continue;
          if (!isOfTokens && !isSuperseded(lifeOf(row))) continue;
          const end = row.retiredAt ?? validFrom;
          await store.end(row.kid, end, { at, reason: order.reason });
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
