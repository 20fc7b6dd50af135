/**
 * The streams of messages that servers send unprompted, one per session. A stream outlasts the
 * connection of the GET that carries it: what comes meanwhile is kept for the next one.
 */
import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import type { Caller } from '../../enforcement/call/calls.ts';
import type { Door } from '../../enforcement/steps/authenticate.ts';
import { KEEP_ALIVE, streamHeaders } from '../event-stream.ts';
import { GatewayError, notificationText } from '../json-rpc.ts';
import { createServerListener, type ServerListenerDeps } from '../server-listener.ts';
import { TOO_MUCH_UNREAD, type UnreadAnswers } from '../unread-answers.ts';
import { inSession } from './requests.ts';
import { isWanted } from './session-reads.ts';
import type { LegacySession } from './sessions.ts';

export type SessionStreams = ReturnType<typeof createSessionStreams>;

interface SessionStreamsDeps extends ServerListenerDeps {
  door: Pick<Door, 'isStillEligible' | 'permitsOf'>;
  unread: Pick<UnreadAnswers, 'outletOf'>;
  messageBytes: number;
  keepAliveMs: number;
}

export function createSessionStreams(deps: SessionStreamsDeps) {
  /**
   * Makes the answer to a GET the connection of the session's stream, or of the answer that the
   * client resumes. Throws GatewayError where it cannot have one.
   *
   * @param lastEventId of the header, caller-controlled
   */
  function open(
    caller: Caller,
    session: LegacySession,
    lastEventId: unknown,
    reply: FastifyReply,
  ): void {
    const resumed = session.log.find(lastEventId);
    if (resumed === undefined && session.endStream !== null) {
      throw new GatewayError(409, 'The session has a stream already.');
    }
    const outlet = deps.unread.outletOf(caller);
    if (!outlet.hasRoom(KEEP_ALIVE.length)) throw new GatewayError(503, TOO_MUCH_UNREAD);
    const raw = connect(caller, session, reply);
    const own = inSession(caller, session);
    // The rest of an answer whose connection broke.
    if (resumed && resumed.stream !== session.stream?.events) {
      resumed.stream.attach(raw, resumed.n);
      return;
    }
    const stream = session.stream ?? listen(own, session);
    stream.caller = own;
    stream.events.attach(raw, resumed?.n);
    const detach = session.peer?.attach((text) => {
      if (!deps.door.isStillEligible(caller)) raw.end();
      return !raw.writableEnded && stream.events.isAttached && stream.events.write(text);
    });
    const end = () => void raw.end();
    session.endStream = end;
    session.hadStream = true;
    raw.once('close', () => {
      detach?.();
      // Unless another connection took its place.
      if (session.endStream === end) session.endStream = null;
    });
  }

  /** Begins the event stream, and keeps it alive while its agent may act. */
  function connect(caller: Caller, session: LegacySession, reply: FastifyReply): ServerResponse {
    reply.hijack();
    const { raw } = reply;
    raw.on('error', () => undefined);
    raw.writeHead(200, streamHeaders(reply));
    raw.write(KEEP_ALIVE);
    const timer = setInterval(() => {
      session.stream?.review();
      if (!deps.door.isStillEligible(caller)) raw.end();
      else if (raw.writableLength === 0) raw.write(KEEP_ALIVE);
    }, deps.keepAliveMs);
    raw.once('close', () => clearInterval(timer));
    return raw;
  }

  /** Listens to the servers of a session until its stream is gone for good. */
  function listen(caller: Caller, session: LegacySession) {
    const listener = createServerListener(caller, deps, ({ method, params }, from, original) => {
      if (!isWanted(session, from, original)) return;
      // Kept without a connection: an agent that may not act any more is refused when it comes
      // back.
      if (stream.events.isAttached && !deps.door.isStillEligible(stream.caller))
        stream.events.drop();
      else stream.events.write(notificationText(method, params));
    });
    const outlet = deps.unread.outletOf(caller);
    const options = { maxBuffered: deps.messageBytes, isLasting: true, outlet };
    const events = session.log.open(options, () => {
      listener.end();
      session.stream = null;
    });
    const stream = { events, caller, review: listener.review };
    session.stream = stream;
    listener.review();
    return stream;
  }

  return { open };
}
