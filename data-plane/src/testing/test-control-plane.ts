/**
 * A control plane for tests: the outer boundary of a data plane. It checks what the real one
 * checks (the signature, the chain, compare-and-set) and fails loudly, and it can be away.
 */
import type { KeyObject } from 'node:crypto';
import type {
  BundleDownload,
  ControlPlaneLink,
  FeedPage,
  Heartbeat,
} from '@governance/shared/channel/channels';
import { AppError } from '@governance/shared/errors';
import {
  type BatchReceipt,
  isBatchSignedBy,
  type SignedBatch,
} from '@governance/shared/ledger/audit-batch';
import { type ChainPosition, recordHash, verifyLink } from '@governance/shared/ledger/hash-chain';
import { type LedgerRecord, parseRecord } from '@governance/shared/ledger/ledger-record';
import { merkleRoot } from '@governance/shared/ledger/merkle';
import { createTestFeed, type TestFact, type TestFeedSigner } from './test-feed.ts';

const EMPTY_LOG = { note: null, keys: [], rotations: [], log_epochs: [], consistency: null };

export function createTestControlPlane(options: {
  tenantId: string;
  deploymentId: string;
  publicKey: KeyObject;
  feedSigner?: TestFeedSigner;
  now?: () => number;
  /** What is shown of the log; an empty one unless given. */
  readLog?: ControlPlaneLink['readLog'];
}) {
  const feed = createTestFeed({
    tenantId: options.tenantId,
    ...(options.feedSigner && { signer: options.feedSigner }),
    ...(options.now && { now: options.now }),
  });
  const records: LedgerRecord[] = [];
  const hashes = new Map<string, string>();
  const heartbeats: Heartbeat[] = [];
  const changed = new Set<() => void>();
  let bundle: BundleDownload | null = null;
  let position: ChainPosition | null = null;
  let away = false;
  let loseReceipts = 0;
  let batches = 0;
  let snapshots = 0;

  function announce(): void {
    for (const wake of [...changed]) wake();
  }

  function reach(): void {
    if (away) throw new AppError('UNAVAILABLE', 'the control plane is away');
  }

  async function waitForChange(ms: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        changed.delete(end);
        if (signal.aborted) reject(signal.reason);
        else resolve();
      };
      const timer = setTimeout(end, ms);
      changed.add(end);
      signal.addEventListener('abort', end, { once: true });
    });
    reach();
  }

  function fork(): AppError {
    return conflict('stream_fork', ['records', 1]);
  }

  function gap(): AppError {
    return conflict('stream_gap', ['stream', position?.epoch ?? 1, (position?.seq ?? 0) + 1]);
  }

  function store({ header, signature, records: given }: SignedBatch): BatchReceipt['status'] {
    const invalid = (what: string) => new AppError('VALIDATION_FAILED', what);
    if (header.tenant_id !== options.tenantId || header.stream !== options.deploymentId) {
      throw invalid('of another stream');
    }
    if (!isBatchSignedBy(options.publicKey, header, signature)) throw invalid('the signature');
    if (given.length > 500 || given.length !== header.last_seq - header.first_seq + 1) {
      throw invalid('the count');
    }
    if (merkleRoot(given.map(recordHash)) !== header.event_root) throw invalid('the root');
    // What is stored is acknowledged again, also where the batch goes on behind it.
    const storedHash = (index: number) => hashes.get(`${header.epoch}/${header.first_seq + index}`);
    const known = given.findIndex((bytes, index) => storedHash(index) !== recordHash(bytes));
    if (known === -1) return 'already_stored';
    if (storedHash(known) !== undefined) throw fork();
    const fresh = given.slice(known);
    const sameEpoch = position?.epoch === header.epoch;
    const next = sameEpoch ? (position?.seq ?? 0) + 1 : 1;
    const isNextEpoch = header.epoch === (position?.epoch ?? 0) + 1;
    if (header.first_seq + known !== next || !(sameEpoch || isNextEpoch)) throw gap();
    const [first] = fresh;
    const started = first && parseRecord(first);
    const previous = started?.type === 'epoch_start' ? started.previous : null;
    if (previous && previous.last_seq > (position?.seq ?? 0)) throw gap();
    const previousHead = known === 0 ? header.prev_head : storedHash(known - 1);
    if (previousHead !== (position?.head ?? '0'.repeat(64))) throw fork();
    for (const bytes of fresh) {
      const record = parseRecord(bytes);
      const previous = record.type === 'epoch_start' ? record.previous : undefined;
      const { after, broken } = verifyLink(position, { ...record, previous, bytes });
      if (broken) throw fork();
      position = after;
      records.push(record);
      hashes.set(`${record.epoch}/${record.seq}`, after.head);
    }
    if (position?.head !== header.head) throw invalid('the head');
    return 'accepted';
  }

  const link: ControlPlaneLink = {
    pullBundle: async ({ digest, waitMs, signal }) => {
      reach();
      if (!bundle || bundle.digest === digest) await waitForChange(waitMs, signal);
      return bundle && bundle.digest !== digest ? bundle : null;
    },
    readFeed: async ({ waitMs, signal, ...request }): Promise<FeedPage> => {
      reach();
      const page = feed.page(request);
      if (page.entries.length > 0) return page;
      await waitForChange(waitMs, signal);
      return feed.page(request);
    },
    async *readSnapshot({ signal }) {
      reach();
      snapshots++;
      const pages = feed.snapshot();
      for (;;) {
        const next = await pages.next();
        reach();
        signal.throwIfAborted();
        if (next.done) return next.value;
        yield next.value;
      }
    },
    heartbeat: async (body) => {
      reach();
      heartbeats.push(body);
      const { epoch = 1, seq = 0 } = position ?? {};
      const next = { epoch, seq: seq + 1 };
      return { received: true, timestamp: new Date().toISOString(), next };
    },
    shipBatch: async (batch) => {
      reach();
      batches++;
      const status = store(batch);
      if (loseReceipts > 0) {
        loseReceipts--;
        throw new AppError('UNAVAILABLE', 'the receipt was lost');
      }
      const { stream, epoch, last_seq, head } = batch.header;
      return { status, stream, epoch, last_seq, head };
    },
    readLog: async (request) => {
      reach();
      return options.readLog?.(request) ?? EMPTY_LOG;
    },
    shipPayloads: async ({ payloads }) => {
      reach();
      return { results: payloads.map(() => 'stored') };
    },
  };

  return {
    link,
    records,
    heartbeats,
    feed,
    batches: () => batches,
    snapshots: () => snapshots,
    /** Adds facts to the feed. @returns the seq of the last */
    publish(...facts: TestFact[]): number {
      const seq = feed.publish(...facts);
      announce();
      return seq;
    },
    announce,
    offer(next: BundleDownload): void {
      bundle = next;
      feed.setBundle({ revision: next.revision, digest: next.digest });
      announce();
    },
    setAway(value: boolean): void {
      away = value;
      announce();
    },
    loseReceipts(count: number): void {
      loseReceipts = count;
    },
    /** As a control plane restored from a backup that held so many records. */
    restore(count: number): void {
      records.splice(count);
      position = null;
      const kept = new Set(records.map(({ epoch, seq }) => `${epoch}/${seq}`));
      for (const place of hashes.keys()) if (!kept.has(place)) hashes.delete(place);
      const last = records.at(-1);
      if (!last) return;
      const head = hashes.get(`${last.epoch}/${last.seq}`) ?? '';
      position = { epoch: last.epoch, seq: last.seq, head };
    },
    /** As a control plane that took another writer's records for this stream. */
    fork(): void {
      if (position) position = { ...position, head: 'f'.repeat(64) };
    },
  };
}

function conflict(type: string, loc: (string | number)[]): AppError {
  return new AppError('BATCH_CONFLICT', undefined, { errors: [{ loc, msg: type, type }] });
}

export type TestControlPlane = ReturnType<typeof createTestControlPlane>;

/** Waits until a condition holds. @throws when it does not within 30 s, on a busy machine too */
export async function until(condition: () => boolean): Promise<void> {
  const end = performance.now() + 30_000;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`never came true: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
