import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { expect, it } from 'vitest';
import { createHttpServer } from './http-server.ts';
import { createLog } from './log.ts';

it('closes without waiting for a connection that never sent a request', async () => {
  const log = createLog({ debug: false }, { write: () => {} });
  const app = createHttpServer({ log, corsOrigins: [] });
  let answer = (_text: string): void => undefined;
  const isAsked = new Promise<void>((resolve) => {
    app.get('/slow', () => {
      resolve();
      return new Promise<string>((resolve) => {
        answer = resolve;
      });
    });
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  const silent = connect(port, '127.0.0.1');
  await once(silent, 'connect');
  const ended = once(silent, 'close');
  const slow = fetch(`http://127.0.0.1:${port}/slow`).then((response) => response.text());
  await isAsked;
  const closed = app.close();
  // It is cut while the other still waits: what ends all connections in the end would end both.
  await ended;
  answer('done');
  // What was under way still got its answer.
  expect(await slow).toBe('done');
  await closed;
});

it.each([
  [
    'headers that are too large',
    `GET / HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`,
    431,
  ],
  ['no HTTP at all', 'hello\r\n\r\n', 400],
  [
    'two lengths of one body',
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    400,
  ],
])('%s get an error of the usual shape', async (_what, text, status) => {
  const log = createLog({ debug: false }, { write: () => {} });
  const app = createHttpServer({ log, corsOrigins: [] });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  const socket = connect(port, '127.0.0.1');
  socket.end(text);
  let answer = '';
  for await (const chunk of socket) answer += chunk;
  expect(answer).toContain(`HTTP/1.1 ${status} `);
  expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toEqual({ detail: expect.any(String) });
  await app.close();
});
