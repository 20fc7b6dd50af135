/**
 * The keys that the service signs with: kept in the database, encrypted under the master key, and
 * shared by all replicas. A key is followed by another a little before that one signs, so that every
 * replica and data plane knows it by then; what the one before signed stays good unless it is
 * revoked. Proven by keys.pg.test.ts.
 *
 * A replica holds the keys in memory. It reads them again when another one tells of a rotation, and
 * in any case at the first use after 20 seconds: before a new key signs, since that takes 30.
 */
import type { KeyObject } from 'node:crypto';
import { AppError } from '@governance/shared/errors';
import {
  type KeyRotation,
  SignedRotation,
  signRotation,
} from '@governance/shared/evidence/evidence-keys';
import type { SessionTokenClass } from '@governance/shared/session-token';
import { serviceKeyContext } from './ciphertext-kinds.ts';
import {
  ALG,
  generateServiceKey,
  type PublicJwk,
  SERVICE_KEY_PURPOSES,
  type ServiceKeyPurpose,
  type SigningKey,
  STATEMENT_PURPOSE,
  toPublicJwk,
} from './key-kinds.ts';
import { isDate, type KeyRow, keyStore, startOf } from './key-store.ts';
import type { MasterKey } from './master-key.ts';
import { createKeyOpener, type KeyRing, pickSigning, type UnusableKey } from './opened-keys.ts';
import { isReadable, type RecordedRotation, type StoredRotation } from './stored-rotation.ts';
import {
  type Actor,
  type PlatformTransaction,
  SYSTEM_ACTOR,
  type TenantDatabase,
} from './tenant-scope.ts';

export type { PublicJwk, ServiceKeyPurpose, SigningKey } from './key-kinds.ts';
export type { UnusableKey } from './opened-keys.ts';
export type { RecordedRotation, StoredRotation } from './stored-rotation.ts';

/** What the service signs for evidence: packages, checkpoints of the log, batches of the admin chain. */
export const EVIDENCE_KEY_PURPOSES = ['evidence', 'checkpoint', 'batch'] as const;
export type EvidenceKeyPurpose = (typeof EVIDENCE_KEY_PURPOSES)[number];

/** A public key of the service, with the time in which it signs. */
export interface DatedKey {
  kid: string;
  purpose: ServiceKeyPurpose;
  publicJwk: PublicJwk;
  from: Date;
  /** Null while it signs, and no other is to follow. */
  to: Date | null;
  revokedAt: Date | null;
  revokeReason: string | null;
}

export interface RotationOrder {
  /** The key before is in other hands: it ends now, and nothing of it is accepted any more. */
  revoke: boolean;
  reason: string | null;
  actor: Actor;
  requestId: string;
}

export interface ServiceKeys {
  /**
   * The key that signs now; made at the first call on a new database.
   *
   * @throws AppError UNAVAILABLE where it cannot be used; the others of its purpose are not touched
   */
  signingKey<P extends ServiceKeyPurpose>(purpose: P): Promise<SigningKey<P>>;
  /**
   * The keys whose signatures are good: the one that signs, the one that will, and those before that
   * were not revoked.
   *
   * @param endedAfter leaves out those that ended before
   */
  verificationKeys(purpose: ServiceKeyPurpose, endedAfter?: Date): Promise<PublicJwk[]>;
  bundleSigningKey(): Promise<SigningKey<'bundle-signing'>>;
  bundleVerificationKeys(): Promise<PublicJwk[]>;
  /** Of statements about the feed. */
  feedSigningKey(): Promise<SigningKey<'feed-signing'>>;
  feedVerificationKeys(): Promise<PublicJwk[]>;
  /** The key that signs the tokens of workflow sessions, or of delegations, now. */
  sessionTokenKey(kind: SessionTokenClass): Promise<SigningKey>;
  /** The key that signs evidence of that kind now. */
  evidenceKey(purpose: EvidenceKeyPurpose): Promise<SigningKey>;
  /**
   * Every key of these purposes that ever was, the oldest first. Of a row whose private half the
   * master key does not open, or that is another's, there is none: who owns the database alone
   * brings no key.
   */
  listKeys(purposes: readonly ServiceKeyPurpose[]): Promise<DatedKey[]>;
  /**
   * The same, and every row that is revoked, also where it cannot be used: for readers who take no
   * key from it, and to whom a revocation must not get lost with a damaged row.
   */
  listKeysAndRevocations(purposes: readonly ServiceKeyPurpose[]): Promise<DatedKey[]>;
  /**
   * Rows that cannot be used, of all purposes and of none: read again where that was 20 seconds ago.
   * While the database is away, those that are known.
   */
  findUnusable(): Promise<UnusableKey[]>;
  /**
   * Every rotation of keys of these purposes, the oldest first. One whose row is damaged is left out
   * by itself, and reported.
   */
  listRotations(purposes: readonly ServiceKeyPurpose[]): Promise<StoredRotation[]>;
  /** Every rotation, the oldest first, damaged ones too: none must go unannounced. */
  listRecordedRotations(): Promise<RecordedRotation[]>;
  /**
   * Lets a new key follow the one that signs. Key, statement and end of the one before are committed
   * together.
   *
   * @throws AppError KEY_ROTATION_PENDING, KEY_ROTATIONS_EXHAUSTED; UNAVAILABLE where the key that
   *   signs cannot be used
   */
  rotate(purpose: ServiceKeyPurpose, order: RotationOrder): Promise<StoredRotation>;
  /** Reads everything anew before it is used again: another replica may have rotated a key. */
  forget(): void;
}

