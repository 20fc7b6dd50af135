/** The data plane's own token route against the verifier of its gateway. */
import { generateKeyPairSync, hash } from 'node:crypto';
import { createHttpServer } from '@governance/shared/http/http-server';
import { uuidv7 } from '@governance/shared/ids';
import { AGENT_TOKEN_MAX_SECONDS, gatewayAudience } from '@governance/shared/tokens/agent-token';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { Counter, Registry } from 'prom-client';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { PlaneDenial, ReplicaAgent } from '../contracts.ts';
import { createAgentTokenVerifier, type VerifiedToken } from '../enforcement/tokens/agent-token.ts';
import { ownViews } from '../workers/worker-views.ts';
import { localRoutes } from './local-routes.ts';
import { asTokenKeys, createLocalTokens, type OwnTokenKey, ownTokenKey } from './token-issuer.ts';

const PUBLIC_URL = 'https://dp.example';
const TENANT = uuidv7();
const agent: ReplicaAgent = {
  id: uuidv7(),
  name: 'agent',
  agent_type: 'test',
  owner: 'tests',
  status: 'active',
  risk_score: 5,
  risk_tier: 'low',
  client_id: 'client',
  secret_hash: hash('sha256', 'se:cret', 'hex'),
  credential_version: 3,
  kill_released_generation: 0,
  role_ids: [],
  role_names: ['reader'],
  permissions: ['*:read'],
  permits: [{ permissions: ['*:read'], scopes: null }],
};
let app: FastifyInstance;
let key: OwnTokenKey;
let found: ReplicaAgent;
let denial: PlaneDenial | null;
let problems: Record<string, string> = {};

beforeAll(async () => {
  key = await ownTokenKey(generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey);
  const tokens = createLocalTokens({
    key,
    publicUrl: PUBLIC_URL,
    replica: {
      findClient: (id) =>
        id === 'client'
          ? {
              ...{ tenantId: TENANT, agent: found, secretHash: found.secret_hash },
              proof: { credentialId: null, version: found.credential_version },
            }
          : undefined,
      findKillSwitch: () => undefined,
      cursor: () => 42,
    },
    findDenial: () => denial,
  });
  app = createHttpServer({ log: pino({ level: 'silent' }), corsOrigins: [] });
  await app.register(
    localRoutes({
      publicUrl: PUBLIC_URL,
      version: '0.1.0',
      tokens,
      tokenKey: key,
      metricsToken: 'metrics-token',
      isProduction: false,
      views: ownViews({
        registries: [new Registry()],
        health: () => ({ status: 'ok' }),
        findUnready: async () => problems,
      }),
    }),
  );
});
beforeEach(() => {
  found = agent;
  denial = null;
});
afterAll(() => app.close());

const ask = (body: Record<string, unknown> | string, headers: Record<string, string> = {}) =>
  app.inject({
    method: 'POST',
    url: '/api/v1/auth/token',
    headers: { 'content-type': 'application/json', ...headers },
    payload: body,
  });
const CREDENTIALS = {
  grant_type: 'client_credentials',
  client_id: 'client',
  client_secret: 'se:cret',
};
const verifier = () =>
  createAgentTokenVerifier({
    findTokenKeys: () => undefined,
    ownKeys: asTokenKeys(key, PUBLIC_URL),
    now: Date.now,
    cacheSize: 10,
  });

it.each([
  ['/', 'GET, HEAD, OPTIONS'],
  ['/health', 'GET, HEAD, OPTIONS'],
  ['/ready', 'GET, HEAD, OPTIONS'],
  ['/metrics', 'GET, OPTIONS'],
  ['/api/v1/auth/token', 'OPTIONS, POST'],
  ['/.well-known/jwks.json', 'GET, OPTIONS'],
])('%s has %s and no other method', async (url, allow) => {
  for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE'] as const) {
    if (allow.includes(method)) continue;
    const answer = await app.inject({ method: method as 'GET', url });
    expect(answer.statusCode, method).toBe(405);
    expect(answer.headers.allow).toBe(allow);
  }
  const asked = await app.inject({ method: 'OPTIONS', url });
  expect(asked.statusCode).toBe(204);
  expect(asked.headers.allow).toBe(allow);
  if (!allow.includes('HEAD')) return;
  const head = await app.inject({ method: 'HEAD', url });
  expect(head.statusCode).toBe(200);
  expect(head.body).toBe('');
});

