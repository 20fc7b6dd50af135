/**
 * A held result: the server has answered and is not asked again; what it said waits for a person. The
 * plane is the product's; the control plane is the facts that it would send.
 */
import type { EscalationFact, ResultRelease } from '@governance/shared/channel/facts';
import { uuidv7 } from '@governance/shared/ids';
import type { InboundActions } from '@governance/shared/settings/inbound-settings';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createHeldCalls } from '../../holds/held-calls.ts';
import { MAX_HELD_RESULTS } from '../../holds/held-results.ts';
import { REAL_CLIENTS } from '../../testing/test-client.ts';
import {
  type Asked,
  createHoldDriver,
  HOLD_INJECTIONS,
  INJECTION,
} from '../../testing/test-holds.ts';
import {
  HTTP_SERVER,
  startTestPlane,
  type TestAgent,
  type TestPlane,
} from '../../testing/test-plane.ts';
import { startTestUpstream, type TestUpstream } from '../../testing/test-upstream.ts';

const CARD = '4111 1111 1111 1111';

let upstream: TestUpstream;
let plane: TestPlane;
let agent: TestAgent;
const driver = createHoldDriver('result_held', 'read_page', () => ({ plane, upstream, agent }));
const { call, readRecords, opened, held, leftHeld, sent } = driver;

beforeAll(async () => {
  upstream = await startTestUpstream({
    tools: [
      {
        name: 'read_page',
        annotations: { readOnlyHint: true },
        handle: ({ args, result }) => {
          const padding = args.pad === true ? 'Fine weather. '.repeat(90_000) : '';
          const card = args.card === true ? ` My card is ${CARD}.` : '';
          const text = `The weather is fine. ${INJECTION} ${padding}${card}`;
          result({ content: [{ type: 'text', text }] });
        },
      },
      { name: 'delete_page' },
    ],
  });
  plane = await startTestPlane({ servers: [HTTP_SERVER('up', upstream.url)] });
});

afterAll(async () => {
  await plane?.stop();
  await upstream?.stop();
});

beforeEach(async () => {
  plane.setSettings({ inbound: { actions: HOLD_INJECTIONS, rules: [] } });
  await driver.begin();
  agent = plane.addAgent(['*:*']);
});

const decide = (
  hold: { escalation_id: string },
  resolution: EscalationFact['resolution'],
  release?: ResultRelease,
) => driver.decide(hold, resolution, { release });
const outcomes = async () =>
  (await readRecords()).flatMap((one) =>
    one.type === 'outcome' && one.v === 2
      ? [[one.outcome, one.result_action, one.inspection?.escalation_id ?? null] as const]
      : [],
  );

const textOf = (json: { result: { content: { text: string }[] } }) => json.result.content[0]?.text;

