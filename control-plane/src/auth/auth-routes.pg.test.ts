import { createPublicKey } from 'node:crypto';
import { Secret } from '@governance/shared/settings';
import { AgentTokenClaims } from '@governance/shared/tokens/agent-token';
import { verify } from '@node-rs/argon2';
import { createLocalJWKSet, decodeJwt, jwtVerify, SignJWT } from 'jose';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { anAgent } from '../../../tests/support/an-agent.ts';
import {
  ADMIN_PASSWORD,
  SUPER_ADMIN_PASSWORD,
  testControlPlane,
} from '../../../tests/support/test-control-plane.ts';

// The real one, and how often it is called.
vi.mock('@node-rs/argon2', async (importReal) => {
  const real = await importReal<typeof import('@node-rs/argon2')>();
  return { ...real, verify: vi.fn(real.verify) };
});

let time = Date.parse('2026-03-01T12:00:00.000Z');
const { call, controlPlane, test, aTenantAdmin, logged } = await testControlPlane({
  now: () => new Date(time),
});
const { scope } = await aTenantAdmin();
const other = await aTenantAdmin();
const LOGIN = '/api/v1/auth/admin/login';
const TOKEN = '/api/v1/auth/token';
const MINUTE_MS = 60_000;

// A fresh window of every rate limit.
beforeEach(() => {
  time += 3 * MINUTE_MS;
});

const login = (username: string, password: string, from: { remoteAddress?: string } = {}) =>
  call(LOGIN, { body: { username, password }, ...from });
const tokenFor = (
  agent: { clientId: string; clientSecret: string },
  more: object = {},
  from: { remoteAddress?: string } = {},
) =>
  call(TOKEN, {
    ...from,
    body: {
      grant_type: 'client_credentials',
      client_id: agent.clientId,
      client_secret: agent.clientSecret,
      ...more,
    },
  });

describe('POST /api/v1/auth/admin/login', () => {
  it('takes no form, which a page of any origin can send', async () => {
    const answer = await call(LOGIN, {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `username=admin&password=${encodeURIComponent(ADMIN_PASSWORD)}`,
    });
    expect([answer.statusCode, answer.json().detail]).toEqual([415, expect.any(String)]);
  });

  it('gives admin a token for the default tenant', async () => {
    const answer = await login('admin', ADMIN_PASSWORD);
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.json()).toEqual({
      access_token: expect.any(String),
      token_type: 'Bearer',
      username: 'admin',
    });
    const identity = await controlPlane.adminTokens.authenticate(answer.json().access_token);
    expect(identity).toMatchObject({ role: 'admin', username: 'admin' });
  });

  it('gives superadmin a token without a tenant', async () => {
    const answer = await login('superadmin', SUPER_ADMIN_PASSWORD);
    const identity = await controlPlane.adminTokens.authenticate(answer.json().access_token);
    expect(identity).toEqual({ role: 'super_admin', id: 'superadmin', username: 'superadmin' });
  });

  it.each([
    ['admin', 'wrong'],
    ['nobody', ADMIN_PASSWORD],
    ['superadmin', ADMIN_PASSWORD],
  ])('says the same to %s with %s', async (username, password) => {
    const answer = await login(username, password);
    expect(answer.statusCode).toBe(401);
    expect(answer.json()).toEqual({ detail: 'The credentials are wrong.' });
  });

  it('does as much work for a user that does not exist', async () => {
    const { calls } = vi.mocked(verify).mock;
    const workFor = async (username: string) => {
      const before = calls.length;
      await login(username, 'wrong');
      // Algorithm, version and cost of each hash that was computed.
      return calls.slice(before).map(([hashed]) => String(hashed).split('$').slice(0, 4));
    };
    const known = await workFor('admin');
    expect(known).toEqual([['', 'argon2id', 'v=19', 'm=19456,t=2,p=1']]);
    expect(await workFor('nobody')).toEqual(known);
  });

  it('limits failures by user and address, and lets the right password in again later', async () => {
    for (let i = 0; i < 10; i++) expect((await login('admin', 'wrong')).statusCode).toBe(401);
    const limited = await login('admin', ADMIN_PASSWORD);
    expect(limited.statusCode).toBe(429);
    expect(limited.headers['retry-after']).toBe('66');
    expect((await login('nobody', 'wrong')).statusCode).toBe(401);
    const elsewhere = { remoteAddress: '203.0.113.1' };
    expect((await login('admin', ADMIN_PASSWORD, elsewhere)).statusCode).toBe(200);
    time += 2 * MINUTE_MS;
    expect((await login('admin', ADMIN_PASSWORD)).statusCode).toBe(200);
  });

  it('counts guesses that are sent together', async () => {
    const sent = Array.from({ length: 100 }, (_, i) => login('admin', `guess ${i}`));
    const statuses = (await Promise.all(sent)).map((answer) => answer.statusCode);
    expect(statuses.filter((status) => status === 401)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(90);
  });

  it('lets an administrator in and kill while many addresses guess', async () => {
    let isOver = false;
    const guess = async (stranger: number) => {
      // Bounded, and more than the gate verifies meanwhile.
      for (let i = 0; i < 20 && !isOver; i++) {
        const remoteAddress = `2001:db8:${stranger.toString(16)}:${i.toString(16)}::1`;
        await login('admin', 'wrong', { remoteAddress });
      }
    };
    const strangers = Promise.all(Array.from({ length: 20 }, (_, i) => guess(i)));
    const from = { remoteAddress: '203.0.113.7' };
    const answer = await login('admin', ADMIN_PASSWORD, from);
    expect(answer.statusCode, answer.body).toBe(200);
    const token = answer.json().access_token;
    const killed = await call('/api/v1/admin/killswitch', { token, method: 'POST', ...from });
    expect(killed.json()).toMatchObject({ engaged: true });
    isOver = true;
    await strangers;
    await call('/api/v1/admin/killswitch', { token, body: { lift: true } });
  });

  it('limits attempts by address, whatever the user', async () => {
    const answers = [];
    for (let i = 0; i < 61; i++) answers.push((await login(`user-${i}`, 'x')).statusCode);
    expect(answers.slice(0, 60).every((status) => status === 401)).toBe(true);
    expect(answers[60]).toBe(429);
  });

  it('writes a login to the audit chain and no password to the log', async () => {
    await login('admin', ADMIN_PASSWORD);
    const { rows } = await test.superuser.query<{ bytes: Buffer }>(
      `SELECT bytes FROM ledger_records ORDER BY received_at DESC, position DESC LIMIT 1`,
    );
    expect(rows[0]?.bytes.toString()).toContain('"action":"admin_logged_in"');
    expect(logged.join('')).not.toContain(ADMIN_PASSWORD);
  });

  it.each([
    [{}, 422],
    [{ username: 'admin' }, 422],
    [{ username: ['admin'], password: 'x' }, 422],
    [{ username: 'u'.repeat(201), password: 'x' }, 422],
    [{ username: 'a\u0000', password: 'x' }, 422],
  ])('answers %j with %i', async (body, status) => {
    expect((await call(LOGIN, { body })).statusCode).toBe(status);
  });
});

