import {
  AgentFact,
  type AgentStatus,
  effectiveAgentStatus,
  KillSwitchFact,
} from '@governance/shared/channel/facts';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';

const waits: { tenantId: string; feedSeq: number | undefined }[] = [];
const { call, aTenantAdmin, superAdminToken, test } = await testControlPlane({
  applied: { wait: async (tenantId, { feedSeq }) => void waits.push({ tenantId, feedSeq }) },
});
const superToken = await superAdminToken();

let token: string;
let tenantId: string;
beforeEach(async () => {
  const admin = await aTenantAdmin();
  ({ token } = admin);
  ({ tenantId } = admin.scope);
  waits.length = 0;
});

const PATH = '/api/v1/admin/killswitch';

async function ok(answer: ReturnType<typeof call>) {
  const { statusCode, body } = await answer;
  expect(statusCode, body).toBeLessThan(300);
  return JSON.parse(body);
}

const kill = (body?: object) => ok(call(PATH, { token, method: 'POST', ...(body && { body }) }));
const superKill = (body: object, headers: Record<string, string> = {}) =>
  ok(call(PATH, { token: superToken, body, headers }));

async function anAgent() {
  const body = { name: 'agent', agent_type: 'assistant', owner: 'somebody' };
  return ok(call('/api/v1/agents', { token, body }));
}

const patchStatus = (id: string, status: AgentStatus) =>
  call(`/api/v1/agents/${id}`, { token, method: 'PATCH', body: { status } });

const statusOf = async (id: string) => (await ok(call(`/api/v1/agents/${id}`, { token }))).status;

const tokenStatus = async (agent: { client_id: string; client_secret: string }) => {
  const { client_id, client_secret } = agent;
  const body = { client_id, client_secret, grant_type: 'client_credentials' };
  return (await call('/api/v1/auth/token', { body })).statusCode;
};

async function newestFact(kind: string, key: string): Promise<unknown> {
  const { rows } = await test.superuser.query(
    `SELECT value FROM feed_entries WHERE tenant_id = $1 AND kind = $2 AND key = $3
     ORDER BY seq DESC LIMIT 1`,
    [tenantId, kind, key],
  );
  return rows[0] ? JSON.parse(rows[0].value) : null;
}

async function auditRecords() {
  const { rows } = await test.superuser.query(
    `SELECT bytes FROM ledger_records WHERE tenant_id = $1 AND type = 'admin_action'
     ORDER BY position`,
    [tenantId],
  );
  return rows.map((row) => JSON.parse(row.bytes.toString()));
}

describe('without a body', () => {
  it('suspends the tenant’s agents, those that come later too', async () => {
    const [first, second] = [await anAgent(), await anAgent()];
    const answer = await kill();
    expect(answer).toEqual({
      generation: 1,
      engaged: true,
      scope: 'tenant',
      reason: null,
      actor: expect.any(String),
      suspended_agents: 2,
      changed_at: expect.stringMatching(/Z$/),
    });
    expect([await statusOf(first.id), await statusOf(second.id)]).toEqual([
      'suspended',
      'suspended',
    ]);
    expect(await tokenStatus(first)).toBe(403);
    expect((await anAgent()).status).toBe('suspended');
    expect(await ok(call(PATH, { token }))).toMatchObject({ engaged: true, suspended_agents: 3 });
  });

  it('rewrites no agent’s row', async () => {
    const { id } = await anAgent();
    const row = () =>
      test.superuser.query('SELECT agents.*, xmin FROM agents WHERE tenant_id = $1 AND id = $2', [
        tenantId,
        id,
      ]);
    const { rows: before } = await row();
    await kill();
    await kill({ lift: true });
    expect((await row()).rows).toEqual(before);
  });

  it('reaches the data planes before the answer, and is audited with the actor', async () => {
    await anAgent();
    waits.length = 0;
    await kill({ reason: 'An agent went astray.' });
    const fact = KillSwitchFact.parse(await newestFact('kill_switch', 'tenant'));
    expect(fact).toMatchObject({ generation: 1, engaged: true, reason: 'An agent went astray.' });
    expect(waits).toEqual([{ tenantId, feedSeq: expect.any(Number) }]);
    const record = (await auditRecords()).at(-1);
    expect(record).toMatchObject({
      action: 'kill_switch_engaged',
      target: `tenant/${tenantId}`,
      actor: { role: 'admin', break_glass: false },
      details: { generation: 1, suspended_agents: 1, reason: 'An agent went astray.' },
    });
  });

  it('leaves other tenants alone', async () => {
    const { id } = await anAgent();
    const own = token;
    const other = await aTenantAdmin();
    ({ token } = other);
    await kill();
    token = own;
    expect(await statusOf(id)).toBe('active');
  });
});

