/**
 * Checkpoints of a tenant's log: C2SP tlog-checkpoint, a signed note (C2SP signed-note) with the
 * log's origin, size and root, and the time as an extension line. Witnesses add lines of their own
 * (C2SP tlog-cosignature). Proven by checkpoint.test.ts.
 */
import { createPublicKey, hash, type KeyObject, sign, verify } from 'node:crypto';
import { z } from 'zod';
import { Sha256Hex, Timestamp } from '../text.ts';
import { type PublicJwk, readEd25519Key } from './ed25519.ts';

/** Characters of a note, at most. */
const MAX_NOTE_LENGTH = 64 * 1024;
const MAX_SIGNATURES = 100;
/** C2SP signed-note: signature types. */
const ED25519 = 0x01;
export const COSIGNATURE_V1 = 0x04;
const DASH = '\u2014';

export interface Checkpoint {
  origin: string;
  size: number;
  /** Lower-case hexadecimal. */
  root: string;
  /** ISO 8601 UTC with milliseconds. */
  time: string;
}

export interface NoteSignature {
  name: string;
  /** The first four bytes of the key id. Lower-case hexadecimal. */
  keyHash: string;
  bytes: Buffer;
}

export interface SignedCheckpoint {
  checkpoint: Checkpoint;
  /** The signed text: every line with its line feed. */
  body: string;
  signatures: NoteSignature[];
}

/** The origin line of a tenant's log in one log epoch. */
export function logOrigin(tenantId: string, epoch: number): string {
  return `agent-governance/log/${tenantId}/${epoch}`;
}

/** The tenant and epoch of an origin; undefined for an origin of another form. */
export function readLogOrigin(origin: string): { tenantId: string; epoch: number } | undefined {
  const [, tenantId, epoch] =
    /^agent-governance\/log\/([^/\s]{1,100})\/([1-9]\d{0,8})$/.exec(origin) ?? [];
  return tenantId === undefined ? undefined : { tenantId, epoch: Number(epoch) };
}

const Size = z.string().regex(/^(0|[1-9]\d{0,15})$/);

/** The signed text of a checkpoint. */
export function checkpointBody({ origin, size, root, time }: Checkpoint): string {
  return `${origin}\n${size}\n${Buffer.from(root, 'hex').toString('base64')}\ntime ${time}\n`;
}

/**
 * Writes and signs a checkpoint.
 *
 * @param key an Ed25519 private key
 * @returns the note's text
 */
export function signCheckpoint(checkpoint: Checkpoint, key: KeyObject): string {
  const body = checkpointBody(checkpoint);
  const keyHash = noteKeyHash(checkpoint.origin, createPublicKey(key), ED25519);
  const signature = Buffer.concat([keyHash, sign(null, Buffer.from(body), key)]);
  return `${body}\n${DASH} ${checkpoint.origin} ${signature.toString('base64')}\n`;
}

/**
 * Reads a checkpoint; who signed it is for `isCheckpointSignedBy`.
 *
 * @param note caller-controlled
 * @throws SyntaxError when it is not a checkpoint of this format
 */
export function parseCheckpoint(note: string): SignedCheckpoint {
  const at = note.length > MAX_NOTE_LENGTH ? -1 : note.indexOf('\n\n');
  if (at < 0 || !note.endsWith('\n')) throw new SyntaxError('the note has no signatures');
  const body = note.slice(0, at + 1);
  const signatures = note
    .slice(at + 2, -1)
    .split('\n', MAX_SIGNATURES + 1)
    .map(parseSignature);
  if (signatures.length > MAX_SIGNATURES) throw new SyntaxError('the note has too many signatures');
  return { checkpoint: parseBody(body), body, signatures };
}

function parseBody(body: string): Checkpoint {
  const lines = body.slice(0, -1).split('\n');
  const [origin, size, root, time] = lines;
  const rootBytes = Buffer.from(root ?? '', 'base64');
  const checkpoint = {
    origin: origin ?? '',
    size: Number(Size.safeParse(size).data ?? Number.NaN),
    root: rootBytes.toString('hex'),
    time: Timestamp.safeParse(time?.slice('time '.length)).data ?? '',
  };
  const isWhole = lines.length === 4 && origin !== '' && Number.isSafeInteger(checkpoint.size);
  // Serialised again it is the same text: no line has two readings.
  if (!isWhole || rootBytes.length !== 32 || checkpointBody(checkpoint) !== body) {
    throw new SyntaxError('the note is no checkpoint');
  }
  return checkpoint;
}

/**
 * Reads a signature line, without its line feed.
 *
 * @throws SyntaxError
 */
export function parseSignature(line: string): NoteSignature {
  const [dash, name, text, ...rest] = line.split(' ', 5);
  const bytes = Buffer.from(text ?? '', 'base64');
  if (dash !== DASH || !name || rest.length > 0 || bytes.toString('base64') !== text) {
    throw new SyntaxError('a line is no signature of a note');
  }
  if (bytes.length < 5) throw new SyntaxError('a signature is too short');
  return { name, keyHash: bytes.subarray(0, 4).toString('hex'), bytes: bytes.subarray(4) };
}

/**
 * The key's id in notes: SHA-256(name ‖ LF ‖ type ‖ key), the first four bytes (C2SP signed-note).
 */
export function noteKeyHash(name: string, key: KeyObject, type: number = ED25519): Buffer {
  const raw = Buffer.from(String(key.export({ format: 'jwk' }).x), 'base64url');
  const parts = Buffer.concat([Buffer.from(`${name}\n`), Buffer.from([type]), raw]);
  return hash('sha256', parts, 'buffer').subarray(0, 4);
}

/** Whether the log's own line on a checkpoint was made with this key. Never throws. */
export function isCheckpointSignedBy(signed: SignedCheckpoint, jwk: PublicJwk): boolean {
  const { origin } = signed.checkpoint;
  try {
    const key = readEd25519Key(jwk);
    const keyHash = noteKeyHash(origin, key).toString('hex');
    return signed.signatures.some(
      ({ name, bytes, ...line }) =>
        name === origin &&
        line.keyHash === keyHash &&
        verify(null, Buffer.from(signed.body), key, bytes),
    );
  } catch {
    return false;
  }
}

/** Whether a line is this witness's cosignature of a checkpoint's body. Never throws. */
export function isCosignedBy(
  body: string,
  line: NoteSignature,
  witness: { name: string; key: PublicJwk },
): boolean {
  if (line.name !== witness.name) return false;
  try {
    const key = readEd25519Key(witness.key);
    const keyHash = noteKeyHash(witness.name, key, COSIGNATURE_V1).toString('hex');
    if (line.keyHash !== keyHash) return false;
    const time = line.bytes.readBigUInt64BE(0);
    const cosigned = Buffer.from(`cosignature/v1\ntime ${time}\n${body}`);
    return verify(null, cosigned, key, line.bytes.subarray(8));
  } catch {
    return false;
  }
}

/** A checkpoint's position, as anchors and statements name it. */
export const LogPlace = z.strictObject({
  epoch: z.int().positive(),
  size: z.int().nonnegative(),
  root: Sha256Hex,
});
export type LogPlace = z.infer<typeof LogPlace>;
