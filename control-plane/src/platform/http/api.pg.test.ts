/** What every route answers to input that nobody should send. */
import { request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { testControlPlane } from '../../../../tests/support/test-control-plane.ts';

const { app, aTenantAdmin, call, controlPlane, logged, superAdminToken, test } =
  await testControlPlane({
    env: {
      SERVICE_METRICS_TOKEN: 'metrics-token',
      SERVICE_CORS_ORIGINS_STR: 'https://console.example',
    },
  });
const token = await superAdminToken();
const json = { 'content-type': 'application/json' };
const post = (payload: string | Buffer, headers: Record<string, string> = json) =>
  call('/api/v1/tenants', { method: 'POST', token, body: payload, headers });

describe('bodies', () => {
  it.each([
    ['malformed JSON', '{"name": ', 400],
    ['two values', '{} {}', 400],
    ['a key twice', '{"name":"a","name":"b"}', 400],
    ['__proto__', '{"__proto__":{"a":1}}', 400],
    ['a number no double holds', '{"name":12345678901234567890}', 400],
    ['a lone surrogate', '{"name":"\\ud800"}', 400],
    ['deep nesting', '['.repeat(200_000), 400],
    ['depth 33', '['.repeat(33) + ']'.repeat(33), 400],
    ['a NUL', '{"name":"\\u0000","admin":{"username":"u","password":"long enough"}}', 422],
    ['an array', '[]', 422],
    ['null', 'null', 422],
    ['nothing', '', 422],
    ['too much', JSON.stringify({ name: 'x'.repeat(2_000_000) }), 413],
  ])('refuses %s', async (_, payload, status) => {
    const answer = await post(payload);
    expect(answer.statusCode).toBe(status);
    expect(answer.json()).toMatchObject({ detail: expect.any(String) });
  });

  it('refuses bytes that are not UTF-8', async () => {
    expect((await post(Buffer.from([0x22, 0xff, 0x22]))).statusCode).toBe(400);
  });

  it('refuses another content type', async () => {
    const answer = await post('name=x', { 'content-type': 'text/plain' });
    expect(answer.statusCode).toBe(415);
    const form = await post('name=x', { 'content-type': 'application/x-www-form-urlencoded' });
    expect(form.statusCode).toBe(415);
  });

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/json',
  ])('takes no body for none, as %s too', async (type) => {
    const headers = { 'content-type': type, 'content-length': '0' };
    const path = `/api/v1/agents/${crypto.randomUUID()}/rotate`;
    const { token } = await aTenantAdmin();
    const answer = await call(path, { method: 'POST', token, headers });
    expect(answer.statusCode, answer.body).toBe(404);
    expect((await post('', headers)).statusCode).toBe(422);
  });

  it('refuses a body that claims to be compressed', async () => {
    const type = { 'content-type': 'application/json' };
    const answer = await post('{"name":"x"}', { ...type, 'content-encoding': 'gzip' });
    expect([answer.statusCode, answer.json().detail]).toEqual([
      415,
      'The body must not be compressed: leave out Content-Encoding.',
    ]);
    const plain = await post('{}', { ...type, 'content-encoding': 'identity' });
    expect(plain.statusCode).toBe(422);
  });

  it.each([
    '/api/v1/tenants',
    '/api/v1/auth/admin/login',
    '/api/v1/auth/token',
  ])('refuses a charset that it does not read: %s', async (path) => {
    const answer = await call(path, {
      ...{ method: 'POST', token, body: Buffer.from('{"name":"x"}', 'utf16le') },
      headers: { 'content-type': 'application/json; charset=utf-16' },
    });
    expect([answer.statusCode, answer.json().detail]).toEqual([415, 'The body must be in UTF-8.']);
  });

  it.each(['utf-8', '"UTF-8"', 'us-ascii'])('reads the charset %s', async (charset) => {
    const type = { 'content-type': `application/json; charset=${charset}` };
    expect((await post('{"name":"x"}', type)).statusCode).toBe(422);
  });

  it('answers any JSON at all with 4xx and a detail', async () => {
    await fc.assert(
      fc.asyncProperty(fc.json(), async (text) => {
        const answer = await post(text);
        expect(answer.statusCode).toBeGreaterThanOrEqual(400);
        expect(answer.statusCode).toBeLessThan(500);
        expect(answer.json().detail).toEqual(expect.any(String));
      }),
      { numRuns: 200 },
    );
  });
});

describe('queries and paths', () => {
  it.each([
    'limit=x',
    'limit=0',
    'limit=1001',
    'offset=-1',
    'limit=1.5',
    'limit=1&limit=2',
  ])('names the wrong field of ?%s', async (query) => {
    const answer = await call(`/api/v1/tenants?${query}`, { token });
    expect(answer.statusCode).toBe(422);
    expect(answer.json().detail).toContain(`query.${query.split('=')[0]}`);
  });

  it.each([
    '/api/v1/nothing',
    '/api/v1//agents',
    '/api/v1/tenants/',
    '/HEALTH',
  ])('knows no %s', async (url) => {
    const answer = await call(url, { token });
    expect(answer.statusCode).toBe(404);
    expect(answer.json()).toEqual({ detail: 'Nothing is there.' });
  });

  it('survives a path that is no text', async () => {
    expect((await call('/api/%ff', { token })).statusCode).toBe(400);
  });
});

