import { connect, type Socket } from 'node:net';
import { createLog } from '@governance/shared/process/log';
import type { FastifyInstance } from 'fastify';
import { afterEach, expect, it } from 'vitest';
import { aPacked } from '../testing/package-builder.ts';
import { aStory } from '../testing/test-stories.ts';
import type { UploadLimits } from './uploads.ts';
import { createVerifierApp } from './verifier-app.ts';

const silent = createLog({ debug: false }, { write: () => {} });
const good = aPacked(aStory().tenant, { anchorSizes: [3] });

let app: FastifyInstance | undefined;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await app?.close();
});

async function start(uploads: Partial<UploadLimits> = {}): Promise<string> {
  app = createVerifierApp({ log: silent, published: null, issuers: [], concurrency: 1, uploads });
  return app.listen({ port: 0, host: '0.0.0.0' });
}

/** From 127.0.0.1. */
function send(address: string): Promise<Response> {
  const form = new FormData();
  form.append('package', new Blob([new Uint8Array(good)]));
  return fetch(`${address}/api/v1/verify`, { method: 'POST', body: form });
}

/** An upload that never ends. `answer` is what was received once the server has closed it. */
function begin(address: string, from: string, sent: string | Buffer = '-') {
  const socket = connect({
    host: '127.0.0.1',
    port: Number(new URL(address).port),
    localAddress: from,
  });
  sockets.push(socket);
  let received = '';
  const answer = new Promise<string>((resolve) => {
    socket.on('data', (bytes) => {
      received += bytes.toString();
    });
    socket.on('error', () => {}).on('close', () => resolve(received));
  });
  socket.write(
    'POST /api/v1/verify HTTP/1.1\r\nhost: a\r\ncontent-length: 1000000\r\n' +
      'content-type: multipart/form-data; boundary=b\r\n\r\n',
  );
  socket.write(sent);
  return { socket, answer };
}

/** Those whose body has begun. */
async function arrived(count: number): Promise<void> {
  const open = () =>
    new Promise<number>((resolve) => app?.server.getConnections((_e, n) => resolve(n)));
  await expect.poll(open).toBe(count);
  // A health check behind them: their headers were read before it.
  await app?.inject('/api/v1/health');
}

it('keeps no verification waiting for slow uploads', async () => {
  const address = await start();
  for (let i = 0; i < 8; i++) begin(address, '127.0.0.2');
  await arrived(8);
  expect((await send(address)).status).toBe(200);
});

it('ends a body that arrives too slowly, also one that stalls after a burst', async () => {
  const address = await start({ windowMs: 100, bytesOfWindow: 10 });
  const slow = begin(address, '127.0.0.2');
  const stalled = begin(address, '127.0.0.2', Buffer.alloc(100_000));
  for (const { answer } of [slow, stalled]) {
    expect(await answer).toMatch(/^HTTP\/1\.1 408 [\s\S]*connection: close[\s\S]*too slowly/i);
  }
});

it('lets an address upload so much at a time, and others beside it', async () => {
  const address = await start({ numberOfAddress: 2 });
  const first = begin(address, '127.0.0.2');
  begin(address, '127.0.0.2');
  await arrived(2);
  const third = await begin(address, '127.0.0.2').answer;
  expect(third).toMatch(/^HTTP\/1\.1 503 [\s\S]*retry-after: 5/i);
  expect((await send(address)).status).toBe(200);
  // One that has gone counts no more.
  first.socket.destroy();
  await first.answer;
  const next = begin(address, '127.0.0.2');
  await expect.poll(() => Promise.race([next.answer, 'open'])).toBe('open');
});

it('holds so many bytes of an address, and of all', async () => {
  const address = await start({ bytesOfAddress: 150_000, bytes: 250_000 });
  const answers: Promise<string>[] = [];
  const hold = (from: string) => answers.push(begin(address, from, Buffer.alloc(100_000)).answer);
  /** Which of them leads over the limit is decided by what arrives last. */
  const oneRefused = async () => {
    const ended = await Promise.race(
      answers.map(async (answer, at) => ({ at, text: await answer })),
    );
    answers.splice(ended.at, 1);
    expect(ended.text).toMatch(/^HTTP\/1\.1 503 /);
  };
  hold('127.0.0.2');
  hold('127.0.0.2');
  await oneRefused();
  hold('127.0.0.3');
  hold('127.0.0.4');
  await oneRefused();
  expect((await send(address)).status).toBe(200);
});