describe('POST /api/v1/auth/token at a data plane', () => {
  it.each([
    'application/json',
    'application/x-www-form-urlencoded',
  ])('refuses %s in another charset than it reads', async (type) => {
    const answer = await ask('{}', { 'content-type': `${type}; charset=utf-16` });
    expect([answer.statusCode, answer.json().detail]).toEqual([415, 'The body must be in UTF-8.']);
  });

  it('takes a form of a client that says Latin-1 of every form', async () => {
    const form = new URLSearchParams(CREDENTIALS).toString();
    const type = 'application/x-www-form-urlencoded; charset=ISO-8859-1';
    expect((await ask(form, { 'content-type': type })).statusCode).toBe(200);
    const other = await ask(`${form}%E9`, { 'content-type': type });
    expect(other.statusCode).toBe(401);
  });

  it('issues what its own gateway verifies', async () => {
    const answer = await ask(CREDENTIALS);
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.json()).toEqual({
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: AGENT_TOKEN_MAX_SECONDS,
      agent_id: agent.id,
      risk_tier: 'low',
    });
    const token = answer.json().access_token as string;
    expect(verifier().verify(token, 'hash')).toMatchObject({
      tenantId: TENANT,
      agentId: agent.id,
      proof: { credentialId: null, version: 3 },
      feedSeq: 42,
      issuersAudience: gatewayAudience(PUBLIC_URL),
      audiences: [gatewayAudience(PUBLIC_URL)],
    } satisfies Partial<VerifiedToken>);
    const jwks = await app.inject('/.well-known/jwks.json');
    expect(jwks.json().keys).toEqual([key.publicJwk]);
    expect(jwks.body).not.toContain('"d"');
  });

  it('takes a form with HTTP Basic, and only a resource of its own gateway', async () => {
    const basic = { authorization: `Basic ${Buffer.from('client:se%3Acret').toString('base64')}` };
    const form = { ...basic, 'content-type': 'application/x-www-form-urlencoded' };
    expect((await ask('grant_type=client_credentials', form)).statusCode).toBe(200);
    const resource = `${gatewayAudience(PUBLIC_URL)}/files`;
    expect((await ask({ ...CREDENTIALS, resource })).statusCode).toBe(200);
    const foreign = await ask({ ...CREDENTIALS, resource: 'https://other.example/mcp/v1' });
    expect(foreign.statusCode).toBe(400);
    expect(Object.keys(foreign.json())).toEqual(['detail']);
    const inForm = 'grant_type=client_credentials&resource=https%3A%2F%2Fother.example%2Fmcp%2Fv1';
    expect((await ask(inForm, form)).json()).toEqual({
      detail: foreign.json().detail,
      error: 'invalid_target',
      error_description: foreign.json().detail,
    });
  });

  it.each<[string, Record<string, string>, number, string]>([
    ['another grant', { grant_type: 'password' }, 400, 'unsupported_grant_type'],
    ['a wrong secret', { client_secret: 'wrong' }, 401, 'invalid_client'],
    ['no client', { client_id: '' }, 422, 'invalid_request'],
    ['a text that cannot be one', { client_id: 'a\u0000"' }, 422, 'invalid_request'],
  ])('answers a form with %s in the words of OAuth', async (_, over, status, error) => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const answer = await ask(new URLSearchParams({ ...CREDENTIALS, ...over }).toString(), form);
    expect(answer.statusCode).toBe(status);
    expect(answer.json()).toMatchObject({ detail: expect.any(String), error });
    expect(answer.json().error_description).toMatch(/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/);
  });

  it('reports a suspended agent as OAuth does', async () => {
    found = { ...agent, status: 'suspended' };
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const answer = await ask(new URLSearchParams(CREDENTIALS).toString(), form);
    expect([answer.statusCode, answer.json().error]).toEqual([403, 'unauthorized_client']);
  });

  it('is described to OAuth clients', async () => {
    const answer = await app.inject('/.well-known/oauth-authorization-server');
    expect(answer.json()).toEqual({
      issuer: PUBLIC_URL,
      authorization_endpoint: `${PUBLIC_URL}/api/v1/auth/token`,
      token_endpoint: `${PUBLIC_URL}/api/v1/auth/token`,
      jwks_uri: `${PUBLIC_URL}/.well-known/jwks.json`,
      grant_types_supported: ['client_credentials'],
      response_types_supported: [],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
      code_challenge_methods_supported: ['S256'],
      protected_resources: [gatewayAudience(PUBLIC_URL)],
    });
  });

  it('refuses as the control plane does', async () => {
    const wrong = await ask({ ...CREDENTIALS, client_secret: 'wrong' });
    expect(wrong.statusCode).toBe(401);
    expect(wrong.json()).toEqual({ detail: 'The credentials are wrong.' });
    const unknown = await ask({ ...CREDENTIALS, client_id: 'nobody' });
    expect([unknown.statusCode, unknown.body]).toEqual([401, wrong.body]);
    found = { ...agent, status: 'suspended' };
    expect((await ask(CREDENTIALS)).statusCode).toBe(403);
    found = agent;
    denial = { reason: 'local_kill_switch', message: '' };
    expect((await ask(CREDENTIALS)).statusCode).toBe(403);
    denial = null;
    expect((await ask({ ...CREDENTIALS, grant_type: 'password' })).statusCode).toBe(400);
    const missing = await ask({ grant_type: 'client_credentials' });
    expect(missing.statusCode).toBe(422);
    expect(missing.json().errors).toHaveLength(2);
    expect((await ask('{"a":1,"a":2}')).statusCode).toBe(400);
  });

  it.each([
    'tenant_revoked',
    'stream_forked',
  ] as const)('vouches for nobody where this data plane was ended: %s', async (reason) => {
    denial = { reason, message: 'because of the test' };
    const answer = await ask(CREDENTIALS);
    expect(answer.statusCode).toBe(403);
    expect(answer.json()).toMatchObject({ detail: 'because of the test' });
    expect((await ask({ ...CREDENTIALS, client_secret: 'wrong' })).statusCode).toBe(401);
  });

  it.each([
    'offline_max_age',
    'fact_unknown',
    'facts_not_stored',
  ] as const)('says who an agent is where this data plane may let nobody act: %s', async (reason) => {
    // The credentials are valid, and the client must keep them: its calls explain what is wrong.
    denial = { reason, message: 'because of the test' };
    expect((await ask(CREDENTIALS)).statusCode).toBe(200);
    expect((await ask({ ...CREDENTIALS, client_secret: 'wrong' })).statusCode).toBe(401);
  });

  it('limits wrong secrets by address, and never the right one', async () => {
    const statuses = [];
    for (let i = 0; i < 70; i++) {
      const client = i % 2 === 0 ? { client_id: 'many' } : {};
      statuses.push((await ask({ ...CREDENTIALS, ...client, client_secret: 'x' })).statusCode);
    }
    expect(statuses.slice(-10).every((status) => status === 429)).toBe(true);
    expect((await ask(CREDENTIALS)).statusCode).toBe(200);
  });
});