describe('afterwards', () => {
  it('setting an agent active releases that one, until the next time', async () => {
    const [first, second] = [await anAgent(), await anAgent()];
    await kill();
    expect((await patchStatus(first.id, 'active')).json()).toMatchObject({ status: 'active' });
    expect(await tokenStatus(first)).toBe(200);
    expect(await statusOf(second.id)).toBe('suspended');
    expect(await ok(call(PATH, { token }))).toMatchObject({ suspended_agents: 1 });
    expect((await auditRecords()).at(-1)).toMatchObject({
      action: 'agent_activated',
      details: { released_from_kill_switch: 1 },
    });
    expect(await kill()).toMatchObject({ generation: 2, suspended_agents: 2 });
    expect(await statusOf(first.id)).toBe('suspended');
  });

  it('lifting restores what was', async () => {
    const agents = [await anAgent(), await anAgent(), await anAgent()];
    await patchStatus(agents[1].id, 'suspended');
    await patchStatus(agents[2].id, 'deprovisioned');
    await kill();
    expect(await kill({ lift: true, reason: 'False alarm.' })).toMatchObject({
      generation: 1,
      engaged: false,
      scope: 'tenant',
      reason: 'False alarm.',
      suspended_agents: 0,
    });
    const statuses = [];
    for (const { id } of agents) statuses.push(await statusOf(id));
    expect(statuses).toEqual(['active', 'suspended', 'deprovisioned']);
    expect((await auditRecords()).at(-1)).toMatchObject({ action: 'kill_switch_lifted' });
  });

  it('lifting what is not engaged changes nothing', async () => {
    const before = (await auditRecords()).length;
    expect(await kill({ lift: true })).toMatchObject({ generation: 0, engaged: false });
    expect(await auditRecords()).toHaveLength(before);
    expect(await newestFact('kill_switch', 'tenant')).toBeNull();
  });

  it('ten at once are ten generations', async () => {
    await Promise.all(Array.from({ length: 10 }, () => kill()));
    expect(await ok(call(PATH, { token }))).toMatchObject({ generation: 10 });
    expect(await newestFact('kill_switch', 'tenant')).toMatchObject({ generation: 10 });
  });
});

