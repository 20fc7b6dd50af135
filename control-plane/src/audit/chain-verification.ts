/**
 * Verifies every chain of a tenant against the heads that are kept apart from the records. A run
 * is shared by all who ask meanwhile, and its result is reused for a while that grows with what the
 * run cost, so that asking in a loop cannot keep the database busy with nothing else.
 */
import type { ChainPosition } from '@governance/shared/hash-chain';
import type { TenantDatabase } from '../platform/tenant-scope.ts';
import { systemScope } from '../platform/tenant-scope.ts';
import { walkBatches } from './batch-walk.ts';
import type { ChainBreakRecorder, FoundBreak } from './chain-breaks.ts';
import { chainStore, type StoredBatch, type StreamEnd, type StreamKind } from './chain-store.ts';
import {
  addBreak,
  type StoredRow,
  type StreamVerdict,
  showPosition,
  walkStream,
} from './chain-walk.ts';

export interface VerifiedStream {
  stream: string;
  kind: StreamKind;
  records: number;
  /** Of these, those in quarantine. */
  quarantined: number;
  end: ChainPosition | null;
  firstBreak: FoundBreak | null;
}

export interface Verification {
  valid: boolean;
  verifiedAt: Date;
  durationMs: number;
  recordsVerified: number;
  recordsQuarantined: number;
  streams: VerifiedStream[];
  /** The first of each stream's, at most MAX_KEPT a stream. */
  breaks: FoundBreak[];
  breakCount: number;
}

export interface ChainVerifier {
  /**
   * @param options.fresh whether to run now even if a recent result could be reused
   * @returns the result, and whether it is a reused one
   */
  verify(
    tenantId: string,
    options: { fresh: boolean },
  ): Promise<{ verification: Verification; cached: boolean }>;
}

/** The stream under which a break of the tenant's order of receipt is recorded. */
export const RECEIPT_STREAM = '00000000-0000-0000-0000-000000000000';

const REUSE_AT_LEAST_MS = 2_000;
const REUSE_TIMES_ITS_COST = 10;

export interface ChainVerifierDeps {
  db: Pick<TenantDatabase, 'inTenant'>;
  breaks: Pick<ChainBreakRecorder, 'record'>;
  now: () => Date;
}

export function createChainVerifier(deps: ChainVerifierDeps): ChainVerifier {
  const results = new Map<string, Verification>();
  const running = new Map<string, Promise<Verification>>();

  const run = (tenantId: string): Promise<Verification> => {
    const verification = verifyTenant(deps, tenantId)
      .then((result) => {
        results.set(tenantId, result);
        return result;
      })
      .finally(() => running.delete(tenantId));
    running.set(tenantId, verification);
    return verification;
  };

  return {
    verify: async (tenantId, { fresh }) => {
      const last = results.get(tenantId);
      if (!fresh && last) {
        const reuseMs = Math.max(REUSE_AT_LEAST_MS, last.durationMs * REUSE_TIMES_ITS_COST);
        const age = deps.now().getTime() - last.verifiedAt.getTime();
        // A result that found something is never reused: whoever repairs it wants to see that.
        if (last.valid && age >= 0 && age < reuseMs) return { verification: last, cached: true };
      }
      // A run that began before this request may have passed over what this one has to see.
      if (fresh) await running.get(tenantId)?.catch(() => undefined);
      return { verification: await (running.get(tenantId) ?? run(tenantId)), cached: false };
    },
  };
}

