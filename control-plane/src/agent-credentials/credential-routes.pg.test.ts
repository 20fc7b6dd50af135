import { describe, expect, it } from 'vitest';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';

const { call, test, aTenantAdmin, logged } = await testControlPlane();

interface Made {
  id: string;
  client_id: string;
  client_secret: string;
}

async function anAgent(token: string) {
  const body = { name: 'helper', agent_type: 'assistant', owner: 'ann' };
  return (await call('/api/v1/agents', { token, body })).json() as Made;
}

const pathOf = (agent: Made, ...more: string[]) =>
  ['/api/v1/agents', agent.id, 'credentials', ...more].join('/');

async function give(token: string, agent: Made, label = 'Ann’s laptop', client = 'cursor') {
  const answer = await call(pathOf(agent), { token, body: { label, client } });
  expect(answer.statusCode, answer.body).toBe(201);
  expect(answer.headers['cache-control']).toBe('no-store');
  return answer.json() as Made;
}

const askToken = ({ client_id, client_secret }: Made) =>
  call('/api/v1/auth/token', {
    body: { grant_type: 'client_credentials', client_id, client_secret },
  });

const claimsOf = (jwt: string) =>
  JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString());

async function recordsOf(tenantId: string) {
  const { rows } = await test.superuser.query<{ bytes: Buffer }>(
    `SELECT bytes FROM ledger_records WHERE tenant_id = $1 AND type = 'admin_action'
     ORDER BY position`,
    [tenantId],
  );
  return rows.map(({ bytes }) => JSON.parse(bytes.toString()));
}

async function newestFact(tenantId: string, key: string) {
  const { rows } = await test.superuser.query<{ kind: string; value: string | null }>(
    `SELECT kind, value FROM feed_entries WHERE tenant_id = $1 AND key = $2
     ORDER BY seq DESC LIMIT 1`,
    [tenantId, key],
  );
  return { kind: rows[0]?.kind, value: rows[0]?.value ? JSON.parse(rows[0].value) : null };
}

