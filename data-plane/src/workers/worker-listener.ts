/**
 * How connections reach a worker: the supervisor hands over those of clients, and the worker's own
 * Unix socket accepts those of the machine's other workers. Both have the same routes; which way a
 * request came is known only from its connection, and no header can claim it. Folder 0700, socket
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

    /** Starts listening at `path`. The folder's ledger is open: no other process can claim it. */
    listen: async (path: string): Promise<void> => {
      // A killed worker's leftover.
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

    /** Closes the app, and waits for requests in progress, for `drainMs` at most. */
    close: async (drainMs: number): Promise<void> => {
      isClosing = true;
      await app.close();
      // The server waits only for connections that it accepted itself; these were handed over.
      const limit = performance.now() + drainMs;
      while (fromClients.size > 0 && performance.now() < limit) {
        server.closeIdleConnections();
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      server.closeAllConnections();
    },
  };
}
