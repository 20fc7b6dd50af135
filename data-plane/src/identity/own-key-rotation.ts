/**
 * A data plane rotates its own keys for agents' tokens and sealed credentials without asking
 * anyone: the token key by a statement that both keys signed, and the sealing key so that earlier
 * texts can still be opened. The key that signs batches is the data plane's identity and is not
 * rotated: see docs/operations/keys.md. Every step may be repeated: rotate-own-keys.ts joins them to a
 * whole. Proven by own-key-rotation.test.ts.
 */
import { createHash, createPublicKey, type KeyObject } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  EvidenceJwk,
  isRotationSigned,
  SignedRotation,
  signRotation,
} from '@governance/shared/evidence/evidence-keys';
import { canonicalize } from '@governance/shared/json/canonical-json';
import { syncFolder, writeFileDurably } from '@governance/shared/process/durable-file';
import { StartError } from '@governance/shared/process/start-error';
import { AGENT_TOKEN_MAX_SECONDS } from '@governance/shared/tokens/agent-token';
import { z } from 'zod';
import { generateKey, readPrivateKey, toPem } from './private-key-file.ts';

export const TOKEN_KEY_FILE = 'token-key.pem';
export const SEALING_KEY_FILE = 'sealing-key.pem';
const NEXT_TOKEN_KEY_FILE = 'token-key.next.pem';
const ROTATIONS_FILE = 'token-key-rotations.json';
const TASK_SECRET_FILE = 'task-secret.pem';
const EARLIER_SEALING_KEY = /^sealing-key\.before-\d{15}\.pem$/;

/** Older statements concern tokens that expired long ago. */
const MAX_ROTATIONS = 20;
const MAX_SEALING_KEYS = 5;
/** A token's lifetime, plus the tolerated clock difference. */
const ACCEPTED_MS = (AGENT_TOKEN_MAX_SECONDS + 60) * 1_000;

const Rotations = z
  .array(z.strictObject({ earlier: EvidenceJwk, signed: SignedRotation, is_revoked: z.boolean() }))
  .max(MAX_ROTATIONS);
type Rotations = z.infer<typeof Rotations>;
type Jwk = z.infer<typeof EvidenceJwk>;

/** A replaced key: what it signed before stays valid until then. */
export interface EarlierTokenKey {
  key: KeyObject;
  /** Unix milliseconds. */
  until: number;
}

/**
 * Replaces the key of agents' tokens. No process may use the folder.
 *
 * @param folder `identity` of the data folder
 * @param options.isRevoked the key is in other hands: what it signed is not accepted any more
 * @returns the statement, which both keys signed
 */
export function rotateTokenKey(
  folder: string,
  { isRevoked, now }: { isRevoked: boolean; now: Date },
): SignedRotation {
  finishRotation(folder);
  const before = readTokenKey(folder);
  const next = generateKey('rsa');
  const [old, made] = [publicJwkOf(before), publicJwkOf(next)];
  const time = now.toISOString();
  const signed = signRotation(
    {
      ...{ type: 'key_rotation', v: 1, purpose: 'token', old_kid: thumbprint(old) },
      ...{ new_key: { kid: thumbprint(made), jwk: made }, valid_from: time, time },
    },
    { kid: thumbprint(old), key: before },
    { kid: thumbprint(made), key: next },
  );
  const secret = join(folder, TASK_SECRET_FILE);
  // Clients' handles of lists and tasks stay valid: they are bound to this, not to the signing key.
  if (!isRevoked && !existsSync(secret)) writeFileDurably(secret, toPem(before));
  writeFileDurably(join(folder, NEXT_TOKEN_KEY_FILE), toPem(next));
  const rotation = { earlier: old, signed: SignedRotation.parse(signed), is_revoked: isRevoked };
  const all = [...readRotations(folder), rotation].slice(-MAX_ROTATIONS);
  // From here on, the next start completes it.
  writeFileDurably(join(folder, ROTATIONS_FILE), `${JSON.stringify(all, null, 2)}\n`);
  finishRotation(folder);
  return rotation.signed;
}

/** Completes a rotation whose statement is on disk. */
export function finishRotation(folder: string): void {
  const file = join(folder, NEXT_TOKEN_KEY_FILE);
  if (!existsSync(file)) return;
  const next = thumbprint(publicJwkOf(readPrivateKey(file, 'rsa')));
  const last = readRotations(folder).at(-1);
  if (last?.signed.statement.new_key.kid === next) {
    // The secret ends with the keys before, and not without the statement that ends those.
    if (last.is_revoked) rmSync(join(folder, TASK_SECRET_FILE), { force: true });
    renameSync(file, join(folder, TOKEN_KEY_FILE));
  } else {
    rmSync(file);
  }
  syncFolder(folder);
}

/**
 * The previous keys that statements link to the current key, except any that was revoked or
 * followed by a revoked one.
 *
 * @param current the private key that signs now
 */
