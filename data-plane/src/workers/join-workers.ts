/**
 * Makes a data plane one of several workers: names of sessions, views, and how connections reach
 * it. The supervisor hands over those of clients, and the worker's own Unix socket accepts those of
 * the machine's other workers. Both have the same routes; which way a request came is known only
 * from its connection, and no header can claim it. Folder 0700, socket 0600.
 */
import { chmodSync, rmSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { createSiblings } from './siblings.ts';
import { socketPath, type WorkerPlace } from './worker-place.ts';
import { createWorkerSessions } from './worker-sessions.ts';
import { type OwnViews, ownViews, type Views, workerViews } from './worker-views.ts';

/** As long as a listener of one process takes. */
const DRAIN_MS = 10_000;

export type JoinedWorkers = ReturnType<typeof joinWorkers>;

/** @param options.bodyBytes bytes of a request's body at the gateway, at most */
export function joinWorkers(place: WorkerPlace, options: { bodyBytes: number }) {
  const { worker, count, socketDir } = place;
  const siblings = createSiblings(place);
  const { wayTo, isThere } = siblings;
  const fromClients = new Set<Socket>();
  const fromWorkers = new WeakSet<Socket>();
  let app: FastifyInstance | undefined;
  let isClosing = false;
  /** Whether a request came over the Unix socket. */
  const isPrivate = (request: IncomingMessage) => fromWorkers.has(request.socket);
  const isAlone = count === 1;
  return {
    /** Null where it is the only one that serves. */
    sessions: isAlone
      ? null
      : createWorkerSessions({ worker, count, wayTo, isThere, isPrivate, ...options }),
    views: (own: OwnViews): Views =>
      isAlone ? ownViews(own) : workerViews(own, { worker, siblings, isPrivate }),
    /**
     * Accepts connections from now on. The folder's ledger is open: no other process can claim it.
     *
     * @param ready with all its routes, not yet listening
     */
    listen: async (ready: FastifyInstance): Promise<void> => {
      app = ready;
      app.server.on('connection', (socket) => {
        if (!fromClients.has(socket)) fromWorkers.add(socket);
      });
      const path = socketPath(socketDir, worker);
      // A killed worker's leftover.
      rmSync(path, { force: true });
      await app.listen({ path });
      chmodSync(path, 0o600);
    },
    /** Serves a client's connection; false where this worker is stopping: another may take it. */
    accept: (socket: Socket): boolean => {
      if (app === undefined || isClosing) return false;
      fromClients.add(socket);
      socket.once('close', () => fromClients.delete(socket));
      app.server.emit('connection', socket);
      return true;
    },
    /** Closes the app once its requests have ended, and then the connections to other workers. */
    close: async (): Promise<void> => {
      isClosing = true;
      if (app !== undefined) await closeServed(app, fromClients);
      await siblings.close();
    },
  };
}

async function closeServed(app: FastifyInstance, fromClients: ReadonlySet<Socket>): Promise<void> {
  await app.closeGently();
  // The server waits only for connections that it accepted itself; these were handed over.
  const limit = performance.now() + DRAIN_MS;
  while (fromClients.size > 0 && performance.now() < limit) {
    app.server.closeIdleConnections();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  app.server.closeAllConnections();
}
