/**
 * Stops a listener without losing a request. A client whose connection is open may just have sent
 * one, and a reset tells it nothing of what became of it. So requests on open connections are
 * served for a short grace, and each answer closes its connection; only then are idle connections
 * closed. Proven by http-server.test.ts.
 */
import { type IncomingMessage, ServerResponse } from 'node:http';
import { Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { findAnswer, followAnswers } from './current-answers.ts';

/** Longer than a busy client takes from an answer to its next request. */
const GRACE_MS = 250;

/** How long requests in progress may take to finish once the service stops. */
const DRAIN_MS = 10_000;

declare module 'fastify' {
  interface FastifyInstance {
    /** Closes it for good, after a grace for clients with open connections. */
    closeGently(): Promise<void>;
  }
}

/** Made before its server, whose answers and connections it has to know from the first one. */
export function createStopping() {
  let isStopping = false;

  class Answer<Request extends IncomingMessage> extends ServerResponse<Request> {
    // biome-ignore lint/suspicious/noExplicitAny: it has two forms, which are passed on as they are
    override writeHead(...given: any[]): this {
      if (isStopping) this.setHeader('connection', 'close');
      return Reflect.apply(super.writeHead, this, given);
    }
  }

  function bind(app: FastifyInstance): void {
    const open = boundClosing(app);
    app.decorate('closeGently', async () => {
      isStopping = true;
      // Not the HTTP server's own close, which also closes idle connections.
      if (app.server.listening) Server.prototype.close.call(app.server);
      const end = performance.now() + GRACE_MS;
      while (open.size > 0 && performance.now() < end) await sleep(10);
      await app.close();
    });
  }

  return { Answer, bind };
}

/**
 * Closing waits for requests in progress, but not forever, and not for connections that never sent
 * one (a browser opens them in advance): Node counts those as busy until they time out.
 *
 * @returns the open connections
 */
function boundClosing(app: FastifyInstance): ReadonlySet<Socket> {
  const open = new Set<Socket>();
  const silent = new Set<Socket>();
  app.server.on('connection', (socket) => {
    open.add(socket);
    silent.add(socket);
    socket.once('close', () => {
      open.delete(socket);
      silent.delete(socket);
    });
  });
  app.server.on('request', (request) => silent.delete(request.socket));
  followAnswers(app.server);
  // Node's own also closes those whose last answer was ended but not yet sent.
  app.server.closeIdleConnections = () => {
    for (const socket of open) {
      if (!silent.has(socket) && findAnswer(socket) === undefined) socket.destroy();
    }
  };
  const timers: NodeJS.Timeout[] = [];
  app.addHook('preClose', async () => {
    for (const socket of silent) socket.destroy();
    timers.push(
      setTimeout(() => app.server.closeAllConnections(), DRAIN_MS),
      // A connection whose last answer was sent in the meantime would be kept for the next request.
      setInterval(() => app.server.closeIdleConnections(), 50),
    );
  });
  app.addHook('onClose', async () => {
    for (const timer of timers) clearTimeout(timer);
  });
  return open;
}
