/**
 * Races over held calls and results with the real authority: the control plane's row in PostgreSQL,
 * which people leave by the API and the time-out by its task, two of them at once. The data plane's
 * records are ingested and projected, its facts are read from the feed, and it restarts in between.
 */

import { createEscalationTimeouts } from '@governance/control-plane/escalations/escalation-timeouts';
import { HOLD_INJECTIONS, INJECTED_PAGE } from '@governance/data-plane/testing/test-holds';
import { aPlace } from '@governance/data-plane/testing/test-place';
import {
  HTTP_SERVER,
  startTestPlane,
  type TestPlane,
} from '@governance/data-plane/testing/test-plane';
import { startTestUpstream, type TestUpstream } from '@governance/data-plane/testing/test-upstream';
import type { FeedEntry } from '@governance/shared/channel/facts';
import { FEED_START, feedDigest } from '@governance/shared/channel/feed-chain';
import { type LedgerRecord, parseRecord } from '@governance/shared/ledger/ledger-record';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { aDataPlane } from './support/a-data-plane.ts';
import { testControlPlane } from './support/test-control-plane.ts';

const CAREFUL = {
  id: '0190aaaa-0000-7000-8000-0000000000ff',
  name: 'careful',
  rego: 'package careful\n\nescalate contains "a person decides" if input.request.action == "delete"\n',
};
const RUNS = 4;

const { call, controlPlane, test, aTenantAdmin } = await testControlPlane();
const now = () => new Date();
const timeouts = createEscalationTimeouts({ db: test.db, now, settledNow: now });
const { signal } = new AbortController();

let upstream: TestUpstream;
let plane: TestPlane;
let token: string;
let tenantId: string;
let basic: string;
/** Of all runs. */
const entries: FeedEntry[] = [];
let place = { cursor: 0, digest: FEED_START };
let races = 0;

beforeAll(async () => {
  upstream = await startTestUpstream({
    tools: [{ name: 'delete_thing' }, INJECTED_PAGE],
  });
  const admin = await aTenantAdmin();
  token = admin.token;
  tenantId = admin.scope.tenantId;
  const { deploymentId, signingKey } = await aDataPlane(test, admin.scope);
  const made = async (path: string, body: object) => {
    const answer = await call(`/api/v1/${path}`, { token, body });
    expect(answer.statusCode, answer.body).toBeLessThan(300);
    return answer.json();
  };
  const about = { name: 'deleter', description: '' };
  const role = await made('roles', { ...about, permissions: ['up:*'], resource_scopes: [] });
  const agent = await made('agents', { ...about, agent_type: 'test', owner: 'tests' });
  await made(`agents/${agent.id}/roles`, { role_id: role.id });
  basic = `Basic ${Buffer.from(`${agent.client_id}:${agent.client_secret}`).toString('base64')}`;
  await start(await aPlace({ tenantId, deploymentId, signingKey }));
  await exchange();
});

afterAll(async () => {
  await plane?.stop();
  await upstream?.stop();
});

async function start(at: TestPlane['place']): Promise<void> {
  const servers = [HTTP_SERVER('up', upstream.url)];
  plane = await startTestPlane({ servers, policies: [CAREFUL], isFed: true }, at);
  plane.setSettings({ inbound: { actions: HOLD_INJECTIONS, rules: [] } });
}

/** The data plane ships what it recorded, and hears what the control plane says. */
async function exchange(): Promise<void> {
  for (;;) {
    const batch = await plane.ledger.nextBatch(tenantId, 500);
    if (batch === null) break;
    await controlPlane.ingest.ingestBatch(tenantId, plane.deploymentId, batch);
    const { epoch, last_seq, head } = batch.header;
    await plane.ledger.markShipped(tenantId, { epoch, seq: last_seq, head });
  }
  const request = { ...place, limit: 500, waitMs: 0, signal };
  const page = await controlPlane.feedReader.readFeed({ tenantId, ...request });
  plane.replica.apply(tenantId, page.entries, page.cursor);
  place = { cursor: page.cursor, digest: page.entries.reduce(feedDigest, place.digest) };
  entries.push(...page.entries);
}

type Held = 'call' | 'result';
type Opened = Extract<LedgerRecord, { type: 'hold_opened' | 'result_held' }>;
const isOpened = (one: LedgerRecord): one is Opened =>
  one.type === 'hold_opened' || one.type === 'result_held';

/** What the control plane has of a data plane, as it was signed. */
async function recordsOf(): Promise<LedgerRecord[]> {
  const { rows } = await test.superuser.query<{ bytes: Buffer }>(
    `SELECT bytes FROM ledger_records WHERE tenant_id = $1 AND stream = $2 ORDER BY epoch, seq`,
    [tenantId, plane.deploymentId],
  );
  return rows.map(({ bytes }) => parseRecord(bytes));
}

const WAYS = ['approve', 'deny', 'time out'] as const;
type Way = (typeof WAYS)[number];

/** @returns the status of a person's answer */
async function end(held: Held, id: string, way: Way): Promise<number | null> {
  if (way === 'time out') {
    await test.superuser.query(
      `UPDATE escalations SET opened_at = opened_at - interval '1 day',
         timeout_at = now() - interval '1 second' WHERE id = $1 AND status = 'pending'`,
      [id],
    );
    await timeouts.run(signal);
    return null;
  }
  const path = held === 'call' ? `escalations/${id}/${way}` : `inbound/holds/${id}/resolve`;
  const resolution = way === 'approve' ? 'allow_original' : 'block';
  const body = held === 'call' ? {} : { resolution };
  return (await call(`/api/v1/${path}`, { token, body })).statusCode;
}

