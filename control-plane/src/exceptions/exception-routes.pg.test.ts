/** Standing exceptions: made, extended, revoked, reviewed; what they may name; what data planes hear. */
import {
  BLAST_RADIUS,
  MAX_EXCEPTIONS,
  MAX_EXCEPTIONS_OF_SHAPE,
} from '@governance/shared/channel/exceptions';
import { FEED_START } from '@governance/shared/channel/feed-chain';
import { uuidv7 } from '@governance/shared/ids';
import { describe, expect, it, vi } from 'vitest';
import { anAgent } from '../../../tests/support/an-agent.ts';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';

let time = Date.now();
const plane = await testControlPlane({ now: () => new Date(time) });
const { call, controlPlane, test, aTenantAdmin, aColleague, superAdminToken } = plane;
const EXCEPTIONS = '/api/v1/exceptions';
const HOUR_MS = 3_600_000;
const WHY = 'the nightly clean-up needs it';
const DENIES = 'package p\n\ndeny contains "no" if input.request.action == "delete"\n';

type Admin = Awaited<ReturnType<typeof aTenantAdmin>>;

/** A tenant with an agent, a server, and a policy of its own. */
async function aTenant() {
  const admin = await aTenantAdmin();
  const { token, scope } = admin;
  const post = async (url: string, body: object) => {
    const answer = await call(url, { token, body });
    expect(answer.statusCode, answer.body).toBe(201);
    return answer.json() as { id: string };
  };
  const agent = await anAgent(test, scope);
  await post('/api/v1/mcp-servers', {
    server_id: 'files',
    transport: 'streamable-http',
    url: 'https://mcp.example/mcp',
  });
  const body = { name: 'Careful', rego_content: DENIES, status: 'active' };
  const policy = await post('/api/v1/policies', body);
  return { ...admin, agent, policy };
}

const make = ({ token }: Pick<Admin, 'token'>, given: object) =>
  call(EXCEPTIONS, { token, body: { justification: WHY, expires_in_hours: 24, ...given } });

interface Made {
  id: string;
  status: string;
  expires_at: string;
  extension_count: number;
}

async function made(admin: Pick<Admin, 'token'>, given: object): Promise<Made> {
  const answer = await make(admin, given);
  expect(answer.statusCode, answer.body).toBe(201);
  return answer.json();
}

const extend = ({ token }: Pick<Admin, 'token'>, { id }: { id: string }, hours = 1) =>
  call(`${EXCEPTIONS}/${id}/extend`, { token, method: 'PATCH', body: { hours } });
const revoke = ({ token }: Pick<Admin, 'token'>, { id }: { id: string }) =>
  call(`${EXCEPTIONS}/${id}`, { token, method: 'DELETE' });
const review = (
  { token }: Pick<Admin, 'token'>,
  { id }: { id: string },
  what: 'approve' | 'reject',
  body?: object,
) => call(`${EXCEPTIONS}/${id}/${what}`, { token, method: 'POST', ...(body && { body }) });
const show = async ({ token }: Pick<Admin, 'token'>, { id }: { id: string }) =>
  (await call(`${EXCEPTIONS}/${id}`, { token })).json();
const list = async ({ token }: Pick<Admin, 'token'>, query = '') => {
  const { exceptions, total } = (await call(`${EXCEPTIONS}${query}`, { token })).json();
  expect(exceptions).toHaveLength(total);
  return exceptions.map(({ id }: { id: string }) => id);
};
const requireReview = ({ token }: Pick<Admin, 'token'>, isRequired = true) =>
  call('/api/v1/admin/settings', {
    ...{ token, method: 'PATCH' },
    body: { policies: { require_change_requests: isRequired } },
  });

/** What the feed says of one now; undefined where it never said anything. */
async function factOf({ scope: { tenantId } }: Admin, { id }: { id: string }) {
  const request = { cursor: 0, digest: FEED_START, limit: 1_000, waitMs: 0 };
  const { signal } = new AbortController();
  const page = await controlPlane.feedReader.readFeed({ tenantId, ...request, signal });
  const found = page.entries.findLast(({ key }) => key === id);
  if (found) expect(found.kind).toBe('optional.exception');
  return found?.value;
}

async function actionsOf({ scope }: Admin) {
  const { rows } = await test.superuser.query<{ bytes: Buffer }>(
    `SELECT bytes FROM ledger_records WHERE tenant_id = $1 AND type = 'admin_action'
     ORDER BY position`,
    [scope.tenantId],
  );
  return rows.map(({ bytes }) => JSON.parse(bytes.toString()));
}

