/** Scans for sensitive data: small values at once, large values on another thread. */
import { ScanBudgetError } from '@governance/shared/detect/dlp/scan-budget';
import { PatternBudgetError } from '@governance/shared/detect/engine/pattern-contract';
import type { Caller } from '../call/calls.ts';
import type { PreparedDlp, SentScan } from '../dlp/dlp-scanners.ts';
import {
  examineReceived,
  type ReceivedReport,
  type ReceivedText,
} from '../dlp/examine-received.ts';
import type { Lane } from './fair-queue.ts';
import type { ScanAnswer, ScanJob } from './scan-jobs.ts';
import type { ScanThreads } from './scan-threads.ts';

/** Its functions throw or reject with PatternBudgetError, ScanBudgetError or ScanFailure. */
export type DlpScans = ReturnType<typeof createDlpScans>;

/**
 * The size from which another thread scans, in UTF-16 units. A character of a hostile text costs a
 * few microseconds, so a smaller value blocks the main thread for a few tens of milliseconds at
 * most.
 */
export const LARGE = 8 * 1024;
/** What each value counts beside its characters. */
const NODE = 8;
/** A deeper value counts as large: no message has as many levels. */
const MAX_DEPTH = 1_000;

/**
 * Runs a job in a turn of the caller's agent.
 *
 * @throws PatternBudgetError, ScanBudgetError or ScanFailure
 */
export async function runScan(
  threads: Pick<ScanThreads, 'run'>,
  { tenantId, agent }: Caller,
  lane: Lane,
  make: () => ScanJob,
): Promise<ScanAnswer> {
  const answer = await threads.run({ tenantId, agentId: agent.id, lane }, make);
  if (answer.kind === 'gave-up') throw new PatternBudgetError('the patterns took too long');
  if (answer.kind === 'too-much') throw new ScanBudgetError();
  if (answer.kind === 'failed') throw new Error(`the scan failed: ${answer.message}`);
  return answer;
}

export function createDlpScans(threads: Pick<ScanThreads, 'run'>, large = LARGE) {
  const unexpected = (): never => {
    throw new Error('the scan thread gave an unexpected answer');
  };

  return {
    /** Scans what an agent sends. */
    sent(caller: Caller, value: unknown, prepared: PreparedDlp): SentScan | Promise<SentScan> {
      if (!isLarge(value, large)) return prepared.examineSent(value);
      const make = (): ScanJob => ({
        kind: 'sent',
        settings: prepared.settingsText(),
        value: JSON.stringify(value),
      });
      return runScan(threads, caller, 'call', make).then((answer) =>
        answer.kind === 'sent' ? answer.scan : unexpected(),
      );
    },
    /** Scans an answer or message for a caller. */
    received(
      caller: Caller,
      received: ReceivedText,
      prepared: PreparedDlp,
    ): ReceivedReport | Promise<ReceivedReport> {
      const { value, raw, ...rest } = received;
      const goes = raw === null ? isLarge(value, large) : raw.length > large;
      if (!goes) return examineReceived(received, prepared);
      const make = (): ScanJob => ({
        kind: 'received',
        settings: prepared.settingsText(),
        value: raw ?? JSON.stringify(value),
        received: rest,
      });
      return runScan(threads, caller, 'answer', make).then((answer) =>
        answer.kind === 'received' ? answer.report : unexpected(),
      );
    },
  };
}

/** Whether a value is larger than a limit; stops as soon as the limit is exceeded. */
export function isLarge(value: unknown, limit: number): boolean {
  let left = limit;
  const visit = (part: unknown, depth: number): boolean => {
    if (typeof part === 'string') left -= part.length;
    left -= NODE;
    if (left < 0 || depth > MAX_DEPTH) return true;
    if (typeof part !== 'object' || part === null) return false;
    for (const key in part) {
      left -= key.length;
      if (visit((part as Record<string, unknown>)[key], depth + 1)) return true;
    }
    return false;
  };
  return visit(value, 0);
}
