/**
 * PostgreSQL crashes (`immediate`) at random points while a data plane enforces under load: no call
 * fails because of it, and in the end the control plane has every decision once.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { checkControlPlane, type KillOptions, openSessionSoon } from './kill-rounds.ts';
import { twoPlanesSubject } from './kill-subject.ts';
import { startMarkedBackend } from './marked-backend.ts';
import { connectTo, makeMarkedCall, setUpMarkedCalls } from './marked-calls.ts';
import { createLedgerReader } from './stored-ledger.ts';

export interface CrashReport {
  rounds: number;
  acknowledged: number;
  /** Calls that got an answer other than their result. */
  failed: number;
  problems: string[];
}

export async function postgresRounds(options: KillOptions): Promise<CrashReport> {
  const backend = await startMarkedBackend();
  const subject = await twoPlanesSubject();
  const report: CrashReport = { rounds: 0, acknowledged: 0, failed: 0, problems: [] };
  const acknowledged = new Set<number>();
  let next = 0;
  let done = false;
  try {
    const authorization = await setUpMarkedCalls(await subject.admin(), backend.port);
    const url = subject.gatewayUrl();
    const headers = await openSessionSoon(url, authorization);
    const first = connectTo(url);
    // Until the agent's role has reached the data plane, its calls are denied.
    while (!(await makeMarkedCall(first, headers, next++))) await sleep(100);
    await first.close();
    const callers = Array.from({ length: options.callers }, async () => {
      const client = connectTo(url);
      while (!done) {
        const n = next++;
        const note = (answer: string) => {
          if (report.failed++ < 5) report.problems.push(answer);
        };
        if (await makeMarkedCall(client, headers, n, note)) acknowledged.add(n);
      }
      await client.close();
    });
    const load = Promise.all(callers);
    for (let round = 1; round <= options.rounds; round++) {
      await sleep(100 + options.random() * 600);
      await subject.crashPostgres();
      await sleep(options.random() * 300);
      await subject.startPostgres();
      report.rounds = round;
      options.progress?.(round);
    }
    done = true;
    await load;
    report.acknowledged = acknowledged.size;
    if (report.failed > 0) report.problems.push(`${report.failed} calls failed`);
    await subject.kill();
    const { decided, problems } = createLedgerReader(subject.ledgerFile).read();
    report.problems.push(...problems.map((problem) => `chain: ${problem}`));
    for (const n of acknowledged) {
      if (!decided.has(n)) report.problems.push(`call ${n} has no decision`);
    }
    await subject.restart();
    report.problems.push(...(await checkControlPlane(await subject.admin(), acknowledged)));
    return report;
  } finally {
    done = true;
    await subject.dispose();
    await backend.close();
  }
}
