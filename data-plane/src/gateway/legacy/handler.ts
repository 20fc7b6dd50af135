/**
 * POST, GET and DELETE of the legacy revisions (2025-03-26 to 2025-11-25). A client gets a session
 * from `initialize`; a request without one is served as well, since the specification's plain POST
 * of a tool call has none.
 */

import { RPC_ERRORS } from '@governance/shared/errors';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RulesProvider } from '../../contracts.ts';
import type { Caller, Deny } from '../../enforcement/calls.ts';
import type { Enforcer } from '../../enforcement/enforcer.ts';
import type { Door } from '../../enforcement/steps/authenticate.ts';
import type { UpstreamPool } from '../../upstream/sessions/pool.ts';
import type { UpstreamNotification, UpstreamSession } from '../../upstream/upstream.ts';
import { type Accepts, PostAnswer, parseAccept, requireAccept, sendError } from '../answer.ts';
import { KEEP_ALIVE, streamHeaders } from '../event-stream.ts';
import { ineligibleError } from '../failures.ts';
import { createHearing } from '../hearing.ts';
import {
  type ClientMessage,
  errorText,
  GatewayError,
  notificationText,
  parseBody,
  type RpcId,
  readMessage,
} from '../json-rpc.ts';
import { ASSUMED_REVISION, isLegacyRevision, type LegacyRevision } from '../revisions.ts';
import type { Router } from '../router.ts';
import { unifiedNotification } from '../unified.ts';
import { TOO_MUCH_UNREAD, type UnreadAnswers } from '../unread-answers.ts';
import type { RequestAnswer, RequestHandler, RequestScene } from './requests.ts';
import { isWanted, requireSession } from './session-reads.ts';
import type { LegacySession, LegacySessions } from './sessions.ts';

const MAX_BATCH = 50;

