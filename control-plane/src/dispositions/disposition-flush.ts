/**
 * Examines the new records of all data planes at intervals (every minute by default): stores the
 * dispositions of actions and runs the detectors. Rows, alerts and progress commit in one
 * transaction, so that a restart neither loses nor repeats anything. Proven by
 * disposition-flush.pg.test.ts.
 */
import { isQuestion } from '@governance/shared/mcp/server-questions';
import { readRecord } from '../chain/ledger-row.ts';
import { forEachTenant } from '../platform/database/each-tenant.ts';
import {
  systemScope,
  type TenantDatabase,
  type TenantTransaction,
} from '../platform/database/tenant-scope.ts';
import type { LeaderTask } from '../platform/replicas/leader.ts';
import { requesterKeyOf, sessionKeyOf, timeOf } from '../sessions/session-key.ts';
import { readSessions } from '../sessions/session-store.ts';
import { tenantSettingsStore } from '../tenants/tenant-settings-store.ts';
import { detectCrossSessions } from './cross-session.ts';
import { detectMismatches, detectScopeProbes } from './delegation-detectors.ts';
import type { ClientAnswer, Detect } from './detector.ts';
import { detectorStates } from './detector-states.ts';
import type { SessionDecision } from './disposition.ts';
import { dateBeforeNow, forgetOld, keepWithinBounds } from './forget-old.ts';
import { type AnsweredQuestion, recordReader } from './record-reader.ts';
import { detectReversals } from './reversal-detector.ts';
import { detectCycling } from './session-cycling.ts';

const DETECTORS: readonly Detect[] = [
  detectReversals,
  detectCycling,
  detectMismatches,
  detectScopeProbes,
  detectCrossSessions,
];

export interface DispositionFlushDeps {
  db: Pick<TenantDatabase, 'inTenant' | 'inPlatform'>;
  everyMs: number;
  now: () => Date;
  /** By which rows are dated: it never runs back, so that the newest have the latest time. */
  tokenNow: () => Date;
  /** For what cannot be undone. */
  settledNow: () => Date;
}

export function createDispositionFlush(deps: DispositionFlushDeps): LeaderTask {
  const { db, everyMs } = deps;
  const inTenant = <T>(tenantId: string, work: (tx: TenantTransaction) => Promise<T>) =>
    db.inTenant(systemScope(tenantId), work);
  async function lookAtAll(tenantId: string, signal: AbortSignal): Promise<void> {
    while (!signal.aborted && (await inTenant(tenantId, (tx) => lookAtNext(tx, deps)))) {
      await inTenant(tenantId, keepWithinBounds);
    }
  }

  return {
    name: 'disposition_flush',
    everyMs,
    run: (signal) => forEachTenant(db, signal, (tenantId) => lookAtAll(tenantId, signal)),
  };
}

/** @returns whether there were new records */
async function lookAtNext(
  tx: TenantTransaction,
  deps: Pick<DispositionFlushDeps, 'now' | 'tokenNow' | 'settledNow'>,
): Promise<boolean> {
  const now = deps.now();
  const reader = recordReader(tx);
  const mark = await reader.lockMark();
  const { rows, upTo } = await reader.readDecisions(mark);
  if (upTo === mark) return false;
  const writtenAt = deps.tokenNow();
  await dateBeforeNow(tx, writtenAt);
  await forgetOld(tx, deps.settledNow());
  const decisions = await placed(tx, rows, now);
  const answers = await answersOf(tx, await reader.readAnswers(mark, upTo), now);
  if (decisions.length > 0 || answers.length > 0) {
    const { sessions: settings } = await tenantSettingsStore(tx).get();
    const states = detectorStates(tx, { now, writtenAt });
    for (const detect of DETECTORS) {
      await detect({ tx, decisions, answers, states, settings, now, writtenAt });
    }
    await states.save();
  }
  await reader.move(upTo, now);
  return true;
}

/**
 * Decisions with their sessions, ordered by time. Those of unknown agents have no session and are
 * left out.
 */
async function placed(
  tx: TenantTransaction,
  rows: readonly Uint8Array[],
  now: Date,
): Promise<SessionDecision[]> {
  const read = rows.flatMap((bytes) => {
    const record = readRecord(bytes);
    if (record?.type !== 'decision') return [];
    const key = sessionKeyOf(record);
    return [{ record, key, at: timeOf(record, now.getTime()) }];
  });
  const find = await readSessions(tx, read);
  return read
    .flatMap(({ record, key, at }): SessionDecision[] => {
      const session = find(key, at);
      return session ? [{ record, at, session, requesterKey: requesterKeyOf(record) }] : [];
    })
    .sort((a, b) => a.at - b.at);
}

/** Answers with the decisions of their questions. */
async function answersOf(
  tx: TenantTransaction,
  answered: readonly AnsweredQuestion[],
  now: Date,
): Promise<ClientAnswer[]> {
  if (answered.length === 0) return [];
  const asked = await placed(
    tx,
    answered.map(({ decision }) => decision),
    now,
  );
  const questions = new Map(
    asked
      .filter(({ record }) => isQuestion(record.method))
      .map((decision) => [decision.record.id, decision]),
  );
  return answered.flatMap(({ outcome }): ClientAnswer[] => {
    const record = readRecord(outcome);
    if (record?.type !== 'outcome' || record.v === 1 || record.inspection === null) return [];
    const decision = questions.get(record.event_id);
    const findings = record.inspection.dlp_findings;
    return decision ? [{ decision, findings, at: timeOf(record, now.getTime()) }] : [];
  });
}
