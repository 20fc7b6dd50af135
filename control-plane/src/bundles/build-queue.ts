/**
 * Decides when a tenant's bundle is built: requests that come close together, or while a build is
 * running, share one build that began after all of them (build-queue.test.ts). A failed build is
 * retried with growing pauses until one succeeds.
 */
import { AppError } from '@governance/shared/errors';

/** The first retry and the longest pause between two, in milliseconds. */
const RETRY = { first: 1_000, longest: 60_000 };

export interface BuildQueueDeps<Built> {
  /** Builds from the current state; it serves all requests made before it starts. */
  build(tenantId: string): Promise<Built>;
  /** How long the first request waits for others, in milliseconds. */
  debounceMs: number;
  /** How many tenants are built at the same time. */
  concurrency: number;
}

export interface BuildQueue<Built> {
  /**
   * Asks for a build that includes everything committed before this call.
   *
   * @throws whatever the build threw, or AppError UNAVAILABLE once the queue is closed
   */
  request(tenantId: string): Promise<Built>;
  /** Ends the retries, rejects waiting requests and resolves when no build is running. */
  close(): Promise<void>;
}

interface Waiter<Built> {
  resolve(built: Built): void;
  reject(error: unknown): void;
}

interface TenantQueue<Built> {
  waiters: Waiter<Built>[];
  timer: NodeJS.Timeout | undefined;
  running: boolean;
  retryTimer: NodeJS.Timeout | undefined;
  failures: number;
}

export function createBuildQueue<Built>(deps: BuildQueueDeps<Built>): BuildQueue<Built> {
  const tenants = new Map<string, TenantQueue<Built>>();
  const ready: string[] = [];
  const builds = new Set<Promise<void>>();
  let closed = false;

  function queueOf(tenantId: string): TenantQueue<Built> {
    let queue = tenants.get(tenantId);
    if (!queue) {
      queue = { waiters: [], timer: undefined, running: false, retryTimer: undefined, failures: 0 };
      tenants.set(tenantId, queue);
    }
    return queue;
  }

  function schedule(tenantId: string, queue: TenantQueue<Built>): void {
    if (queue.timer || queue.running) return;
    queue.timer = setTimeout(() => {
      ready.push(tenantId);
      startReady();
    }, deps.debounceMs);
  }

  function startReady(): void {
    while (builds.size < deps.concurrency) {
      const tenantId = ready.shift();
      if (tenantId === undefined) return;
      const build = run(tenantId, queueOf(tenantId)).finally(() => {
        builds.delete(build);
        startReady();
      });
      builds.add(build);
    }
  }

  async function run(tenantId: string, queue: TenantQueue<Built>): Promise<void> {
    queue.timer = undefined;
    queue.running = true;
    clearTimeout(queue.retryTimer);
    const served = queue.waiters.splice(0);
    try {
      const built = await deps.build(tenantId);
      queue.failures = 0;
      for (const waiter of served) waiter.resolve(built);
    } catch (error) {
      queue.failures++;
      for (const waiter of served) waiter.reject(error);
      retryLater(tenantId, queue);
    }
    queue.running = false;
    if (queue.waiters.length > 0) schedule(tenantId, queue);
    else if (queue.failures === 0) tenants.delete(tenantId);
  }

  function retryLater(tenantId: string, queue: TenantQueue<Built>): void {
    if (closed) return;
    const pause = Math.min(RETRY.first * 2 ** (queue.failures - 1), RETRY.longest);
    queue.retryTimer = setTimeout(() => schedule(tenantId, queue), pause);
    // A pending retry does not keep the process alive.
    queue.retryTimer.unref();
  }

  return {
    request: (tenantId) => {
      if (closed) return Promise.reject(new AppError('UNAVAILABLE'));
      return new Promise<Built>((resolve, reject) => {
        const queue = queueOf(tenantId);
        queue.waiters.push({ resolve, reject });
        schedule(tenantId, queue);
      });
    },
    close: async () => {
      closed = true;
      for (const queue of tenants.values()) {
        clearTimeout(queue.timer);
        clearTimeout(queue.retryTimer);
        for (const waiter of queue.waiters.splice(0)) waiter.reject(new AppError('UNAVAILABLE'));
      }
      ready.length = 0;
      await Promise.all(builds);
    },
  };
}