export interface ServiceKeysDeps {
  db: Pick<TenantDatabase, 'inPlatform'>;
  masterKey: MasterKey;
  now?: () => Date;
  /** Between the making of a key and its first signature. */
  overlapMs?: number;
  /** The first key of a purpose, where it is not to be made here: kept outside the database before. */
  given?: Partial<Record<ServiceKeyPurpose, KeyObject>>;
  /** A monotonic clock in milliseconds. */
  elapsed?: () => number;
  /** Told of each row that cannot be used: neither signed with nor accepted. */
  onUnusable?: (key: UnusableKey) => void;
  /** Told once of each rotation whose row is damaged. */
  onDamagedRotation?: (rotation: Pick<RecordedRotation, 'number' | 'oldKid' | 'newKid'>) => void;
}

/** Longer than REREAD_MS, so that every replica knows a key before it signs. */
export const KEY_OVERLAP_MS = 30_000;
const REREAD_MS = 20_000;
/** Who asks what cannot be used is not kept waiting for a database that is away. */
const LOOK_WITHIN_MS = 2_000;
/** Of a purpose: keys.json holds 1,000 of four purposes. */
const MAX_ROTATIONS = 200;
/** Damaged rotations that were told of. */
const MAX_TOLD = 4_000;

interface Ring extends KeyRing {
  readAt: number;
}