describe('a result that waits', () => {
  it('is handed over unchanged, with the findings recorded and never the text', async () => {
    const waiting = call();
    const hold = await held();
    const grant = decide(hold, 'approved', 'original');
    expect(textOf(await waiting)).toContain(INJECTION);
    expect(sent()).toBe(1);
    expect(hold).toMatchObject({
      agent_id: agent.id,
      mcp_server: 'up',
      tool_name: 'read_page',
      findings_count: hold.findings.length,
    });
    expect(hold.findings[0]).toMatchObject({ place: '/content/0/text' });
    expect(JSON.stringify(hold)).not.toContain('collect.example');
    expect(await outcomes()).toEqual([
      ['held', 'held', hold.escalation_id],
      // Both records name the hold: this one has its result.
      ['forwarded', 'allowed', hold.escalation_id],
    ]);
    const ofHeld = driver.records.find((one) => one.type === 'outcome' && one.outcome === 'held');
    // The agent got nothing in the result's place.
    expect(ofHeld).toMatchObject({ inspection: { replacement_digest: null } });
    const decisions = driver.records.filter((one) => one.type === 'decision' && one.v === 2);
    expect(decisions).toMatchObject([
      { id: hold.event_id, policy_result: 'allow', grant_id: null },
      { policy_result: 'allow', grant_id: grant },
    ]);
    // Once: what is asked now is another call.
    expect(plane.ledger.readHolds(plane.tenantId)).toEqual([]);
    await leftHeld();
    expect(sent()).toBe(2);
  });

  it('is handed over without the passages that were found', async () => {
    const waiting = call();
    const hold = await held();
    decide(hold, 'approved', 'sanitized');
    const text = textOf(await waiting);
    expect(text).toContain('The weather is fine.');
    expect(text).toMatch(/\[withheld by the gateway: /);
    expect(text).not.toContain('password');
    expect((await outcomes())[1]).toEqual(['forwarded', 'replaced', hold.escalation_id]);
    expect(sent()).toBe(1);
  });

  it('is blocked, and stays so when the client asks again', async () => {
    const waiting = call();
    const hold = await held();
    decide(hold, 'denied');
    const data = { resolution: 'blocked', escalation_id: hold.escalation_id };
    expect((await waiting).error).toMatchObject({ code: -32004, data });
    expect((await call()).error).toMatchObject({ code: -32004, data });
    expect(sent()).toBe(1);
    expect(plane.heldResults.read({ id: hold.escalation_id, tenantId: plane.tenantId })).toBe(
      undefined,
    );
  });

  it('is blocked where nobody decided in time', async () => {
    const waiting = call();
    const hold = await held();
    decide(hold, 'timed_out');
    const data = { resolution: 'timed_out', escalation_id: hold.escalation_id };
    expect((await waiting).error).toMatchObject({ code: -32004, data });
    expect(sent()).toBe(1);
  });

  it('is still scanned for sensitive data when it was released', async () => {
    const waiting = call({ args: { card: true } });
    decide(await held(), 'approved', 'original');
    const answer = await waiting;
    expect(JSON.stringify(answer)).not.toContain(CARD);
  });

  it('is not handed over to an agent that may not act any more', async () => {
    const waiting = call();
    const hold = await held();
    plane.engageKillSwitch(true);
    decide(hold, 'approved', 'original');
    const { error } = await waiting;
    plane.engageKillSwitch(false);
    expect(error.code).toBe(-32000);
    // It was not handed over: who asks in time has it.
    expect(textOf(await call())).toContain(INJECTION);
    expect(sent()).toBe(1);
  });

  it('goes to one of the requests that wait for it', async () => {
    const first = call();
    const hold = await held();
    const second = call();
    await vi.waitFor(() => expect(plane.held.countWaiting(plane.tenantId)).toBe(2));
    decide(hold, 'approved', 'original');
    const answers = await Promise.all([first, second]);
    expect(answers.filter(({ result }) => result)).toHaveLength(1);
    expect(answers.find(({ error }) => error)?.error).toMatchObject({
      code: -32004,
      data: { resolution: 'released' },
    });
    expect(sent()).toBe(1);
  });
});

describe('a client that comes back', () => {
  it('joins while it is pending, and has the result then, without another call', async () => {
    const hold = await leftHeld();
    const waiting = call();
    await vi.waitFor(() => expect(plane.held.countWaiting(plane.tenantId)).toBe(1));
    plane.held.endWaits();
    expect((await waiting).error.data).toMatchObject({
      resolution: 'pending',
      escalation_id: hold.escalation_id,
    });
    decide(hold, 'approved', 'original');
    expect(textOf(await call())).toContain(INJECTION);
    expect(sent()).toBe(1);
    expect(await opened()).toHaveLength(1);
  });

  it.each<[string, () => Asked]>([
    ['other arguments', () => ({ args: { id: 8 } })],
    ['another agent', () => ({ by: plane.addAgent(['*:*']) })],
    ['another requester', () => ({ headers: { 'x-requester-id': 'eve' } })],
  ])('has no result for %s', async (_what, asked) => {
    const hold = await leftHeld();
    decide(hold, 'approved', 'original');
    await leftHeld(asked());
    expect(sent()).toBe(2);
  });

  it('finds it after a restart of the data plane, sealed', async () => {
    const hold = await leftHeld({ args: { id: 9 } });
    const { ledger, tenantId, replica, heldResults } = plane;
    const restarted = createHeldCalls({ ledger, replica, results: heldResults, now: Date.now });
    restarted.load(tenantId);
    expect(restarted.holdsResultOf(tenantId, agent.id)).toBe(true);
    restarted.stop();
    const kept = heldResults.read({ id: hold.escalation_id, tenantId });
    expect(kept?.raw).toContain('collect.example');
  });
});

describe('what cannot be held', () => {
  it('is blocked where it is too large to be kept', async () => {
    expect('Fine weather. '.length * 90_000).toBeGreaterThan(MAX_HELD_RESULTS.one);
    const { error } = await call({ args: { pad: true } });
    expect(error).toMatchObject({
      code: -32603,
      data: { failure: 'blocked', reason: 'too_large_to_hold' },
    });
    expect(await opened()).toEqual([]);
    expect(await outcomes()).toEqual([['blocked', 'blocked', null]]);
  });

  it('is replaced where another finding is to be replaced in any case', async () => {
    plane.setSettings({
      inbound: {
        actions: { low: 'hold', medium: 'hold', high: 'substitute', critical: 'substitute' },
        rules: [],
      },
    });
    expect(textOf(await call())).toMatch(/withheld by the gateway/);
    expect(await opened()).toEqual([]);
  });

  it('goes by the trust in its source', async () => {
    const rule = {
      id: uuidv7(),
      source_pattern: 'up',
      rule_type: 'untrusted' as const,
      expires_at: null,
    };
    const pass: InboundActions = { low: 'pass', medium: 'pass', high: 'pass', critical: 'pass' };
    const inbound = { actions: pass, untrusted_actions: HOLD_INJECTIONS, rules: [] };
    plane.setSettings({ inbound });
    expect(textOf(await call())).toContain(INJECTION);
    plane.setSettings({ inbound: { ...inbound, rules: [rule] } });
    await leftHeld({ args: { again: true } });
  });
});

it.each(Object.entries(REAL_CLIENTS))('%s learns of it while it waits', async (_name, connect) => {
  const client = await connect(`${plane.url}/mcp/v1/up`, agent.basic);
  const told: number[] = [];
  const calling = client.callTool('read_page', {}, ({ progress }) => told.push(progress));
  const hold = await held();
  await vi.waitFor(() => expect(told.length).toBeGreaterThan(0));
  decide(hold, 'approved', 'original');
  expect(await calling).toHaveProperty('content');
  await client.close();
  expect(sent()).toBe(1);
});
