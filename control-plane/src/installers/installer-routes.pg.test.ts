import { describe, expect, it } from 'vitest';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';

let time = Date.now();
const { call, test, aTenantAdmin, logged } = await testControlPlane({ now: () => new Date(time) });
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

type Issued = Record<'id' | 'token' | 'agent_id' | 'expires_at', string>;

async function anAgent(token: string) {
  const body = { name: 'helper', agent_type: 'assistant', owner: 'ann' };
  const agent = (await call('/api/v1/agents', { token, body })).json() as { id: string };
  return { ...agent, tokens: `/api/v1/agents/${agent.id}/installer-tokens` };
}

async function issue(token: string, agent: { tokens: string }, client = 'cursor') {
  const answer = await call(agent.tokens, { token, body: { client } });
  expect(answer.statusCode, answer.body).toBe(201);
  expect(answer.headers['cache-control']).toBe('no-store');
  return answer.json() as Issued;
}

let addresses = 0;
const redeem = (installer_token: string, client = 'cursor', remoteAddress?: string) =>
  call('/api/v1/enroll/installer', {
    body: { installer_token, client },
    // Wrong ones are limited by address: each caller has one of its own unless the test is about it.
    remoteAddress: remoteAddress ?? `10.0.${addresses >> 8}.${addresses++ & 255}`,
  });

const askToken = ({ client_id, client_secret }: Record<string, string>) =>
  call('/api/v1/auth/token', {
    body: { grant_type: 'client_credentials', client_id, client_secret },
  });

async function recordsOf(tenantId: string) {
  const { rows } = await test.superuser.query<{ bytes: Buffer }>(
    `SELECT bytes FROM ledger_records WHERE tenant_id = $1 AND type = 'admin_action'
     ORDER BY position`,
    [tenantId],
  );
  return rows.map(({ bytes }) => JSON.parse(bytes.toString()));
}

