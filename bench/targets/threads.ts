/** The threads of this process and the CPU time of each. Linux only. */
import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

export type ThreadGroup = 'main' | 'ledger' | 'pool' | 'v8';

/** Nanoseconds of CPU time so far, by thread id. */
export function threadCpu(): Map<number, number> {
  const cpu = new Map<number, number>();
  for (const name of readdirSync('/proc/self/task')) {
    try {
      const stat = readFileSync(`/proc/self/task/${name}/schedstat`, 'utf8');
      cpu.set(Number(name), Number(stat.split(' ')[0]));
    } catch {
      // It has ended meanwhile.
    }
  }
  return cpu;
}

/**
 * Identifies the threads that a step of the start creates.
 *
 * @param start creates the ledger's thread and no other
 */
export async function nameThreads<T>(
  start: () => Promise<T>,
): Promise<{ started: T; groupOf: (thread: number) => ThreadGroup }> {
  const first = new Set(threadCpu().keys());
  // libuv creates its thread pool at its first use.
  await readFile('/proc/self/stat');
  const withPool = new Set(threadCpu().keys());
  const started = await start();
  const ledger = [...threadCpu().keys()].filter((thread) => !withPool.has(thread));
  return {
    started,
    groupOf: (thread) => {
      if (thread === process.pid) return 'main';
      if (ledger.includes(thread)) return 'ledger';
      return withPool.has(thread) && !first.has(thread) ? 'pool' : 'v8';
    },
  };
}
