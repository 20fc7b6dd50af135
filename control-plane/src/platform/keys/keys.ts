/**
 * The service's signing keys: kept in the database, encrypted under the master key, and shared by
 * all replicas. A successor is made some time before it signs, so that every replica and data plane
 * knows it by then; what its predecessor signed stays valid unless that is revoked. Proven by
 * keys.pg.test.ts.
 *
 * A replica caches the keys in memory. It reads them again when another replica announces a
 * rotation, and in any case at the first use after 20 seconds: a new key signs after 30, so it is
 * known before.
 */

import type { KeyObject } from 'node:crypto';
import { inTime } from '@governance/shared/time/in-time';
import type { SessionTokenClass } from '@governance/shared/tokens/session-token';
import {
  type PlatformTransaction,
  SYSTEM_ACTOR,
  type TenantDatabase,
} from '../database/tenant-scope.ts';
import { chooseSigning } from './key-choice.ts';
import {
  generateServiceKey,
  type PublicJwk,
  SERVICE_KEY_PURPOSES,
  type ServiceKeyPurpose,
  type SigningKey,
} from './key-kinds.ts';
import { createKeyMaker, type RotationOrder } from './key-maker.ts';
import { createKeyRings, REREAD_MS } from './key-rings.ts';
import { isDate, type KeyRow, keyStore, lifeOf, startOf } from './key-store.ts';
import type { MasterKey } from './master-key.ts';
import { createKeyOpener, pickSigning, type UnusableKey } from './opened-keys.ts';
import { isReadable, type RecordedRotation, type StoredRotation } from './stored-rotation.ts';

export type { PublicJwk, ServiceKeyPurpose, SigningKey } from './key-kinds.ts';
export type { RotationOrder } from './key-maker.ts';
export type { UnusableKey } from './opened-keys.ts';
export type { RecordedRotation, StoredRotation } from './stored-rotation.ts';

/**
 * What the service signs for evidence: packages, checkpoints of the log, batches of admin chains.
 */
const EVIDENCE_KEY_PURPOSES = ['evidence', 'checkpoint', 'batch'] as const;
export type EvidenceKeyPurpose = (typeof EVIDENCE_KEY_PURPOSES)[number];

/** A public key of the service, with its signing period. */
export interface DatedKey {
  kid: string;
  purpose: ServiceKeyPurpose;
  publicJwk: PublicJwk;
  from: Date;
  /** Null while it signs and has no successor. */
  to: Date | null;
  revokedAt: Date | null;
  revokeReason: string | null;
}

/** The key of a purpose that signs now. */
export interface Signer {
  purpose: ServiceKeyPurpose;
  /** Null where nothing can be signed. */
  kid: string | null;
  /** Until then, what it signs for evidence is found to be signed too early. */
  beginsInMs: number;
}

export interface ServiceKeys {
  /**
   * The key that signs now; made at the first call on a new database.
   *
   * @throws AppError UNAVAILABLE when it cannot be used; the other keys of its purpose are
   *   unaffected
   */
  signingKey<P extends ServiceKeyPurpose>(purpose: P): Promise<SigningKey<P>>;
  /**
   * The keys whose signatures are valid: the current one, its successor, and earlier ones that were
   * not revoked.
   *
   * @param endedAfter leaves out keys that ended earlier
   */
  verificationKeys(purpose: ServiceKeyPurpose, endedAfter?: Date): Promise<PublicJwk[]>;
  /** Those that were revoked; they only show what was signed before. */
  revokedKeys(purpose: ServiceKeyPurpose): Promise<PublicJwk[]>;
  bundleSigningKey(): Promise<SigningKey<'bundle-signing'>>;
  bundleVerificationKeys(): Promise<PublicJwk[]>;
  /** Signs statements about the feed. */
  feedSigningKey(): Promise<SigningKey<'feed-signing'>>;
  feedVerificationKeys(): Promise<PublicJwk[]>;
  /** The key that now signs the tokens of workflow sessions, or of delegations. */
  sessionTokenKey(kind: SessionTokenClass): Promise<SigningKey>;
  /** The key that now signs this kind of evidence. */
  evidenceKey(purpose: EvidenceKeyPurpose): Promise<SigningKey>;
  /**
   * Every key of these purposes that ever existed, oldest first. A row is omitted if the master key
   * does not open its private half, or if that does not match the public one: whoever controls only
   * the database cannot introduce a key.
   */
  listKeys(purposes: readonly ServiceKeyPurpose[]): Promise<DatedKey[]>;
  /**
   * The same, plus every revoked row, even an unusable one: for readers who take no key from the
   * list, and who must not miss a revocation because its row is damaged.
   */
  listKeysAndRevocations(purposes: readonly ServiceKeyPurpose[]): Promise<DatedKey[]>;
  /**
   * Unusable rows of all purposes, and of unknown ones; read again after 20 seconds. While the
   * database is unavailable, the last known ones.
   */
  findUnusable(): Promise<UnusableKey[]>;
  /** For each purpose that has keys, the one that signs now, read as for `findUnusable`. */
  findSigners(): Promise<Signer[]>;
  /**
   * Every rotation of keys of these purposes, oldest first. A damaged row is left out by itself,
   * and reported.
   */
  listRotations(purposes: readonly ServiceKeyPurpose[]): Promise<StoredRotation[]>;
  /** Every rotation, oldest first, including damaged ones: none must go unannounced. */
  listRecordedRotations(): Promise<RecordedRotation[]>;
  /**
   * Makes a successor to the current key. Key, statement and the end of the old key are committed
   * together.
   *
   * @throws AppError KEY_ROTATION_PENDING when another key is about to sign, or the clock has jumped
   *   ahead, and none is revoked; KEY_ROTATIONS_EXHAUSTED; UNAVAILABLE when the current key cannot be
   *   used
   */
  rotate(purpose: ServiceKeyPurpose, order: RotationOrder): Promise<StoredRotation>;
  /** Everything is read again before its next use: another replica may have rotated a key. */
  forget(): void;
}