/** Builds the handlers. They throw GatewayError for a request that is malformed as a whole. */
export function createLegacyHandler(deps: {
  requests: RequestHandler;
  sessions: LegacySessions;
  enforcer: Pick<Enforcer, 'listen'>;
  router: Pick<Router, 'checkPath'>;
  door: Door;
  rules: RulesProvider;
  pool: Pick<UpstreamPool, 'listen' | 'notifyPeer'>;
  /** The agent's session with the server of the path, if that server exists. */
  findSession(caller: Caller): UpstreamSession | undefined;
  unread: Pick<UnreadAnswers, 'outletOf'>;
  messageBytes: number;
  /** Values and keys of a message, at most. */
  messageNodes: number;
  keepAliveMs: number;
  /** Puts WWW-Authenticate on an answer. */
  challenge(reply: FastifyReply, caller: Caller, scheme: 'basic' | 'bearer'): void;
}) {
  /** @param body of the request, parsed */
  async function post(
    caller: Caller,
    request: FastifyRequest,
    reply: FastifyReply,
    body: unknown,
  ): Promise<void> {
    const accepts = requireAccept(request.headers.accept);
    const ineligible = deps.door.findIneligibility(caller);
    // An agent that may not act does not even learn which servers exist.
    if (ineligible === undefined) deps.router.checkPath(caller);
    const session = findSession(caller, request);
    const revision = revisionOf(request, session);
    const log = session?.log ?? null;
    const answer = new PostAnswer(reply, accepts, deps.messageBytes, log, outletOf(caller));
    const scene: RequestScene = {
      caller: inSession(caller, session),
      ineligible,
      session,
      notify: (text) => answer.notify(text),
      send: (text) => answer.send(text),
      onGone: (listener) => answer.onGone(listener),
      pause: (retryMs) => {
        // Older clients take an event without data for a broken message.
        if (request.headers['mcp-protocol-version'] === '2025-11-25') answer.pause(retryMs);
      },
    };
    if (Array.isArray(body)) {
      await postBatch(body, revision, scene, answer, reply, accepts);
      return;
    }
    const message = readMessage(body);
    if (message.kind === 'invalid') {
      sendError(reply, 400, message.id, { code: RPC_ERRORS.INVALID_REQUEST, message: message.why });
      return;
    }
    if (message.kind !== 'request') {
      accept(message, scene);
      reply.code(202).send();
      return;
    }
    const result = await deps.requests.answer(message, scene);
    // Headers can still be set: `initialize` sends nothing before its answer.
    if (result.session) reply.header('mcp-session-id', result.session.token);
    if (result.challenge) deps.challenge(reply, caller, result.challenge);
    answer.end(result.status, result.text, () => unsentText(message.id));
  }

  /** Only revision 2025-03-26 has batches; each message is judged separately. */
  async function postBatch(
    body: unknown[],
    revision: LegacyRevision,
    scene: RequestScene,
    answer: PostAnswer,
    reply: FastifyReply,
    accepts: Accepts,
  ): Promise<void> {
    if (revision !== '2025-03-26') {
      throw new GatewayError(400, `MCP ${revision} has no batches: send one message a request.`);
    }
    if (body.length === 0 || body.length > MAX_BATCH) {
      throw new GatewayError(400, `A batch has 1 to ${MAX_BATCH} messages.`);
    }
    const messages = body.map(readMessage);
    if (messages.some((message) => 'method' in message && message.method === 'initialize')) {
      throw new GatewayError(400, 'initialize must not be part of a batch.');
    }
    const answers = await Promise.all(
      messages.map((message): Promise<RequestAnswer> | RequestAnswer => {
        if (message.kind === 'request') return deps.requests.answer(message, scene);
        if (message.kind === 'invalid') {
          const text = errorText(message.id, RPC_ERRORS.INVALID_REQUEST, message.why);
          return { status: 200, text };
        }
        accept(message, scene);
        return { status: 200, text: null };
      }),
    );
    const refused = answers.find((one) => one.status === 401);
    if (refused?.challenge) deps.challenge(reply, scene.caller, refused.challenge);
    const texts = answers.flatMap(({ text }) => (text === null ? [] : [text]));
    const isQuiet = texts.length === 0 && !messages.some((message) => message.kind === 'request');
    if (isQuiet || (texts.length === 0 && !accepts.events)) {
      reply.code(202).send();
      return;
    }
    const unsent = () =>
      `[${messages.flatMap((one) => (one.kind === 'request' ? [unsentText(one.id)] : [])).join(',')}]`;
    const text = texts.length === 0 ? null : `[${texts.join(',')}]`;
    answer.end(refused ? 401 : 200, text, unsent);
  }

  /**
   * Handles messages that have no answer. Of notifications only a cancellation, under the gateway's
   * own id, and the bare news that roots changed are forwarded: notifications are not judged, so
   * none may carry an agent's text to a server. A response goes to the server whose judged request
   * it answers.
   */
  function accept(message: ClientMessage, { caller, session, ineligible }: RequestScene): void {
    // Nothing from an agent that may not act any more reaches a server.
    const isEligible = ineligible === undefined;
    if (message.kind === 'response') session?.peer?.answered(message, isEligible);
    if (message.kind !== 'notification') return;
    if (message.method === 'notifications/cancelled') {
      const { requestId } = message.params;
      if (typeof requestId !== 'string' && typeof requestId !== 'number') return;
      session?.calls.get(requestId)?.cancel();
    } else if (message.method === 'notifications/roots/list_changed') {
      if (!isEligible) return;
      if (session?.peer) deps.pool.notifyPeer(session.peer.id, message.method);
      else deps.findSession(caller)?.notify(message.method);
    }
  }

  /** The stream of messages that servers send unprompted. */
  function get(caller: Caller, request: FastifyRequest, reply: FastifyReply): void {
    if (!parseAccept(request.headers.accept).events) {
      throw new GatewayError(406, 'Accept must name text/event-stream.');
    }
    const ineligible = deps.door.findIneligibility(caller);
    if (ineligible !== undefined) throw ineligibleError(ineligible, 403);
    deps.router.checkPath(caller);
    const session = requireSession(findSession(caller, request));
    revisionOf(request, session);
    const resumed = session.log.find(request.headers['last-event-id']);
    if (resumed === undefined && session.endStream !== null) {
      throw new GatewayError(409, 'The session has a stream already.');
    }
    const outlet = outletOf(caller);
    if (!outlet.hasRoom(KEEP_ALIVE.length)) throw new GatewayError(503, TOO_MUCH_UNREAD);
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

  /** Listens to the servers of a session until its stream is gone for good. */
  function listen(caller: Caller, session: LegacySession) {
    const { tenantId, agent, serverId } = caller;
    const passOn = (from: string, notification: UpstreamNotification) => {
      const { method, params } =
        serverId === null ? unifiedNotification(from, notification) : notification;
      if (!isWanted(session, from, notification)) return;
      // Kept without a connection: an agent that may not act any more is refused when it comes
      // back.
      if (stream.events.isAttached && !deps.door.isStillEligible(stream.caller))
        stream.events.drop();
      else stream.events.write(notificationText(method, params));
    };
    const hear = deps.enforcer.listen(caller, passOn);
    const peerId = session.peer?.id;
    const hearing = createHearing(caller, deps, () =>
      deps.pool.listen(tenantId, agent.id, serverId, hear, peerId, caller.hops),
    );
    const outlet = outletOf(caller);
    const options = { maxBuffered: deps.messageBytes, isLasting: true, outlet };
    const events = session.log.open(options, () => {
      hearing.end();
      session.stream = null;
    });
    const stream = { events, caller, review: hearing.review };
    session.stream = stream;
    hearing.review();
    return stream;
  }

  /** Ends a session. */
  function remove(caller: Caller, request: FastifyRequest, reply: FastifyReply): void {
    const session = requireSession(findSession(caller, request));
    for (const call of session.calls.values()) call.cancel();
    deps.sessions.end(session);
    reply.code(204).send();
  }

  function outletOf({ key }: Caller) {
    return deps.unread.outletOf(key);
  }

  function findSession(caller: Caller, request: FastifyRequest): LegacySession | null {
    const token = request.headers['mcp-session-id'];
    if (token === undefined) return null;
    const { tenantId, agent, serverId } = caller;
    const owner = { tenantId, agentId: agent.id, serverId };
    const session = typeof token === 'string' ? deps.sessions.find(token, owner) : undefined;
    // 404 tells a client to initialize again (MCP, session management).
    if (session === undefined) throw new GatewayError(404, 'No such session.');
    return session;
  }

  /**
   * Answers a caller of whom only the token is known, since this data plane denies all calls and
   * receives no facts about agents any more: nothing is done, and there is no agent to record it
   * for.
   */
  function deny(denial: Deny, request: FastifyRequest, reply: FastifyReply): void {
    if (request.method !== 'POST') throw ineligibleError(denial, 403);
    const message = readMessage(parseBody(request.body, deps.messageNodes));
    if (message.kind === 'notification' || message.kind === 'response') {
      reply.code(202).send();
      return;
    }
    const error = ineligibleError(denial);
    sendError(reply, error.status, message.id, error);
  }

  return { post, get, remove, deny };
}

/** For an answer that exists but is not sent. */
function unsentText(id: RpcId): string {
  return errorText(id, RPC_ERRORS.INTERNAL, TOO_MUCH_UNREAD);
}

/** The caller in its session; the peer that servers ask through learns the current caller. */
function inSession(caller: Caller, session: LegacySession | null): Caller {
  if (session === null) return caller;
  const { id: sessionId, peer } = session;
  const own = { ...caller, sessionId, peer: peer ?? undefined };
  if (peer !== null) peer.caller = own;
  return own;
}

function revisionOf(request: FastifyRequest, session: LegacySession | null): LegacyRevision {
  const header = request.headers['mcp-protocol-version'];
  if (header === undefined) return session?.revision ?? ASSUMED_REVISION;
  if (!isLegacyRevision(header)) {
    throw new GatewayError(400, 'Unsupported MCP-Protocol-Version.');
  }
  return session?.revision ?? header;
}
