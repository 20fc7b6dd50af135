/**
 * The bench's probe inside the governed gateway: messages over Node's IPC tell it when to begin and
 * when to report. It is created only in a process that was started with such a channel.
 */
import type { LedgerObserver } from '@governance/data-plane/ledger/ledger';
import { type CallTimes, createCallTimer } from './call-timer.ts';
import { type CpuShares, ledgerShares, mainShares, startProfiles } from './cpu-shares.ts';
import { type ThreadGroup, threadCpu } from './threads.ts';

export interface ProbeAnswer {
  times: CallTimes;
  /** Microseconds of CPU time since the beginning, by group of threads. */
  cpu_us: Record<ThreadGroup, number>;
  commits: { groups: number; records: number; us: number; disk_us: number };
  /** Only on request: sampling slows everything down. */
  shares: CpuShares | null;
}

export type ProbeRequest = { op: 'begin'; profile: boolean } | { op: 'end' };

export function createProbe() {
  const timer = createCallTimer();
  let commits = { groups: 0, records: 0, us: 0, disk_us: 0 };
  const observer: LedgerObserver = {
    committed(records, seconds, diskSeconds) {
      commits.groups++;
      commits.records += records;
      commits.us += seconds * 1e6;
      commits.disk_us += diskSeconds * 1e6;
    },
  };

  function listen(groupOf: (thread: number) => ThreadGroup): void {
    let before = threadCpu();
    let stopProfiles: Awaited<ReturnType<typeof startProfiles>> | null = null;
    process.on('message', async (request: ProbeRequest) => {
      if (request.op === 'begin') {
        stopProfiles = request.profile ? await startProfiles() : null;
        timer.reset(!request.profile);
        commits = { groups: 0, records: 0, us: 0, disk_us: 0 };
        before = threadCpu();
        process.send?.('begun');
        return;
      }
      const cpu_us = { main: 0, ledger: 0, pool: 0, v8: 0 };
      for (const [thread, ns] of threadCpu()) {
        cpu_us[groupOf(thread)] += (ns - (before.get(thread) ?? 0)) / 1000;
      }
      const profiles = stopProfiles === null ? null : await stopProfiles();
      const answer: ProbeAnswer = {
        times: timer.read(),
        cpu_us,
        commits,
        shares: profiles && {
          main: mainShares(profiles.main),
          ledger: ledgerShares(profiles.ledger, cpu_us.ledger),
        },
      };
      process.send?.(answer);
    });
  }

  return { watch: timer.watch, observer, listen };
}
