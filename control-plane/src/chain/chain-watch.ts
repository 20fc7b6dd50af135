/**
 * Background verification. The leader verifies new records every half minute, from where the
 * previous walk ended, and all records once a day. Both store their progress in the database, so
 * that a restart or another leader continues there. A break is recorded and raises an alert, once.
 *
 * The walk over new records finds a changed or removed end of a stream, the daily walk everything
 * else. Neither uses more than its share of the time and one page of memory, however many records a
 * tenant has. Proven by chain-watch.pg.test.ts.
 */

import type { Logger } from 'pino';
import { forEachTenant } from '../platform/database/each-tenant.ts';
import {
  systemScope,
  type TenantDatabase,
  type TenantTransaction,
} from '../platform/database/tenant-scope.ts';
import { pause } from '../platform/pause.ts';
import type { LeaderTask } from '../platform/replicas/leader.ts';
import { createBundleReads } from './bundle-check.ts';
import { type ChainBreakRecorder, LOG_STREAM } from './chain-breaks.ts';
import { type ChainStore, chainStore } from './chain-store.ts';
import type { QuarantineTrial } from './ledger-row.ts';
import { newLogMark } from './log-mark.ts';
import type { EvidenceKeys } from './log-places.ts';
import { logRows } from './log-rows.ts';
import { findUnrecordedForks } from './standing-breaks.ts';
import { runVerification, type VerificationStep } from './verification-run.ts';
import { verificationStore, type WalkKind } from './verification-store.ts';

const WATCH_LIMITS = {
  /** The pause between two walks over new records, and the share of the time that each may use. */
  newEveryMs: 30_000,
  newShare: 0.25,
  /** Time limit per tenant; the next walk does the rest. */
  newSliceMs: 10_000,
  /** The full walk of a tenant is due this long after the previous one ended. */
  fullEveryMs: 24 * 60 * 60 * 1000,
  fullShare: 0.1,
  /** How long the full walk works on one tenant before it moves to the next. */
  sliceMs: 60_000,
};
export type WatchLimits = typeof WATCH_LIMITS;

const LOOK_EVERY_MS = 30_000;

export interface ChainWatchDeps {
  db: Pick<TenantDatabase, 'inTenant' | 'inPlatform'>;
  breaks: Pick<ChainBreakRecorder, 'record'>;
  ingest: QuarantineTrial;
  /** The service's signing keys: for batches of the admin chain, and for checkpoints of the log. */
  evidenceKeys?(): Promise<EvidenceKeys>;
  log: Pick<Logger, 'error'>;
  now: () => Date;
  limits?: Partial<WatchLimits>;
}

export function createChainWatch(deps: ChainWatchDeps): LeaderTask[] {
  const limits = { ...WATCH_LIMITS, ...deps.limits };
  return [
    {
      name: 'chain_verification_new',
      everyMs: limits.newEveryMs,
      run: (signal) =>
        eachTenant(deps, signal, (tenantId) => verifyNew(deps, limits, tenantId, signal)),
    },
    {
      name: 'chain_verification_full',
      everyMs: LOOK_EVERY_MS,
      run: (signal) =>
        eachTenant(deps, signal, (tenantId) => verifyAll(deps, limits, tenantId, signal)),
    },
  ];
}

/** One tenant's failure does not stop the others; the task reports it at its end. */
async function eachTenant(
  { db, log }: ChainWatchDeps,
  signal: AbortSignal,
  work: (tenantId: string) => Promise<void>,
): Promise<void> {
  let failures = 0;
  await forEachTenant(db, signal, async (tenantId) => {
    try {
      await work(tenantId);
    } catch (error) {
      if (signal.aborted) return;
      failures += 1;
      log.error({ err: error, tenantId }, 'the chains of a tenant could not be verified');
    }
  });
  if (failures > 0) throw new Error(`the chains of ${failures} tenants could not be verified`);
}

async function verifyNew(
  deps: ChainWatchDeps,
  limits: WatchLimits,
  tenantId: string,
  signal: AbortSignal,
): Promise<void> {
  const upTo = await inTenant(deps, tenantId, (tx) => chainStore(tx).readPosition());
  const { newShare: share, newSliceMs: sliceMs } = limits;
  await walk(deps, tenantId, { kind: 'new', upTo, share, signal, sliceMs });
}

