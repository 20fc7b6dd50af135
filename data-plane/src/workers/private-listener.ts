/**
 * A worker's second listener: a Unix socket by which the other workers of the machine reach it.
 * It has the routes of the public one, and a request's way in is known by its connection alone:
 * no header can claim it. Folder 0700, socket 0600.
 */
import { chmodSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

export interface PrivateListener {
  /** Whether a request came in here. */
  isPrivate(request: IncomingMessage): boolean;
  /** Begins to listen. The folder's ledger is open: no other process has a claim to the socket. */
  listen(app: FastifyInstance, path: string): Promise<void>;
  /** Takes no more requests and waits for those under way, for `drainMs` at most. */
  close(drainMs: number): Promise<void>;
}

/** As long as the public listener's. */
const KEEP_ALIVE_MS = 72_000;

export function createPrivateListener(): PrivateListener {
  const sockets = new WeakSet<Socket>();
  let app: FastifyInstance | undefined;
  // The time that a body may take is the public listener's matter.
  const server = createServer(
    { requestTimeout: 0, keepAliveTimeout: KEEP_ALIVE_MS },
    (request, response) => app?.routing(request, response),
  );
  server.on('connection', (socket) => sockets.add(socket));

  return {
    isPrivate: (request) => sockets.has(request.socket),

    listen: (routes, path) =>
      new Promise((resolve, reject) => {
        app = routes;
        // What a worker that was killed left behind.
        rmSync(path, { force: true });
        server.once('error', reject);
        // Exclusive, or node:cluster would share it among the workers.
        server.listen({ path, exclusive: true }, () => {
          server.off('error', reject);
          chmodSync(path, 0o600);
          resolve();
        });
      }),

    close: (drainMs) =>
      new Promise((resolve) => {
        if (!server.listening) {
          resolve();
          return;
        }
        // A connection whose last answer was given meanwhile would be kept for the next request.
        const sweep = setInterval(() => server.closeIdleConnections(), 50);
        const limit = setTimeout(() => server.closeAllConnections(), drainMs);
        server.close(() => {
          clearInterval(sweep);
          clearTimeout(limit);
          resolve();
        });
        server.closeIdleConnections();
      }),
  };
}
