import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { closeAfter } from './close-after.ts';

async function serve(ms: number, text: () => Iterable<string>) {
  let closedAt = 0;
  const server = createServer((_request, answer) => {
    answer.once('close', () => {
      closedAt = performance.now();
    });
    closeAfter(answer, ms);
    Readable.from(text()).pipe(answer);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const stop = async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  };
  return { port, stop, closedAt: () => closedAt };
}

function* endless() {
  for (;;) yield 'x'.repeat(64 * 1024);
}

it('closes an answer that is read slowly, however steadily', async () => {
  const { port, stop, closedAt } = await serve(500, endless);
  const began = performance.now();
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  let bytes = 0;
  for (let n = 0; n < 100 && closedAt() === 0; n++) {
    await wait(50);
    bytes += socket.read(1_000)?.length ?? 0;
  }
  expect(bytes).toBeGreaterThan(0);
  expect(closedAt() - began).toBeGreaterThan(450);
  expect(closedAt() - began).toBeLessThan(4_000);
  socket.destroy();
  await stop();
});

it('leaves an answer that was read in time alone', async () => {
  const { port, stop } = await serve(200, () => ['one', 'two']);
  expect(await (await fetch(`http://127.0.0.1:${port}`)).text()).toBe('onetwo');
  await wait(300);
  expect(await (await fetch(`http://127.0.0.1:${port}`)).text()).toBe('onetwo');
  await stop();
});

it('waits for no answer that was closed before', async () => {
  let added = -1;
  const server = createServer((request, answer) => {
    request.socket.destroy();
    answer.once('close', () => {
      const before = answer.listenerCount('close');
      closeAfter(answer, 60_000);
      added = answer.listenerCount('close') - before;
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await expect(fetch(`http://127.0.0.1:${port}`)).rejects.toThrow();
  await new Promise((done) => server.close(done));
  expect(added).toBe(0);
});