export function createServiceKeys(deps: ServiceKeysDeps): ServiceKeys {
  const { db, masterKey } = deps;
  const now = deps.now ?? (() => new Date());
  const elapsed = deps.elapsed ?? (() => performance.now());
  const overlapMs = deps.overlapMs ?? KEY_OVERLAP_MS;
  const opener = createKeyOpener(masterKey, deps.onUnusable);
  const rings = new Map<ServiceKeyPurpose, Ring>();
  const reading = new Map<ServiceKeyPurpose, Promise<Ring>>();
  const toldRotations = new Set<number>();
  let looked: { at: number; done: Promise<void> } | null = null;
  /** Counts what was forgotten: what was read before is not kept. */
  let generation = 0;

  const inPlatform = <T>(work: (tx: PlatformTransaction) => Promise<T>, actor = SYSTEM_ACTOR) =>
    db.inPlatform(actor, work);

  async function readRing(purpose: ServiceKeyPurpose): Promise<Ring> {
    const begun = generation;
    const readAt = elapsed();
    const rows = await inPlatform((tx) => findOrMakeKeys(tx, purpose));
    const ring = { ...opener.openRing(purpose, rows), readAt };
    if (begun === generation) rings.set(purpose, ring);
    return ring;
  }

  async function ringOf(purpose: ServiceKeyPurpose): Promise<Ring> {
    const known = rings.get(purpose);
    if (known && elapsed() - known.readAt < REREAD_MS) return known;
    let read = reading.get(purpose);
    if (!read) {
      read = readRing(purpose).finally(() => reading.delete(purpose));
      reading.set(purpose, read);
    }
    if (!known) return read;
    // The database is away: what is known goes on, and is asked for again a little later.
    return read.catch(() => {
      known.readAt = elapsed() - REREAD_MS / 2;
      return known;
    });
  }

  async function findOrMakeKeys(tx: PlatformTransaction, purpose: ServiceKeyPurpose) {
    const store = keyStore(tx);
    const found = await store.list([purpose]);
    if (found.length > 0) return found;
    // Replicas that start together must not make one each.
    await store.lock();
    const made = await store.list([purpose]);
    if (made.length > 0) return made;
    return [await insertKey(tx, purpose, await makeKey(purpose, deps.given?.[purpose]), null)];
  }

  async function insertKey(
    tx: PlatformTransaction,
    purpose: ServiceKeyPurpose,
    { privateKey, publicJwk }: Awaited<ReturnType<typeof makeKey>>,
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

  async function rotate(purpose: ServiceKeyPurpose, order: RotationOrder): Promise<StoredRotation> {
    await ringOf(purpose);
    // Made before the lock is held: an RSA key takes its time.
    const next = await generateServiceKey(purpose);
    const made = await inPlatform(async (tx) => {
      const store = keyStore(tx);
      await store.lock();
      const at = now();
      const rows = await store.list([purpose]);
      const ring = opener.openRing(purpose, rows);
      const isPending = [...ring.keys, ...ring.barred].some(({ from }) => from > at);
      if (isPending) throw new AppError('KEY_ROTATION_PENDING');
      if (rows.length > MAX_ROTATIONS) throw new AppError('KEY_ROTATIONS_EXHAUSTED');
      const before = pickSigning(ring, at);
      const validFrom = order.revoke ? at : new Date(at.getTime() + overlapMs);
      await insertKey(tx, purpose, next, validFrom);
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
    }, order.actor);
    forget();
    return made;
  }

  function forget(): void {
    generation++;
    reading.clear();
    looked = null;
    // Kept for the case that the database is away by then.
    for (const ring of rings.values()) ring.readAt = Number.NEGATIVE_INFINITY;
  }

  const listUsable = (purposes: readonly ServiceKeyPurpose[], rows: readonly KeyRow[]) => {
    const usable = new Set(purposes.flatMap((one) => opener.pickUsable(one, rows)));
    return rows.filter((row) => usable.has(row));
  };

  async function lookAtAll(): Promise<void> {
    const { rows, stray } = await inPlatform(async (tx) => ({
      rows: await keyStore(tx).list(SERVICE_KEY_PURPOSES),
      stray: await keyStore(tx).listStrayKids(),
    }));
    listUsable(SERVICE_KEY_PURPOSES, rows);
    opener.noteStray(stray);
  }

  async function findUnusable(): Promise<UnusableKey[]> {
    if (!looked || elapsed() - looked.at >= REREAD_MS) {
      // What the database does not answer now is asked for again; its state is told elsewhere.
      looked = { at: elapsed(), done: lookAtAll().catch(() => undefined) };
    }
    await Promise.race([looked.done, pause(LOOK_WITHIN_MS)]);
    return opener.listUnusable();
  }

  async function listRecordedRotations(): Promise<RecordedRotation[]> {
    const all = await inPlatform((tx) => keyStore(tx).listRotations());
    for (const rotation of all) {
      const { number, oldKid, newKid } = rotation;
      if (isReadable(rotation) || toldRotations.has(number)) continue;
      if (toldRotations.size >= MAX_TOLD) toldRotations.clear();
      toldRotations.add(number);
      deps.onDamagedRotation?.({ number, oldKid, newKid });
    }
    return all;
  }

  const signingKeyOf = async (purpose: ServiceKeyPurpose): Promise<SigningKey> =>
    pickSigning(await ringOf(purpose), now());
  // A ring holds its own purpose's keys.
  const signingKey = <P extends ServiceKeyPurpose>(purpose: P) =>
    signingKeyOf(purpose) as Promise<SigningKey<P>>;
  const verificationKeys = async (purpose: ServiceKeyPurpose, endedAfter?: Date) => {
    const good = (await ringOf(purpose)).keys
      .filter(({ revokedAt }) => revokedAt === null)
      .filter(({ to }) => !to || !endedAfter || to > endedAfter);
    // The newest first.
    return good.map(({ publicJwk }) => publicJwk).reverse();
  };

  return {
    signingKey,
    verificationKeys,
    bundleSigningKey: () => signingKey('bundle-signing'),
    bundleVerificationKeys: () => verificationKeys('bundle-signing'),
    feedSigningKey: () => signingKey('feed-signing'),
    feedVerificationKeys: () => verificationKeys('feed-signing'),
    sessionTokenKey: (kind) => signingKey(`${kind}-token`),
    evidenceKey: (purpose) => signingKey(`${purpose}-signing`),
    listKeys: async (purposes) => {
      const rows = await inPlatform((tx) => keyStore(tx).list(purposes));
      return listUsable(purposes, rows).map(toDatedKey);
    },
    listKeysAndRevocations: async (purposes) => {
      const rows = await inPlatform((tx) => keyStore(tx).list(purposes));
      const usable = new Set(listUsable(purposes, rows));
      return rows.filter((row) => usable.has(row) || row.revokedAt !== null).map(toDatedKey);
    },
    findUnusable,
    listRotations: async (purposes) =>
      (await listRecordedRotations())
        .filter(isReadable)
        .filter(({ purpose }) => purposes.includes(purpose)),
    listRecordedRotations,
    rotate,
    forget,
  };
}

async function makeKey(purpose: ServiceKeyPurpose, given: KeyObject | undefined) {
  if (!given) return generateServiceKey(purpose);
  return { privateKey: given, publicJwk: await toPublicJwk(given, ALG[purpose]) };
}

/** A revoked row is told of although a date of it is damaged. */
function toDatedKey(row: KeyRow): DatedKey {
  const known = (date: Date) => (isDate(date) ? date : new Date(0));
  return {
    kid: row.kid,
    purpose: row.purpose,
    publicJwk: row.publicJwk,
    from: known(startOf(row)),
    to: row.retiredAt && known(row.retiredAt),
    revokedAt: row.revokedAt && known(row.revokedAt),
    revokeReason: row.revokeReason,
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
