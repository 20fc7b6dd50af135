/** Makes a data plane one of several workers: names of sessions, listeners, and views. */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { createSiblings } from './siblings.ts';
import { createWorkerListener, type WorkerListener } from './worker-listener.ts';
import { socketPath, type WorkerPlace } from './worker-place.ts';
import { createWorkerSessions } from './worker-sessions.ts';
import { type OwnViews, ownViews, type Views, workerViews } from './worker-views.ts';

/** As long as a listener of one process takes. */
const DRAIN_MS = 10_000;

export type JoinedWorkers = ReturnType<typeof joinWorkers>;

/** @param options.bodyBytes bytes of a request's body at the gateway, at most */
export function joinWorkers(place: WorkerPlace, options: { bodyBytes: number }) {
  const { worker, count, socketDir } = place;
  const siblings = createSiblings({ worker, count, socketDir });
  const { wayTo, isThere } = siblings;
  let listener: WorkerListener | undefined;
  const isPrivate = (request: IncomingMessage) => listener?.isPrivate(request) ?? false;
  const isAlone = count === 1;
  return {
    /** Null where it is the only one that serves. */
    sessions: isAlone
      ? null
      : createWorkerSessions({ worker, count, wayTo, isThere, isPrivate, ...options }),
    views: (own: OwnViews): Views =>
      isAlone ? ownViews(own) : workerViews(own, { worker, siblings, isPrivate }),
    /** Accepts connections from now on. */
    listen: async (app: FastifyInstance): Promise<void> => {
      listener = createWorkerListener(app);
      await listener.listen(socketPath(socketDir, worker));
    },
    /** Serves a client's connection; false where this worker is stopping. */
    accept: (socket: Socket): boolean => listener?.accept(socket) ?? false,
    /** Closes the app, and then the connections to the other workers. */
    close: async (): Promise<void> => {
      await listener?.close(DRAIN_MS);
      await siblings.close();
    },
  };
}
