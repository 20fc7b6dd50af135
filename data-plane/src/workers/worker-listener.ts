/**
 * How connections reach a worker: those of clients are handed over by the supervisor, and its own
 * Unix socket takes those of the other workers of the machine. Both have the same routes; which way
 * a request came is known by its connection alone, and no header can claim it. Folder 0700, socket
 * 0600.
 */
import { chmodSync, rmSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

export type WorkerListener = ReturnType<typeof createWorkerListener>;

/** @param app with all its routes, not yet listening */
export function createWorkerListener(app: FastifyInstance) {
  const { server } = app;
  const fromClients = new Set<Socket>();
  const fromWorkers = new WeakSet<Socket>();
  let isClosing = false;
  server.on('connection', (socket) => {
    if (!fromClients.has(socket)) fromWorkers.add(socket);
  });

  return {
    /** Whether a request came over the Unix socket. */
    isPrivate: (request: IncomingMessage): boolean => fromWorkers.has(request.socket),

    /** Begins to listen at `path`. The folder's ledger is open: no other process has a claim to it. */
    listen: async (path: string): Promise<void> => {
      // What a worker that was killed left behind.
      rmSync(path, { force: true });
      await app.listen({ path });
      chmodSync(path, 0o600);
    },

    /**
     * Serves a client's connection.
     *
     * @returns false where this worker is stopping: another one may take it
     */
    accept: (socket: Socket): boolean => {
      if (isClosing) return false;
      fromClients.add(socket);
      socket.once('close', () => fromClients.delete(socket));
      server.emit('connection', socket);
      return true;
    },

    /** Closes the app, and waits for requests under way, for `drainMs` at most. */
    close: async (drainMs: number): Promise<void> => {
      isClosing = true;
      await app.close();
      // The server waits for connections that it accepted itself; these it was given.
      const limit = performance.now() + drainMs;
      while (fromClients.size > 0 && performance.now() < limit) {
        server.closeIdleConnections();
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      server.closeAllConnections();
    },
  };
}
