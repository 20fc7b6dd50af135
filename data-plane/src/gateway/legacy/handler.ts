/**
 * POST, GET and DELETE of the legacy revisions (2025-03-26 to 2025-11-25). A client gets a session
 * from `initialize`; a request without one is served as well, since the specification's plain POST
 * of a tool call has none.
 */

import { RPC_ERRORS } from '@governance/shared/errors';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../../enforcement/call/calls.ts';
import type { Door } from '../../enforcement/steps/authenticate.ts';
import type { UpstreamPool } from '../../upstream/sessions/pool.ts';
import type { UpstreamSession } from '../../upstream/upstream.ts';
import { PostAnswer, parseAccept, requireAccept, sendError } from '../answer.ts';
import { ineligibleError } from '../failures.ts';
import {
  type ClientMessage,
  errorText,
  GatewayError,
  type RpcId,
  readMessage,
} from '../json-rpc.ts';
import type { Router } from '../router.ts';
import { TOO_MUCH_UNREAD, type UnreadAnswers } from '../unread-answers.ts';
import {
  inSession,
  type RequestAnswer,
  type RequestHandler,
  type RequestScene,
} from './requests.ts';
import { requireSession } from './session-reads.ts';
import type { SessionStreams } from './session-streams.ts';
import {
  ASSUMED_REVISION,
  isLegacyRevision,
  type LegacyRevision,
  type LegacySession,
  type LegacySessions,
} from './sessions.ts';

const MAX_BATCH = 50;

/** Builds the handlers. They throw GatewayError for a request that is malformed as a whole. */
export function createLegacyHandler(deps: {
  requests: RequestHandler;
  sessions: LegacySessions;
  streams: SessionStreams;
  router: Pick<Router, 'checkPath'>;
  door: Pick<Door, 'findIneligibility'>;
  pool: Pick<UpstreamPool, 'notifyPeer'>;
  /** The agent's session with the server of the path, if that server exists. */
  findSession(caller: Caller): UpstreamSession | undefined;
  unread: Pick<UnreadAnswers, 'outletOf'>;
  messageBytes: number;
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
    const session = findSession(deps.sessions, caller, request);
    const revision = revisionOf(request, session);
    const log = session?.log ?? null;
    const outlet = deps.unread.outletOf(caller);
    const maxBuffered = deps.messageBytes;
    const answer = new PostAnswer(reply, { accepts, maxBuffered, log, outlet });
    const scene: RequestScene = {
      caller: inSession(caller, session),
      ineligible,
      session,
      answer,
      // Older clients take an event without data for a broken message.
      canPause: request.headers['mcp-protocol-version'] === '2025-11-25',
    };
    if (Array.isArray(body)) {
      const messages = readBatch(body, revision);
      const { status, text, challenge } = await answerBatch(messages, scene);
      if (challenge) deps.challenge(reply, caller, challenge);
      const ids = messages.flatMap((one) => (one.kind === 'request' ? [one.id] : []));
      if (text === null && (ids.length === 0 || !accepts.events)) reply.code(202).send();
      else answer.end(status, text, () => `[${ids.map(unsentText).join(',')}]`);
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

  /** Judges each message of a batch separately; a 401 to one is the status of all. */
  async function answerBatch(
    messages: readonly ClientMessage[],
    scene: RequestScene,
  ): Promise<RequestAnswer> {
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
    const texts = answers.flatMap(({ text }) => (text === null ? [] : [text]));
    const text = texts.length === 0 ? null : `[${texts.join(',')}]`;
    return { status: refused ? 401 : 200, text, challenge: refused?.challenge };
  }

  /**
   * Handles messages that have no answer. The only notifications forwarded are a cancellation, under
   * the gateway's own id, and the bare news that roots changed: notifications are not judged, so
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
    const session = requireSession(findSession(deps.sessions, caller, request));
    revisionOf(request, session);
    deps.streams.open(caller, session, request.headers['last-event-id'], reply);
  }

  /** Ends a session. */
  function remove(caller: Caller, request: FastifyRequest, reply: FastifyReply): void {
    const session = requireSession(findSession(deps.sessions, caller, request));
    for (const call of session.calls.values()) call.cancel();
    deps.sessions.end(session);
    reply.code(204).send();
  }

  return { post, get, remove };
}

/** Null where the request names none. Throws GatewayError 404 where there is no such session. */
function findSession(
  sessions: Pick<LegacySessions, 'find'>,
  { tenantId, agent, serverId }: Caller,
  { headers }: FastifyRequest,
): LegacySession | null {
  const token = headers['mcp-session-id'];
  if (token === undefined) return null;
  const owner = { tenantId, agentId: agent.id, serverId };
  const session = typeof token === 'string' ? sessions.find(token, owner) : undefined;
  // 404 tells a client to initialize again (MCP, session management).
  if (session === undefined) throw new GatewayError(404, 'No such session.');
  return session;
}

/** That of the session. Throws GatewayError where the header names one that is no legacy one. */
function revisionOf({ headers }: FastifyRequest, session: LegacySession | null): LegacyRevision {
  const header = headers['mcp-protocol-version'];
  if (header === undefined) return session?.revision ?? ASSUMED_REVISION;
  if (!isLegacyRevision(header)) {
    throw new GatewayError(400, 'Unsupported MCP-Protocol-Version.');
  }
  return session?.revision ?? header;
}

/** Only revision 2025-03-26 has batches. */
function readBatch(body: readonly unknown[], revision: LegacyRevision): ClientMessage[] {
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
  return messages;
}

/** For an answer that exists but is not sent. */
function unsentText(id: RpcId): string {
  return errorText(id, RPC_ERRORS.INTERNAL, TOO_MUCH_UNREAD);
}
