/**
 * The tamper-evident chain of one stream: record n+1 carries the hash of record n. The hash of a
 * record is also its RFC 6962 leaf, so that a Merkle tree can be laid over the same bytes.
 * Proven by hash-chain.test.ts: any one-byte edit, deletion, exchange or splice is found.
 */
import { hash as digest } from 'node:crypto';

/** `prev_hash` of the very first record of a stream: no record came before. */
export const GENESIS_HASH = '0'.repeat(64);

/** 0x00 ‖ bytes, filled anew for each record: ingest computes a hash for every one. */
const leaf = Buffer.alloc(256 * 1024 + 1);

/**
 * The hash of a record.
 *
 * @param bytes the record's canonical JSON as UTF-8, verbatim
 * @returns SHA-256(0x00 || bytes), lower-case hexadecimal (RFC 6962 section 2.1)
 */
export function recordHash(bytes: Uint8Array): string {
  const size = bytes.byteLength + 1;
  const filled = size <= leaf.length ? leaf : Buffer.alloc(size);
  filled.set(bytes, 1);
  return digest('sha256', filled.subarray(0, size), 'hex');
}

/**
 * The hash of a record that is at hand as text: that of its UTF-8 bytes.
 *
 * @param text the record's canonical JSON, well formed
 */
export function textHash(text: string): string {
  return digest('sha256', `\u0000${text}`, 'hex');
}

/** What a verifier needs of a stored record. */
export interface ChainLink {
  epoch: number;
  seq: number;
  prev_hash: string;
  /** Only on the first record of an epoch: the end of the epoch before, or null for the first. */
  previous?: { epoch: number; last_seq: number; head: string } | null;
  bytes: Uint8Array;
}

export interface ChainPosition {
  epoch: number;
  seq: number;
  head: string;
}

export type ChainBreakKind = 'sequence' | 'link' | 'epoch' | 'content' | 'head';

export interface ChainBreak {
  kind: ChainBreakKind;
  epoch: number;
  seq: number;
  expected: string;
  actual: string;
}

/**
 * Checks that a record continues the chain.
 *
 * @param before the last verified position, or null at the start of the stream
 * @param link the record that claims to follow
 * @param storedHash the hash kept beside the record, if any: it must be that of the bytes
 * @returns the position after it, or the first thing that is wrong. A break never stops the
 *   caller: `after` is where to go on from, so that one edit is reported once.
 */
export function verifyLink(
  before: ChainPosition | null,
  link: ChainLink,
  storedHash?: string,
): { after: ChainPosition; broken: ChainBreak | null } {
  const actualHash = recordHash(link.bytes);
  // Going on from the stored hash keeps one edited record from breaking every later link.
  const after = { epoch: link.epoch, seq: link.seq, head: storedHash ?? actualHash };
  const at = (kind: ChainBreakKind, expected: string, actual: string) => ({
    after,
    broken: { kind, epoch: link.epoch, seq: link.seq, expected, actual },
  });
  if (storedHash !== undefined && storedHash !== actualHash) {
    return at('content', storedHash, actualHash);
  }
  const startsEpoch = before === null || link.epoch !== before.epoch;
  if (startsEpoch) {
    const expected = before ? `${before.epoch}/${before.seq}/${before.head}` : 'none';
    const named = link.previous
      ? `${link.previous.epoch}/${link.previous.last_seq}/${link.previous.head}`
      : 'none';
    if (link.epoch !== (before?.epoch ?? 0) + 1 || named !== expected) {
      return at('epoch', expected, named);
    }
    if (link.seq !== 1) return at('sequence', '1', String(link.seq));
  } else if (link.seq !== before.seq + 1) {
    return at('sequence', String(before.seq + 1), String(link.seq));
  }
  const expectedPrevious = before?.head ?? GENESIS_HASH;
  if (link.prev_hash !== expectedPrevious) return at('link', expectedPrevious, link.prev_hash);
  return { after, broken: null };
}
