/** Exceptions on calls of a whole plane: what they let through, and all that they never do. */
import type { ExceptionFact } from '@governance/shared/channel/facts';
import { uuidv7 } from '@governance/shared/ids';
import type { LedgerRecord } from '@governance/shared/ledger/ledger-record';
import { DEFAULT_RATE_LIMITS } from '@governance/shared/settings/rate-limit-settings';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  HTTP_SERVER,
  startTestPlane,
  type TestAgent,
  type TestPlane,
} from '../../testing/test-plane.ts';
import { startTestUpstream, type TestUpstream } from '../../testing/test-upstream.ts';

const [CAREFUL, FORBIDS] = [uuidv7(), uuidv7()];
const POLICIES = [
  {
    id: CAREFUL,
    name: 'Careful',
    rego: 'package careful\n\nescalate contains "a person decides" if startswith(input.request.tool_name, "careful")\n',
  },
  {
    id: FORBIDS,
    name: 'Forbids',
    rego: 'package forbids\n\ndeny contains "never" if startswith(input.request.tool_name, "forbidden")\n',
  },
];
const HOUR_MS = 3_600_000;

let upstream: TestUpstream;
let plane: TestPlane;
let agent: TestAgent;
/** The clock that never runs back, as far as it is ahead of the machine's. */
let ahead = 0;

beforeAll(async () => {
  upstream = await startTestUpstream({
    tools: ['careful_read', 'forbidden_read', 'write_file', 'delete_file'].map((name) => ({
      name,
    })),
  });
  plane = await startTestPlane({
    servers: [HTTP_SERVER('up', upstream.url)],
    policies: POLICIES,
    // A held client is answered at once.
    config: { holdWaitMs: 1 },
    planeNow: () => Date.now() + ahead,
  });
});

afterAll(async () => {
  await plane?.stop();
  await upstream?.stop();
});

beforeEach(async () => {
  await plane.records();
  upstream.seen.length = 0;
  ahead = 0;
  agent = plane.addAgent();
});

async function call(name: string, args: Record<string, unknown> = {}, by = agent) {
  const message = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name, arguments: args },
  };
  const { json } = await plane.post('/mcp/v1/up', message, { authorization: by.basic });
  const { error } = json;
  if (error === undefined) return 'went';
  return error.code === -32004 ? (error.data.resolution as string) : String(error.code);
}

const NARROWED_TO_NOTHING = {
  ...{ agent_id: null, mcp_server: null, tool_name: null, resource: null, policy_id: null },
};

function except(over: Partial<ExceptionFact> = {}): ExceptionFact {
  const fact: ExceptionFact = {
    ...{ id: uuidv7(), lifts: 'escalation', ...NARROWED_TO_NOTHING, agent_id: agent.id },
    expires_at: new Date(Date.now() + HOUR_MS).toISOString(),
    ...over,
  };
  plane.apply('optional.exception', fact.id, fact);
  return fact;
}

/** Everything that an exception may be, for one agent. */
function exceptEverything(by: TestAgent): void {
  const own = { agent_id: by.id };
  except(own);
  except({ ...own, mcp_server: 'up', resource: '**' });
  for (const policy_id of ['blast_radius', CAREFUL, FORBIDS]) except({ ...own, policy_id });
  for (const policy_id of [CAREFUL, FORBIDS]) except({ ...own, policy_id, lifts: 'deny' });
  for (const tool_name of ['careful_read', 'forbidden_read', 'write_file', 'delete_file']) {
    except({ ...own, mcp_server: 'up', tool_name });
  }
}

type Decision = Extract<LedgerRecord, { type: 'decision'; v: 2 }>;
const isDecision = (one: LedgerRecord): one is Decision => one.type === 'decision' && one.v === 2;