describe('a credential of an agent', () => {
  it('gets tokens that name it, beside the agent’s first one', async () => {
    const { token, scope } = await aTenantAdmin();
    const agent = await anAgent(token);
    const credential = await give(token, agent);
    expect(credential).toMatchObject({ label: 'Ann’s laptop', client: 'cursor', version: 1 });
    expect(credential.client_id).not.toBe(agent.client_id);
    const [first, second] = [await askToken(agent), await askToken(credential)];
    expect([first.statusCode, second.statusCode]).toEqual([200, 200]);
    expect(second.json().agent_id).toBe(agent.id);
    const claims = claimsOf(second.json().access_token);
    expect(claims).toMatchObject({ sub: agent.id, credential: { id: credential.id, version: 1 } });
    // Otherwise a data plane that knows no such credentials would take it for the first one's.
    expect(claims).not.toHaveProperty('credential_version');
    expect(claimsOf(first.json().access_token)).toMatchObject({ credential_version: 1 });
    expect(await newestFact(scope.tenantId, credential.id)).toMatchObject({
      kind: 'optional.agent_credential',
      value: { agent_id: agent.id, client_id: credential.client_id, version: 1 },
    });
    const wrong = { ...credential, client_secret: agent.client_secret };
    expect((await askToken(wrong)).statusCode).toBe(401);
  });

  it('is listed without its secret, which is kept nowhere', async () => {
    const { token, scope } = await aTenantAdmin();
    const agent = await anAgent(token);
    expect((await call(pathOf(agent), { token })).json()).toEqual({ credentials: [], total: 0 });
    const [one, two] = [await give(token, agent), await give(token, agent, 'desk', 'vscode')];
    const listed = await call(pathOf(agent), { token });
    expect(listed.json()).toMatchObject({
      credentials: [
        { id: one.id, client: 'cursor', rotated_at: null },
        { id: two.id, label: 'desk', client: 'vscode' },
      ],
      total: 2,
    });
    const { rows } = await test.superuser.query(
      'SELECT c::text AS row FROM agent_credentials c WHERE tenant_id = $1',
      [scope.tenantId],
    );
    const records = await recordsOf(scope.tenantId);
    const kept = `${listed.body}${JSON.stringify([rows, records])}${logged.join('')}`;
    for (const { client_secret } of [one, two]) expect(kept).not.toContain(client_secret);
    expect(records.at(-1)).toMatchObject({
      action: 'agent_credential_created',
      target: `agent/${agent.id}/credential/${two.id}`,
      details: { label: 'desk', client: 'vscode', client_id: two.client_id },
      actor: { id: scope.actor.id },
    });
  });

  it('is rotated alone: its old secret ends, the others go on', async () => {
    const { token, scope } = await aTenantAdmin();
    const agent = await anAgent(token);
    const [one, two] = [await give(token, agent), await give(token, agent)];
    const answer = await call(pathOf(agent, one.id, 'rotate'), { token, method: 'POST' });
    expect(answer.statusCode, answer.body).toBe(200);
    const rotated = answer.json() as Made;
    expect(rotated).toMatchObject({ id: one.id, client_id: one.client_id });
    expect((await askToken(one)).statusCode).toBe(401);
    const fresh = await askToken(rotated);
    expect(claimsOf(fresh.json().access_token).credential).toEqual({ id: one.id, version: 2 });
    for (const other of [agent, two]) expect((await askToken(other)).statusCode).toBe(200);
    expect((await newestFact(scope.tenantId, one.id)).value.version).toBe(2);
    // And the first credential's rotation leaves this one alone.
    await call(`/api/v1/agents/${agent.id}/rotate`, { token, method: 'POST' });
    expect((await askToken(agent)).statusCode).toBe(401);
    expect((await askToken(rotated)).statusCode).toBe(200);
    const actions = (await recordsOf(scope.tenantId)).map(({ action }) => action);
    expect(actions.slice(-2)).toEqual(['agent_credential_rotated', 'agent_secret_rotated']);
  });

  it('is revoked alone, with a tombstone in the feed', async () => {
    const { token, scope } = await aTenantAdmin();
    const agent = await anAgent(token);
    const [one, two] = [await give(token, agent), await give(token, agent)];
    const answer = await call(pathOf(agent, one.id), { token, method: 'DELETE' });
    expect(answer.statusCode).toBe(204);
    expect((await askToken(one)).statusCode).toBe(401);
    for (const other of [agent, two]) expect((await askToken(other)).statusCode).toBe(200);
    expect(await newestFact(scope.tenantId, one.id)).toEqual({
      ...{ kind: 'optional.agent_credential', value: null },
    });
    expect((await recordsOf(scope.tenantId)).at(-1)).toMatchObject({
      ...{ action: 'agent_credential_revoked', details: { client_id: one.client_id } },
    });
    for (const method of ['DELETE', 'POST'] as const) {
      const path = method === 'POST' ? pathOf(agent, one.id, 'rotate') : pathOf(agent, one.id);
      expect((await call(path, { token, method })).statusCode).toBe(404);
    }
  });

  it('is of its agent alone', async () => {
    const { token } = await aTenantAdmin();
    const [agent, other] = [await anAgent(token), await anAgent(token)];
    const credential = await give(token, agent);
    const answer = await call(pathOf(other, credential.id), { token, method: 'DELETE' });
    expect(answer.statusCode).toBe(404);
    expect((await askToken(credential)).statusCode).toBe(200);
  });

  it('is refused with its agent, and a deprovisioned agent gets none', async () => {
    const { token } = await aTenantAdmin();
    const agent = await anAgent(token);
    const credential = await give(token, agent);
    const patch = (status: string) =>
      call(`/api/v1/agents/${agent.id}`, { token, method: 'PATCH', body: { status } });
    await patch('suspended');
    expect((await askToken(credential)).statusCode).toBe(403);
    await patch('active');
    expect((await askToken(credential)).statusCode).toBe(200);
    await patch('deprovisioned');
    expect((await askToken(credential)).statusCode).toBe(403);
    const more = await call(pathOf(agent), { token, body: { label: 'x', client: 'other' } });
    const rotated = await call(pathOf(agent, credential.id, 'rotate'), { token, method: 'POST' });
    expect([more.statusCode, rotated.statusCode]).toEqual([409, 409]);
    const gone = await call(pathOf(agent, credential.id), { token, method: 'DELETE' });
    expect(gone.statusCode).toBe(204);
  });

  it('is one of at most 20, also when many are requested at once', async () => {
    const { token } = await aTenantAdmin();
    const agent = await anAgent(token);
    const body = { label: 'x', client: 'other' };
    const answers = await Promise.all(
      Array.from({ length: 23 }, () => call(pathOf(agent), { token, body })),
    );
    const statuses = answers.map(({ statusCode }) => statusCode);
    expect(statuses.filter((status) => status === 201)).toHaveLength(20);
    expect(statuses.filter((status) => status === 409)).toHaveLength(3);
  });

  it('needs a label and a known client', async () => {
    const { token } = await aTenantAdmin();
    const agent = await anAgent(token);
    for (const body of [{ label: 'x' }, { client: 'cursor' }, { label: 'x', client: 'notepad' }]) {
      expect((await call(pathOf(agent), { token, body })).statusCode).toBe(422);
    }
  });
});
