/**
 * The feed of a control plane for tests: digests, signed statements, compaction, snapshots and
 * rewinds as the real one has them (shared/src/channel/feed-chain.ts, signed-statement.ts).
 */
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { FeedPage, FeedRequest } from '@governance/shared/channel/channels';
import type { FeedEntry } from '@governance/shared/channel/facts';
import {
  createSnapshotDigest,
  FEED_START,
  feedDigest,
} from '@governance/shared/channel/feed-chain';
import {
  type DatedSnapshotEnd,
  digestStatement,
  type FreshnessStatement,
  type SignedClock,
  type SignedFreshness,
  type SignedPresent,
  type SignedRecognition,
  signStatement,
} from '@governance/shared/channel/signed-statement';
import { AppError } from '@governance/shared/errors';

export type TestFact = { kind: string; key: string; value: unknown };

export function createTestFeedSigner(kid = 'feed-1') {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const jwk = { ...publicKey.export({ format: 'jwk' }), kty: 'OKP', kid, alg: 'EdDSA' };
  const signer = { key: privateKey as KeyObject, kid };
  const sign = (statement: FreshnessStatement) => signStatement(signer, statement);
  return { ...signer, sign, public: jwk };
}
export type TestFeedSigner = ReturnType<typeof createTestFeedSigner>;

const SNAPSHOT_PAGE = 100;

export function createTestFeed(options: {
  tenantId: string;
  signer?: TestFeedSigner;
  now?: () => number;
}) {
  const signer = options.signer ?? createTestFeedSigner();
  const now = options.now ?? Date.now;
  let entries: FeedEntry[] = [];
  let digests: string[] = [FEED_START];
  let compacted = 0;
  let bundle: { revision: number; digest: string } | null = null;

  /** Of the clock that dates the statements. */
  let generation = 0;

  const head = () => entries.length;
  const digestAt = (seq: number) => digests[seq] ?? '';

  function statement(time = now()): SignedFreshness {
    return signStatement(signer, {
      type: 'freshness',
      v: 1,
      tenant_id: options.tenantId,
      bundle,
      feed_seq: head(),
      feed_digest: digestAt(head()),
      time: new Date(time).toISOString(),
    });
  }

  const recognition = (deploymentId: string, time = now()): SignedRecognition =>
    signStatement(signer, {
      type: 'recognition',
      v: 1,
      tenant_id: options.tenantId,
      deployment_id: deploymentId,
      time: new Date(time).toISOString(),
    });

  /** What names the clock of a statement; nothing for generation 0. */
  function clockOf(statement: SignedPresent, of = generation): { clock?: SignedClock } {
    if (of === 0) return {};
    const clock = signStatement(signer, {
      type: 'clock',
      v: 1,
      tenant_id: options.tenantId,
      generation: of,
      statement_digest: digestStatement(statement),
    });
    return { clock };
  }

  /** What is valid now, by (kind, key). */
  function valid(): FeedEntry[] {
    const newest = new Map(entries.map((entry) => [`${entry.kind}\n${entry.key}`, entry]));
    const order = (a: FeedEntry, b: FeedEntry) =>
      `${a.kind}\n${a.key}` < `${b.kind}\n${b.key}` ? -1 : 1;
    return [...newest.values()].filter(({ value }) => value !== null).sort(order);
  }

  return {
    signer,
    head,
    digestAt,
    statement,
    recognition,
    clockOf,
    valid,
    /** As when an operator accepts a clock. */
    acceptClock(next = generation + 1): void {
      generation = next;
    },
    setBundle(next: { revision: number; digest: string }): void {
      bundle = next;
    },
    /** @returns the seq of the last */
    publish(...facts: TestFact[]): number {
      for (const fact of facts) {
        const entry = { seq: entries.length + 1, ...fact };
        entries.push(entry);
        digests.push(feedDigest(digestAt(entry.seq - 1), entry));
      }
      return head();
    },
    /** Removes what was superseded up to here: who stands before it reads a snapshot. */
    compact(seq = head()): void {
      compacted = Math.max(compacted, seq);
    },
    /** As a control plane restored from a backup that was made at this seq. */
    rewind(seq: number): void {
      entries = entries.slice(0, seq);
      digests = digests.slice(0, seq + 1);
      compacted = Math.min(compacted, seq);
    },
    page({ cursor, digest, limit }: Pick<FeedRequest, 'cursor' | 'digest' | 'limit'>): FeedPage {
      if (cursor < compacted || cursor > head() || digest !== digestAt(cursor)) {
        throw new AppError('FEED_RESET');
      }
      const page = entries.slice(cursor, cursor + limit);
      const signed = statement();
      return {
        entries: page,
        cursor: page.at(-1)?.seq ?? cursor,
        head: head(),
        statement: signed,
        ...clockOf(signed.statement),
      };
    },
    async *snapshot(): AsyncGenerator<FeedEntry[], DatedSnapshotEnd, undefined> {
      const all = valid();
      const sum = createSnapshotDigest();
      for (const entry of all) sum.add(entry);
      const end = signStatement(signer, {
        type: 'snapshot_end',
        v: 1,
        tenant_id: options.tenantId,
        feed_seq: head(),
        feed_digest: digestAt(head()),
        count: sum.count(),
        entries_digest: sum.hex(),
        time: new Date(now()).toISOString(),
      });
      for (let at = 0; at < all.length; at += SNAPSHOT_PAGE) {
        await Promise.resolve();
        yield all.slice(at, at + SNAPSHOT_PAGE);
      }
      return { ...end, ...clockOf(end.statement) };
    },
  };
}
export type TestFeed = ReturnType<typeof createTestFeed>;
