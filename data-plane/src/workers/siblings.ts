/** The connections from one worker to the others of its machine, over their private sockets. */
import { Pool } from 'undici';
import { socketPath } from './worker-place.ts';

export type Siblings = ReturnType<typeof createSiblings>;

const ASK_MS = 1_000;
/** Between processes of one machine, a connection is made at once or not at all. */
const CONNECT_MS = 2_000;
/** Costs the worker that is asked next to nothing. */
const ANY_PATH = '/.well-known/jwks.json';

export function createSiblings(own: { worker: number; count: number; socketDir: string }) {
  const pools = new Map<number, Pool>();

  function wayTo(worker: number): Pool {
    let pool = pools.get(worker);
    if (pool === undefined) {
      pool = new Pool('http://worker', {
        socketPath: socketPath(own.socketDir, worker),
        connect: { timeout: CONNECT_MS },
      });
      pools.set(worker, pool);
    }
    return pool;
  }

  async function ask(worker: number, path: string): Promise<unknown> {
    try {
      const signal = AbortSignal.timeout(ASK_MS);
      const answer = await wayTo(worker).request({ method: 'GET', path, signal });
      return await answer.body.json();
    } catch {
      return null;
    }
  }

  return {
    /** The numbers of the other workers. */
    others: Array.from({ length: own.count }, (_, index) => index + 1).filter(
      (worker) => worker !== own.worker,
    ),
    /** Connections to a worker, made on first use. */
    wayTo,
    /**
     * Whether a worker answers within a second. A connection alone proves nothing: the system makes
     * it, also for one that hangs.
     */
    isThere: async (worker: number): Promise<boolean> => (await ask(worker, ANY_PATH)) !== null,
    /**
     * Asks a worker for JSON.
     *
     * @returns null where it does not answer with JSON within a second: it is down, or hangs
     */
    ask,
    close: async (): Promise<void> => {
      await Promise.all([...pools.values()].map((pool) => pool.destroy()));
    },
  };
}
