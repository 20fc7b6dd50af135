/**
 * kill -9 of the service at random points under load: every call that was acknowledged, and every
 * call that reached the server, has its decision record; every chain verifies, and in the end the
 * control plane has each record once.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { AdminApi } from '../../tests/support/admin-api.ts';
import { type KillSubject, standaloneSubject } from './kill-subject.ts';
import { startMarkedBackend } from './marked-backend.ts';
import { connectTo, makeMarkedCall, openSession, setUpMarkedCalls } from './marked-calls.ts';
import { createLedgerReader } from './stored-ledger.ts';

export interface KillReport {
  rounds: number;
  acknowledged: number;
  forwarded: number;
  records: number;
  /** Problems; empty if all is well. */
  problems: string[];
}

export interface KillOptions {
  rounds: number;
  callers: number;
  /** Numbers in [0, 1), for the times of the kills. */
  random: () => number;
  progress?: (round: number) => void;
}

export async function killRounds(
  options: KillOptions,
  start: () => Promise<KillSubject> = standaloneSubject,
): Promise<KillReport> {
  const backend = await startMarkedBackend();
  const subject = await start();
  const report: KillReport = { rounds: 0, acknowledged: 0, forwarded: 0, records: 0, problems: [] };
  const ledger = createLedgerReader(subject.ledgerFile);
  const expected = new Set<number>();
  let next = 0;
  try {
    const authorization = await setUpMarkedCalls(await subject.admin(), backend.port);
    for (let round = 1; round <= options.rounds; round++) {
      const acknowledged: number[] = [];
      const url = subject.gatewayUrl();
      const headers = await openSessionSoon(url, authorization);
      let killed = false;
      const callers = Array.from({ length: options.callers }, async () => {
        const client = connectTo(url);
        try {
          while (!killed) {
            const n = next++;
            if (await makeMarkedCall(client, headers, n)) acknowledged.push(n);
          }
        } catch {
          // The service was killed during the call: whether it was recorded is checked below.
        } finally {
          await client.destroy();
        }
      });
      // On a busy machine a start is slow, and a kill before the first call shows nothing.
      const latest = Date.now() + STANDSTILL_MS;
      while (acknowledged.length === 0 && Date.now() < latest) await sleep(5);
      if (acknowledged.length === 0) report.problems.push(`round ${round}: no call was answered`);
      await sleep(30 + options.random() * 400);
      killed = true;
      await subject.kill();
      await Promise.all(callers);

      const forwarded = backend.take();
      const { decided, problems, records } = ledger.read();
      report.problems.push(...problems.map((problem) => `round ${round}: chain: ${problem}`));
      for (const n of new Set([...acknowledged, ...forwarded])) {
        if (!decided.has(n)) report.problems.push(`round ${round}: call ${n} has no decision`);
        expected.add(n);
      }
      report.rounds = round;
      report.acknowledged += acknowledged.length;
      report.forwarded += forwarded.length;
      report.records = records;
      options.progress?.(round);
      await subject.restart();
    }
    report.problems.push(...(await checkControlPlane(await subject.admin(), expected)));
    return report;
  } finally {
    await subject.dispose();
    await backend.close();
  }
}

/** Without progress for this long, even on a busy machine, nothing more will arrive. */
const STANDSTILL_MS = 60_000;

/** Waits until the backlog has drained, then looks for each call once among the audit events. */
export async function checkControlPlane(admin: AdminApi, expected: Set<number>): Promise<string[]> {
  const problems: string[] = [];
  let fewest = Number.POSITIVE_INFINITY;
  let deadline = 0;
  let times = new Map<string, number>();
  // With many calls, one look takes longer than that, and events that arrive meanwhile shift the
  // pages.
  for (let look = 1; ; look++) {
    times = await countTargets(admin);
    const missing = [...expected].filter((n) => !times.has(target(n)));
    if (missing.length === 0) break;
    if (missing.length < fewest) {
      fewest = missing.length;
      deadline = Date.now() + STANDSTILL_MS;
    }
    if (Date.now() > deadline && look > 2) {
      problems.push(
        `${missing.length} decisions did not reach the control plane: ${missing.slice(0, 5)}`,
      );
      break;
    }
    await sleep(500);
  }
  const isTwice = ([, count]: [string, number]) => count > 1;
  if ([...times].some(isTwice)) times = await countTargets(admin);
  for (const [name, count] of [...times].filter(isTwice))
    problems.push(`${name} is listed ${count} times`);
  const verdict = await admin.get<{ valid: boolean; breaks: unknown }>(
    '/api/v1/audit/verify?fresh=true',
  );
  if (!verdict.valid)
    problems.push(`the control plane's chain is broken: ${JSON.stringify(verdict.breaks)}`);
  return problems;
}

/**
 * Counts how often each call is listed, reading backwards in time: pages by offset would shift as
 * events arrive.
 */
async function countTargets(admin: AdminApi): Promise<Map<string, number>> {
  const times = new Map<string, number>();
  const seen = new Set<string>();
  for (let to = ''; ; ) {
    const { events } = await admin.get<{
      events: { id: string; timestamp: string; target: string | null; tool_name: string | null }[];
    }>(`/api/v1/audit/events?policy_result=allow&limit=1000${to}`);
    const before = seen.size;
    for (const { id, target: name, tool_name: tool } of events) {
      if (seen.has(id)) continue;
      seen.add(id);
      // Lists are recorded too, under a target that they all share.
      if (name && tool === 'mark') times.set(name, (times.get(name) ?? 0) + 1);
    }
    const last = events.at(-1);
    if (!last || events.length < 1000 || seen.size === before) return times;
    // Events of the same millisecond are listed again.
    to = `&to=${encodeURIComponent(new Date(Date.parse(last.timestamp) + 1).toISOString())}`;
  }
}

/** A data plane learns of a new agent and server within moments, not immediately. */
export async function openSessionSoon(url: string, authorization: string) {
  const deadline = Date.now() + STANDSTILL_MS;
  for (;;) {
    try {
      return await openSession(url, authorization);
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await sleep(100);
    }
  }
}

function target(n: number): string {
  return `/calls/${String(n).padStart(7, '0')}`;
}
