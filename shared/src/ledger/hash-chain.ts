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

/** A record's position, as far as it can be read. */
export interface LinkPlace extends Pick<ChainLink, 'epoch' | 'seq' | 'previous'> {
  /** Undefined where the record cannot be read: its link is then not checked. */
  prev_hash: string | undefined;
}

/**
 * What is wrong with a record's place behind the one before it: at most one break a kind, the epoch
 * first. The one implementation of chain.epochs, chain.sequence and chain.links, for ledgers,
 * packages and the control plane.
 *
 * @param before the position before it, or null at the start of the stream
 */
export function findLinkBreaks(before: ChainPosition | null, link: LinkPlace): ChainBreak[] {
  const { epoch, seq } = link;
  const breaks: ChainBreak[] = [];
  const add = (kind: ChainBreakKind, expected: string, actual: string) => {
    if (expected !== actual) breaks.push({ kind, epoch, seq, expected, actual });
  };
  if (before === null || epoch !== before.epoch) {
    const expected = before ? `${before.epoch}/${before.seq}/${before.head}` : 'none';
    const named = link.previous
      ? `${link.previous.epoch}/${link.previous.last_seq}/${link.previous.head}`
      : 'none';
    if (epoch === (before?.epoch ?? 0) + 1) add('epoch', expected, named);
    else breaks.push({ kind: 'epoch', epoch, seq, expected, actual: named });
    add('sequence', '1', String(seq));
  } else {
    add('sequence', String(before.seq + 1), String(seq));
  }
  if (link.prev_hash !== undefined) add('link', before?.head ?? GENESIS_HASH, link.prev_hash);
  return breaks;
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
  const { epoch, seq } = link;
  const actual = recordHash(link.bytes);
  // Continuing from the stored hash keeps one edited record from breaking every later link.
  const after = { epoch, seq, head: storedHash ?? actual };
  if (storedHash !== undefined && storedHash !== actual) {
    return { after, broken: { kind: 'content', epoch, seq, expected: storedHash, actual } };
  }
  return { after, broken: findLinkBreaks(before, link)[0] ?? null };
}