describe('unexpected errors', () => {
  it('give the request id and nothing else, and are logged', async () => {
    await test.superuser.query('ALTER TABLE tenants RENAME TO tenants_away');
    const answer = await call('/api/v1/tenants', { token });
    await test.superuser.query('ALTER TABLE tenants_away RENAME TO tenants');
    expect(answer.statusCode).toBe(500);
    const id = answer.headers['x-request-id'];
    expect(answer.json()).toEqual({
      detail: `Something went wrong on our side. Request id: ${id}`,
    });
    expect(logged.join()).toContain('unexpected error');
  });
});

describe('the system’s routes', () => {
  it('/health names status, service and version', async () => {
    const answer = await call('/health');
    expect(answer.json()).toEqual({
      status: 'ok',
      service: 'agent-governance',
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    });
    expect(answer.headers).toMatchObject({ 'x-content-type-options': 'nosniff' });
  });

  it('/ready tells whether the database is there', async () => {
    expect((await call('/ready')).json()).toMatchObject({
      status: 'ready',
      checks: { database: 'ok' },
    });
    const { pool } = test.connections;
    const query = pool.query;
    pool.query = (() => Promise.reject(new Error('away'))) as unknown as typeof query;
    const answer = await call('/ready');
    pool.query = query;
    expect(answer.statusCode).toBe(503);
    expect(answer.json()).toMatchObject({ status: 'not_ready', checks: { database: 'failed' } });
  });

  it('/ready fails on a database that takes no writes, as a standby takes none', async () => {
    const { pool } = test.connections;
    const client = await pool.connect();
    const query = pool.query;
    await client.query('SET default_transaction_read_only = on');
    pool.query = client.query.bind(client) as unknown as typeof query;
    const answer = await call('/ready');
    pool.query = query;
    await client.query('RESET default_transaction_read_only');
    client.release();
    expect(answer.statusCode).toBe(503);
    expect(answer.json()).toMatchObject({ checks: { database: 'failed' } });
  });

  it('/metrics asks for its token where one is set', async () => {
    expect((await call('/metrics')).statusCode).toBe(401);
    expect((await call('/metrics', { token: 'wrong' })).statusCode).toBe(401);
    expect((await call('/metrics', { token })).statusCode).toBe(401);
    const answer = await call('/metrics', { token: 'metrics-token' });
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['content-type']).toContain('text/plain; version=0.0.4');
    expect(answer.body).toContain('\nprocess_cpu_user_seconds_total ');
  });

  it('allows the origins of the setting and no other', async () => {
    const ask = (origin: string) => call('/health', { headers: { origin } });
    const allowed = (await ask('https://console.example')).headers;
    expect(allowed['access-control-allow-origin']).toBe('https://console.example');
    const other = (await ask('https://evil.example')).headers;
    expect(other['access-control-allow-origin']).toBeUndefined();
  });
});

describe('/docs', () => {
  it('asks for nothing over https, which a browser elsewhere could not get', async () => {
    const { headers, statusCode } = await call('/docs/');
    expect(statusCode).toBe(200);
    const policy = String(headers['content-security-policy']);
    expect(policy).toMatch(/script-src 'self'/);
    expect(policy).not.toContain('upgrade-insecure-requests');
  });

  it('describes every route from its schemas, with who may call it', async () => {
    const { paths, components } = (await call('/docs/json')).json();
    const operations = controlPlane.routes.filter(({ url }) => !url.startsWith('/docs'));
    for (const { url, method, guard } of operations) {
      const operation = paths[url.replace(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()];
      expect(operation, `${method} ${url}`).toBeDefined();
      expect(operation.summary, `${method} ${url}`).toEqual(expect.any(String));
      const isOpen = guard === 'public' ? 0 : 1;
      expect(operation.security.length, `${method} ${url}`).toBe(guard === 'metrics' ? 2 : isOpen);
      expect(operation.responses['500']).toBeDefined();
    }
    const ids = Object.values(paths as Record<string, Record<string, { operationId: string }>>)
      .flatMap((path) => Object.values(path))
      .map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^[a-z]+[A-Z][A-Za-z0-9]+$/);
    expect(ids).toEqual(expect.arrayContaining(['getAgentsById', 'postAuthToken', 'getRoot']));
    expect(Object.keys(components.securitySchemes)).toEqual([
      'adminToken',
      'superAdminToken',
      'dataPlaneToken',
      'metricsToken',
    ]);
    expect((await call('/docs/')).headers['content-type']).toContain('text/html');
  });
});

describe('over a socket', () => {
  afterAll(() => app.close());

  it('a request without a token is refused before its body is read', async () => {
    await app.listen({ port: 0, host: '127.0.0.1' });
    const { port } = app.server.address() as AddressInfo;
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const sent = httpRequest(
        {
          port,
          method: 'POST',
          path: '/api/v1/tenants',
          headers: { ...json, 'content-length': 1000 },
        },
        (answer) => {
          sent.destroy();
          resolve(answer.statusCode);
        },
      );
      sent.on('error', reject);
      // Only the first byte of the thousand that were announced.
      sent.write('{');
    });
    expect(status).toBe(401);
  });
});