async function verifyTenant(deps: ChainVerifierDeps, tenantId: string): Promise<Verification> {
  const started = performance.now();
  const inStore = <T>(read: (store: ReturnType<typeof chainStore>) => Promise<T>) =>
    deps.db.inTenant(systemScope(tenantId), (tx) => read(chainStore(tx)));

  const verdicts = new Map<string, { kind: StreamKind; verdict: StreamVerdict }>();
  for (const end of await inStore((store) => store.readEnds())) {
    const pages = readPages(end, (after, last) =>
      inStore((store) => store.readPage(end.stream, after, last)),
    );
    const verdict = await walkStream(tenantId, end.stream, pages);
    checkEnd(verdict, end.kind === 'unknown' ? end.newest : end.head);
    if (end.kind === 'data_plane') {
      const jwk = await inStore((store) => store.findSigningKey(end.stream));
      const batches = readBatches(end, (after, last) =>
        inStore((store) => store.readBatches(end.stream, after, last)),
      );
      const writer = { tenantId, stream: end.stream, jwk };
      const ends = [...verdict.epochEnds, ...(end.head ? [end.head] : [])];
      for await (const found of walkBatches(writer, ends, batches)) addBreak(verdict, found);
    }
    verdicts.set(end.stream, { kind: end.kind, verdict });
  }
  // The walks went as far as the heads of the beginning. What has come since may be there, but
  // not behind the head of its own moment, nor in a stream without one.
  for (const end of await inStore((store) => store.readEnds())) {
    const known = verdicts.get(end.stream);
    if (!known || showPosition(end.head) === showPosition(end.newest)) continue;
    addBreak(known.verdict, {
      kind: 'head',
      epoch: (end.newest ?? end.head)?.epoch ?? 1,
      seq: (end.newest ?? end.head)?.seq ?? 1,
      expected: showPosition(end.head),
      actual: showPosition(end.newest),
      detail: 'the newest record is not the one that the head names',
    });
  }

  const streams: VerifiedStream[] = [];
  const breaks: FoundBreak[] = [];
  let breakCount = 0;
  let recordsVerified = 0;
  let recordsQuarantined = 0;
  for (const [stream, { kind, verdict }] of verdicts) {
    const found = verdict.breaks.map((item) => ({ stream, ...item }));
    breaks.push(...found);
    breakCount += verdict.breakCount;
    recordsVerified += verdict.records;
    const { records, quarantined, end } = verdict;
    recordsQuarantined += quarantined;
    streams.push({ stream, kind, records, quarantined, end, firstBreak: found[0] ?? null });
  }
  const missing = await findMissing(inStore);
  if (missing) {
    breaks.push(missing);
    breakCount += 1;
  }
  await deps.breaks.record(tenantId, breaks);
  return {
    valid: breakCount === 0,
    verifiedAt: deps.now(),
    durationMs: performance.now() - started,
    recordsVerified,
    recordsQuarantined,
    streams,
    breaks,
    breakCount,
  };
}

async function* readPages(
  { head, newest, kind }: StreamEnd,
  read: (
    after: { epoch: number; seq: number; position: number },
    last: { epoch: number; seq: number },
  ) => Promise<StoredRow[]>,
): AsyncGenerator<StoredRow[]> {
  const last = kind === 'unknown' ? newest : head;
  if (!last) return;
  let after = { epoch: 0, seq: 0, position: 0 };
  for (;;) {
    const page = await read(after, last);
    const end = page.at(-1);
    if (!end) return;
    yield page;
    after = { epoch: end.epoch, seq: end.seq, position: end.position };
  }
}

async function* readBatches(
  { head }: StreamEnd,
  read: (
    after: { epoch: number; lastSeq: number },
    last: { epoch: number; seq: number },
  ) => Promise<StoredBatch[]>,
): AsyncGenerator<StoredBatch[]> {
  if (!head) return;
  let after = { epoch: 0, lastSeq: 0 };
  for (;;) {
    const page = await read(after, head);
    const end = page.at(-1);
    if (!end) return;
    yield page;
    after = end;
  }
}

function checkEnd(verdict: StreamVerdict, head: ChainPosition | null): void {
  if (showPosition(verdict.end) === showPosition(head)) return;
  addBreak(verdict, {
    kind: 'head',
    epoch: head?.epoch ?? 1,
    seq: head?.seq ?? 1,
    expected: showPosition(head),
    actual: showPosition(verdict.end),
    detail: 'the chain does not end where its head says',
  });
}

/** A stream that was removed with its head leaves no chain to walk, but a hole in the count. */
async function findMissing(
  inStore: <T>(read: (store: ReturnType<typeof chainStore>) => Promise<T>) => Promise<T>,
): Promise<FoundBreak | undefined> {
  const { counted, stored, newestPosition } = await inStore((store) => store.readReceiptCount());
  if (counted === stored && counted === newestPosition) return undefined;
  return {
    stream: RECEIPT_STREAM,
    epoch: 1,
    seq: Math.max(counted, newestPosition),
    kind: 'head',
    expected: `${counted} records received`,
    actual: `${stored} records stored, the newest is number ${newestPosition}`,
    detail: 'records are missing, or were put in beside the order of receipt',
  };
}