it('asks for the metrics token, and says what is missing', async () => {
  expect((await app.inject('/metrics')).statusCode).toBe(401);
  const headers = { authorization: 'Bearer metrics-token' };
  expect((await app.inject({ url: '/metrics', headers })).statusCode).toBe(200);
  expect((await app.inject('/ready')).statusCode).toBe(200);
  problems = { ledger: 'full' };
  expect((await app.inject('/ready')).statusCode).toBe(503);
  expect((await app.inject('/health')).statusCode).toBe(200);
});

describe('/metrics', () => {
  const metricsOf = async (given: { metricsToken: string | undefined; isProduction: boolean }) => {
    const registry = new Registry();
    const counter = new Counter({
      name: 'things_total',
      help: 'Things.',
      labelNames: ['tenant_id', 'kind'],
      registers: [registry],
    });
    counter.inc({ tenant_id: TENANT, kind: 'a' }, 2);
    counter.inc({ tenant_id: uuidv7(), kind: 'a' }, 3);
    const one = createHttpServer({ log: pino({ level: 'silent' }), corsOrigins: [] });
    const views = ownViews({
      registries: [registry],
      health: () => ({ status: 'ok' }),
      findUnready: async () => ({}),
    });
    const tokens = { issue: () => Promise.reject(new Error('not asked')) };
    const deps = { publicUrl: PUBLIC_URL, version: 'test', tokens, tokenKey: key, views };
    await one.register(localRoutes({ ...deps, ...given }));
    return (headers: Record<string, string> = {}) => one.inject({ url: '/metrics', headers });
  };

  it('names tenants only to a caller with the token', async () => {
    const ask = await metricsOf({ metricsToken: 'metrics-token', isProduction: true });
    expect((await ask()).statusCode).toBe(401);
    const { body } = await ask({ authorization: 'Bearer metrics-token' });
    expect(body).toContain(`things_total{tenant_id="${TENANT}",kind="a"} 2`);
  });

  it('adds tenants up where no token is set, in development', async () => {
    const ask = await metricsOf({ metricsToken: undefined, isProduction: false });
    const { body } = await ask({ authorization: 'Bearer undefined' });
    expect(body).toContain('things_total{kind="a"} 5');
    expect(body).not.toContain('tenant_id');
  });

  it('is closed in production until a token is set', async () => {
    const ask = await metricsOf({ metricsToken: undefined, isProduction: true });
    const answer = await ask();
    expect([answer.statusCode, answer.json().detail]).toEqual([
      403,
      expect.stringContaining('SERVICE_METRICS_TOKEN'),
    ]);
  });
});