export interface ServiceKeysDeps {
  db: Pick<TenantDatabase, 'inPlatform'>;
  masterKey: MasterKey;
  /** By which keys begin and end. */
  now?: () => Date;
  /** Whether the machine's clock has jumped ahead of `now`: no key is rotated then. */
  isClockAhead?: () => boolean;
  /** From a key's creation to its first signature. */
  overlapMs?: number;
  /**
   * The first key of a purpose, if it is not to be made here: it was kept outside the database
   * before.
   */
  given?: Partial<Record<ServiceKeyPurpose, KeyObject>>;
  /** A monotonic clock in milliseconds. */
  elapsed?: () => number;
  /** Called for each unusable row: it neither signs nor is accepted. */
  onUnusable?: (key: UnusableKey) => void;
  /** Called once for each rotation whose row is damaged. */
  onDamagedRotation?: (rotation: Pick<RecordedRotation, 'number' | 'oldKid' | 'newKid'>) => void;
}

/** Longer than REREAD_MS, so that every replica knows a key before it signs. */
const KEY_OVERLAP_MS = 30_000;
/** `findUnusable` does not wait longer for an unavailable database. */
const LOOK_WITHIN_MS = 2_000;
/** How many damaged rotations are remembered as reported. */
const MAX_TOLD = 4_000;

export function createServiceKeys(deps: ServiceKeysDeps): ServiceKeys {
  const { db, masterKey } = deps;
  const now = deps.now ?? (() => new Date());
  const elapsed = deps.elapsed ?? (() => performance.now());
  const inPlatform = <T>(work: (tx: PlatformTransaction) => Promise<T>, actor = SYSTEM_ACTOR) =>
    db.inPlatform(actor, work);

  const opener = createKeyOpener(masterKey, deps.onUnusable);
  const maker = createKeyMaker({
    masterKey,
    opener,
    given: deps.given,
    overlapMs: deps.overlapMs ?? KEY_OVERLAP_MS,
    now,
    isClockAhead: deps.isClockAhead ?? (() => false),
  });
  const rings = createKeyRings({
    read: async (purpose) =>
      opener.openRing(purpose, await inPlatform((tx) => maker.findOrMake(tx, purpose))),
    elapsed,
  });
  const toldRotations = new Set<number>();
  let looked: { at: number; done: Promise<void> } | null = null;
  let seen: readonly KeyRow[] = [];

  async function rotate(purpose: ServiceKeyPurpose, order: RotationOrder): Promise<StoredRotation> {
    // On a new database the first key is made.
    await rings.of(purpose);
    // Made before the lock is taken: generating an RSA key is slow.
    const next = await generateServiceKey(purpose);
    const made = await inPlatform((tx) => maker.succeed(tx, purpose, next, order), order.actor);
    forget();
    return made;
  }

  function forget(): void {
    rings.forget();
    looked = null;
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
    seen = rows;
  }

  async function look(): Promise<void> {
    if (!looked || elapsed() - looked.at >= REREAD_MS) {
      // A failed read is repeated later; the database's own state is reported elsewhere.
      looked = { at: elapsed(), done: lookAtAll().catch(() => undefined) };
    }
    await inTime(looked.done, LOOK_WITHIN_MS, () => undefined);
  }

  async function findUnusable(): Promise<UnusableKey[]> {
    await look();
    return opener.listUnusable();
  }

  async function findSigners(): Promise<Signer[]> {
    await look();
    const at = now();
    return SERVICE_KEY_PURPOSES.flatMap((purpose) => {
      const rows = seen.filter((row) => row.purpose === purpose);
      if (rows.length === 0) return [];
      const { usable, barred } = opener.sortRows(purpose, rows);
      const all = [...usable, ...barred].map((row) => ({ row, ...lifeOf(row) }));
      const chosen = chooseSigning(all, at);
      const isUsable = chosen !== undefined && usable.includes(chosen.row);
      const beginsInMs = isUsable ? Math.max(0, chosen.from.getTime() - at.getTime()) : 0;
      return [{ purpose, kid: isUsable ? chosen.row.kid : null, beginsInMs }];
    });
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
    pickSigning(await rings.of(purpose), now());
  // A ring holds its own purpose's keys.
  const signingKey = <P extends ServiceKeyPurpose>(purpose: P) =>
    signingKeyOf(purpose) as Promise<SigningKey<P>>;
  const verificationKeys = async (purpose: ServiceKeyPurpose, endedAfter?: Date) => {
    const good = (await rings.of(purpose)).keys
      .filter(({ revokedAt }) => revokedAt === null)
      .filter(({ to }) => !to || !endedAfter || to > endedAfter);
    // The one that began last first.
    return good.map(({ publicJwk }) => publicJwk).reverse();
  };

  return {
    signingKey,
    verificationKeys,
    revokedKeys: async (purpose) =>
      (await rings.of(purpose)).keys
        .filter(({ revokedAt }) => revokedAt !== null)
        .map(({ publicJwk }) => publicJwk),
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
    findSigners,
    listRotations: async (purposes) =>
      (await listRecordedRotations())
        .filter(isReadable)
        .filter(({ purpose }) => purposes.includes(purpose)),
    listRecordedRotations,
    rotate,
    forget,
  };
}

/** A revoked row is listed even if one of its dates is damaged. */
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
