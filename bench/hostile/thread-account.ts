import { readFileSync } from 'node:fs';

export interface ThreadAccount {
  /** Time that the thread has run, in milliseconds. */
  cpuMs: number;
  /** Time that it was runnable while others had the cores. */
  waitedMs: number;
}

/** The system's CPU account of a process's first thread, which runs its event loop. Linux only. */
export function readMainThread(pid: number): ThreadAccount {
  const [cpu, waited] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ');
  return { cpuMs: Number(cpu) / 1e6, waitedMs: Number(waited) / 1e6 };
}
