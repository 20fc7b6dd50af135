/** What the tests of the feed share: a key that signs statements, facts, and a reader of the feed. */
import { generateKeyPairSync } from 'node:crypto';
import type { FeedEntry, NewFact } from '@governance/shared/channel/facts';
import {
  createSnapshotDigest,
  FEED_START,
  feedDigest,
} from '@governance/shared/channel/feed-chain';
import {
  type SignedSnapshotEnd,
  type StatementKey,
  verifyStatement,
} from '@governance/shared/channel/signed-statement';
import { AppError } from '@governance/shared/errors';
import type { FeedReader } from '../feed/feed-reader.ts';
import type { StatementSigner } from '../feed/freshness-statements.ts';

export function aFeedSigner(): { signer: StatementSigner; keys: StatementKey[] } {
  const { privateKey: key, publicKey } = generateKeyPairSync('ed25519');
  const kid = 'feed-key';
  const jwk = { ...publicKey.export({ format: 'jwk' }), kty: 'OKP', kid };
  return { signer: async () => ({ key, kid }), keys: [jwk] };
}

/** The fact of a role whose key has its number, with an optional name. */
export function roleFact(n: number, name = `role ${n}`): Extract<NewFact, { kind: 'role' }> {
  const id = `0190aaaa-0000-7000-8000-${String(n).padStart(12, '0')}`;
  const value = { id, name, permissions: [], resource_scopes: [] };
  return { kind: 'role', key: id, value };
}

export interface ReadSnapshot {
  pages: FeedEntry[][];
  end: SignedSnapshotEnd;
}

/** Reads a whole snapshot, and checks what a data plane would: signature, count, digest. */
export async function readSnapshot(
  reader: Pick<FeedReader, 'readSnapshot'>,
  trust: { tenantId: string; keys: StatementKey[] },
  signal = new AbortController().signal,
): Promise<ReadSnapshot> {
  const pages: FeedEntry[][] = [];
  const sum = createSnapshotDigest();
  const reading = reader.readSnapshot({ tenantId: trust.tenantId, signal });
  let step = await reading.next();
  for (; !step.done; step = await reading.next()) {
    for (const entry of step.value) sum.add(entry);
    pages.push(step.value);
  }
  const end = verifyStatement(step.value, trust);
  if (end.count !== sum.count() || end.entries_digest !== sum.hex()) {
    throw new Error('the snapshot does not match its end');
  }
  return { pages, end: step.value };
}

/** Reads one tenant's feed as a data plane does, into a map. */
export interface Follower {
  facts: Map<string, unknown>;
  cursor: number;
  /** Snapshots that it had to read. */
  resets: number;
  /** Reads one page, or a snapshot where one is required. @returns whether it is up to date */
  step(limit: number): Promise<boolean>;
}

export function createFollower(
  reader: Pick<FeedReader, 'readFeed' | 'readSnapshot'>,
  trust: { tenantId: string; keys: StatementKey[] },
): Follower {
  let digest = FEED_START;
  const follower: Follower = {
    facts: new Map(),
    cursor: 0,
    resets: 0,
    step: async (limit) => {
      const { tenantId } = trust;
      const { signal } = new AbortController();
      try {
        const { cursor } = follower;
        const page = await reader.readFeed({ tenantId, cursor, digest, limit, waitMs: 0, signal });
        const said = verifyStatement(page.statement, trust);
        for (const entry of page.entries) {
          if (entry.seq !== follower.cursor + 1) throw new Error('an entry is missing');
          apply(follower.facts, entry);
          digest = feedDigest(digest, entry);
          follower.cursor = entry.seq;
        }
        const isAtHead = follower.cursor === said.feed_seq;
        if (isAtHead && digest !== said.feed_digest) throw new Error('the digest differs');
        return isAtHead;
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'FEED_RESET') throw error;
        const { pages, end } = await readSnapshot(reader, trust);
        follower.facts.clear();
        for (const entry of pages.flat()) apply(follower.facts, entry);
        follower.cursor = end.statement.feed_seq;
        digest = end.statement.feed_digest;
        follower.resets++;
        return false;
      }
    },
  };
  return follower;
}

/** What a replica does with an entry. */
export function apply(
  facts: Map<string, unknown>,
  { kind, key, value }: Omit<FeedEntry, 'seq'>,
): void {
  if (value === null) facts.delete(`${kind}/${key}`);
  else facts.set(`${kind}/${key}`, value);
}
