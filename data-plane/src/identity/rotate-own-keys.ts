/**
 * The keys of a data plane and of all its workers are exchanged as one: what is to be done is
 * written down before the first of them is touched, so that a run that is killed at any moment is
 * finished by the next one, or by the next start. Proven by rotate-own-keys.test.ts.
 */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { syncFolder, writeFileDurably } from '@governance/shared/process/durable-file';
import { StartError } from '@governance/shared/process/start-error';
import { Timestamp } from '@governance/shared/text';
import { z } from 'zod';
import { type IdentityLock, shareIdentity, tryOwnIdentity } from './identity-lock.ts';
import {
  findSuccession,
  finishRotation,
  nextSealingNumber,
  readTokenKid,
  requireSealingKey,
  rotateSealingKey,
  rotateTokenKey,
  SEALING_KEY_FILE,
} from './own-key-rotation.ts';

const PENDING_FILE = 'key-rotation.json';
const MAX_WORKERS = 10_000;

const Pending = z.strictObject({
  v: z.literal(1),
  began_at: Timestamp,
  is_revoked: z.boolean(),
  old_token_kid: z.string(),
  sealing_number: z.int().nonnegative(),
  /** In SERVICE_DATA_DIR; '' for that itself. */
  folders: z.array(z.string().regex(/^(worker-[1-9]\d{0,3})?$/)).max(MAX_WORKERS),
});

export interface OwnRotation {
  beganAt: string;
  /** Whether a statement ends the old key: somebody may have put another key in its place. */
  isFollowed: boolean;
  isRevoked: boolean;
  oldKid: string;
  newKid: string;
}

/**
 * Exchanges the keys. The caller holds the lock of the identity alone, and finished what was begun.
 *
 * @param dataDir SERVICE_DATA_DIR
 * @param folders the workers' folders in it, by name; '' for the data folder itself
 * @param options.isRevoked the keys are in other hands: what they signed is not accepted any more
 */
export function rotateOwnKeys(
  dataDir: string,
  folders: readonly string[],
  { isRevoked, now }: { isRevoked: boolean; now: Date },
): OwnRotation {
  const identity = join(dataDir, 'identity');
  finishRotation(identity);
  // Nothing is begun that the next start could not finish.
  for (const name of folders) requireSealingKey(join(dataDir, name, 'identity'));
  const oldKid = readTokenKid(identity);
  const before = findSuccession(identity, oldKid);
  if (before?.isRevoked && !isRevoked) {
    throw new StartError(
      `the key of agents' tokens, ${oldKid}, was revoked before: run rotate-keys --revoke`,
    );
  }
  const numbers = folders.map((name) => nextSealingNumber(join(dataDir, name, 'identity'), now));
  const pending: z.input<typeof Pending> = {
    v: 1,
    began_at: now.toISOString(),
    is_revoked: isRevoked,
    old_token_kid: oldKid,
    sealing_number: Math.max(...numbers),
    folders: [...folders],
  };
  writeFileDurably(join(identity, PENDING_FILE), `${JSON.stringify(pending, null, 2)}\n`);
  const done = finishOwnRotation(dataDir);
  if (!done) throw new TypeError('what was begun is there');
  return done;
}

/**
 * Finishes an exchange of keys that was begun. The caller holds the lock of the identity alone.
 *
 * @returns null where none was
 */
export function finishOwnRotation(dataDir: string): OwnRotation | null {
  const identity = join(dataDir, 'identity');
  const pending = readPending(dataDir);
  if (pending === null) return null;
  const { began_at: beganAt, old_token_kid: oldKid } = pending;
  finishRotation(identity);
  if (readTokenKid(identity) === oldKid) {
    rotateTokenKey(identity, { isRevoked: pending.is_revoked, now: new Date(beganAt) });
  }
  const succession = findSuccession(identity, oldKid);
  for (const name of pending.folders) {
    const folder = join(dataDir, name, 'identity');
    // A worker's that was moved aside meanwhile has new keys.
    if (existsSync(join(folder, SEALING_KEY_FILE))) {
      rotateSealingKey(folder, pending.sealing_number);
    }
  }
  for (const name of new Set(['', ...pending.folders])) {
    removeDrafts(join(dataDir, name, 'identity'));
  }
  rmSync(join(identity, PENDING_FILE));
  syncFolder(identity);
  return {
    ...{ beganAt, oldKid, newKid: readTokenKid(identity) },
    isFollowed: succession !== null,
    isRevoked: succession?.isRevoked ?? false,
  };
}

/** What a killed run was about to write: copies of keys that nobody would ever remove. */
function removeDrafts(folder: string): void {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) {
    if (/\.[0-9a-f]{12}\.tmp$/.test(name)) rmSync(join(folder, name));
  }
}

/**
 * For a process that uses the keys, until it ends: finishes first what a killed command began.
 *
 * @param dataDir SERVICE_DATA_DIR, also for one of several workers
 * @throws StartError while a command exchanges the keys
 */
export function enterIdentity(
  dataDir: string,
  log: { warn(fields: object, message: string): void },
): IdentityLock {
  for (let tries = 0; tries < 3; tries++) {
    if (readPending(dataDir) !== null) finishAlone(dataDir, log);
    const lock = shareIdentity(dataDir);
    // Where a command was at work until now, it has ended; or it was killed.
    if (readPending(dataDir) === null) return lock;
    lock.release();
  }
  throw new StartError(
    `the keys in ${dataDir} are half exchanged, and another process uses them: stop it, and start the data plane again`,
  );
}

function finishAlone(dataDir: string, log: Parameters<typeof enterIdentity>[1]): void {
  const alone = tryOwnIdentity(dataDir);
  try {
    const done = alone && finishOwnRotation(dataDir);
    if (done) log.warn(done, 'a rotation of the keys that had been interrupted was finished');
  } finally {
    alone?.release();
  }
}

function readPending(dataDir: string): z.infer<typeof Pending> | null {
  const file = join(dataDir, 'identity', PENDING_FILE);
  if (!existsSync(file)) return null;
  try {
    return Pending.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (cause) {
    // Removed by the command that holds the lock.
    if (!existsSync(file)) return null;
    throw new StartError(
      `${file} says that a rotation of the keys was interrupted, and cannot be read: remove it, and run rotate-keys again, with --revoke where the keys are in other hands`,
      { cause },
    );
  }
}
