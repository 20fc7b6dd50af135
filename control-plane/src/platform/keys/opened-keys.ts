/**
 * Opens stored service keys one by one: an unusable row is left out by itself and reported, so that
 * the other keys of its purpose go on. Proven by opened-keys.pg.test.ts.
 */
import { createPrivateKey, createPublicKey, hash } from 'node:crypto';
import { AppError } from '@governance/shared/errors';
import { canonicalize } from '@governance/shared/json/canonical-json';
import { StartError } from '@governance/shared/process/start-error';
import { serviceKeyContext } from './ciphertext-kinds.ts';
import { chooseSigning, type DatedLife } from './key-choice.ts';
import { ALG, type ServiceKeyPurpose, type SigningKey } from './key-kinds.ts';
import { isDate, type KeyRow, lifeOf, startOf } from './key-store.ts';
import type { MasterKey } from './master-key.ts';

export interface OpenedKey extends SigningKey, DatedLife {}

/** A row that the service neither signs with nor lets anyone trust. */
export interface UnusableKey {
  kid: string;
  /** Null when its row names an unknown purpose. */
  purpose: ServiceKeyPurpose | null;
  reason: string;
}

/**
 * An unusable key in the sequence of a purpose's keys: nothing is signed while it is the current
 * one.
 */
interface BarredKey extends DatedLife {
  kid: string;
  error: Error;
}

/** The keys of a purpose, oldest first. */
export interface KeyRing {
  keys: OpenedKey[];
  barred: BarredKey[];
}

export type KeyOpener = ReturnType<typeof createKeyOpener>;

/** Rows whose verdict is cached; there are some 1,600 at most. */
const MAX_JUDGED = 4_000;

/** @param onUnusable called once for each such row, and again when its reason changes */
export function createKeyOpener(
  masterKey: MasterKey,
  onUnusable: (key: UnusableKey) => void = () => undefined,
) {
  const judged = new Map<string, string | null>();
  const unusable = new Map<ServiceKeyPurpose | null, UnusableKey[]>();

  /** Why a row cannot be used; null when it can. Only the dates of rows change. */
  function judge(row: KeyRow): string | null {
    const dates = [row.createdAt, row.validFrom, row.retiredAt, row.revokedAt];
    if (!dates.every((date) => date === null || isDate(date))) return 'one of its dates is invalid';
    const place = hash('sha256', Buffer.concat([placeText(row), row.privateCiphertext]), 'base64');
    let reason = judged.get(place);
    if (reason === undefined) {
      reason = findFault(masterKey, row);
      if (judged.size >= MAX_JUDGED) judged.clear();
      judged.set(place, reason);
    }
    return reason;
  }

  function note(purpose: ServiceKeyPurpose | null, found: UnusableKey[]): void {
    const before = unusable.get(purpose) ?? [];
    unusable.set(purpose, found);
    for (const key of found) {
      const isKnown = before.some((one) => one.kid === key.kid && one.reason === key.reason);
      if (!isKnown) onUnusable(key);
    }
  }

  return {
    /** The usable rows of one purpose. */
    pickUsable: (purpose: ServiceKeyPurpose, rows: readonly KeyRow[]): KeyRow[] => {
      const own = rows.filter((row) => row.purpose === purpose);
      const reasons = own.map(judge);
      note(
        purpose,
        own.flatMap(({ kid }, index) => {
          const reason = reasons[index];
          return reason ? [{ kid, purpose, reason }] : [];
        }),
      );
      return own.filter((_, index) => reasons[index] === null);
    },

    /**
     * The usable rows of one purpose, and the unusable ones that are in its sequence of keys.
     *
     * @param rows all of one purpose, oldest first
     */
    sortRows(purpose: ServiceKeyPurpose, rows: readonly KeyRow[]) {
      const usable = new Set(this.pickUsable(purpose, rows));
      const begun = new Set([...usable].map((row) => startOf(row).getTime()));
      const ended = new Set(rows.map(({ retiredAt }) => retiredAt?.getTime()));
      // A row that does not start where another key ended, or starts where a usable key does, is no
      // successor: somebody inserted it.
      const isInTurn = (row: KeyRow) => {
        const from = startOf(row).getTime();
        return usable.size === 0 || (ended.has(from) && !begun.has(from));
      };
      const others = rows.filter((row) => row.purpose === purpose && !usable.has(row));
      return { usable: [...usable], barred: others.filter(isInTurn) };
    },

    /** @param rows all of one purpose, oldest first */
    openRing(purpose: ServiceKeyPurpose, rows: readonly KeyRow[]): KeyRing {
      const { usable, barred } = this.sortRows(purpose, rows);
      return {
        keys: usable.map((row) => openKey(masterKey, row)),
        barred: barred.map((row) => ({
          ...{ kid: row.kid, ...lifeOf(row) },
          error: toError(masterKey, row),
        })),
      };
    },

    /** @param kids of rows with an unknown purpose */
    noteStray: (kids: readonly string[]): void => {
      note(
        null,
        kids.map((kid) => ({ kid, purpose: null, reason: 'its purpose is unknown' })),
      );
    },

    /** What the last reading of each purpose found. */
    listUnusable: (): UnusableKey[] => [...unusable.values()].flat(),
  };
}