async function verifyAll(
  deps: ChainWatchDeps,
  limits: WatchLimits,
  tenantId: string,
  signal: AbortSignal,
): Promise<void> {
  const upTo = await inTenant(deps, tenantId, async (tx) => {
    const store = verificationStore(tx);
    const known = await store.find('full');
    if (known?.startedAt) return known.upTo;
    const now = deps.now();
    const age = known?.finished ? now.getTime() - known.finished.at.getTime() : limits.fullEveryMs;
    // A clock set back must not delay the walk.
    if (age >= 0 && age < limits.fullEveryMs) return undefined;
    const position = await chainStore(tx).readPosition();
    await store.dropMarks('full');
    await store.begin('full', position, now);
    return position;
  });
  if (upTo === undefined) return;
  const { fullShare: share, sliceMs } = limits;
  await walk(deps, tenantId, { kind: 'full', upTo, share, signal, sliceMs });
}

interface WalkTurn {
  kind: WalkKind;
  upTo: number;
  share: number;
  signal: AbortSignal;
  sliceMs: number;
}

async function walk(
  deps: ChainWatchDeps,
  tenantId: string,
  { kind, upTo, share, signal, sliceMs }: WalkTurn,
): Promise<void> {
  const { breaks, ingest, now } = deps;
  const { marks, logMark } = await inTenant(deps, tenantId, async (tx) => {
    const store = verificationStore(tx);
    const known = await store.findLogMark(kind);
    const remembered = kind === 'full' && !known ? await store.findLogMark('new') : undefined;
    const logMark = known ?? newLogMark(remembered?.days);
    return { marks: await store.readMarks(kind), logMark };
  });
  const endAt = performance.now() + sliceMs;
  let began = performance.now();
  let broken = 0;

  async function onStep({ moved, found, breaks: count }: VerificationStep): Promise<void> {
    broken += count;
    // Recorded before the marks move: a walk from the new marks would not find it again.
    await breaks.record(tenantId, found);
    const saved = [...moved].flatMap((stream) => {
      const mark = stream === LOG_STREAM ? logMark : marks.get(stream);
      return mark ? [[stream, mark] as const] : [];
    });
    if (saved.length > 0 || count > 0) {
      await inTenant(deps, tenantId, async (tx) => {
        const store = verificationStore(tx);
        await store.saveMarks(kind, saved, now());
        if (kind === 'full') await store.addBreaks(kind, count);
      });
    }
    const worked = performance.now() - began;
    if (share < 1) await pause(worked * (1 / share - 1), signal);
    began = performance.now();
  }

  const isDone = await runVerification({
    tenantId,
    marks,
    upTo,
    logMark,
    keys: await deps.evidenceKeys?.(),
    now,
    isWhole: kind === 'full',
    inStore: <T>(read: (store: ChainStore) => Promise<T>) =>
      inTenant(deps, tenantId, (tx) => read(chainStore(tx))),
    inLog: (read) => inTenant(deps, tenantId, (tx) => read(logRows(tx))),
    bundles: createBundleReads((read) => inTenant(deps, tenantId, read), deps.evidenceKeys),
    belongsInQuarantine: (row) => ingest.belongsInQuarantine(tenantId, row),
    onStep,
    shouldStop: () => signal.aborted || performance.now() >= endAt,
  });
  if (!isDone) return;
  const forks = await inTenant(deps, tenantId, (tx) => findUnrecordedForks(tx, marks));
  await breaks.record(tenantId, forks);
  let records = 0;
  for (const mark of marks.values()) records += mark.records;
  await inTenant(deps, tenantId, async (tx) => {
    const store = verificationStore(tx);
    // An earlier leader may have begun the full walk: the database has the breaks of the whole
    // walk.
    const found = kind === 'full' ? ((await store.find(kind))?.breaks ?? 0) : broken;
    const end = { records, leaves: logMark.size, upTo, breaks: found + forks.length };
    await store.finish(kind, end, now());
    if (kind === 'full') await store.dropMarks(kind);
  });
}

function inTenant<T>(
  { db }: ChainWatchDeps,
  tenantId: string,
  work: (tx: TenantTransaction) => Promise<T>,
): Promise<T> {
  return db.inTenant(systemScope(tenantId), work);
}
