/**
 * Asking a witness to cosign a checkpoint (C2SP tlog-witness, `add-checkpoint`), and the key by which
 * its line is verified (C2SP signed-note's verifier keys). Proven by witness-protocol.test.ts.
 */
import { z } from 'zod';
import { COSIGNATURE_V1, isCosignedBy, noteKeyHash, parseSignature } from './checkpoint.ts';
import { readEd25519Key } from './ed25519.ts';
import type { WitnessKey } from './trust-anchor.ts';

/** C2SP tlog-witness. */
const MAX_PROOF = 63;
/** Signature lines of an answer that are read, at most. */
const MAX_LINES = 20;

/**
 * Reads a verifier key: `<name>+<hash>+<base64 of 0x04 ‖ key>`.
 *
 * @throws SyntaxError when it is not one of an Ed25519 cosigner, or its hash is another key's
 */
export function parseWitnessKey(vkey: string): WitnessKey {
  const [, name, keyHash, text] =
    /^([\x21-\x2a\x2c-\x7e]{1,200})\+([0-9a-f]{8})\+([A-Za-z0-9+/]{43,44}={0,2})$/.exec(vkey) ?? [];
  const bytes = Buffer.from(text ?? '', 'base64');
  if (name === undefined || bytes.length !== 33 || bytes[0] !== COSIGNATURE_V1) {
    throw new SyntaxError('must be the verifier key of an Ed25519 cosigner (type 0x04)');
  }
  const key = { kty: 'OKP', crv: 'Ed25519', x: bytes.subarray(1).toString('base64url') };
  const own = noteKeyHash(name, readEd25519Key(key), COSIGNATURE_V1).toString('hex');
  if (own !== keyHash) throw new SyntaxError('has the hash of another key');
  return { name, key };
}

/**
 * The body of a request.
 *
 * @param path the consistency proof from `old` to the note's size, in hexadecimal
 * @throws RangeError when the proof is longer than any
 */
export function writeAddCheckpoint(old: number, path: readonly string[], note: string): string {
  if (path.length > MAX_PROOF) throw new RangeError('the proof is too long');
  const proof = path.map((node) => `${Buffer.from(node, 'hex').toString('base64')}\n`).join('');
  return `old ${old}\n${proof}\n${note}`;
}

const TreeSize = z.string().regex(/^(0|[1-9]\d{0,15})\n$/);

/**
 * The size that a 409 names.
 *
 * @param text caller-controlled
 * @throws SyntaxError when it is none
 */
export function parseTreeSize(text: string): number {
  const size = Number(TreeSize.safeParse(text).data ?? Number.NaN);
  if (!Number.isSafeInteger(size)) throw new SyntaxError('the answer is no size');
  return size;
}

/**
 * The witness's own line among those of an answer; lines of unknown keys are passed over.
 *
 * @param text caller-controlled
 * @param body the signed text of the checkpoint
 * @returns without its line feed; undefined where none is valid
 */
export function findCosignature(
  text: string,
  body: string,
  witness: WitnessKey,
): string | undefined {
  return text.split('\n', MAX_LINES).find((line) => {
    try {
      return isCosignedBy(body, parseSignature(line), witness);
    } catch {
      return false;
    }
  });
}
