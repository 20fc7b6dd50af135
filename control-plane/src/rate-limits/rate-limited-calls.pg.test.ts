/** Calls that rate limits refused: told by real batches, added up, listed and forgotten. */
import { uuidv7 } from '@governance/shared/ids';
import { beforeEach, expect, it } from 'vitest';
import { AGENT_ID, aDataPlane } from '../../../tests/support/a-data-plane.ts';
import { anAgent } from '../../../tests/support/an-agent.ts';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';
import { createRefusedPurge } from './rate-limited-calls.ts';

const START = Date.parse('2026-03-01T10:20:00.000Z');
let clock = START;
const now = () => new Date(clock);
const { call, aTenantAdmin, test, controlPlane } = await testControlPlane({ now });
const URL = '/api/v1/admin/rate-limits/refused';

let admin: Awaited<ReturnType<typeof aTenantAdmin>>;
let plane: Awaited<ReturnType<typeof aDataPlane>>;
let shipped = 0;
beforeEach(async () => {
  clock = START;
  admin = await aTenantAdmin();
  plane = await aDataPlane(test, admin.scope);
  plane.boot();
  shipped = 0;
});

const list = async (query = '', token = admin.token) =>
  (await call(`${URL}${query}`, { token })).json();

function tell(until: string, over: object = {}) {
  const id = uuidv7();
  plane.append({
    type: 'rate_limited',
    id,
    timestamp: until,
    bundle_revision: 1,
    agent_id: AGENT_ID,
    refused: 3,
    since: until,
    until,
    limit: 600,
    window_seconds: 60,
    risk_tier: 'low',
    ...over,
  });
}

async function ship() {
  const { tenantId } = admin.scope;
  const batch = plane.batch(shipped);
  const receipt = await controlPlane.ingest.ingestBatch(tenantId, plane.deploymentId, batch);
  // A batch that comes again counts once.
  await controlPlane.ingest.ingestBatch(tenantId, plane.deploymentId, batch);
  expect(receipt.status).toBe('accepted');
  shipped = plane.records.length;
}

it('are added up by agent and hour, and listed the newest first', async () => {
  expect(await list()).toEqual({ hours: [], total: 0 });
  const { id: other } = await anAgent(test, admin.scope);
  tell('2026-03-01T09:59:59.999Z');
  tell('2026-03-01T10:00:00.000Z');
  tell('2026-03-01T10:10:00.000Z', { refused: 4, limit: 30, risk_tier: 'critical' });
  tell('2026-03-01T10:05:00.000Z', { agent_id: other });
  tell('2026-03-01T10:05:00.000Z', { agent_id: uuidv7() });
  await ship();
  tell('2026-03-01T10:15:00.000Z');
  await ship();
  const ten = {
    agent_id: AGENT_ID,
    hour: '2026-03-01T10:00:00.000Z',
    refused: 10,
    last_at: '2026-03-01T10:15:00.000Z',
    requests: 600,
    window_seconds: 60,
    risk_tier: 'low',
  };
  const { hours, total } = await list();
  expect(total).toBe(3);
  expect(hours).toEqual(
    expect.arrayContaining([ten, expect.objectContaining({ agent_id: other, refused: 3 })]),
  );
  expect(hours[2]).toMatchObject({ agent_id: AGENT_ID, hour: '2026-03-01T09:00:00.000Z' });
  expect(await list(`?agent_id=${other}`)).toMatchObject({ total: 1 });
  expect(await list('?from=2026-03-01T10:00:00Z&limit=1')).toMatchObject({
    hours: [{ hour: ten.hour }],
    total: 2,
  });
  expect(await list('?to=2026-03-01T10:00:00Z')).toMatchObject({ total: 1 });
  const mine = await aTenantAdmin();
  expect(await list('', mine.token)).toEqual({ hours: [], total: 0 });
  expect((await call(URL)).statusCode).toBe(401);
  expect((await call(`${URL}?limit=1001`, { token: admin.token })).statusCode).toBe(422);
});

it('count now where a clock is wrong, and no number that is claimed stops anything', async () => {
  const refused = Number.MAX_SAFE_INTEGER;
  tell('2999-01-01T00:00:00.000Z', { refused });
  tell('1999-01-01T00:00:00.000Z', { refused, limit: refused, window_seconds: refused });
  await ship();
  tell('2026-03-01T10:00:00.000Z', { refused });
  await ship();
  expect(await list()).toMatchObject({
    hours: [{ hour: '2026-03-01T10:00:00.000Z', refused, last_at: now().toISOString() }],
    total: 1,
  });
});

it('are forgotten after 30 days', async () => {
  tell('2026-03-01T09:00:00.000Z');
  tell('2026-03-01T10:00:00.000Z');
  await ship();
  clock = Date.parse('2026-03-31T09:30:00.000Z');
  const purge = createRefusedPurge({ db: test.db, now });
  await purge.run(new AbortController().signal);
  // As long as the token is good.
  clock = START;
  expect(await list()).toMatchObject({ hours: [{ hour: '2026-03-01T10:00:00.000Z' }], total: 1 });
});
