import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLog } from '../process/log.ts';
import { createHttpServer } from './http-server.ts';

let app: FastifyInstance;

async function aServer(corsOrigins: string[]): Promise<FastifyInstance> {
  const log = createLog({ debug: false }, { write: () => {} });
  const server = createHttpServer({ log, corsOrigins });
  await server.register(async (scope) => {
    scope.get('/things', async () => 'all');
    scope.post('/things', async () => 'made');
    scope.get('/things/:id', { exposeHeadRoute: true }, async () => 'one');
    scope.post('/things/new', async () => 'made');
    scope.get('/files/*', async () => 'file');
    const members = (code: string, detail: string) => ({ error: { code, detail } });
    scope.get(
      '/forms/own/one',
      { config: { refusalForm: { folder: '/forms/own', members } } },
      () => 1,
    );
    scope.get('/forms/other', async () => 'other');
    // As @fastify/static does it.
    scope.get('/static/*', (_, reply) => void reply.callNotFound());
    scope.route({
      method: ['PUT', 'HEAD'],
      url: '/things',
      config: { refusesMethod: true },
      handler: async (_, reply) => reply.code(405).header('x-own', 'yes').send(),
    });
  });
  await server.ready();
  return server;
}

beforeAll(async () => {
  app = await aServer([]);
});
afterAll(() => app.close());

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'];

it('answers where a route finds that it has nothing', async () => {
  const answer = await app.inject('/static/nope.js');
  expect(answer.statusCode).toBe(404);
  expect(answer.json()).toEqual({ detail: expect.any(String) });
});

it.each([
  ['GET', '/forms/own/two', 404, 'NOT_FOUND'],
  ['GET', '/f%6frms/own', 404, 'NOT_FOUND'],
  ['PUT', '/forms/own/one', 405, 'METHOD_NOT_ALLOWED'],
  ['GET', '/forms/owner', 404, null],
  ['PUT', '/forms/other', 405, null],
] as const)('%s %s is refused in the form of its folder', async (method, url, status, code) => {
  const answer = await app.inject({ method, url });
  expect(answer.statusCode).toBe(status);
  const { detail } = answer.json();
  expect(detail).toEqual(expect.any(String));
  expect(answer.json()).toEqual({ detail, ...(code && { error: { code, detail } }) });
});

describe('a method that a path does not have', () => {
  it.each([
    ['/things', 'GET, OPTIONS, POST'],
    ['/things?limit=1', 'GET, OPTIONS, POST'],
    ['/%74hings', 'GET, OPTIONS, POST'],
    ['/things/1', 'GET, HEAD, OPTIONS'],
    ['/things/', 'GET, HEAD, OPTIONS'],
    ['/things/new', 'GET, HEAD, OPTIONS, POST'],
    ['/files/a/b', 'GET, OPTIONS'],
  ])('at %s is a 405 that allows %s', async (url, allow) => {
    const allowed = allow.split(', ');
    for (const method of METHODS.filter((one) => !allowed.includes(one))) {
      const answer = await app.inject({ method: method as 'GET', url });
      expect(answer.statusCode, method).toBe(405);
      if (answer.headers['x-own']) continue;
      expect(answer.headers.allow, method).toBe(allow);
      if (method !== 'HEAD') expect(answer.json()).toEqual({ detail: expect.any(String) });
    }
  });

  it('is refused before its body is read', async () => {
    for (const [type, payload] of [
      ['application/json', '{'],
      ['text/csv', 'a,b'],
      ['application/json', `"${'a'.repeat(2_000_000)}"`],
    ]) {
      const headers = { 'content-type': type };
      const answer = await app.inject({ method: 'PATCH', url: '/things', headers, payload });
      expect(answer.statusCode).toBe(405);
      const nowhere = await app.inject({ method: 'PATCH', url: '/no', headers, payload });
      expect(nowhere.statusCode).toBe(404);
    }
  });
});

it('OPTIONS says what a path has', async () => {
  const answer = await app.inject({ method: 'OPTIONS', url: '/things' });
  expect(answer.statusCode).toBe(204);
  expect(answer.headers.allow).toBe('GET, OPTIONS, POST');
  expect(answer.body).toBe('');
});

it.each(METHODS)('%s of an unknown path is a 404', async (method) => {
  for (const url of ['/', '/thing', '/things/1/2', '/files', '/%zz', '/%00']) {
    const answer = await app.inject({ method: method as 'GET', url });
    // One that cannot be decoded is malformed.
    expect(answer.statusCode, url).toBe(url === '/%zz' ? 400 : 404);
    expect(answer.headers.allow).toBeUndefined();
  }
});

it('browsers of allowed origins may read it, and their preflights are answered', async () => {
  const open = await aServer(['https://console.example']);
  const headers = { origin: 'https://console.example' };
  const refused = await open.inject({ method: 'DELETE', url: '/things', headers });
  expect(refused.statusCode).toBe(405);
  expect(refused.headers.allow).toBe('GET, OPTIONS, POST');
  expect(refused.headers['access-control-allow-origin']).toBe('https://console.example');
  const preflight = await open.inject({
    method: 'OPTIONS',
    url: '/things',
    headers: { ...headers, 'access-control-request-method': 'POST' },
  });
  expect(preflight.statusCode).toBe(204);
  expect(preflight.headers['access-control-allow-methods']).toContain('POST');
  for (const given of [{}, headers, { 'access-control-request-method': 'POST' }]) {
    const asked = await open.inject({ method: 'OPTIONS', url: '/things', headers: given });
    expect([asked.statusCode, asked.headers.allow]).toEqual([204, 'GET, OPTIONS, POST']);
    const nowhere = await open.inject({ method: 'OPTIONS', url: '/no', headers: given });
    expect([nowhere.statusCode, nowhere.json()]).toEqual([404, { detail: 'Nothing is there.' }]);
  }
  await open.close();
});
