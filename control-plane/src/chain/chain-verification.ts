/**
 * Verifies every chain of a tenant on request, against the heads that are stored apart from the
 * records. Requests during a run share it, and its result is reused for a time that grows with the
 * cost of the run, so that requests in a loop cannot occupy the database. Unlike chain-watch.ts, it
 * trusts no stored result: of what it verified before it remembers digests (verified-pages.ts).
 */
import type { ChainPosition } from '@governance/shared/ledger/hash-chain';
import {
  systemScope,
  type TenantDatabase,
  type TenantTransaction,
} from '../platform/database/tenant-scope.ts';
import { createBundleReads } from './bundle-check.ts';
import { type ChainBreakRecorder, type FoundBreak, MAX_BREAKS_RECORDED } from './chain-breaks.ts';
import { type ChainStore, chainStore, type StreamKind } from './chain-store.ts';
import type { QuarantineTrial } from './ledger-row.ts';
import { type LogMark, newLogMark } from './log-mark.ts';
import type { EvidenceKeys } from './log-places.ts';
import { logRows } from './log-rows.ts';
import { pageStore } from './page-digests.ts';
import {
  findUnrecordedForks,
  readStanding,
  type Standing,
  type StandingBreak,
} from './standing-breaks.ts';
import type { StreamMark } from './stream-mark.ts';
import { runVerification } from './verification-run.ts';
import { verificationStore, type Walk } from './verification-store.ts';
import { createVerifiedPages, type VerifiedPages } from './verified-pages.ts';

export interface VerifiedStream {
  stream: string;
  kind: StreamKind;
  records: number;
  /** How many of them are in quarantine. */
  quarantined: number;
  /** How many of them earlier versions stored as readable although no verifier reads them. */
  unread: number;
  end: ChainPosition | null;
  firstBreak: FoundBreak | null;
}

export interface Verification {
  valid: boolean;
  verifiedAt: Date;
  durationMs: number;
  recordsVerified: number;
  recordsQuarantined: number;
  recordsUnread: number;
  /** Leaves of the tenant's log. */
  leavesVerified: number;
  streams: VerifiedStream[];
  /** The first breaks of each stream, at most MAX_KEPT a stream. */
  breaks: (FoundBreak & Partial<Pick<StandingBreak, 'isAcknowledged' | 'explainedBy'>>)[];
  breakCount: number;
  /** Recorded breaks that nobody has acknowledged and no announced restore explains. */
  breaksOpen: number;
}

export interface ChainVerifier {
  /**
   * @param options.fresh whether to run now even if a recent result could be reused
   * @returns the result, and whether it is reused
   */
  verify(
    tenantId: string,
    options: { fresh: boolean },
  ): Promise<{ verification: Verification; cached: boolean }>;
  /** The progress of the background walks (chain-watch.ts). */
  readProgress(tenantId: string): Promise<VerificationProgress>;
}

export interface VerificationProgress {
  new: Walk['finished'];
  full: Walk['finished'];
  /** The full walk in progress; null when none is. */
  running: {
    startedAt: Date;
    records: number;
    leaves: number;
    upTo: number;
    breaks: number;
  } | null;
}

const REUSE_AT_LEAST_MS = 2_000;
const REUSE_TIMES_ITS_COST = 10;

export interface ChainVerifierDeps {
  db: Pick<TenantDatabase, 'inTenant'>;
  breaks: Pick<ChainBreakRecorder, 'record'>;
  ingest: QuarantineTrial;
  /** The service's signing keys: for batches of the admin chain, and for checkpoints of the log. */
  evidenceKeys?(): Promise<EvidenceKeys>;
  now: () => Date;
}

export function createChainVerifier(deps: ChainVerifierDeps): ChainVerifier {
  const results = new Map<string, Verification>();
  const running = new Map<string, Promise<Verification>>();
  const pages = createVerifiedPages();

  const run = (tenantId: string): Promise<Verification> => {
    const verification = verifyTenant(deps, tenantId, pages)
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
        // A result with breaks is never reused, so that a repair is seen at once.
        if (last.valid && age >= 0 && age < reuseMs) return { verification: last, cached: true };
      }
      // A run that began before this request may have read the rows before the change in question.
      if (fresh) await running.get(tenantId)?.catch(() => undefined);
      return { verification: await (running.get(tenantId) ?? run(tenantId)), cached: false };
    },
    readProgress: (tenantId) => deps.db.inTenant(systemScope(tenantId), readProgress),
  };
}

