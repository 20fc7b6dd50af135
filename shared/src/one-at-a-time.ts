/**
 * A client may send further requests before the first was answered (pipelining, RFC 9112 section
 * 9.3.2). They are served one after the other: Node sends their answers in order anyway, and tells
 * an answer that waits for its turn nothing of a client that has gone, so that whatever was set
 * aside for it would stay. Proven by one-at-a-time.test.ts.
 */
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** Of one connection; no client of ours sends ahead at all. */
const MAX_WAITING = 16;

/** To be called before anything else is registered: its hook has to be the first. */
export function oneAtATime(app: FastifyInstance): void {
  const waiting = new WeakMap<Socket, number>();
  app.addHook('onRequest', ({ raw: { socket } }, { raw: answer }, done) => {
    // It has the connection while it is its turn.
    if (answer.socket !== null) {
      done();
      return;
    }
    const count = (waiting.get(socket) ?? 0) + 1;
    if (count > MAX_WAITING) {
      socket.destroy();
      return;
    }
    waiting.set(socket, count);
    // Never emitted where the connection ends before: then nothing was begun.
    answer.once('socket', () => {
      waiting.set(socket, (waiting.get(socket) ?? 1) - 1);
      done();
    });
  });
}
