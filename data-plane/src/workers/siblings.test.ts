import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createNetServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createSiblings, type Siblings } from './siblings.ts';
import { socketPath } from './worker-place.ts';
import { createWorkerSessions } from './worker-sessions.ts';

let socketDir: string;
let siblings: Siblings;
let other: Server | undefined;

beforeEach(() => {
  socketDir = mkdtempSync(join(tmpdir(), 'sockets-'));
  siblings = createSiblings({ worker: 1, count: 2, socketDir });
});
afterEach(async () => {
  await siblings.close();
  other?.close();
  rmSync(socketDir, { recursive: true, force: true });
});

async function listen(server: Server): Promise<void> {
  other = server.listen(socketPath(socketDir, 2));
  await once(server, 'listening');
}

it('takes a worker for there when it answers, whatever it answers', async () => {
  expect(await siblings.isThere(2)).toBe(false);
  await listen(createServer((_request, response) => response.writeHead(404).end('{}')));
  expect(await siblings.isThere(2)).toBe(true);
});

it('waits five seconds for a worker that hangs, though the system makes connections to it', async () => {
  await listen(createNetServer());
  const at = performance.now();
  expect(await siblings.isThere(2)).toBe(false);
  expect(performance.now() - at).toBeLessThan(2_000);

  const { isThere, wayTo } = siblings;
  const sessions = createWorkerSessions({
    worker: 1,
    count: 2,
    wayTo,
    isThere,
    isPrivate: () => false,
    bodyBytes: 1_000,
  });
  // What passTo reads before the owner is there.
  const request = { headers: {}, raw: { destroyed: false } } as unknown as FastifyRequest;
  const from = performance.now();
  expect(await sessions.passTo(2, request, {} as FastifyReply)).toBe(false);
  expect(performance.now() - from).toBeGreaterThan(3_500);
  expect(performance.now() - from).toBeLessThan(7_500);
}, 20_000);