export function listEarlierTokenKeys(folder: string, current: KeyObject): EarlierTokenKey[] {
  const found: EarlierTokenKey[] = [];
  let kid = thumbprint(publicJwkOf(current));
  for (const { earlier, signed, is_revoked } of readRotations(folder).reverse()) {
    const { statement } = signed;
    const isOf = statement.new_key.kid === kid && statement.old_kid === thumbprint(earlier);
    if (is_revoked || !isOf || !isRotationSigned(earlier, signed)) break;
    const key = createPublicKey({ key: earlier, format: 'jwk' });
    found.push({ key, until: Date.parse(statement.valid_from) + ACCEPTED_MS });
    kid = statement.old_kid;
  }
  return found;
}

/** The secret of handles of lists and tasks: the first token key, unless it was revoked. */
export function readTaskSecret(folder: string, tokenKey: KeyObject): KeyObject {
  const file = join(folder, TASK_SECRET_FILE);
  return existsSync(file) ? readPrivateKey(file, 'rsa') : tokenKey;
}

/** The id of the key of agents' tokens. */
export const readTokenKid = (folder: string): string =>
  thumbprint(publicJwkOf(readTokenKey(folder)));

/** The number of the next sealing key to be replaced: the highest, whatever the clock says. */
export function nextSealingNumber(folder: string, now: Date): number {
  const newest = Number(/[0-9]+/.exec(listSealingFiles(folder).at(-1) ?? '')?.[0] ?? 0);
  return Math.max(now.getTime(), newest + 1);
}

/**
 * Replaces the key that credentials are sealed to. No process may use the folder.
 *
 * @param number orders the keys before; with the same number again, what was begun is finished
 */
export function rotateSealingKey(folder: string, number: number): void {
  const file = join(folder, SEALING_KEY_FILE);
  const before = join(folder, `sealing-key.before-${String(number).padStart(15, '0')}.pem`);
  if (!existsSync(before)) writeFileDurably(before, readFileSync(file));
  if (readFileSync(before).equals(readFileSync(file))) {
    writeFileDurably(file, toPem(generateKey('x25519')));
  }
  const all = listSealingFiles(folder);
  for (const name of all.slice(0, -MAX_SEALING_KEYS)) rmSync(join(folder, name));
  syncFolder(folder);
}

/**
 * The previous sealing keys, the newest first.
 *
 * @param onUnreadable called with each that cannot be read, which alone is left out
 */
export function readEarlierSealingKeys(
  folder: string,
  onUnreadable: (failure: unknown) => void,
): KeyObject[] {
  const found: KeyObject[] = [];
  for (const name of listSealingFiles(folder).reverse()) {
    try {
      found.push(readPrivateKey(join(folder, name), 'x25519'));
    } catch (error) {
      onUnreadable(error);
    }
  }
  return found;
}

/** @throws StartError where the sealing key could not be followed: it would be lost */
export const requireSealingKey = (folder: string): void =>
  void readPrivateKey(join(folder, SEALING_KEY_FILE), 'x25519');

/**
 * A key that was revoked must not come back with its file.
 *
 * @param key of agents' tokens
 * @throws StartError where a statement revoked it, or one after it
 */
export function requireUnrevoked(folder: string, key: KeyObject): void {
  const rotations = readRotations(folder);
  const last = rotations.findLastIndex(({ is_revoked }) => is_revoked);
  const kid = thumbprint(publicJwkOf(key));
  if (!rotations.slice(0, last + 1).some(({ signed }) => signed.statement.old_kid === kid)) return;
  throw new StartError(
    `${join(folder, TOKEN_KEY_FILE)} holds the key ${kid}, which was revoked: put back the one after it, or remove the file to have another made`,
  );
}

/** What a statement says of a key of agents' tokens; null where none followed it. */
export function findSuccession(folder: string, kid: string): { isRevoked: boolean } | null {
  const found = readRotations(folder).findLast(({ signed }) => signed.statement.old_kid === kid);
  return found ? { isRevoked: found.is_revoked } : null;
}

const listSealingFiles = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => EARLIER_SEALING_KEY.test(name))
    .sort();

function readRotations(folder: string): Rotations {
  const file = join(folder, ROTATIONS_FILE);
  if (!existsSync(file)) return [];
  try {
    return Rotations.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (cause) {
    throw new StartError(
      `${file} cannot be read: put back what was in it; or remove it, and the tokens of earlier keys are refused`,
      { cause },
    );
  }
}

const readTokenKey = (folder: string) => readPrivateKey(join(folder, TOKEN_KEY_FILE), 'rsa');

function publicJwkOf(key: KeyObject): Jwk {
  return EvidenceJwk.parse(createPublicKey(key).export({ format: 'jwk' }));
}

/** RFC 7638, of an RSA key. */
function thumbprint({ e, kty, n }: Jwk): string {
  return createHash('sha256').update(canonicalize({ e, kty, n })).digest('base64url');
}