interface Forgery {
  header?: { typ?: string | undefined; kid?: string | undefined };
  payload?: Record<string, unknown>;
}

describe('an admin token', async () => {
  const { adminTokens, tokenKeys } = controlPlane;
  const { kid, privateKey } = await tokenKeys.signing();
  const seconds = Math.floor(time / 1000);
  const forge = ({ header = {}, payload = {} }: Forgery) =>
    new SignJWT({
      role: 'admin',
      username: scope.actor.username,
      tenant_id: scope.tenantId,
      token_version: '1',
      sub: scope.actor.id,
      iss: 'https://governance.example',
      aud: 'https://governance.example/api/v1',
      iat: seconds,
      exp: seconds + 3600,
      jti: '1',
      ...payload,
    })
      .setProtectedHeader({ alg: 'RS256', typ: 'admin+jwt', kid, ...header })
      .sign(privateKey);

  it('is accepted as issued, and the forged one below differs in one point only', async () => {
    const identity = await adminTokens.authenticate(await forge({}));
    expect(identity).toEqual({
      role: 'admin',
      id: scope.actor.id,
      username: scope.actor.username,
      tenantId: scope.tenantId,
    });
  });

  it.each<[string, Forgery]>([
    ['an agent’s type', { header: { typ: 'agent+jwt' } }],
    ['no key', { header: { kid: undefined } }],
    ['a key that nobody knows', { header: { kid: 'k' } }],
    ['no type', { header: { typ: undefined } }],
    ['another issuer', { payload: { iss: 'https://evil.example' } }],
    ['the gateway as audience', { payload: { aud: 'https://governance.example/mcp/v1' } }],
    ['an expiry that passed', { payload: { exp: seconds - 3600 } }],
    ['no expiry', { payload: { exp: undefined } }],
    ['another subject', { payload: { sub: other.scope.actor.id } }],
    ['another tenant', { payload: { tenant_id: other.scope.tenantId } }],
    ['an older version', { payload: { token_version: '0' } }],
    ['a user that is none', { payload: { username: 'nobody' } }],
    ['a role that is none', { payload: { role: 'root' } }],
    ['a super-admin’s role', { payload: { role: 'super_admin' } }],
  ])('with %s is refused', async (_, forgery) => {
    await expect(adminTokens.authenticate(await forge(forgery))).rejects.toMatchObject({
      code: 'UNAUTHENTICATED',
    });
  });

  it('of HMAC with the public key as secret is refused', async () => {
    const secret = createPublicKey(privateKey).export({ format: 'pem', type: 'spki' });
    const token = await new SignJWT({ role: 'admin' })
      .setProtectedHeader({ alg: 'HS256', typ: 'admin+jwt', kid })
      .setExpirationTime('1h')
      .sign(Buffer.from(secret));
    await expect(adminTokens.authenticate(token)).rejects.toMatchObject({
      code: 'UNAUTHENTICATED',
    });
  });

  it('ends with a changed password', async () => {
    const token = (await login('admin', ADMIN_PASSWORD)).json().access_token;
    await controlPlane.tenants.ensureDefaultTenant(new Secret(ADMIN_PASSWORD));
    await controlPlane.adminTokens.authenticate(token);
    await controlPlane.tenants.ensureDefaultTenant(new Secret('a new password'));
    await expect(controlPlane.adminTokens.authenticate(token)).rejects.toMatchObject({
      code: 'UNAUTHENTICATED',
    });
    expect((await login('admin', ADMIN_PASSWORD)).statusCode).toBe(401);
    expect((await login('admin', 'a new password')).statusCode).toBe(200);
    await controlPlane.tenants.ensureDefaultTenant(new Secret(ADMIN_PASSWORD));
  });
});

