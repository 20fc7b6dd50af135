import { setTimeout as sleep } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { afterEach, expect, it } from 'vitest';
import { testDatabase } from '../../../../tests/support/test-database.ts';
import { createLeaderWork, type LeaderTask, type LeaderWork } from './leader.ts';

const test = await testDatabase();
const replicas: LeaderWork[] = [];
afterEach(async () => {
  await Promise.all(replicas.splice(0).map((replica) => replica.stop()));
});

function aReplica() {
  const errors: unknown[] = [];
  const registry = new Registry();
  const work = createLeaderWork({
    connections: test.connections,
    log: { info: () => {}, warn: () => {}, error: (about: unknown) => void errors.push(about) },
    registry,
    tryEveryMs: 50,
  });
  replicas.push(work);
  return { work, errors, registry };
}

/** A task that says by whom and how often it runs at the same time. */
function aTask(name: string, runs: string[], by: string): LeaderTask {
  return { name, everyMs: 10, run: async () => void runs.push(by) };
}

async function until(condition: () => boolean): Promise<void> {
  for (let i = 0; i < 500 && !condition(); i++) await sleep(10);
  expect(condition()).toBe(true);
}

const killLeader = () =>
  test.superuser.query(
    `SELECT pg_terminate_backend(pid) FROM pg_locks
     WHERE locktype = 'advisory' AND granted
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
  );

it('runs the tasks on one of two replicas, and on the other when the first stops', async () => {
  const [a, b] = [aReplica(), aReplica()];
  const runs: string[] = [];
  a.work.add(aTask('count', runs, 'a'));
  b.work.add(aTask('count', runs, 'b'));
  a.work.start();
  await until(() => runs.length >= 3);
  b.work.start();
  await sleep(150);
  expect(new Set(runs)).toEqual(new Set(['a']));
  expect([a.work.isLeader(), b.work.isLeader()]).toEqual([true, false]);
  expect(await a.registry.metrics()).toContain('governance_leader 1');

  await a.work.stop();
  const count = runs.length;
  await until(() => b.work.isLeader() && runs.length >= count + 3);
  expect(new Set(runs.slice(count))).toEqual(new Set(['b']));
  expect(await a.registry.metrics()).toContain('governance_leader 0');
});

it('is not the leader any more when its session is gone, and somebody is soon', async () => {
  const [a, b] = [aReplica(), aReplica()];
  const ended: string[] = [];
  const forever = (by: string): LeaderTask => ({
    name: 'forever',
    everyMs: 10,
    run: (signal) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          ended.push(by);
          resolve();
        });
      }),
  });
  a.work.add(forever('a'));
  b.work.add(forever('b'));
  a.work.start();
  await until(() => a.work.isLeader());
  b.work.start();
  await sleep(100);
  for (let round = 1; round <= 3; round++) {
    await killLeader();
    await until(() => ended.length === round);
    await until(() => a.work.isLeader() || b.work.isLeader());
    expect([a.work.isLeader(), b.work.isLeader()].filter(Boolean)).toHaveLength(1);
  }
});

it('waits with the lock for what is under way, and never runs a task twice at a time', async () => {
  const [a, b] = [aReplica(), aReplica()];
  let running = 0;
  let most = 0;
  const slow: LeaderTask = {
    name: 'slow',
    everyMs: 1,
    // It does not look at the signal.
    run: async () => {
      most = Math.max(most, ++running);
      await sleep(60);
      running--;
    },
  };
  a.work.add(slow);
  b.work.add(slow);
  a.work.start();
  b.work.start();
  await until(() => a.work.isLeader() || b.work.isLeader());
  const [first, second] = a.work.isLeader() ? [a, b] : [b, a];
  await first.work.stop();
  await until(() => second.work.isLeader());
  await sleep(150);
  expect(most).toBe(1);
});

it('logs a task that throws, tries it again, and goes on with the others', async () => {
  const { work, errors, registry } = aReplica();
  const runs: string[] = [];
  let failures = 0;
  work.start();
  await until(() => work.isLeader());
  // Added while it leads.
  work.add({
    name: 'failing',
    everyMs: 10,
    run: async () => {
      if (++failures < 3) throw new Error('not today');
      runs.push('failing');
    },
  });
  work.add(aTask('other', runs, 'other'));
  await until(() => runs.includes('failing') && runs.includes('other'));
  expect(errors).toHaveLength(2);
  expect(errors[0]).toMatchObject({ task: 'failing', err: { message: 'not today' } });
  expect(await registry.metrics()).toContain(
    'governance_leader_task_failures_total{task="failing"} 2',
  );
  expect(() => work.add(aTask('other', runs, 'other'))).toThrow(/named other/);
});

it('begins again by itself when the database comes back', async () => {
  let away = true;
  const work = createLeaderWork({
    connections: {
      openSession: (name) =>
        away ? Promise.reject(new Error('away')) : test.connections.openSession(name),
    },
    log: { info: () => {}, warn: () => {}, error: () => {} },
    registry: new Registry(),
    tryEveryMs: 50,
  });
  replicas.push(work);
  work.start();
  await sleep(50);
  expect(work.isLeader()).toBe(false);
  away = false;
  await until(() => work.isLeader());
});
