import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createLog } from '../log.ts';
import { createHttpServer } from './http-server.ts';

it('closes without waiting for a connection that never sent a request', async () => {
  const log = createLog({ debug: false }, { write: () => {} });
  const app = createHttpServer({ log, corsOrigins: [] });
  app.get('/slow', async () => {
    await sleep(200);
    return 'done';
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  const silent = connect(port, '127.0.0.1');
  await once(silent, 'connect');
  const ended = once(silent, 'close');
  const slow = fetch(`http://127.0.0.1:${port}/slow`).then((response) => response.text());
  await sleep(50);
  const started = Date.now();
  await app.close();
  await ended;
  // What was under way still got its answer.
  expect(await slow).toBe('done');
  expect(Date.now() - started).toBeLessThan(5_000);
});