const ofExceptions = async (admin: Admin): Promise<string[]> =>
  (await actionsOf(admin))
    .map(({ action }) => action as string)
    .filter((action) => action.startsWith('exception_'));

describe('an exception', () => {
  it('is created, listed, sent to data planes, extended and revoked', async () => {
    const one = await aTenant();
    const target = {
      agent_id: one.agent.id,
      mcp_server: 'files',
      tool_name: 'delete_file',
      resource: '/srv/tmp/**',
      policy_id: one.policy.id,
    };
    const exception = await made(one, target);
    expect(exception).toMatchObject({
      ...{ ...target, status: 'active', lifts: 'escalation', justification: WHY },
      ...{ extension_count: 0, max_extensions: 4, escalation_id: null, revoked_at: null },
      created_by: one.scope.actor.username,
    });
    expect(Date.parse(exception.expires_at)).toBe(time + 24 * HOUR_MS);
    const fact = { id: exception.id, lifts: 'escalation', ...target };
    expect(await factOf(one, exception)).toEqual({ ...fact, expires_at: exception.expires_at });
    expect(await list(one)).toEqual([exception.id]);
    expect(await list(one, `?agent_id=${uuidv7()}`)).toEqual([]);

    const longer = (await extend(one, exception, 10)).json();
    expect(longer).toMatchObject({ extension_count: 1, max_extensions: 4, status: 'active' });
    expect(Date.parse(longer.expires_at)).toBe(time + 34 * HOUR_MS);
    expect(await factOf(one, exception)).toMatchObject({ expires_at: longer.expires_at });

    expect((await revoke(one, exception)).statusCode).toBe(204);
    expect(await factOf(one, exception)).toBeNull();
    expect((await revoke(one, exception)).statusCode).toBe(204);
    expect((await extend(one, exception)).statusCode).toBe(409);
    expect(await list(one)).toEqual([]);
    expect(await list(one, '?status=revoked')).toEqual([exception.id]);
    expect(await show(one, exception)).toMatchObject({
      ...{ status: 'revoked', revoked_by: one.scope.actor.username },
      revoked_at: new Date(time).toISOString(),
    });
    const records = (await actionsOf(one)).slice(-3);
    expect(records).toMatchObject([
      {
        action: 'exception_created',
        target: `exception/${exception.id}`,
        actor: { id: one.scope.actor.id },
        details: { ...target, justification: WHY, expires_at: exception.expires_at },
      },
      { action: 'exception_extended', details: { hours: 10, extension_count: 1 } },
      { action: 'exception_revoked', details: target },
    ]);
  });

  it('is extended up to its limit, however many ask at the same moment', async () => {
    const one = await aTenant();
    const exception = await made(one, { agent_id: one.agent.id });
    const answers = await Promise.all(Array.from({ length: 7 }, () => extend(one, exception)));
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([
      ...Array(4).fill(200),
      ...Array(3).fill(409),
    ]);
    const refused = answers.find(({ statusCode }) => statusCode === 409);
    expect(refused?.json().detail).toMatch(/as often as it may/);
    const shown = await show(one, exception);
    expect(shown.extension_count).toBe(4);
    expect(Date.parse(shown.expires_at)).toBe(time + 28 * HOUR_MS);
    const none = await made(one, { agent_id: one.agent.id, max_extensions: 0 });
    expect((await extend(one, none)).statusCode).toBe(409);
  });

  it('is over by its time, before anybody has noted it and after', async () => {
    const one = await aTenant();
    const exception = await made(one, { agent_id: one.agent.id, expires_in_hours: 1 });
    time += HOUR_MS;
    expect(await list(one)).toEqual([]);
    expect(await list(one, '?status=expired')).toEqual([exception.id]);
    expect((await show(one, exception)).status).toBe('expired');
    for (const answer of [await extend(one, exception), await revoke(one, exception)]) {
      expect(answer.statusCode).toBe(409);
      expect(answer.json().detail).toContain('expired');
    }
    await vi.waitFor(async () => expect(await factOf(one, exception)).toBeNull(), 20_000);
    expect(await list(one, '?status=expired')).toEqual([exception.id]);
    expect((await actionsOf(one)).at(-1)).toMatchObject({
      ...{ action: 'exception_expired', actor: { role: 'system' } },
      details: { was: 'active', agent_id: one.agent.id },
    });
  }, 30_000);

  it.each<[string, object]>([
    ['nothing that it is for', {}],
    ['a short justification', { mcp_server: 'files', justification: 'because' }],
    ['a justification of nine characters', { mcp_server: 'files', justification: '👍'.repeat(9) }],
    ['a justification of blanks', { mcp_server: 'files', justification: ' '.repeat(20) }],
    ['no hours', { mcp_server: 'files', expires_in_hours: 0 }],
    ['a part of an hour', { mcp_server: 'files', expires_in_hours: 1.5 }],
    ['too many hours', { mcp_server: 'files', expires_in_hours: 8_761 }],
    ['no end', { mcp_server: 'files', expires_in_hours: null }],
    ['too many extensions', { mcp_server: 'files', max_extensions: 11 }],
    ['a pattern of tools', { mcp_server: 'files', tool_name: 'delete_*' }],
    ['an empty resource', { resource: '' }],
    ['an empty resource beside others', { mcp_server: 'files', resource: '' }],
    ['a resource that leads upwards', { resource: '/srv/../etc/**' }],
    ['a resource of too many stars', { resource: '/*'.repeat(17) }],
    ['a policy that is no id', { policy_id: 'default' }],
    ['what it does not know', { mcp_server: 'files', status: 'active' }],
    ['a denial of all agents', { lifts: 'deny', policy_id: uuidv7() }],
    ['a denial of all policies', { lifts: 'deny', agent_id: uuidv7() }],
    [
      'a denial of the blast radius',
      { lifts: 'deny', agent_id: uuidv7(), policy_id: BLAST_RADIUS },
    ],
    [
      'a denial for too long',
      { lifts: 'deny', agent_id: uuidv7(), policy_id: uuidv7(), expires_in_hours: 721 },
    ],
  ])('with %s is refused', async (_, given) => {
    const admin = await aTenantAdmin();
    const answer = await make(admin, given);
    expect(answer.statusCode, answer.body).toBe(422);
  });

  it('says of an empty resource what is meant by leaving it out', async () => {
    const answer = await make(await aTenantAdmin(), { resource: '' });
    const msg = 'must name a target; leave it out for calls with any target, or none';
    expect(answer.json()).toMatchObject({
      detail: `body.resource: ${msg}`,
      errors: [{ loc: ['body', 'resource'], msg }],
    });
  });

  it('names agents, servers and policies of its own tenant alone', async () => {
    const [one, other] = [await aTenant(), await aTenantAdmin()];
    for (const given of [
      { agent_id: one.agent.id },
      { mcp_server: 'files' },
      { policy_id: one.policy.id },
      { agent_id: uuidv7(), mcp_server: 'files' },
      { agent_id: one.agent.id, policy_id: one.policy.id, lifts: 'deny' },
    ]) {
      const answer = await make(other, given);
      expect(answer.statusCode, answer.body).toBe(404);
    }
    expect(await ofExceptions(other)).toEqual([]);
    const exception = await made(one, { mcp_server: 'files' });
    expect((await call(`${EXCEPTIONS}/${exception.id}`, { token: other.token })).statusCode).toBe(
      404,
    );
    expect((await extend(other, exception)).statusCode).toBe(404);
    expect((await revoke(other, exception)).statusCode).toBe(404);
    expect(await list(other)).toEqual([]);
    // What is written in capitals is the same agent.
    const capital = await made(one, { agent_id: one.agent.id.toUpperCase() });
    expect(await factOf(one, capital)).toMatchObject({ agent_id: one.agent.id });
    await made(one, { mcp_server: 'localmodel-proxy' });
    await made(one, { policy_id: BLAST_RADIUS });
  });

  it('ends with the server that it names, whose id another may get', async () => {
    const one = await aTenant();
    const ofServer = await made(one, { mcp_server: 'files', tool_name: 'read' });
    const ofAgent = await made(one, { agent_id: one.agent.id });
    const path = '/api/v1/mcp-servers/files';
    expect((await call(path, { token: one.token, method: 'DELETE' })).statusCode).toBe(204);
    expect(await list(one)).toEqual([ofAgent.id]);
    expect(await factOf(one, ofServer)).toBeNull();
    expect(
      (await actionsOf(one)).find(({ action }) => action === 'exception_revoked'),
    ).toMatchObject({ details: { because_of: 'mcp_server/files' } });
  });

  it('is one of so many, of a tenant and of a shape', async () => {
    const one = await aTenant();
    const insert = (count: number, agentId: string | null) =>
      test.superuser.query(
        `INSERT INTO exceptions (tenant_id, id, status, lifts, agent_id, mcp_server, tool_name,
           justification, max_extensions, created_by_id, created_by, created_at, updated_at, expires_at)
         SELECT $1, gen_random_uuid(), 'active', 'escalation', $2, 'files',
           CASE WHEN $2::uuid IS NULL THEN 'tool' || n END, 'x', 4, 'x', 'x', $4, $4,
           $4::timestamptz + interval '1 day' FROM generate_series(1, $3) AS n`,
        [one.scope.tenantId, agentId, count, new Date(time - 2 * HOUR_MS)],
      );
    await insert(MAX_EXCEPTIONS_OF_SHAPE - 1, one.agent.id);
    const shape = { agent_id: one.agent.id, mcp_server: 'files' };
    const last = await made(one, { ...shape, resource: '/srv/a' });
    expect((await make(one, { ...shape, resource: '/srv/b' })).statusCode).toBe(409);
    await made(one, { ...shape, tool_name: 'read' });
    await revoke(one, last);
    await made(one, { ...shape, resource: '/srv/b' });
    await insert(MAX_EXCEPTIONS - MAX_EXCEPTIONS_OF_SHAPE - 1, null);
    expect((await make(one, { mcp_server: 'files' })).statusCode).toBe(409);
    await test.superuser.query(
      `UPDATE exceptions SET expires_at = $2 WHERE tenant_id = $1 AND id = (
         SELECT id FROM exceptions WHERE tenant_id = $1 AND status = 'active' LIMIT 1)`,
      [one.scope.tenantId, new Date(time)],
    );
    await made(one, { mcp_server: 'files' });
    // A list shows all of them, whoever names no limit.
    expect(await list(one)).toHaveLength(MAX_EXCEPTIONS);
  });

  it('too often for one agent within an hour raises an alert, once an hour', async () => {
    const one = await aTenant();
    const alerts = async (): Promise<{ id: string; status: string }[]> => {
      const answer = await call('/api/v1/monitor/alerts', { token: one.token });
      return answer
        .json()
        .alerts.filter(
          ({ alert_type: type }: { alert_type: string }) => type === 'EXCEPTION_FREQUENCY',
        );
    };
    const another = await anAgent(test, one.scope);
    for (let i = 0; i < 5; i++) {
      await made(one, { agent_id: one.agent.id });
      await made(one, { mcp_server: 'files' });
      await revoke(one, await made(one, { agent_id: another.id }));
    }
    expect(await alerts()).toEqual([]);
    await revoke(one, await made(one, { agent_id: one.agent.id }));
    const [raised] = await alerts();
    expect(raised).toMatchObject({ severity: 'medium', agent_id: one.agent.id, status: 'open' });
    await call(`/api/v1/monitor/alerts/${raised?.id}`, {
      ...{ token: one.token, method: 'PATCH', body: { status: 'resolved' } },
    });
    await made(one, { agent_id: one.agent.id });
    expect(await alerts()).toHaveLength(1);
    time += HOUR_MS + 1;
    for (let i = 0; i < 5; i++) await made(one, { agent_id: one.agent.id });
    expect(await alerts()).toHaveLength(1);
    await made(one, { agent_id: one.agent.id });
    expect(await alerts()).toHaveLength(2);

    // Those that were made while the clock was ahead keep none back once it is put back.
    const resolve = async () => {
      for (const { id } of await alerts())
        await call(`/api/v1/monitor/alerts/${id}`, {
          ...{ token: one.token, method: 'PATCH', body: { status: 'resolved' } },
        });
    };
    await resolve();
    time += 3 * HOUR_MS;
    for (let i = 0; i < 6; i++) await made(one, { agent_id: one.agent.id });
    await resolve();
    time -= 2 * HOUR_MS - 1;
    for (let i = 0; i < 5; i++) await made(one, { agent_id: one.agent.id });
    expect(await alerts()).toHaveLength(3);
    await made(one, { agent_id: one.agent.id });
    expect(await alerts()).toHaveLength(4);
  });
});

