import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { BodiesBusyError } from '@governance/shared/http/body-turns';
import { createHttpServer } from '@governance/shared/http/http-server';
import { createLog } from '@governance/shared/process/log';
import { expect, it } from 'vitest';
import { createErrorHandler } from './http-errors.ts';
import { GatewayError } from './json-rpc.ts';

it.each([
  ['undefined', undefined],
  ['null', null],
  ['a text', 'secret'],
  ['an error', new Error('secret')],
])('%s that a handler threw is an internal error and nothing else', async (_what, thrown) => {
  const told: unknown[] = [];
  const log = createLog({ debug: false }, { write: () => {} });
  const app = createHttpServer({ log, corsOrigins: [] });
  const onProtocolError = (...what: unknown[]) => void told.push(what);
  await app.register(async (gateway) => {
    gateway.setErrorHandler(createErrorHandler({ publicUrl: 'https://gateway', onProtocolError }));
    gateway.get('/throws', async () => {
      throw thrown;
    });
  });
  const answer = await app.inject({ method: 'GET', url: '/throws' });
  expect(answer.statusCode).toBe(500);
  expect(answer.json()).toMatchObject({ error: { message: 'Internal error' } });
  expect(answer.body).not.toContain('secret');
  expect(told).toHaveLength(1);
  await app.close();
});

it('a 503 says when to come back', async () => {
  const app = createHttpServer({
    log: createLog({ debug: false }, { write: () => {} }),
    corsOrigins: [],
  });
  await app.register(async (gateway) => {
    const onProtocolError = () => undefined;
    gateway.setErrorHandler(createErrorHandler({ publicUrl: 'https://gateway', onProtocolError }));
    gateway.get('/full', async () => {
      throw new GatewayError(503, 'Too many streams are open: try again later.');
    });
    gateway.get('/busy', async () => {
      throw new BodiesBusyError();
    });
  });
  for (const path of ['/full', '/busy']) {
    const { statusCode, headers } = await app.inject(path);
    expect([statusCode, headers['retry-after']]).toEqual([503, '2']);
  }
  await app.close();
});

it.each([
  ['no Host', ''],
  ['two', 'Host: a\r\nHost: b\r\n'],
])('a request with %s is malformed', async (_what, hosts) => {
  const app = createHttpServer({
    log: createLog({ debug: false }, { write: () => {} }),
    corsOrigins: [],
  });
  await app.register(async (gateway) => {
    const onProtocolError = () => undefined;
    gateway.setErrorHandler(createErrorHandler({ publicUrl: 'https://gateway', onProtocolError }));
    gateway.get('/some', async () => 'served');
  });
  const { port, hostname } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }));
  const socket = connect(Number(port), hostname);
  socket.write(`GET /some HTTP/1.1\r\n${hosts}Connection: close\r\n\r\n`);
  const answer = await text(socket);
  expect(answer).toContain('HTTP/1.1 400');
  expect(answer).toContain('"code":-32600,"message":"The request must have one Host header."');
  await app.close();
});
