/**
 * Two replicas of the control plane on one PostgreSQL behind a balancer, a data plane, and calls:
 * one replica is killed under load. No call fails for it, a change made at the other one holds
 * within moments, the audit stream goes on where it was, and every decision is stored once.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { checkControlPlane, openSessionSoon } from '../scripts/durability/kill-rounds.ts';
import { MARK, startMarkedBackend } from '../scripts/durability/marked-backend.ts';
import { connectTo, makeMarkedCall, setUpMarkedCalls } from '../scripts/durability/marked-calls.ts';
import { adminApi } from './support/admin-api.ts';
import { startBalancer } from './support/balancer.ts';
import { readEvents } from './support/event-reader.ts';
import { type ServiceProcess, startService } from './support/service-process.ts';
import { testDatabase } from './support/test-database.ts';
import { tokenKeyPems } from './support/token-key-pems.ts';

const test = await testDatabase();
const started: ServiceProcess[] = [];
const closers: (() => Promise<void>)[] = [];

afterAll(async () => {
  for (const close of closers.reverse()) await close();
  for (const service of started.reverse()) await service.dispose();
});

async function start(env: Record<string, string>, adminPassword: string): Promise<ServiceProcess> {
  const service = await startService({ env, adminPassword });
  started.push(service);
  return service;
}

it('survives the loss of a replica under load', async () => {
  const adminPassword = randomBytes(12).toString('hex');
  const shared = {
    SERVICE_DEPLOYMENT_MODE: 'control-plane',
    DATABASE_URL: test.url,
    SERVICE_MASTER_KEY: randomBytes(32).toString('base64'),
    SERVICE_PUBLIC_URL: 'http://control-plane.test',
    ...tokenKeyPems(),
  };
  const [one, other] = await Promise.all([
    start(shared, adminPassword),
    start(shared, adminPassword),
  ]);
  const balancer = await startBalancer([one, other].map(({ url }) => Number(new URL(url).port)));
  closers.push(balancer.close);
  const admin = await adminApi(other.url, 'admin', adminPassword);
  const issued = await admin.post<{ token: string }>('/api/v1/admin/data-plane-tokens', {
    ...{ label: 'journey', region: 'here', expires_days: 1 },
  });
  const plane = await start(
    {
      SERVICE_DEPLOYMENT_MODE: 'data-plane',
      SERVICE_CP_URL: balancer.url,
      SERVICE_CP_TOKEN: issued.token,
    },
    adminPassword,
  );
  const backend = await startMarkedBackend();
  closers.push(backend.close);
  const authorization = await setUpMarkedCalls(admin, backend.port);
  const headers = await openSessionSoon(plane.url, authorization);
  const stream = readEvents(`${balancer.url}/api/v1/audit/stream`, admin.token);
  closers.push(stream.stop);

  const acknowledged = new Set<number>();
  const failed: number[] = [];
  let suspended = false;
  let done = false;
  let next = 0;
  // The agent's role reaches the data plane by the feed, which may be after its session.
  const warm = connectTo(plane.url);
  while (acknowledged.size === 0 && next < 200) {
    const n = next++;
    if (await makeMarkedCall(warm, headers, n)) acknowledged.add(n);
    else await sleep(50);
  }
  await warm.close();
  const load = Array.from({ length: 4 }, async () => {
    const client = connectTo(plane.url);
    while (!done) {
      const n = next++;
      if (await makeMarkedCall(client, headers, n)) acknowledged.add(n);
      else if (!suspended) failed.push(n);
      await sleep(5);
    }
    await client.close();
  });
  await sleep(1_000);
  await one.kill();
  await sleep(2_000);
  expect(failed).toEqual([]);

  // A change made at the replica that is left.
  const { agents } = await admin.get<{ agents: { id: string; name: string }[] }>('/api/v1/agents');
  const agent = agents.find(({ name }) => name === 'marked');
  suspended = true;
  await admin.patch(`/api/v1/agents/${agent?.id}`, { status: 'suspended' });
  const changed = Date.now();
  let calls = acknowledged.size;
  do {
    calls = acknowledged.size;
    await sleep(200);
  } while (acknowledged.size > calls && Date.now() - changed < 25_000);
  // Far from the 30 s for which a poll of the feed is held.
  expect(Date.now() - changed).toBeLessThan(15_000);
  done = true;
  await Promise.all(load);

  expect(acknowledged.size).toBeGreaterThan(100);
  expect(await checkControlPlane(admin, acknowledged)).toEqual([]);
  const marks = () =>
    stream.events
      .filter((data) => data.includes('policy_allow'))
      .map((data) => Number(MARK.exec(data)?.[1]));
  for (let i = 0; i < 100 && marks().length < acknowledged.size; i++) await sleep(50);
  const seen = marks();
  expect(new Set(seen).size).toBe(seen.length);
  // What came before the stream was open is not in it.
  const first = Math.min(...seen);
  expect([...acknowledged].filter((n) => n > first + 8 && !seen.includes(n))).toEqual([]);
}, 120_000);
