/** Dispositions and their detectors on what data planes ship: once, over restarts and replicas. */
import type { UnchainedRecord } from '@governance/shared/ledger/ledger-record';
import { beforeEach, describe, expect, it } from 'vitest';
import { aDataPlane, aDecision } from '../../../tests/support/a-data-plane.ts';
import { anAgent } from '../../../tests/support/an-agent.ts';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';
import type { TenantScope } from '../platform/database/tenant-scope.ts';
import { createDispositionFlush } from './disposition-flush.ts';

const MINUTE = 60_000;
let time = Date.now();
const now = () => new Date(time);
const { call, test, controlPlane, aTenantAdmin } = await testControlPlane({ now });
const { superuser } = test;
const { db } = controlPlane;

type Decision = Partial<Extract<UnchainedRecord, { type: 'decision' }>>;

/** A run of the periodic work; each has a memory of its own, as after a restart. */
const flush = () =>
  createDispositionFlush({ db, now, tokenNow: now, settledNow: now, everyMs: MINUTE }).run(
    new AbortController().signal,
  );

async function aPlane(scope: TenantScope) {
  const plane = await aDataPlane(test, scope);
  plane.boot();
  let shipped = 0;
  return {
    decide: (minutesAgo: number, over: Decision) =>
      void plane.append(
        aDecision({ timestamp: new Date(time - minutesAgo * MINUTE).toISOString(), ...over }),
      ),
    ship: async () => {
      const from = shipped;
      shipped = plane.records.length;
      const batch = plane.batch(from, shipped);
      await controlPlane.ingest.ingestBatch(scope.tenantId, plane.deploymentId, batch);
    },
  };
}

let admin: Awaited<ReturnType<typeof aTenantAdmin>>;
let agent: string;
let planes: Awaited<ReturnType<typeof aPlane>>[];

beforeEach(async () => {
  admin = await aTenantAdmin();
  agent = (await anAgent(test, admin.scope)).id;
  planes = [await aPlane(admin.scope), await aPlane(admin.scope)];
});

const plane = (index: 0 | 1) => planes[index] as (typeof planes)[number];
const of = (session: string, over: Decision = {}): Decision => ({
  agent_id: agent,
  requester_id: 'ann',
  session_id: session,
  ...over,
});
const DENY = { policy_result: 'deny' } as const;

interface Alert {
  id: string;
  alert_type: string;
  severity: string;
  agent_id: string;
  details: Record<string, unknown>;
}

async function alerts(): Promise<Alert[]> {
  const answer = await call('/api/v1/monitor/alerts', { token: admin.token });
  const all = answer.json().alerts as Alert[];
  return all.filter(({ alert_type }) => alert_type === 'BEHAVIOR_REVERSAL');
}

const resolve = async (id: string) => {
  const answer = await call(`/api/v1/monitor/alerts/${id}`, {
    token: admin.token,
    method: 'PATCH',
    body: { status: 'resolved' },
  });
  expect(answer.statusCode, answer.body).toBe(200);
};

describe('dispositions', () => {
  it('are counted by requester, action and session, once, whoever runs', async () => {
    plane(0).decide(9, of('s', { target: '/srv/1' }));
    plane(0).decide(8, of('s', { target: '/srv/2', ...DENY }));
    plane(1).decide(7, of('s', { target: '/srv/3', policy_result: 'escalate' }));
    plane(1).decide(6, of('s', { target: '/etc/passwd' }));
    plane(1).decide(5, of('s', { method: 'tools/list' }));
    await plane(0).ship();
    await flush();
    await plane(1).ship();
    // Two leaders for a moment.
    await Promise.all([flush(), flush()]);
    await flush();
    const { rows } = await superuser.query(
      `SELECT target_shape, allowed, blocked, escalated FROM dispositions
       WHERE tenant_id = $1 ORDER BY target_shape`,
      [admin.scope.tenantId],
    );
    expect(rows).toEqual([
      { target_shape: '/etc/passwd', allowed: '1', blocked: '0', escalated: '0' },
      { target_shape: '/srv/#', allowed: '1', blocked: '1', escalated: '1' },
    ]);
  });

  it('are one row where their sessions became one', async () => {
    plane(0).decide(80, of('s'));
    plane(0).decide(40, of('s', DENY));
    await plane(0).ship();
    await flush();
    plane(0).decide(60, of('s'));
    await plane(0).ship();
    await flush();
    const { rows } = await superuser.query(
      'SELECT allowed, blocked FROM dispositions WHERE tenant_id = $1',
      [admin.scope.tenantId],
    );
    expect(rows).toEqual([{ allowed: '2', blocked: '1' }]);
  });

  it('are forgotten after a day, and bounded for each agent', async () => {
    const insert = (count: number, updatedAt: Date) =>
      superuser.query(
        `INSERT INTO dispositions (tenant_id, requester_key, action_key, session_id, agent_id,
           mcp_server, tool_name, target_shape, session_started_at, allowed, blocked, escalated,
           updated_at)
         SELECT $1, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), $2, '', '', '', $4, 0,
           0, 0, $4 FROM generate_series(1, $3::int)`,
        [admin.scope.tenantId, agent, count, updatedAt],
      );
    await insert(700, new Date(time - 24 * 60 * MINUTE - 1));
    await insert(1_100, new Date(time - 60 * MINUTE));
    plane(0).decide(0, of('s'));
    await plane(0).ship();
    await flush();
    const { rows } = await superuser.query(
      `SELECT count(*)::int AS count, count(*) FILTER (WHERE tool_name <> '')::int AS own
       FROM dispositions WHERE tenant_id = $1`,
      [admin.scope.tenantId],
    );
    expect(rows).toEqual([{ count: 1_000, own: 1 }]);
  });
});