describe('a super-admin', () => {
  it('breaks the glass of one tenant, on record there', async () => {
    const { id } = await anAgent();
    await superKill({ reason: 'breach' }, { 'x-tenant-id': tenantId });
    expect(await statusOf(id)).toBe('suspended');
    const records = await auditRecords();
    expect(records.slice(-2)).toMatchObject([
      { action: 'break_glass_access', actor: { break_glass: true } },
      { action: 'kill_switch_engaged', actor: { role: 'super_admin', break_glass: true } },
    ]);
    await kill({ lift: true });
    expect(await statusOf(id)).toBe('active');
  });

  const ask = (body: object | undefined, headers = {}) =>
    call(PATH, { token: superToken, method: 'POST', headers, ...(body && { body }) });

  it.each([
    ['no body', undefined],
    ['an empty body', {}],
    ['a reason alone', { reason: 'breach' }],
  ])('stops all tenants with no tenant named and %s', async (_, body) => {
    const { id } = await anAgent();
    const answer = await ok(ask(body));
    const { rows } = await test.superuser.query('SELECT count(*)::int AS n FROM tenants');
    expect(answer).toMatchObject({ scope: 'all', engaged: true, tenant_count: rows[0].n });
    expect(answer.suspended_agents).toBeGreaterThan(0);
    expect(await statusOf(id)).toBe('suspended');
    expect((await auditRecords()).at(-1)).toMatchObject({
      action: 'kill_switch_engaged',
      actor: { role: 'super_admin', break_glass: true },
      details: { scope: 'all' },
    });
    await superKill({ scope: 'all', lift: true });
    expect(await statusOf(id)).toBe('active');
  });

  it('is not understood where what is asked contradicts itself, or is less than it seems', async () => {
    const { id } = await anAgent();
    const answers = [
      // A header that is there and empty is a variable that was not set.
      await ask(undefined, { 'x-tenant-id': '' }),
      await ask({}, { 'x-tenant-id': ' ' }),
      await ask({ everything: true }),
      await ask({ lift: true }),
      await ask({ scope: 'tenant' }),
      await ask({ scope: 'all' }, { 'x-tenant-id': tenantId }),
      await ask(undefined, { 'x-tenant-id': crypto.randomUUID() }),
      await ask(undefined, { 'x-tenant-id': 'default' }),
    ];
    expect(answers.map((answer) => answer.statusCode)).toEqual([
      422, 422, 422, 422, 400, 400, 404, 404,
    ]);
    expect(answers[0]?.json().errors[0].loc).toEqual(['header', 'x-tenant-id']);
    expect(answers[3]?.json().detail).toContain('scope');
    expect(await statusOf(id)).toBe('active');
  });

  it('stops all tenants, each with its own record, and lifts only that', async () => {
    const { id } = await anAgent();
    const own = token;
    const other = await aTenantAdmin();
    ({ token } = other);
    await kill();
    const answer = await superKill({ scope: 'all', reason: 'everything' });
    expect(answer).toMatchObject({ generation: null, engaged: true, scope: 'all' });
    const { rows } = await test.superuser.query('SELECT count(*)::int AS n FROM tenants');
    expect(answer.tenants).toHaveLength(rows[0].n);
    expect(answer.suspended_agents).toBeGreaterThan(0);
    token = own;
    expect(await statusOf(id)).toBe('suspended');
    expect((await auditRecords()).at(-1)).toMatchObject({
      action: 'kill_switch_engaged',
      actor: { role: 'super_admin' },
      details: { scope: 'all', reason: 'everything' },
    });

    const refused = await call(PATH, { token, body: { lift: true } });
    expect(refused.statusCode).toBe(403);
    expect(await statusOf(id)).toBe('suspended');

    const lifted = await superKill({ scope: 'all', lift: true });
    expect(lifted).toMatchObject({ scope: 'all', engaged: false });
    const stillHeld = lifted.tenants
      .filter((tenant: { engaged: boolean }) => tenant.engaged)
      .map((tenant: { tenant_id: string }) => tenant.tenant_id);
    expect(stillHeld).toContain(other.scope.tenantId);
    expect(stillHeld).not.toContain(tenantId);
    expect(await statusOf(id)).toBe('active');
    // The other tenant had pulled its own: that one still holds.
    expect(await ok(call(PATH, { token: other.token }))).toMatchObject({
      engaged: true,
      scope: 'tenant',
    });
  });

  it('alone may stop all tenants', async () => {
    const answer = await call(PATH, { token, body: { scope: 'all' } });
    expect(answer.statusCode).toBe(403);
    expect((await call(PATH, { method: 'POST' })).statusCode).toBe(401);
    expect(await ok(call(PATH, { token }))).toMatchObject({ engaged: false });
  });
});

it.each([
  ['an unknown field', { lifted: true }],
  ['a wrong scope', { scope: 'everyone' }],
  ['a lift that is no boolean', { lift: 'yes' }],
  ['an array', []],
  ['a NUL character', { reason: 'a\u0000b' }],
  ['a text', '"kill"'],
])('%s engages nothing', async (_, body) => {
  const headers = { 'content-type': 'application/json' };
  const answer = await call(PATH, { token, method: 'POST', headers, body });
  expect(answer.statusCode, answer.body).toBe(422);
  expect(await ok(call(PATH, { token }))).toMatchObject({ generation: 0, engaged: false });
});