describe('an exception from an escalation', () => {
  it('lets its shape go without a hold, and the record names it', async () => {
    expect(await call('careful_read')).toBe('pending');
    await plane.records();
    const { id } = except({ mcp_server: 'up', tool_name: 'careful_read', policy_id: CAREFUL });
    expect(await call('careful_read')).toBe('went');
    const records = await plane.records();
    expect(records.filter(({ type }) => type === 'hold_opened')).toEqual([]);
    const decision = records.find(isDecision);
    expect(decision).toMatchObject({
      ...{ policy_result: 'allow', exception_id: id, escalation_id: null, grant_id: null },
      decided_by: 'policy',
    });
    expect(decision?.policy_reason).toMatch(
      `allowed under exception ${id}, lifting Careful: a person decides; Permissions: `,
    );
    expect(upstream.messages('tools/call')).toHaveLength(1);
  });

  it('is for its agent, server and tool alone, and of its tenant', async () => {
    const stranger = plane.addAgent();
    const neighbour = await plane.addNeighbour();
    const theirs = neighbour.addAgent();
    except({ tool_name: 'careful_write' });
    except({ mcp_server: 'other' });
    except({ policy_id: FORBIDS });
    expect(await call('careful_read')).toBe('pending');
    except({ mcp_server: 'up', tool_name: 'careful_read' });
    expect(await call('careful_read')).toBe('went');
    expect(await call('careful_read', {}, stranger)).toBe('pending');
    const all = except({ agent_id: null, tool_name: 'careful_read' });
    expect(await call('careful_read', {}, stranger)).toBe('went');
    expect(await call('careful_read', {}, theirs)).toBe('pending');
    plane.apply('optional.exception', all.id, null);
  });

  it('ends when it is revoked, and by the clock, without the control plane', async () => {
    const fact = except();
    expect(await call('careful_read')).toBe('went');
    plane.apply('optional.exception', fact.id, null);
    expect(await call('careful_read')).toBe('pending');
    except();
    expect(await call('careful_read', { n: 1 })).toBe('went');
    ahead = HOUR_MS + 1;
    expect(await call('careful_read', { n: 1 })).toBe('pending');
  });

  it('gives no permission', async () => {
    const poor = plane.addAgent(['other:*']);
    exceptEverything(poor);
    expect(await call('careful_read', {}, poor)).toBe('pending');
    expect(await call('forbidden_read', {}, poor)).toBe('-32003');
    expect(await call('write_file', { path: '/srv/a' }, poor)).toBe('-32003');
  });

  it('of a hold’s shape covers that call and no other target', async () => {
    const shapes: [Record<string, unknown>, string | null][] = [
      [{ path: '/srv/a' }, '/srv/a'],
      [{}, ''],
      [{ note: 'nothing that is a target' }, ''],
      [{ path: '/srv/*' }, null],
      [{ path: '/srv/../etc' }, '/etc'],
      [{ path: '/srv/a', destination: '/srv/b' }, null],
      [{ to: ['ann@example.com', 'eve@example.com'] }, null],
    ];
    for (const [args, resource] of shapes) {
      await plane.records();
      expect(await call('careful_read', args)).toBe('pending');
      const hold = (await plane.records()).find(({ type }) => type === 'hold_opened');
      const shape = resource === null ? null : { policy_ids: [CAREFUL], resource };
      expect(hold).toMatchObject({ shape });
    }
    const of = { mcp_server: 'up', tool_name: 'careful_read', policy_id: CAREFUL };
    except({ ...of, resource: '/srv/a' });
    expect(await call('careful_read', { path: '/srv/a' })).toBe('went');
    expect(await call('careful_read', { path: '/srv/./a' })).toBe('went');
    for (const args of [{ path: '/srv/b' }, {}, { path: '/srv/a', destination: '/etc/b' }]) {
      expect(await call('careful_read', args)).toBe('pending');
    }
    except({ ...of, resource: '' });
    expect(await call('careful_read', {})).toBe('went');
    expect(await call('careful_read', { path: '/srv/b' })).toBe('pending');
  });

  it('covers the blast radius of a call, and raises no alert', async () => {
    const args = { path: '/etc/hosts', content: 'x' };
    expect(await call('write_file', args)).toBe('pending');
    const alerts = async () =>
      (await plane.records()).filter(
        (one) => one.type === 'alert' && one.alert_type === 'BLAST_RADIUS_ESCALATION',
      );
    expect(await alerts()).toHaveLength(1);
    except();
    expect(await call('write_file', args)).toBe('pending');
    await plane.records();
    except({ mcp_server: 'up', tool_name: 'write_file' });
    expect(await call('write_file', args)).toBe('went');
    expect(await alerts()).toEqual([]);
  });
});