describe('BEHAVIOR_REVERSAL', () => {
  it('is raised where another data plane allowed in a new session what one blocked', async () => {
    plane(0).decide(100, of('s', { target: '/srv/1', ...DENY }));
    await plane(0).ship();
    await flush();
    expect(await alerts()).toEqual([]);
    plane(1).decide(5, of('t', { target: '/srv/2' }));
    await plane(1).ship();
    await flush();
    expect(await alerts()).toMatchObject([
      {
        severity: 'medium',
        agent_id: agent,
        details: {
          conditions: ['opposite_in_new_session'],
          disposition: 'allowed',
          target_shape: '/srv/#',
          requester_id: 'ann',
          blocked: 1,
          allowed: 1,
        },
      },
    ]);
  });

  it('is raised after three blocks of one requester by different agents, and is high then', async () => {
    for (const minutes of [600, 500, 400]) {
      const other = (await anAgent(test, admin.scope)).id;
      plane(0).decide(minutes, of('s', { agent_id: other, ...DENY }));
    }
    await plane(0).ship();
    plane(1).decide(5, of('t'));
    await plane(1).ship();
    await flush();
    expect(await alerts()).toMatchObject([
      { severity: 'high', agent_id: agent, details: { conditions: ['allowed_after_blocks'] } },
    ]);
  });

  it('is raised where three sessions vary', async () => {
    plane(0).decide(25, of('s', { policy_result: 'escalate' }));
    plane(1).decide(15, of('t', { policy_result: 'escalate' }));
    plane(0).decide(5, of('u'));
    await plane(0).ship();
    await plane(1).ship();
    await flush();
    expect(await alerts()).toMatchObject([{ details: { conditions: ['varying_sessions'] } }]);
  });

  it('is not raised for another requester or tool, or below the conditions', async () => {
    plane(0).decide(100, of('s', DENY));
    plane(0).decide(90, of('t', { requester_id: 'bob' }));
    plane(0).decide(80, of('u', { tool_name: 'other' }));
    plane(0).decide(70, of('v', { requester_id: null }));
    plane(0).decide(60, of('s', { grant_id: agent }));
    await plane(0).ship();
    await flush();
    expect(await alerts()).toEqual([]);
  });

  it('is raised once in five minutes for an agent, and not while one about the same is open', async () => {
    const turn = async (target: string) => {
      plane(0).decide(2, of(`s ${target}`, { target, ...DENY }));
      plane(0).decide(1, of(`t ${target}`, { target }));
      await plane(0).ship();
      await flush();
      return (await alerts()).length;
    };
    expect(await turn('/a')).toBe(1);
    time += 4 * MINUTE;
    expect(await turn('/b')).toBe(1);
    time += MINUTE;
    // Now, and about something else.
    expect(await turn('/c')).toBe(2);
    time += 10 * MINUTE;
    const again = async () => {
      plane(0).decide(1, of(`u ${time}`, { target: '/a', ...DENY }));
      await plane(0).ship();
      await flush();
      return (await alerts()).length;
    };
    expect(await again()).toBe(2);
    for (const { id } of await alerts()) await resolve(id);
    time += MINUTE;
    plane(0).decide(1, of(`v ${time}`, { target: '/a' }));
    await plane(0).ship();
    await flush();
    expect(await alerts()).toHaveLength(3);
  });

  it('is another tenant’s business nowhere', async () => {
    plane(0).decide(100, of('s', DENY));
    await plane(0).ship();
    const other = await aTenantAdmin();
    const theirs = await aPlane(other.scope);
    const theirAgent = (await anAgent(test, other.scope)).id;
    theirs.decide(50, of('t', { agent_id: theirAgent }));
    await theirs.ship();
    await flush();
    expect(await alerts()).toEqual([]);
    admin = other;
    expect(await alerts()).toEqual([]);
  });
});