describe('an exception from a denial', () => {
  it('names one agent and one policy, for a month at the longest', async () => {
    const one = await aTenant();
    const given = { lifts: 'deny', agent_id: one.agent.id, policy_id: one.policy.id };
    const exception = await made(one, { ...given, expires_in_hours: 719 });
    expect(exception).toMatchObject({ ...given, status: 'active' });
    expect(await factOf(one, exception)).toMatchObject(given);
    const tooLong = await extend(one, exception, 2);
    expect(tooLong.statusCode, tooLong.body).toBe(422);
    expect((await extend(one, exception, 1)).statusCode).toBe(200);
    expect((await extend(one, exception, 1)).statusCode).toBe(422);
  });

  it('of the baseline pack is none', async () => {
    const one = await aTenant();
    await test.superuser.query(`UPDATE policies SET origin = 'baseline' WHERE id = $1`, [
      one.policy.id,
    ]);
    const given = { agent_id: one.agent.id, policy_id: one.policy.id };
    const answer = await make(one, { ...given, lifts: 'deny' });
    expect(answer.statusCode, answer.body).toBe(422);
    expect(answer.json().detail).toContain('baseline');
    await made(one, given);
  });

  it('is an administrator’s to make', async () => {
    const one = await aTenant();
    for (const role of ['approver', 'auditor'] as const) {
      const { token } = await aColleague(one.scope, role);
      const answer = await make({ token }, { agent_id: one.agent.id });
      expect(answer.statusCode).toBe(403);
    }
  });

  it('waits for another hand where the tenant wants that', async () => {
    const one = await aTenant();
    const bob = await aColleague(one.scope, 'approver');
    await requireReview(one);
    const given = { lifts: 'deny', agent_id: one.agent.id, policy_id: one.policy.id };
    const exception = await made(one, given);
    expect(exception.status).toBe('pending');
    expect(await factOf(one, exception)).toBeUndefined();
    expect(await list(one)).toEqual([]);
    expect(await list(one, '?status=pending')).toEqual([exception.id]);
    expect((await extend(one, exception)).statusCode).toBe(409);
    const own = await review(one, exception, 'approve');
    expect(own.statusCode, own.body).toBe(403);
    const approved = (await review(bob, exception, 'approve', { notes: 'agreed' })).json();
    expect(approved).toMatchObject({
      ...{ status: 'active', reviewed_by: bob.scope.actor.username, notes: 'agreed' },
      expires_at: exception.expires_at,
    });
    expect(await factOf(one, exception)).toMatchObject(given);
    for (const what of ['approve', 'reject'] as const) {
      expect((await review(bob, exception, what)).statusCode).toBe(409);
    }
    // Its time is what two people agreed to.
    expect((await extend(one, exception)).statusCode).toBe(409);
    expect((await actionsOf(one)).at(-1)).toMatchObject({
      ...{ action: 'exception_approved', actor: { role: 'approver' } },
      details: { author: one.scope.actor.username, notes: 'agreed', ...given },
    });
    // From an escalation one needs nobody else.
    expect((await made(one, { agent_id: one.agent.id })).status).toBe('active');
  });

  it('that is rejected, revoked or late lifts nothing', async () => {
    const one = await aTenant();
    const bob = await aColleague(one.scope, 'admin');
    await requireReview(one);
    const given = { lifts: 'deny', agent_id: one.agent.id, policy_id: one.policy.id };
    const rejected = await made(one, given);
    // The own one is taken back so.
    expect((await review(one, rejected, 'reject')).json().status).toBe('rejected');
    expect((await revoke(one, rejected)).statusCode).toBe(409);
    const revoked = await made(one, given);
    expect((await revoke(one, revoked)).statusCode).toBe(204);
    const late = await made(one, { ...given, expires_in_hours: 1 });
    time += HOUR_MS;
    for (const exception of [rejected, revoked, late]) {
      const answer = await review(bob, exception, 'approve');
      expect(answer.statusCode, answer.body).toBe(409);
      expect(await factOf(one, exception)).toBeUndefined();
    }
  });

  it('is one’s own to approve where there is nobody else, and a super-admin counts as any', async () => {
    const one = await aTenant();
    await requireReview(one);
    const given = { lifts: 'deny', agent_id: one.agent.id, policy_id: one.policy.id };
    const exception = await made(one, given);
    expect((await review(one, exception, 'approve')).statusCode).toBe(200);
    const token = await superAdminToken();
    const headers = { 'x-tenant-id': one.scope.tenantId };
    const body = { justification: WHY, expires_in_hours: 1, ...given };
    const theirs = (await call(EXCEPTIONS, { token, headers, body })).json();
    const own = await call(`${EXCEPTIONS}/${theirs.id}/approve`, { token, headers, body: {} });
    expect(own.statusCode, own.body).toBe(403);
  });
});