/**
 * @throws AppError UNAVAILABLE when the current key is unusable: its predecessor has ended, so a
 *   signature by the predecessor would not be valid
 */
export function pickSigning({ keys, barred }: KeyRing, at: Date): OpenedKey {
  const all = [...barred, ...keys];
  const chosen = chooseSigning(all, at);
  if (!chosen) {
    const ended = all.findLast(({ revokedAt }) => revokedAt === null);
    throw new AppError(
      'UNAVAILABLE',
      ended
        ? `Service key ${ended.kid} has ended, and the one that follows it cannot be used.`
        : 'Every service key of this purpose was revoked: rotate it to have a new one.',
    );
  }
  if ('error' in chosen) throw chosen.error;
  return chosen;
}

/**
 * The error that callers get when the current key cannot be used. It omits the reason, which is in
 * the log.
 */
function toError(masterKey: MasterKey, row: KeyRow): Error {
  try {
    openKey(masterKey, row);
  } catch (cause) {
    return new AppError(
      'UNAVAILABLE',
      `Service key ${row.kid} (${row.purpose}), which signs now, cannot be used.`,
      { cause },
    );
  }
  // The key itself opens: one of its dates is damaged.
  return new AppError('UNAVAILABLE', `Service key ${row.kid} (${row.purpose}) cannot be used.`);
}

function findFault(masterKey: MasterKey, row: KeyRow): string | null {
  try {
    openKey(masterKey, row);
    return null;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return error instanceof StartError ? `damaged, or ${message}` : message;
  }
}

/** @throws when the private half does not open, or does not match the public one */
function openKey(masterKey: MasterKey, row: KeyRow): OpenedKey {
  const { kid, purpose, publicJwk } = row;
  const der = masterKey.decrypt(row.privateCiphertext, serviceKeyContext(purpose, kid));
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const half = createPublicKey(key).export({ format: 'jwk' });
  const own = { ...half, kid, alg: ALG[purpose], use: 'sig' };
  // Whoever can only write to the database could otherwise pass off a key of their own, or a
  // service key of another purpose.
  if (canonicalize(own) !== canonicalize(publicJwk)) {
    throw new Error(
      `the public key in the row of service key ${kid} (${purpose}) does not match its private key`,
    );
  }
  return { kid, alg: ALG[purpose], key, publicJwk, ...lifeOf(row) };
}

const placeText = ({ purpose, kid, publicJwk }: KeyRow): Buffer =>
  Buffer.from(canonicalize([purpose, kid, publicJwk]));