describe('for any sequence of changes', () => {
  type Command =
    | { do: 'register' | 'kill' | 'lift' | 'killAll' | 'liftAll' }
    | { do: 'suspend' | 'activate' | 'deprovision'; agent: number };

  const command: fc.Arbitrary<Command> = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        do: fc.constantFrom('suspend' as const, 'activate' as const, 'deprovision' as const),
        agent: fc.nat({ max: 3 }),
      }),
    },
    { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('kill' as const, 'lift' as const) }) },
    {
      weight: 1,
      arbitrary: fc.record({
        do: fc.constantFrom('register' as const, 'killAll' as const, 'liftAll' as const),
      }),
    },
  );

  /** What an administrator is entitled to expect, said as simply as can be. */
  function createModel() {
    const agents: { status: AgentStatus; released: number }[] = [];
    let generation = 0;
    const held = new Set<'tenant' | 'all'>();
    const statusOf = (agent: { status: AgentStatus; released: number }): AgentStatus => {
      const isCaught = held.size > 0 && agent.released < generation;
      return agent.status === 'active' && isCaught ? 'suspended' : agent.status;
    };
    return {
      agents,
      state: () => ({ generation, engaged: held.size > 0 }),
      statuses: () => agents.map(statusOf),
      apply: (step: Command) => {
        if (step.do === 'register') agents.push({ status: 'active', released: 0 });
        else if (step.do === 'kill' || step.do === 'killAll') {
          held.add(step.do === 'kill' ? 'tenant' : 'all');
          generation += 1;
        } else if (step.do === 'lift') held.delete('tenant');
        else if (step.do === 'liftAll') held.delete('all');
        else if ('agent' in step) {
          const agent = agents[step.agent];
          if (!agent || agent.status === 'deprovisioned') return;
          if (step.do === 'suspend') agent.status = 'suspended';
          if (step.do === 'deprovision') agent.status = 'deprovisioned';
          if (step.do === 'activate') {
            agent.status = 'active';
            if (held.size > 0) agent.released = generation;
          }
        }
      },
    };
  }

  const STATUS = {
    suspend: 'suspended',
    activate: 'active',
    deprovision: 'deprovisioned',
  } as const;

  async function perform(step: Command, ids: string[]): Promise<void> {
    if (step.do === 'register') ids.push((await anAgent()).id);
    else if (step.do === 'kill') await kill();
    else if (step.do === 'lift') {
      const { statusCode } = await call(PATH, { token, body: { lift: true } });
      expect([200, 403]).toContain(statusCode);
    } else if (step.do === 'killAll') await superKill({ scope: 'all' });
    else if (step.do === 'liftAll') await superKill({ scope: 'all', lift: true });
    else if ('agent' in step) {
      const id = ids[step.agent];
      if (id) await patchStatus(id, STATUS[step.do]);
    }
  }

  it('what is shown, listed, counted and sent to the data planes is the same', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(command, { minLength: 1, maxLength: 14 }), async (steps) => {
        await superKill({ scope: 'all', lift: true });
        ({
          token,
          scope: { tenantId },
        } = await aTenantAdmin());
        const model = createModel();
        const ids: string[] = [];
        const commands: Command[] = [{ do: 'register' }, { do: 'register' }, ...steps];
        for (const step of commands) {
          await perform(step, ids);
          model.apply(step);
        }
        const expected = model.statuses();
        const killFact = KillSwitchFact.nullable().parse(await newestFact('kill_switch', 'tenant'));
        for (const [index, id] of ids.entries()) {
          expect(await statusOf(id)).toBe(expected[index]);
          const fact = AgentFact.parse(await newestFact('agent', id));
          expect(effectiveAgentStatus(fact, killFact)).toBe(expected[index]);
        }
        for (const status of ['active', 'suspended', 'deprovisioned']) {
          const { agents, total } = await ok(call(`/api/v1/agents?status=${status}`, { token }));
          const listed = agents.map((agent: { id: string; status: string }) => agent.id).sort();
          expect(listed).toEqual(ids.filter((_, index) => expected[index] === status).sort());
          expect(total).toBe(listed.length);
          expect(agents.every((agent: { status: string }) => agent.status === status)).toBe(true);
        }
        const caught = expected.filter(
          (status, index) => status === 'suspended' && model.agents[index]?.status === 'active',
        ).length;
        expect(await ok(call(PATH, { token }))).toMatchObject({
          ...model.state(),
          suspended_agents: caught,
        });
      }),
      { numRuns: 15 },
    );
  });
});
