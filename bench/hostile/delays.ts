/** How long other calls wait while hostile bodies arrive. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Growth, Reader } from './growth.ts';
import { readMainThread } from './thread-account.ts';

/** Bodies in flight at a time. */
const AT_ONCE = 20;
/** How many of the most expensive shapes are sent TIMES times more; each shape is sent once. */
const DEAREST = 4;
const TIMES = 10;
/** One call in a hundred may be slower. */
const SHARE = 0.99;
const CONTROL_MS = 5_000;

export interface DelayedService {
  pid: number;
  /** Where a well-behaved agent pings, and with which credentials. */
  probe: { url: string; authorization: string };
  /** The longest time that the event loop was blocked since the last call. */
  readLoopStopMs(): Promise<number>;
}

export interface Delays {
  calls: number;
  p50: number;
  p99: number;
  /** The same percentile without hostile bodies. */
  controlP99: number;
  /** The share of its runnable time that the event loop's thread ran. */
  share: number;
  /**
   * The increase of the 99th percentile over the control, scaled by the share that the thread ran.
   */
  delayMs: number;
  loopStopMs: number;
}

export async function measureDelays(
  service: DelayedService,
  reader: Reader,
  found: readonly Growth[],
): Promise<Delays> {
  const probe = fork(join(import.meta.dirname, 'probe.ts'), {
    execArgv: ['--import', 'tsx'],
    env: {
      ...process.env,
      PROBE_URL: service.probe.url,
      PROBE_AUTHORIZATION: service.probe.authorization,
    },
  });
  const take = async (): Promise<number[]> => {
    probe.send('take');
    const [times] = (await once(probe, 'message')) as [number[]];
    return times.sort((a, b) => a - b);
  };
  try {
    while ((await take()).length === 0) await sleep(200);
    await sleep(CONTROL_MS);
    const control = await take();
    await service.readLoopStopMs();
    const before = readMainThread(service.pid);
    await sendAll(reader, queueOf(reader, found));
    const after = readMainThread(service.pid);
    const times = await take();
    const loopStopMs = await service.readLoopStopMs();
    const ran = after.cpuMs - before.cpuMs;
    const share = ran / (ran + after.waitedMs - before.waitedMs);
    const p99 = at(times, SHARE);
    const controlP99 = at(control, SHARE);
    const delayMs = Math.max(p99 - controlP99, 0) * share;
    const calls = times.length;
    return { calls, p50: at(times, 0.5), p99, controlP99, share, delayMs, loopStopMs };
  } finally {
    probe.disconnect();
  }
}

/** The largest body of each shape, and the most expensive ones repeatedly. */
function queueOf({ shapes, sizes }: Reader, found: readonly Growth[]): Buffer[] {
  const largest = sizes.at(-1) as number;
  const dearest = [...found]
    .sort((a, b) => (b.ms.at(-1) as number) - (a.ms.at(-1) as number))
    .slice(0, DEAREST)
    .map(({ shape }) => shape);
  const bodies = shapes.map(({ make }) => make(largest));
  const again = bodies.filter((_body, i) => dearest.includes(shapes[i]?.name ?? ''));
  return [...bodies, ...Array.from({ length: TIMES }, () => again).flat()];
}

async function sendAll(reader: Reader, queue: Buffer[]): Promise<void> {
  const send = async () => {
    for (let body = queue.shift(); body !== undefined; body = queue.shift()) {
      await reader.read(body);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, send));
}

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN;
}