type Step =
  | Way
  | 'approve and deny'
  | 'approve and time out'
  | 'tell'
  | 'retry'
  | 'leave'
  | 'restart';
const STEPS: Step[] = [
  ...WAYS,
  ...(['approve and deny', 'approve and time out', 'tell', 'tell', 'retry', 'retry'] as const),
  ...(['leave', 'restart'] as const),
];

async function run(held: Held, steps: readonly Step[]) {
  const name = held === 'call' ? 'delete_thing' : 'read_page';
  const params = { name, arguments: { race: ++races } };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  const answers: Promise<Record<string, unknown> | 'gone'>[] = [];
  const request = () => {
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: basic,
    };
    const answer = fetch(`${plane.url}/mcp/v1/up`, { method: 'POST', headers, body });
    answers.push(
      answer
        .then((got) => got.json() as Promise<Record<string, unknown>>)
        .catch(() => 'gone' as const),
    );
  };
  upstream.seen.length = 0;
  const known = new Set((await recordsOf()).map(({ id }) => id));
  const fresh = async () => (await recordsOf()).filter(({ id }) => !known.has(id));
  request();
  await vi.waitFor(async () => {
    await exchange();
    expect((await fresh()).some(isOpened)).toBe(true);
  });
  const { escalation_id: id } = (await fresh()).find(isOpened) as Opened;

  const statuses: (number | null)[] = [];
  const resolve = async (...ways: Way[]) =>
    void statuses.push(...(await Promise.all(ways.map((way) => end(held, id, way)))));
  for (const step of [...steps, 'approve and deny'] as Step[]) {
    if (step === 'retry') request();
    else if (step === 'tell') await exchange();
    else if (step === 'leave') plane.held.endWaits();
    else if (step === 'restart') {
      await plane.leave();
      await start(plane.place);
    } else await resolve(...(step.split(' and ') as Way[]));
  }
  let isSettled = false;
  const settled = Promise.all(answers).then(() => {
    isSettled = true;
  });
  await vi.waitFor(async () => {
    await exchange();
    plane.held.endWaits();
    expect(isSettled).toBe(true);
  });
  await settled;
  await vi.waitFor(async () => {
    await exchange();
    expect(factsOf(id)).not.toEqual([]);
  });
  return { id, statuses, records: await fresh(), answers: await Promise.all(answers) };
}

function factsOf(id: string): FeedEntry[] {
  const own = `${plane.deploymentId}/${id}`;
  return entries.filter(({ kind, key }) => kind === 'optional.escalation' && key === own);
}

async function rowOf(id: string): Promise<{ status: string; grant_id: string | null }> {
  const { rows } = await test.superuser.query(
    'SELECT status, grant_id::text AS grant_id FROM escalations WHERE id = $1',
    [id],
  );
  return rows[0];
}

/** Records of the admin chain about its end. */
async function resolutionsOf(id: string): Promise<string[]> {
  const { events } = (await call('/api/v1/audit/events?limit=200', { token })).json();
  const found: { action: string; target: string }[] = events;
  const targets = [`escalation/${id}`, `inbound_hold/${id}`];
  return found.flatMap(({ action, target }) => (targets.includes(target) ? [action] : []));
}

const ACTIONS: Record<string, Record<Held, string>> = {
  approved: { call: 'escalation_approved', result: 'inbound_hold_allowed_original' },
  denied: { call: 'escalation_denied', result: 'inbound_hold_blocked' },
  timed_out: { call: 'escalation_timed_out', result: 'inbound_hold_timed_out' },
};

const steps = fc.array(fc.constantFrom(...STEPS), { minLength: 1, maxLength: 8, size: 'max' });

it.each([
  'call',
  'result',
] as const)('a held %s has one end, one record of each, and at most one request has it', async (held) => {
  const property = fc.asyncProperty(steps, async (order) => {
    const { id, statuses, records, answers } = await run(held, order);
    const { status, grant_id } = await rowOf(id);
    const byPeople = statuses.filter((one) => one !== null);
    expect(byPeople.filter((one) => one === 200)).toHaveLength(status === 'timed_out' ? 0 : 1);
    expect(byPeople.filter((one) => one !== 200 && one !== 409)).toEqual([]);
    expect(await resolutionsOf(id)).toEqual([ACTIONS[status]?.[held]]);
    expect(factsOf(id)).toMatchObject([{ value: { resolution: status } }]);

    const opened = records.filter(isOpened).filter((one) => one.escalation_id === id);
    expect(opened).toHaveLength(1);
    const uses = records.flatMap((one) =>
      one.type === 'decision' && one.v === 2 && one.grant_id !== null ? [one.grant_id] : [],
    );
    // Nobody was asked about a later one.
    expect(uses.length === 0 ? [] : [grant_id]).toEqual(uses);
    if (status !== 'approved') expect(uses).toEqual([]);
    const sent = upstream.messages('tools/call').length;
    const given = answers.filter((one) => one !== 'gone' && 'result' in one).length;
    expect(given).toBeLessThanOrEqual(uses.length);
    if (held === 'call') expect(sent).toBeLessThanOrEqual(uses.length);
    else if (status === 'denied') expect(sent).toBe(1);
  });
  await fc.assert(property, { numRuns: RUNS });
}, 60_000);
