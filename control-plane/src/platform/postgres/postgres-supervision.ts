/**
 * Keeps the server running: a dead one is restarted, at once and then with growing pauses, as long
 * as the service runs. Proven by postgres-supervision.test.ts.
 */

const LOOK_MS = 250;
const BACKOFF = { first: 500, longest: 30_000 };
/** A server that ran this long started well: the back-off begins again. */
const STEADY_MS = 60_000;

export interface Supervision {
  /** What keeps the server from running; null while it runs. */
  findProblem(): string | null;
  /** Once it resolves, no server will be started. */
  stop(): Promise<void>;
}

export interface SupervisionOptions {
  isAlive(): boolean;
  /** Starts the server on its files and its port; resolves when it takes connections. */
  restart(signal: AbortSignal): Promise<void>;
  log: { info(message: string): void; warn(message: string): void };
  backoff?: { first: number; longest: number };
}

export function superviseServer(options: SupervisionOptions): Supervision {
  const { log } = options;
  const backoff = options.backoff ?? BACKOFF;
  const ending = new AbortController();
  let startedAt = performance.now();
  let failures = 0;
  let problem: string | null = null;
  let restarting: Promise<void> | null = null;

  const timer = setInterval(() => {
    if (restarting || options.isAlive()) return;
    restarting = bringBack().finally(() => {
      restarting = null;
    });
  }, LOOK_MS);
  timer.unref();

  async function bringBack(): Promise<void> {
    if (performance.now() - startedAt > STEADY_MS) failures = 0;
    problem = 'the embedded PostgreSQL ended';
    log.warn(`${problem}: it is being restarted; until then management answers 503`);
    while (!ending.signal.aborted) {
      const pause =
        failures === 0 ? 0 : Math.min(backoff.longest, backoff.first * 2 ** (failures - 1));
      failures++;
      await wait(pause, ending.signal);
      if (ending.signal.aborted) return;
      try {
        await options.restart(ending.signal);
        startedAt = performance.now();
        problem = null;
        log.info('the embedded PostgreSQL runs again');
        return;
      } catch (error) {
        if (ending.signal.aborted) return;
        problem = error instanceof Error ? error.message : String(error);
        log.warn(`the embedded PostgreSQL does not start (attempt ${failures}): ${problem}`);
      }
    }
  }

  return {
    findProblem: () => problem,
    stop: async () => {
      ending.abort();
      clearInterval(timer);
      await restarting;
    },
  };
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms).unref();
    signal.addEventListener('abort', done);
  });
}