describe('an installer token', () => {
  it('becomes a credential of the client’s own, with the entry for that client', async () => {
    const { token, scope } = await aTenantAdmin();
    const agent = await anAgent(token);
    const issued = await issue(token, agent, 'gemini-cli');
    expect(Date.parse(issued.expires_at) - time).toBe(15 * MINUTE_MS);
    const answer = await redeem(issued.token, 'gemini-cli');
    expect(answer.statusCode, answer.body).toBe(201);
    expect(answer.headers['cache-control']).toBe('no-store');
    const redeemed = answer.json();
    const { client_id, client_secret } = redeemed;
    const basic = Buffer.from(`${client_id}:${client_secret}`).toString('base64');
    expect(redeemed).toMatchObject({
      ...{ agent_id: agent.id, agent_name: 'helper', client: 'gemini-cli' },
      gateway_url: 'https://governance.example/mcp/v1',
      config: {
        mcpServers: {
          governance: {
            httpUrl: 'https://governance.example/mcp/v1',
            headers: { Authorization: `Basic ${basic}` },
          },
        },
      },
    });
    expect((await askToken(redeemed)).json().agent_id).toBe(agent.id);
    const credentials = await call(`/api/v1/agents/${agent.id}/credentials`, { token });
    expect(credentials.json()).toMatchObject({
      credentials: [
        {
          ...{ id: redeemed.credential_id, client: 'gemini-cli', label: 'gemini-cli', client_id },
          created_by: `installer-token:${issued.id}`,
        },
      ],
    });
    const records = (await recordsOf(scope.tenantId)).slice(-3);
    expect(records.map(({ action }) => action)).toEqual([
      ...['installer_token_issued', 'agent_credential_created', 'installer_token_redeemed'],
    ]);
    expect(records[2]).toMatchObject({
      actor: { username: `installer-token:${issued.id}`, role: 'system' },
      details: { credential_id: redeemed.credential_id },
    });
    const { rows } = await test.superuser.query(
      'SELECT t::text AS row FROM installer_tokens t WHERE tenant_id = $1',
      [scope.tenantId],
    );
    const listed = await call(agent.tokens, { token });
    expect(listed.json()).toMatchObject({
      tokens: [{ id: issued.id, credential_id: redeemed.credential_id, revoked_at: null }],
      total: 1,
    });
    const kept = `${listed.body}${JSON.stringify([rows, records])}${logged.join('')}`;
    for (const secret of [issued.token, client_secret]) expect(kept).not.toContain(secret);
  });

  it('is used once, whoever races for it', async () => {
    const { token, scope } = await aTenantAdmin();
    const agent = await anAgent(token);
    for (let round = 0; round < 5; round++) {
      const issued = await issue(token, agent);
      const answers = await Promise.all(Array.from({ length: 8 }, () => redeem(issued.token)));
      const statuses = answers.map(({ statusCode }) => statusCode).sort();
      expect(statuses).toEqual([201, ...Array(7).fill(401)]);
    }
    const { rows } = await test.superuser.query(
      'SELECT count(*)::int AS made FROM agent_credentials WHERE tenant_id = $1',
      [scope.tenantId],
    );
    expect(rows[0].made).toBe(5);
  });

  it('that has expired, was used or revoked, or is unknown gets the same answer, and creates nothing', async () => {
    const { token } = await aTenantAdmin();
    const agent = await anAgent(token);
    const [used, revoked, over] = [
      ...[await issue(token, agent), await issue(token, agent), await issue(token, agent)],
    ] as [Issued, Issued, Issued];
    expect((await redeem(used.token)).statusCode).toBe(201);
    const gone = await call(`${agent.tokens}/${revoked.id}`, { token, method: 'DELETE' });
    expect(gone.statusCode).toBe(204);
    time += 15 * MINUTE_MS - 1;
    const last = await issue(token, agent);
    time += 1;
    for (const secret of [used.token, revoked.token, over.token, 'ins_none', over.id]) {
      const answer = await redeem(secret);
      expect(answer.statusCode).toBe(401);
      expect(answer.json()).toEqual({
        detail: 'The installer token is unknown, used, revoked or expired.',
      });
    }
    time += 15 * MINUTE_MS - 2;
    expect((await redeem(last.token)).statusCode).toBe(201);
    const credentials = await call(`/api/v1/agents/${agent.id}/credentials`, { token });
    expect(credentials.json().total).toBe(2);
  });

  it('is for one client, and not used up by another', async () => {
    const { token } = await aTenantAdmin();
    const issued = await issue(token, await anAgent(token), 'vscode');
    const answer = await redeem(issued.token, 'cursor');
    expect(answer.statusCode).toBe(409);
    expect(answer.json()).toEqual({ detail: 'The token is for vscode.' });
    expect((await redeem(issued.token, 'vscode')).statusCode).toBe(201);
  });

  it('of an agent that may not act is refused, and is good when it may', async () => {
    const { token } = await aTenantAdmin();
    const agent = await anAgent(token);
    const issued = await issue(token, agent);
    const patch = (status: string) =>
      call(`/api/v1/agents/${agent.id}`, { token, method: 'PATCH', body: { status } });
    await patch('suspended');
    expect((await redeem(issued.token)).statusCode).toBe(403);
    await patch('active');
    await call('/api/v1/admin/killswitch', { token, body: { reason: 'test' } });
    expect((await redeem(issued.token)).statusCode).toBe(403);
    await patch('active');
    expect((await redeem(issued.token)).statusCode).toBe(201);
    const second = await issue(token, agent);
    await patch('deprovisioned');
    expect((await redeem(second.token)).statusCode).toBe(403);
    const more = await call(agent.tokens, { token, body: { client: 'cursor' } });
    expect(more.statusCode).toBe(409);
  });

  it('makes no more credentials than an agent may have, and is not used up by that', async () => {
    const { token } = await aTenantAdmin();
    const agent = await anAgent(token);
    const credentials = `/api/v1/agents/${agent.id}/credentials`;
    const made: { id: string }[] = [];
    for (let i = 0; i < 20; i++) {
      const body = { label: `n${i}`, client: 'other' };
      made.push((await call(credentials, { token, body })).json());
    }
    const issued = await issue(token, agent);
    expect((await redeem(issued.token)).statusCode).toBe(409);
    await call(`${credentials}/${made[0]?.id}`, { token, method: 'DELETE' });
    expect((await redeem(issued.token)).statusCode).toBe(201);
  });

  it('is one of 20 of its agent that can be used', async () => {
    const { token } = await aTenantAdmin();
    const agent = await anAgent(token);
    const answers = await Promise.all(
      Array.from({ length: 22 }, () => call(agent.tokens, { token, body: { client: 'codex' } })),
    );
    const statuses = answers.map(({ statusCode }) => statusCode);
    expect(statuses.filter((status) => status === 201)).toHaveLength(20);
    time += 15 * MINUTE_MS;
    await issue(token, agent);
  });

  it('is guessed at five times an hour from an address, and never refused for others’ guesses', async () => {
    const { token } = await aTenantAdmin();
    const issued = await issue(token, await anAgent(token));
    const from = '198.51.100.9';
    const statuses: number[] = [];
    for (let i = 0; i < 7; i++) {
      statuses.push((await redeem(`ins_${i}`, 'cursor', from)).statusCode);
    }
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429]);
    expect((await redeem(issued.token, 'cursor', from)).statusCode).toBe(201);
    time += HOUR_MS;
    expect((await redeem('ins_again', 'cursor', from)).statusCode).toBe(401);
  });

  it('is revoked through its own agent alone', async () => {
    const { token } = await aTenantAdmin();
    const [agent, other] = [await anAgent(token), await anAgent(token)];
    const issued = await issue(token, agent);
    const answer = await call(`${other.tokens}/${issued.id}`, { token, method: 'DELETE' });
    expect(answer.statusCode).toBe(404);
    expect((await redeem(issued.token)).statusCode).toBe(201);
    // Nothing is left to revoke, and nothing is said to have been.
    const late = await call(`${agent.tokens}/${issued.id}`, { token, method: 'DELETE' });
    expect(late.statusCode).toBe(204);
    const listed = (await call(agent.tokens, { token })).json();
    expect(listed.tokens[0]).toMatchObject({ revoked_at: null, used_at: expect.any(String) });
  });
});
