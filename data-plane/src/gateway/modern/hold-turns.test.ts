/** A modern client whose call, or its result, waits for a person longer than one request. */
import type { EscalationFact } from '@governance/shared/facts';
import { uuidv7 } from '@governance/shared/ids';
import type { LedgerRecord } from '@governance/shared/ledger-record';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { REAL_CLIENTS } from '../../testing/test-client.ts';
import { postModern } from '../../testing/test-modern-client.ts';
import {
  HTTP_SERVER,
  startTestPlane,
  type TestAgent,
  type TestPlane,
} from '../../testing/test-plane.ts';
import { startTestUpstream, type TestUpstream } from '../../testing/test-upstream.ts';

type Opened = Extract<LedgerRecord, { type: 'hold_opened' }>;

let upstream: TestUpstream;
let plane: TestPlane;
let agent: TestAgent;
let records: LedgerRecord[] = [];

beforeAll(async () => {
  upstream = await startTestUpstream({ tools: [{ name: 'delete_thing' }] });
  // So short that each request ends before anybody has decided.
  const config = { holdWaitMs: 500 };
  plane = await startTestPlane({ servers: [HTTP_SERVER('up', upstream.url)], config });
});

afterAll(async () => {
  await plane?.stop();
  await upstream?.stop();
});

beforeEach(async () => {
  await plane.records();
  records = [];
  upstream.seen.length = 0;
  agent = plane.addAgent(['*:*'], { risk_tier: 'high' });
});

const sent = () => upstream.messages('tools/call').length;

async function opened(): Promise<Opened[]> {
  records.push(...(await plane.records()));
  return records.filter((one): one is Opened => one.type === 'hold_opened');
}

const decisions = async () => {
  await opened();
  return records.filter(({ type }) => type === 'decision').length;
};

function decide({ escalation_id }: Opened, resolution: EscalationFact['resolution']): void {
  const expires_at = new Date(Date.now() + 600_000).toISOString();
  const fact: EscalationFact = {
    escalation_id,
    deployment_id: plane.deploymentId,
    resolution,
    resolved_at: new Date().toISOString(),
    grant: resolution === 'approved' ? { id: uuidv7(), expires_at } : null,
  };
  plane.apply('optional.escalation', `${plane.deploymentId}/${escalation_id}`, fact);
}

it('is asked to repeat the request, and told how it ended', async () => {
  const call = async (requestState?: string) => {
    const params = { name: 'delete_thing', arguments: {}, ...(requestState && { requestState }) };
    return (await postModern(plane, 'tools/call', params, { authorization: agent.basic })).last;
  };
  const { result } = await call();
  const [hold] = await opened();
  const state = `gateway-hold-${hold?.escalation_id}`;
  expect(result).toMatchObject({ resultType: 'input_required', requestState: state });
  expect(result).not.toHaveProperty('inputRequests');
  // The same call with the state, and without it.
  expect((await call(state)).result).toMatchObject({ requestState: state });
  expect((await call()).result).toMatchObject({ requestState: state });
  expect(await opened()).toHaveLength(1);
  decide(hold as Opened, 'denied');
  expect((await call(state)).error).toMatchObject({
    code: -32004,
    data: { resolution: 'denied', escalation_id: hold?.escalation_id },
  });
  expect(sent()).toBe(0);
});

it('gains nothing by an invented state', async () => {
  const params = { name: 'delete_thing', arguments: { id: 1 }, requestState: 'gateway-hold-mine' };
  const { last } = await postModern(plane, 'tools/call', params, { authorization: agent.basic });
  expect(last.result).toMatchObject({ resultType: 'input_required' });
  expect(await opened()).toHaveLength(1);
  expect(sent()).toBe(0);
});

it.each([
  ['approved', 1],
  ['timed_out', 0],
] as const)('a real client asks again by itself until it is %s', async (resolution, calls) => {
  const client = await REAL_CLIENTS['SDK v2, modern'](`${plane.url}/mcp/v1/up`, agent.basic);
  const calling = client.callTool('delete_thing', {}).catch((error: unknown) => error);
  // It has come back at least once.
  await vi.waitFor(async () => expect(await decisions()).toBeGreaterThan(1));
  const [hold] = await opened();
  decide(hold as Opened, resolution);
  const answer = await calling;
  if (resolution === 'approved') expect(answer).toHaveProperty('content');
  else expect(answer).toMatchObject({ code: -32004, data: { resolution } });
  expect(await opened()).toHaveLength(1);
  expect(sent()).toBe(calls);
  await client.close();
});
