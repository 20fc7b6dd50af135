/** What makes a data plane one of several: its sessions' names, its private socket, its views. */
import type { FastifyInstance } from 'fastify';
import { createPrivateListener } from './private-listener.ts';
import { createSiblings } from './siblings.ts';
import { socketPath, type WorkerPlace } from './worker-place.ts';
import { createWorkerSessions, type WorkerSessions } from './worker-sessions.ts';
import { type OwnViews, type Views, workerViews } from './worker-views.ts';

/** As long as the public listener takes. */
const DRAIN_MS = 10_000;

export interface JoinedWorkers {
  sessions: WorkerSessions;
  views(own: OwnViews): Views;
  /** Lets the other workers in, by the routes of `app`. */
  listen(app: FastifyInstance): Promise<void>;
  /** Lets nobody in any more and waits for requests under way. */
  closeListener(): Promise<void>;
  /** Ends the ways to the others. */
  close(): Promise<void>;
}

/** @param options.bodyBytes bytes of a request's body at the gateway, at most */
export function joinWorkers(
  place: Pick<WorkerPlace, 'worker' | 'count' | 'socketDir'>,
  options: { bodyBytes: number },
): JoinedWorkers {
  const { worker, count, socketDir } = place;
  const listener = createPrivateListener();
  const siblings = createSiblings({ worker, count, socketDir });
  const { isPrivate } = listener;
  const { wayTo } = siblings;
  return {
    sessions: createWorkerSessions({ worker, count, wayTo, isPrivate, ...options }),
    views: (own) => workerViews(own, { worker, siblings, isPrivate }),
    listen: (app) => listener.listen(app, socketPath(socketDir, worker)),
    closeListener: () => listener.close(DRAIN_MS),
    close: siblings.close,
  };
}
