/** What processes use while a part of the bench runs: CPU time and peak memory. Linux only. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpuSeconds, peakMiB } from '../../tests/support/process-cpu.ts';

export interface Used {
  cpu_seconds: number;
  /** Peak resident memory of the largest process. */
  peak_mib: number;
}

/**
 * Begins to watch.
 *
 * @param list the processes' ids; called again at the end, since some come and go
 * @returns a function that reports their use since
 */
export function watch(list: () => number[]): () => Used {
  const before = new Map(list().map((pid) => [pid, cpuOf(pid)]));
  for (const pid of before.keys()) forgetPeak(pid);
  return () => {
    let [cpu_seconds, peak_mib] = [0, 0];
    for (const pid of list()) {
      cpu_seconds += cpuOf(pid) - (before.get(pid) ?? 0);
      peak_mib = Math.max(
        peak_mib,
        orZero(() => peakMiB(pid)),
      );
    }
    return { cpu_seconds, peak_mib };
  };
}

/** A process and its children. */
export const familyOf = (parent: number): number[] => [
  parent,
  ...readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && parentOf(pid) === parent),
];

/** Resets the kernel's peak. */
function forgetPeak(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
  } catch {
    // The process belongs to another user, or has ended: the peak is then that since its start.
  }
}

const cpuOf = (pid: number): number => orZero(() => cpuSeconds(pid));

function parentOf(pid: number): number {
  return orZero(() => {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  });
}

/** A process may end between two samples. */
function orZero(read: () => number): number {
  try {
    return read();
  } catch {
    return 0;
  }
}
