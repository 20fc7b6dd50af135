/**
 * A client may send further requests before the first was answered (pipelining, RFC 9112 section
 * 9.3.2). They are served one after the other: Node sends their answers in order anyway, and tells
 * an answer that waits for its turn nothing of a client that has gone, so that whatever was set
 * aside for it would stay. Proven by one-at-a-time.test.ts.
 *
 * A body that nobody reads hides a client that leaves as well: beyond its buffer Node stops reading
 * the connection.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** Requests that wait on one connection, at most; our own clients never send ahead. */
const MAX_WAITING = 16;

/** Fastify gives the body of these to no parser, however long their answer takes. */
const WITHOUT_BODY: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD', 'TRACE']);

/** To be called before anything else is registered: its hook has to be the first. */
export function oneAtATime(app: FastifyInstance): void {
  const waiting = new WeakMap<Socket, number>();
  app.addHook('onRequest', ({ raw: request }, { raw: answer }, done) => {
    if (WITHOUT_BODY.has(request.method)) request.resume();
    // It has the connection while it is its turn.
    if (answer.socket !== null) {
      done();
      return;
    }
    const { socket } = request;
    const count = (waiting.get(socket) ?? 0) + 1;
    if (count > MAX_WAITING || !fitsItsBuffer(request)) {
      socket.destroy();
      return;
    }
    waiting.set(socket, count);
    // Never emitted where the connection ends before: then nothing was begun.
    answer.once('socket', () => {
      waiting.set(socket, (waiting.get(socket) ?? 1) - 1);
      // The service stops: the answer before could not say so any more.
      if (app.server.listening) done();
      else socket.destroySoon();
    });
  });
}

/** A length that the buffer reaches stops the reading, too. */
function fitsItsBuffer({ headers, readableHighWaterMark }: IncomingMessage): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': coding } = headers;
  return coding === undefined && Number(length) < readableHighWaterMark;
}
