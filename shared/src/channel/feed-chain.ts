/**
 * The digest that binds a cursor in a tenant's feed to everything before it. Two sides that agree
 * on (seq, digest) have read the same entries: a control plane that was restored from a backup, and
 * reused numbers, is detected at once. Proven by feed-chain.test.ts.
 */
import { createHash, hash } from 'node:crypto';
import { canonicalize } from '../json/canonical-json.ts';
import type { FeedEntry } from './facts.ts';

/** The digest before the first entry. */
export const FEED_START = '0'.repeat(64);

/**
 * The digest after an entry.
 *
 * @param previous the digest before it, lower-case hexadecimal
 * @returns SHA-256 of the RFC 8785 form of {previous, seq, kind, key, value}; a tombstone's value
 *   is null
 */
export function feedDigest(previous: string, { seq, kind, key, value }: FeedEntry): string {
  return hash('sha256', canonicalize({ previous, seq, kind, key, value: value ?? null }), 'hex');
}

/** Digests the entries of a snapshot in the order in which they are sent. */
export function createSnapshotDigest() {
  const sum = createHash('sha256');
  let count = 0;
  return {
    add: ({ seq, kind, key, value }: FeedEntry): void => {
      sum.update(`${canonicalize({ seq, kind, key, value: value ?? null })}\n`);
      count++;
    },
    count: (): number => count,
    /** SHA-256 over the RFC 8785 form of every entry, each followed by a line feed. */
    hex: (): string => sum.copy().digest('hex'),
  };
}