async function readProgress(tx: TenantTransaction): Promise<VerificationProgress> {
  const store = verificationStore(tx);
  const full = await store.find('full');
  const progress = {
    new: (await store.find('new'))?.finished ?? null,
    full: full?.finished ?? null,
  };
  if (!full?.startedAt) return { ...progress, running: null };
  const { startedAt, upTo, breaks } = full;
  let records = 0;
  for (const mark of (await store.readMarks('full')).values()) records += mark.counted;
  const leaves = (await store.findLogMark('full'))?.size ?? 0;
  return { ...progress, running: { startedAt, records, leaves, upTo, breaks } };
}

async function verifyTenant(
  deps: ChainVerifierDeps,
  tenantId: string,
  pages: VerifiedPages,
): Promise<Verification> {
  const started = performance.now();
  const { db, breaks, ingest } = deps;
  const inTenant: TenantDatabase['inTenant'] = (...given) => db.inTenant(...given);
  const inStore = <T>(read: (store: ChainStore) => Promise<T>) =>
    inTenant(systemScope(tenantId), (tx) => read(chainStore(tx)));

  const marks = new Map<string, StreamMark>();
  // The only stored progress it uses: the counts of checkpoints by day, which must still exist.
  const known = await inTenant(systemScope(tenantId), (tx) =>
    verificationStore(tx).findLogMark('new'),
  );
  const logMark = newLogMark(known?.days);
  const found: FoundBreak[] = [];
  let breakCount = 0;
  await runVerification({
    tenantId,
    marks,
    upTo: await inStore((store) => store.readPosition()),
    logMark,
    keys: await deps.evidenceKeys?.(),
    now: deps.now,
    isWhole: true,
    pages: pages.ofTenant(tenantId, (read) =>
      inTenant(systemScope(tenantId), (tx) => read(pageStore(tx))),
    ),
    inStore,
    inLog: (read) => inTenant(systemScope(tenantId), (tx) => read(logRows(tx))),
    bundles: createBundleReads((read) => inTenant(systemScope(tenantId), read), deps.evidenceKeys),
    belongsInQuarantine: (row) => ingest.belongsInQuarantine(tenantId, row),
    onStep: async (step) => {
      breakCount += step.breaks;
      found.push(...step.found.slice(0, MAX_BREAKS_RECORDED - found.length));
    },
    shouldStop: () => false,
  });
  const forks = await inTenant(systemScope(tenantId), (tx) => findUnrecordedForks(tx, marks));
  await breaks.record(tenantId, [...forks, ...found]);
  const standing = await inTenant(systemScope(tenantId), (tx) => readStanding(tx, marks));
  return summarize({ marks, logMark }, found, breakCount, standing, {
    verifiedAt: deps.now(),
    durationMs: performance.now() - started,
  });
}

function summarize(
  { marks, logMark }: { marks: ReadonlyMap<string, StreamMark>; logMark: LogMark },
  found: readonly FoundBreak[],
  breakCount: number,
  standing: Standing,
  run: Pick<Verification, 'verifiedAt' | 'durationMs'>,
): Verification {
  const breaks = [...found, ...standing.breaks];
  const firsts = new Map<string, FoundBreak>();
  for (const one of breaks) if (!firsts.has(one.stream)) firsts.set(one.stream, one);
  const streams: VerifiedStream[] = [];
  let recordsVerified = 0;
  let recordsQuarantined = 0;
  let recordsUnread = 0;
  for (const [stream, { kind, records, quarantined, unread, end }] of marks) {
    recordsVerified += records;
    recordsQuarantined += quarantined;
    recordsUnread += unread;
    const firstBreak = firsts.get(stream) ?? null;
    // A data plane that registered and has shipped nothing has no stream to show.
    if (kind !== 'admin' && !end && !firstBreak) continue;
    streams.push({ stream, kind, records, quarantined, unread, end, firstBreak });
  }
  const all = breakCount + standing.count;
  return {
    valid: all === 0,
    ...run,
    recordsVerified,
    recordsQuarantined,
    recordsUnread,
    leavesVerified: logMark.size,
    streams,
    breaks,
    breakCount: all,
    breaksOpen: standing.open,
  };
}
