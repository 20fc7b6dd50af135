/**
 * A call that was approved and then raises a question that its approver did not see: the newer
 * question replaces the approval.
 */
import { hash } from 'node:crypto';
import type { PolicySource } from '@governance/policies/contract';
import { uuidv7 } from '@governance/shared/ids';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createHeldCalls } from '../holds/held-calls.ts';
import { createHoldDriver } from '../testing/test-holds.ts';
import {
  HTTP_SERVER,
  startTestPlane,
  type TestAgent,
  type TestPlane,
} from '../testing/test-plane.ts';
import { startTestUpstream, type TestUpstream } from '../testing/test-upstream.ts';

let upstream: TestUpstream;
let plane: TestPlane;
let agent: TestAgent;
let baseline: ReturnType<TestPlane['policies']>;
const driver = createHoldDriver('hold_opened', 'delete_thing', () => ({ plane, upstream, agent }));
const { call, opened, held, decide, leftHeld, sent } = driver;

beforeAll(async () => {
  upstream = await startTestUpstream({ tools: [{ name: 'delete_thing' }] });
  plane = await startTestPlane({ servers: [HTTP_SERVER('up', upstream.url)] });
  baseline = plane.policies();
});

afterAll(async () => {
  await plane?.stop();
  await upstream?.stop();
});

beforeEach(async () => {
  await driver.begin();
  // The baseline pack escalates what an agent of high risk destroys.
  agent = plane.addAgent(['*:*'], { risk_tier: 'high' });
});

afterEach(async () => {
  plane.held.endWaits();
  await plane.setPolicies(baseline);
});

const addPolicy = (rule: string, also: readonly PolicySource[] = []) => {
  const id = '0190aaaa-0000-7000-8000-0000000000ff';
  const added = { id, name: 'meanwhile', rego: `package meanwhile\n\n${rule}\n` };
  return plane.setPolicies([...baseline, ...also, added]);
};

describe('an approval, after the same call asked a newer question', () => {
  /** A call whose approval is followed by a second question. */
  async function askedTwice() {
    const waiting = call();
    const first = await held();
    await addPolicy('escalate contains "look here" if true');
    decide(first, 'approved');
    return { first, second: await held(2), waiting };
  }

  it('is gone when that one was denied', async () => {
    const { second, waiting } = await askedTwice();
    decide(second, 'denied');
    expect((await waiting).error.data.resolution).toBe('denied');
    await plane.setPolicies(baseline);
    // The denial is remembered, though the reason for it is gone.
    const { escalation_id } = second;
    expect((await call()).error.data).toMatchObject({ resolution: 'denied', escalation_id });
    expect(sent()).toBe(0);
  });

  it('is gone when that one was approved and used', async () => {
    const { second, waiting } = await askedTwice();
    decide(second, 'approved');
    expect((await waiting).result).toBeDefined();
    await plane.setPolicies(baseline);
    await leftHeld();
    expect(sent()).toBe(1);
  });

  it('is gone after a restart too', async () => {
    const { first, second, waiting } = await askedTwice();
    const { ledger, tenantId, replica } = plane;
    const rows = ledger.readHolds(tenantId).join();
    expect(rows).not.toContain(first.escalation_id);
    expect(rows).toContain(second.escalation_id);
    const restarted = createHeldCalls({ ledger, replica, now: Date.now });
    restarted.load(tenantId);
    expect(restarted.countPending(tenantId)).toBe(plane.held.countPending(tenantId));
    restarted.stop();
    plane.held.endWaits();
    await waiting;
  });

  it('is gone where no client waited for it', async () => {
    const first = await leftHeld();
    decide(first, 'approved');
    await addPolicy('escalate contains "look here" if true');
    const second = await leftHeld();
    await plane.setPolicies(baseline);
    const waiting = call();
    await vi.waitFor(() => expect(plane.held.countWaiting(plane.tenantId)).toBe(1));
    decide(second, 'approved');
    expect((await waiting).result).toBeDefined();
    await leftHeld();
    expect(sent()).toBe(1);
  });

  it('is gone where it was given after that one was asked', async () => {
    const first = await leftHeld();
    await addPolicy('escalate contains "look here" if true');
    const second = await leftHeld();
    decide(first, 'approved');
    decide(second, 'approved');
    expect((await call()).result).toBeDefined();
    await plane.setPolicies(baseline);
    await leftHeld();
    expect(sent()).toBe(1);
    expect(await opened()).toHaveLength(3);
  });
});

describe('an approval, when the call is judged again', () => {
  const SMALL = 'escalate contains "a small payment" if true';

  /** A call that is approved for a small payment, after its policy was edited. */
  async function editedTo(rule: string, also: readonly PolicySource[] = []) {
    await addPolicy(SMALL);
    agent = plane.addAgent(['*:*'], { risk_tier: 'low' });
    const waiting = call();
    const first = await held();
    expect(first.reason).toContain('a small payment');
    await addPolicy(rule, also);
    decide(first, 'approved');
    return { first, waiting };
  }

  it('covers no other reason of a policy that was edited', async () => {
    await editedTo('escalate contains "all the money" if true');
    const second = await held(2);
    expect(second.reason).toContain('all the money');
    expect(sent()).toBe(0);
  });

  it('covers the reason that was shown, whatever else was edited', async () => {
    const more = { id: '0190aaaa-0000-7000-8000-0000000000fe', name: 'more' };
    const { waiting } = await editedTo(SMALL, [{ ...more, rego: 'package more\n' }]);
    expect((await waiting).result).toBeDefined();
  });

  it('covers a message with the time in it, of a policy that is unchanged', async () => {
    await addPolicy('escalate contains sprintf("asked at %s", [input.context.time]) if true');
    agent = plane.addAgent(['*:*'], { risk_tier: 'low' });
    const waiting = call();
    decide(await held(), 'approved');
    expect((await waiting).result).toBeDefined();
    expect(await opened()).toHaveLength(1);
  });
});

describe('an approval, when the credential that asked', () => {
  /** The agent with its new secret. */
  const rotated = (): TestAgent => {
    agent.update({ secret_hash: hash('sha256', 'another', 'hex'), credential_version: 2 });
    const basic = `Basic ${Buffer.from(`${agent.clientId}:another`).toString('base64')}`;
    return { ...agent, basic };
  };

  /** One more credential of the agent. */
  function otherCredential() {
    const id = uuidv7();
    const fact = { id, agent_id: agent.id, client_id: `acr_${id}`, version: 1 };
    const secret_hash = hash('sha256', 'other', 'hex');
    const become = (version: number | null) =>
      plane.apply(
        'optional.agent_credential',
        id,
        version === null ? null : { ...fact, secret_hash, version },
      );
    become(1);
    const basic = `Basic ${Buffer.from(`${fact.client_id}:other`).toString('base64')}`;
    return { by: { ...agent, basic }, become };
  }

  it('was rotated, is not for the new secret', async () => {
    decide(await leftHeld(), 'approved');
    await leftHeld({ by: rotated() });
    expect(sent()).toBe(0);
  });

  it.each([
    ['rotated', 2],
    ['revoked', null],
  ])('is another of the agent and was %s, is not for its first one', async (_what, version) => {
    const other = otherCredential();
    decide(await leftHeld({ by: other.by }), 'approved');
    other.become(version);
    await leftHeld();
    expect(sent()).toBe(0);
  });

  it('is as it was, is for every credential of the agent', async () => {
    decide(await leftHeld(), 'approved');
    expect((await call({ by: otherCredential().by })).result).toBeDefined();
  });
});