describe('an exception from a denial', () => {
  it('lifts what that policy denies that agent, and no more', async () => {
    const stranger = plane.addAgent();
    expect(await call('forbidden_read')).toBe('-32003');
    const { id } = except({ lifts: 'deny', policy_id: FORBIDS });
    await plane.records();
    expect(await call('forbidden_read')).toBe('went');
    expect((await plane.records()).find(isDecision)).toMatchObject({
      exception_id: id,
      policy_reason: expect.stringMatching(
        `^allowed under exception ${id}, lifting Forbids: never; `,
      ),
    });
    expect(await call('forbidden_read', {}, stranger)).toBe('-32003');
    expect(await call('careful_read')).toBe('pending');
    ahead = HOUR_MS;
    expect(await call('forbidden_read')).toBe('-32003');
  });

  it('leaves a person to be asked by others', async () => {
    const { id } = except({ lifts: 'deny', policy_id: FORBIDS });
    const named = { ...POLICIES[0], rego: (POLICIES[0]?.rego ?? '').replace('"careful"', '""') };
    await plane.setPolicies([
      ...plane.policies().slice(0, -2),
      named,
      ...POLICIES.slice(1),
    ] as never);
    await plane.records();
    expect(await call('forbidden_read')).toBe('pending');
    expect((await plane.records()).find(isDecision)).toMatchObject({
      ...{ policy_result: 'escalate', exception_id: id },
      policy_reason: `Careful: a person decides; under exception ${id}, lifting Forbids: never`,
    });
    await plane.setPolicies(plane.policies() as never);
  });
});

describe('no exception, whatever it names, lifts', () => {
  beforeEach(() => exceptEverything(agent));

  it('the end of an agent', async () => {
    expect(await call('careful_read')).toBe('went');
    agent.update({ status: 'suspended' });
    expect(await call('careful_read')).toBe('-32000');
  });

  it('the kill switch', async () => {
    plane.engageKillSwitch(true);
    expect(await call('careful_read')).toBe('-32000');
    plane.engageKillSwitch(false);
    expect(await call('careful_read')).toBe('went');
  });

  it('a rate limit', async () => {
    const limit = { requests: 1, window_seconds: 60 };
    const limits = { low: limit, medium: limit, high: limit, critical: limit };
    plane.setSettings({ rate_limits: { enabled: true, limits } });
    expect(await call('careful_read')).toBe('went');
    expect(await call('careful_read')).toBe('-32005');
    plane.setSettings({ rate_limits: { ...DEFAULT_RATE_LIMITS, enabled: false } });
  });

  it('what the blast radius denies', async () => {
    expect(await call('delete_file', { path: '/' })).toBe('-32003');
    expect(await call('delete_file', { path: '/srv/data/old' })).toBe('went');
  });

  it('what the baseline pack denies', async () => {
    agent.update({ risk_tier: 'critical' });
    expect(await call('write_file', { path: '/srv/a' })).toBe('-32003');
  });

  it('sensitive data', async () => {
    const key = ['AKIA', 'Q7XMPLR2ZT4KWNBD'].join('');
    const args = {
      note: `aws_access_key_id=${key} aws_secret_access_key=${'wJalrXUtnFEMI/K7MDENG/bPxRfiCYq8LmZp5Kt'}`,
    };
    expect(await call('careful_read', args)).toBe('-32003');
    const decision = (await plane.records()).findLast(isDecision);
    expect(decision).toMatchObject({ decided_by: 'dlp', exception_id: null });
  });
});
