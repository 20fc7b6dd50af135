import { setTimeout as sleep } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { afterEach, expect, it } from 'vitest';
import { testDatabase } from '../../../../tests/support/test-database.ts';
import type { Connections } from '../database/database.ts';
import { createReplicaChanges, type ReplicaChanges } from './replica-changes.ts';

const test = await testDatabase();
const TENANT = '0190aaaa-0000-7000-8000-00000000000a';
const THIRD = '0190aaaa-0000-7000-8000-00000000000c';
const OTHER = '0190aaaa-0000-7000-8000-00000000000b';

const replicas: ReplicaChanges[] = [];
afterEach(async () => {
  await Promise.all(replicas.splice(0).map((replica) => replica.stop()));
});

/** A replica's bus that tells what it heard after it was started. */
async function aReplica(connections: Pick<Connections, 'openSession'> = test.connections) {
  const registry = new Registry();
  const bus = createReplicaChanges({
    connections,
    onListenerError: (error) => {
      throw error;
    },
    log: { warn: () => {} },
    registry,
  });
  replicas.push(bus);
  await bus.start();
  const received: unknown[] = [];
  bus.subscribe(
    (change) => received.push(change),
    () => received.push('missed'),
  );
  return { bus, received, registry };
}

async function until(condition: () => boolean): Promise<void> {
  for (let i = 0; i < 500 && !condition(); i++) await sleep(10);
  expect(condition()).toBe(true);
}

const killListeners = () =>
  test.superuser.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE application_name = 'governance_changes' AND datname = current_database()`,
  );

it('tells the other replica, and acts on its own word once', async () => {
  const [a, b] = [await aReplica(), await aReplica()];
  a.bus.publish({ tenantId: TENANT, feedSeq: 3, position: 9 });
  b.bus.publish({ tenantId: OTHER, position: 1 });
  b.bus.publish({ tenantId: THIRD, tokensRevoked: true });
  await until(() => a.received.length >= 3 && b.received.length >= 3);
  await sleep(150);
  const all = [
    { tenantId: TENANT, feedSeq: 3, position: 9 },
    { tenantId: OTHER, position: 1 },
    { tenantId: THIRD, tokensRevoked: true },
  ];
  expect(new Set(a.received)).toEqual(new Set(all));
  expect(new Set(b.received)).toEqual(new Set(all));
  expect([a.received.length, b.received.length]).toEqual([3, 3]);
});

it('gathers a storm into a few notifications that end with the newest numbers', async () => {
  const [a, b] = [await aReplica(), await aReplica()];
  for (let n = 1; n <= 200; n++) {
    for (let t = 0; t < 120; t++) a.bus.publish({ tenantId: `tenant-${t}`, position: n });
    if (n === 100) await sleep(60);
  }
  await until(
    () => b.received.filter((c) => (c as { position: number }).position === 200).length === 120,
  );
  expect(b.received.length).toBeLessThanOrEqual(3 * 120);
});

it('comes back after its session was killed, and nothing is missed', async () => {
  const [a, b] = [await aReplica(), await aReplica()];
  for (let n = 1; n <= 5; n++) {
    a.received.length = 0;
    b.received.length = 0;
    await killListeners();
    // While nobody listens, or a moment before it is noticed.
    a.bus.publish({ tenantId: TENANT, feedSeq: n });
    await until(() => b.received.includes('missed') && a.received.includes('missed'));
    a.bus.publish({ tenantId: TENANT, feedSeq: 100 + n });
    await until(() => b.received.some((c) => (c as { feedSeq?: number }).feedSeq === 100 + n));
  }
  const metrics = await b.registry.metrics();
  expect(metrics).toContain('governance_replica_listener_up 1');
  expect(metrics).toContain('governance_replica_listener_sessions_total 6');
});

it('keeps what it has to tell while the database is away, within bounds', async () => {
  let away = true;
  const a = await aReplica({
    openSession: (name) =>
      away ? Promise.reject(new Error('away')) : test.connections.openSession(name),
  });
  const b = await aReplica();
  a.bus.publish({ tenantId: TENANT, feedSeq: 1 });
  a.bus.publish({ tenantId: TENANT, position: 2 });
  away = false;
  await until(() => b.received.length > 0);
  expect(b.received).toEqual([{ tenantId: TENANT, feedSeq: 1, position: 2 }]);

  b.received.length = 0;
  for (let t = 0; t <= 10_000; t++) a.bus.publish({ tenantId: `tenant-${t}`, feedSeq: 1 });
  await until(() => b.received.includes('missed'));
  expect(b.received).toEqual(['missed']);
});

it('says the last word at its stop', async () => {
  const [a, b] = [await aReplica(), await aReplica()];
  a.bus.publish({ tenantId: TENANT, feedSeq: 1 });
  await sleep(20);
  a.bus.publish({ tenantId: TENANT, feedSeq: 2 });
  await a.bus.stop();
  await until(() => b.received.length === 2);
});

it('takes a word that is none as a reason to look', async () => {
  const a = await aReplica();
  await test.superuser.query(`SELECT pg_notify('governance_changes', 'not JSON')`);
  await until(() => a.received.length > 0);
  expect(a.received).toEqual(['missed']);
});
