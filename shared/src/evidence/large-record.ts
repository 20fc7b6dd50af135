/**
 * A record that no line of a package can hold: its hash and its size, without its bytes. A hash
 * alone would let an issuer withhold any record. So what is shown is the state of SHA-256 before the
 * last block, and the bytes of that block: SHA-256 ends with the length of what it hashed, and no
 * record of another size leads to the same hash. Proven by large-record.test.ts.
 */
import { z } from 'zod';
import { MAX_RECORD_BYTES } from '../ledger/ledger-record.ts';
import { Sha256Hex } from '../text.ts';

/** A record up to this size is shown whole, as it is or in base64. */
export const MAX_SHOWN_BYTES = 2 * MAX_RECORD_BYTES;

const BLOCK = 64;
/** Where the length begins in the last block. */
const LENGTH_AT = BLOCK - 8;
/** Hashed in one step. */
const STEP_BYTES = 512 * 1024;

/** A line of events.ndjson, and the record of a boundary. */
export const LargeRecord = z.strictObject({
  large_record: z.strictObject({
    /** Bytes of the record. */
    size: z.int().min(MAX_SHOWN_BYTES + 1),
    /** Of SHA-256, after all whole blocks of 0x00 and the record. */
    state: Sha256Hex,
    /** What follows them, in base64: fewer than 64 bytes. */
    rest: z.string().max(84),
  }),
});
export type LargeRecord = z.infer<typeof LargeRecord>;

/**
 * Describes a record without its bytes, in steps of some 20 ms each, between which a server can
 * answer others.
 *
 * @param bytes more than MAX_SHOWN_BYTES
 * @throws RangeError for fewer
 */
export function* stepsOfLargeRecord(bytes: Uint8Array): Generator<undefined, LargeRecord> {
  const size = bytes.byteLength;
  if (size <= MAX_SHOWN_BYTES) throw new RangeError('such a record is shown whole');
  const hashed = Buffer.concat([Buffer.alloc(1), bytes]);
  const whole = hashed.length - (hashed.length % BLOCK);
  let state: Uint32Array = INITIAL;
  for (let at = 0; at < whole; at += STEP_BYTES) {
    if (at > 0) yield;
    state = compress(state, hashed.subarray(at, Math.min(at + STEP_BYTES, whole)));
  }
  const rest = hashed.subarray(whole).toString('base64');
  return { large_record: { size, state: toHex(state), rest } };
}

/**
 * The hash of a record that is described so, as `recordHash` gives it.
 *
 * @throws RangeError where the rest does not belong to the size
 */
export function hashOfLargeRecord({ large_record: { size, state, rest } }: LargeRecord): string {
  const end = Buffer.from(rest, 'base64');
  const hashed = size + 1;
  if (end.toString('base64') !== rest || end.length !== hashed % BLOCK) {
    throw new RangeError('the rest does not belong to the size');
  }
  const blocks = Buffer.alloc(end.length < LENGTH_AT ? BLOCK : 2 * BLOCK);
  blocks.set(end);
  blocks[end.length] = 0x80;
  blocks.writeBigUInt64BE(BigInt(hashed) * 8n, blocks.length - 8);
  const words = Buffer.from(state, 'hex');
  return toHex(
    compress(
      INITIAL.map((_, i) => words.readUInt32BE(i * 4)),
      blocks,
    ),
  );
}

/** FIPS 180-4, 4.2.2 and 5.3.3: the fractions of roots of the first primes, 32 bits of each. */
const PRIMES = firstPrimes(64);
const ROUND = Uint32Array.from(PRIMES, (p) => fraction(p, 3n));
const INITIAL = Uint32Array.from(PRIMES.slice(0, 8), (p) => fraction(p, 2n));

function firstPrimes(count: number): number[] {
  const primes: number[] = [];
  for (let n = 2; primes.length < count; n++) if (primes.every((p) => n % p !== 0)) primes.push(n);
  return primes;
}

function fraction(prime: number, degree: bigint): number {
  const target = BigInt(prime) << (32n * degree);
  let root = 0n;
  for (let bit = 1n << 36n; bit > 0n; bit >>= 1n) {
    if ((root + bit) ** degree <= target) root += bit;
  }
  return Number(root & 0xffff_ffffn);
}

const rotated = (word: number, by: number): number => (word >>> by) | (word << (32 - by));

/** FIPS 180-4, 6.2.2. */
function compress(state: Uint32Array, blocks: Buffer): Uint32Array {
  const words = new Uint32Array(64);
  const sum = Uint32Array.from(state);
  for (let at = 0; at < blocks.length; at += BLOCK) {
    for (let t = 0; t < 16; t++) words[t] = blocks.readUInt32BE(at + t * 4);
    for (let t = 16; t < 64; t++) {
      const before = wordAt(words, t - 2);
      const long = wordAt(words, t - 15);
      const low = rotated(long, 7) ^ rotated(long, 18) ^ (long >>> 3);
      const high = rotated(before, 17) ^ rotated(before, 19) ^ (before >>> 10);
      words[t] = high + wordAt(words, t - 7) + low + wordAt(words, t - 16);
    }
    let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = sum;
    for (let t = 0; t < 64; t++) {
      const choice = (e & f) ^ (~e & g);
      const majority = (a & b) ^ (a & c) ^ (b & c);
      const ofE = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25);
      const ofA = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22);
      const first = (h + ofE + choice + wordAt(ROUND, t) + wordAt(words, t)) | 0;
      h = g;
      g = f;
      f = e;
      e = (d + first) | 0;
      d = c;
      c = b;
      b = a;
      a = (first + ofA + majority) | 0;
    }
    for (const [i, word] of [a, b, c, d, e, f, g, h].entries()) sum[i] = wordAt(sum, i) + word;
  }
  return sum;
}

const wordAt = (words: Uint32Array, i: number): number => words[i] as number;

function toHex(words: Uint32Array): string {
  const bytes = Buffer.alloc(words.length * 4);
  for (const [i, word] of words.entries()) bytes.writeUInt32BE(word, i * 4);
  return bytes.toString('hex');
}
