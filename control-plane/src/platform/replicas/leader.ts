/**
 * Periodic work that one replica does: the holder of a session-level advisory lock is the leader.
 * When its process, connection or machine dies, PostgreSQL releases the lock and another replica
 * takes it within seconds. Proven by leader.pg.test.ts.
 *
 * It normally prevents double work, but does not guarantee it: a leader that is cut off notices up
 * to five seconds later. So a task must tolerate two replicas running it for a moment
 * (compare-and-set, claims, repeatable statements).
 */

import { setMaxListeners } from 'node:events';
import type { Logger } from 'pino';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Connections } from '../database/database.ts';
import { pause } from '../pause.ts';
import { type StandingSession, startStandingSession } from './standing-session.ts';

export interface LeaderTask {
  /** For the log and the metrics: snake_case. */
  name: string;
  /** Between the end of a run and the next one. */
  everyMs: number;
  /**
   * Runs once when this replica becomes the leader, then every `everyMs`; never twice at a time in
   * one process. The signal aborts when this replica stops or is not the leader any more: end soon.
   * A run may last until then. A failed run is logged and retried after a pause that grows from a
   * second to a minute, but never beyond `everyMs`.
   */
  run(signal: AbortSignal): Promise<void>;
}

export interface LeaderWork {
  /** Adds a task at any time. @throws Error when one of that name is there already */
  add(task: LeaderTask): void;
  isLeader(): boolean;
  /** Begins to compete for the lead. */
  start(): void;
  /** Ends the tasks, waits some seconds for them, and lets another replica take over. */
  stop(): Promise<void>;
}

export interface LeaderWorkDeps {
  connections: Pick<Connections, 'openSession'>;
  log: Pick<Logger, 'info' | 'warn' | 'error'>;
  registry: Registry;
  /** How often a replica that is not the leader tries to be. */
  tryEveryMs?: number;
}

const LOCK = 'governance.leader';
const TRY_EVERY_MS = 1_000;
const RETRY = { firstMs: 1_000, longestMs: 60_000 };
/** Longer than any task waits: an alert receiver has ten seconds. */
const STOP_WITHIN_MS = 12_000;

interface KnownTask extends LeaderTask {
  /** Resolves when its last run has ended, also one of an earlier term. */
  lastLoop: Promise<void>;
}

export function createLeaderWork(deps: LeaderWorkDeps): LeaderWork {
  const { connections, log, tryEveryMs = TRY_EVERY_MS } = deps;
  const metrics = createMetrics(deps.registry);
  const tasks = new Map<string, KnownTask>();
  let term: AbortSignal | undefined;
  let session: StandingSession | undefined;

  async function lead(signal: AbortSignal): Promise<void> {
    // Each task adds listeners to the signal: more than ten are no leak.
    setMaxListeners(0, signal);
    term = signal;
    metrics.leader.set(1);
    log.info('this replica now runs the periodic work');
    for (const task of tasks.values()) begin(task, signal);
    if (!signal.aborted) await aborted(signal);
    term = undefined;
    metrics.leader.set(0);
    log.info('this replica no longer runs the periodic work');
    // The lock is released after this, so that the next leader normally finds nothing under way.
    const ends = Promise.all([...tasks.values()].map((task) => task.lastLoop));
    const late = new AbortController();
    await Promise.race([ends, pause(STOP_WITHIN_MS, late.signal)]);
    late.abort();
  }

  function begin(task: KnownTask, signal: AbortSignal): void {
    task.lastLoop = task.lastLoop.then(() => repeatTask(task, signal));
  }

  async function repeatTask(task: LeaderTask, signal: AbortSignal): Promise<void> {
    let failures = 0;
    while (!signal.aborted) {
      try {
        await task.run(signal);
        failures = 0;
        metrics.done.set({ task: task.name }, Date.now() / 1_000);
      } catch (error) {
        // An error after the abort is no failure.
        if (signal.aborted) return;
        failures++;
        metrics.failures.inc({ task: task.name });
        log.error({ err: error, task: task.name }, 'periodic work failed and will be retried');
      }
      await pause(pauseAfter(task, failures), signal);
    }
  }

  return {
    add: (task) => {
      if (tasks.has(task.name)) throw new Error(`two periodic tasks are named ${task.name}`);
      const known: KnownTask = { ...task, run: task.run, lastLoop: Promise.resolve() };
      tasks.set(task.name, known);
      metrics.failures.inc({ task: task.name }, 0);
      if (term) begin(known, term);
    },
    isLeader: () => term !== undefined && !term.aborted,
    start: () => {
      session ??= startStandingSession({
        open: () => connections.openSession('governance_leader'),
        use: async (client, signal) => {
          while (!signal.aborted) {
            const { rows } = await client.query<{ taken: boolean }>(
              'SELECT pg_try_advisory_lock(hashtext($1)) AS taken',
              [LOCK],
            );
            if (rows[0]?.taken) return lead(signal);
            await pause(tryEveryMs, signal);
          }
        },
        onLost: (error) =>
          log.warn(
            { err: error },
            'the session of the periodic work was lost and is being reopened',
          ),
      });
    },
    stop: async () => {
      await session?.stop();
    },
  };
}

function pauseAfter({ everyMs }: LeaderTask, failures: number): number {
  if (failures === 0) return everyMs;
  return Math.min(RETRY.firstMs * 2 ** Math.min(failures - 1, 20), RETRY.longestMs, everyMs);
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

function createMetrics(registry: Registry) {
  const registers = [registry];
  return {
    leader: new Gauge({
      name: 'governance_leader',
      help: '1 on the replica that runs the periodic work',
      registers,
    }),
    failures: new Counter({
      name: 'governance_leader_task_failures_total',
      help: 'Failed runs of periodic work, which are retried',
      labelNames: ['task'],
      registers,
    }),
    done: new Gauge({
      name: 'governance_leader_task_done_timestamp_seconds',
      help: 'When this replica last finished a run of a periodic task',
      labelNames: ['task'],
      registers,
    }),
  };
}