describe('POST /api/v1/auth/token', () => {
  const roles = [
    { name: 'reader', permissions: ['files:read'] },
    { name: 'writer', permissions: ['files:write', 'files:read'] },
  ];

  it('gives an agent a token that verifies against the published keys', async () => {
    const agent = await anAgent(test, scope, { riskTier: 'medium', roles });
    const answer = await tokenFor(agent);
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['cache-control']).toBe('no-store');
    const body = answer.json();
    expect(body).toEqual({
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: 900,
      agent_id: agent.id,
      risk_tier: 'medium',
    });
    const keys = createLocalJWKSet((await call('/.well-known/jwks.json')).json());
    const { payload } = await jwtVerify(body.access_token, keys, {
      typ: 'agent+jwt',
      algorithms: ['RS256'],
      issuer: 'https://governance.example',
      audience: 'https://governance.example/mcp/v1',
      currentDate: new Date(time),
    });
    expect(AgentTokenClaims.parse(payload)).toMatchObject({
      sub: agent.id,
      tenant_id: scope.tenantId,
      roles: ['reader', 'writer'],
      permissions: ['files:read', 'files:write'],
      risk_tier: 'medium',
      credential_version: 1,
      exp: Math.floor(time / 1000) + 900,
    });
  });

  it('is described to OAuth clients', async () => {
    const answer = await call('/.well-known/oauth-authorization-server');
    expect(answer.json()).toMatchObject({
      issuer: 'https://governance.example',
      token_endpoint: `https://governance.example${TOKEN}`,
      jwks_uri: 'https://governance.example/.well-known/jwks.json',
      grant_types_supported: ['client_credentials'],
      protected_resources: ['https://governance.example/mcp/v1'],
    });
  });

  it('publishes no private half', async () => {
    const { keys } = (await call('/.well-known/jwks.json')).json();
    expect(keys).toHaveLength(1);
    expect(Object.keys(keys[0]).sort()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use']);
  });

  it('takes a form with HTTP Basic, as OAuth clients send it', async () => {
    const agent = await anAgent(test, scope);
    const basic = (secret: string) =>
      `Basic ${Buffer.from(`${agent.clientId}:${encodeURIComponent(secret)}`).toString('base64')}`;
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const ask = (authorization: string | undefined, body: string) =>
      call(TOKEN, { body, headers: { ...form, ...(authorization ? { authorization } : {}) } });

    const answer = await ask(basic(agent.clientSecret), 'grant_type=client_credentials');
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['www-authenticate']).toBeUndefined();

    const wrong = await ask(basic('wrong'), 'grant_type=client_credentials');
    expect(wrong.statusCode).toBe(401);
    expect(wrong.headers['www-authenticate']).toMatch(/^Basic /);

    const inForm = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: agent.clientId,
      client_secret: agent.clientSecret,
    });
    expect((await ask(undefined, inForm.toString())).statusCode).toBe(200);
    for (const header of ['Basic', 'Basic !!!', 'Basic YQ==', 'Basic OmI=', 'Basic YTolMDA=']) {
      expect((await ask(header, 'grant_type=client_credentials')).statusCode, header).toBe(401);
    }
  });

  it('narrows the audience to one server of the gateway, and to nothing else', async () => {
    const agent = await anAgent(test, scope);
    const gateway = 'https://governance.example/mcp/v1';
    const narrowed = await tokenFor(agent, { resource: `${gateway}/files` });
    expect(decodeJwt(narrowed.json().access_token).aud).toBe(`${gateway}/files`);
    for (const resource of ['https://evil.example', `${gateway}x`, `${gateway}/a/b`]) {
      const answer = await tokenFor(agent, { resource });
      expect(answer.statusCode, resource).toBe(400);
      expect(Object.keys(answer.json()), resource).toEqual(['detail']);
    }
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const body = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: agent.clientId,
      client_secret: agent.clientSecret,
      resource: 'https://evil.example',
    });
    const answer = await call(TOKEN, { body: body.toString(), headers: form });
    expect(answer.json()).toMatchObject({ detail: expect.any(String), error: 'invalid_target' });
  });

  it('carries the feed entry that the agent’s change got', async () => {
    const agent = await anAgent(test, scope);
    const { feedSeq } = await test.db.inTenantWithHeads(scope, async (tx) =>
      tx.feed.append({ kind: 'agent', key: agent.id, value: null }),
    );
    expect(decodeJwt((await tokenFor(agent)).json().access_token).feed_seq).toBe(feedSeq);
  });

  it.each(['suspended', 'deprovisioned'])('answers 403 to an agent that is %s', async (status) => {
    const agent = await anAgent(test, scope, { status });
    const answer = await tokenFor(agent);
    expect(answer.statusCode).toBe(403);
    expect(answer.json()).toEqual({ detail: 'The agent is suspended or deprovisioned.' });
    const wrong = await tokenFor({ ...agent, clientSecret: 'wrong' });
    expect(wrong.statusCode).toBe(401);
  });

  it('answers 403 under the kill switch, but for an agent released from it', async () => {
    const caught = await aTenantAdmin();
    const agent = await anAgent(test, caught.scope);
    await test.superuser.query(
      `UPDATE kill_switches SET engaged = true, generation = 1, scopes = '{tenant}' WHERE tenant_id = $1`,
      [caught.scope.tenantId],
    );
    expect((await tokenFor(agent)).statusCode).toBe(403);
    await test.superuser.query('UPDATE agents SET kill_released_generation = 1 WHERE id = $1', [
      agent.id,
    ]);
    expect((await tokenFor(agent)).statusCode).toBe(200);
  });

  it('answers the same to a wrong secret and to an unknown client', async () => {
    const agent = await anAgent(test, scope);
    for (const wrong of [
      { ...agent, clientSecret: 'wrong' },
      { ...agent, clientId: 'nobody' },
    ]) {
      const answer = await tokenFor(wrong);
      expect(answer.statusCode).toBe(401);
      expect(answer.json()).toEqual({ detail: 'The credentials are wrong.' });
    }
  });

  it('limits wrong secrets by address, and never the right one', async () => {
    const agent = await anAgent(test, scope);
    const statuses = [];
    for (let i = 0; i < 70; i++) {
      const wrong =
        i % 2 === 0 ? { ...agent, clientSecret: 'wrong' } : { ...agent, clientId: 'no' };
      statuses.push((await tokenFor(wrong)).statusCode);
    }
    expect(statuses.slice(0, 60).every((status) => status === 401)).toBe(true);
    expect(statuses.slice(60).every((status) => status === 429)).toBe(true);
    expect((await tokenFor(agent)).statusCode).toBe(200);
    const elsewhere = { remoteAddress: '203.0.113.1' };
    const wrongElsewhere = await tokenFor({ ...agent, clientSecret: 'wrong' }, {}, elsewhere);
    expect(wrongElsewhere.statusCode).toBe(401);
  });

  it('makes few queries for many unknown clients', async () => {
    const agent = await anAgent(test, scope);
    let borrowed = 0;
    const count = () => void borrowed++;
    test.connections.pool.on('acquire', count);
    const sent = Array.from({ length: 300 }, (_, i) =>
      tokenFor({ clientId: i % 2 ? `nobody-${i}` : agent.clientId, clientSecret: 'wrong' }),
    );
    await Promise.all(sent);
    test.connections.pool.off('acquire', count);
    expect(borrowed).toBeGreaterThan(0);
    expect(borrowed).toBeLessThan(100);
  });

  it.each([
    [{}, 422],
    [{ grant_type: 'password', client_id: 'a', client_secret: 'b' }, 400],
    [{ grant_type: 'client_credentials' }, 422],
    [{ grant_type: 'client_credentials', client_id: 'a' }, 422],
    [{ grant_type: 'client_credentials', client_id: 'a\u0000', client_secret: 'b' }, 422],
    [{ grant_type: 'client_credentials', client_id: 1, client_secret: 'b' }, 422],
  ])('answers %j with %i', async (body, status) => {
    const answer = await call(TOKEN, { body });
    expect(answer.statusCode).toBe(status);
    expect(answer.json()).toMatchObject({ detail: expect.any(String) });
  });
});
