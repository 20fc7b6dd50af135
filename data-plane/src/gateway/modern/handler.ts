/**
 * POST of the modern revision (2026-07-28): every request is self-contained, and closing its
 * connection cancels it. There are no sessions, and nothing to GET or DELETE.
 */
import { RPC_ERRORS } from '@governance/shared/errors';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Answer } from '../../enforcement/call/answer.ts';
import { TOOL_CALL } from '../../enforcement/call/call-kinds.ts';
import type { Caller, Deny, Exchange } from '../../enforcement/call/calls.ts';
import type { Door } from '../../enforcement/steps/authenticate.ts';
import { MODERN_REVISION } from '../../upstream/era.ts';
import { isObject, LOG_LEVELS } from '../../upstream/message.ts';
import { Cancellation } from '../../upstream/upstream.ts';
import { type Accepts, PostAnswer, requireAccept, sendError } from '../answer.ts';
import type { BodyPlace } from '../caller-bodies.ts';
import { declaredCapabilities, sharedPeer } from '../client-capabilities.ts';
import { takesTasks } from '../extensions.ts';
import { type AnswerFailure, ineligibleError } from '../failures.ts';
import {
  answerText,
  type ClientMessage,
  errorText,
  GatewayError,
  notificationText,
  readMessage,
  resultText,
} from '../json-rpc.ts';
import type { Router } from '../router.ts';
import { TOO_MUCH_UNREAD, type UnreadAnswers } from '../unread-answers.ts';
import { type ModernRequest, readEnvelope } from './envelope.ts';
import { mismatch, refuseRepeated } from './headers.ts';
import type { Listen } from './listen.ts';
import type { ParkedCalls } from './parked-calls.ts';
import type { ModernRequests } from './requests.ts';
import { modernResult } from './results.ts';

export interface ModernDeps {
  requests: ModernRequests;
  listen: Listen;
  parked: Pick<ParkedCalls, 'peer'>;
  router: Pick<Router, 'checkPath'>;
  door: Pick<Door, 'findIneligibility'>;
  failed: AnswerFailure;
  unread: Pick<UnreadAnswers, 'outletOf'>;
  messageBytes: number;
  /** Puts WWW-Authenticate on an answer. */
  challenge(reply: FastifyReply, caller: Caller, scheme: 'basic' | 'bearer'): void;
}

export type ModernHandler = ReturnType<typeof createModernHandler>;

/** Builds it. `post` throws GatewayError for a request that is malformed as a whole. */
export function createModernHandler(deps: ModernDeps) {
  /** @param body of the request, parsed */
  async function post(
    caller: Caller,
    request: FastifyRequest,
    reply: FastifyReply,
    body: unknown,
  ): Promise<void> {
    const accepts = requireAccept(request.headers.accept);
    if (Array.isArray(body)) {
      throw new GatewayError(400, `MCP ${MODERN_REVISION} has no batches: send one message.`);
    }
    const message = readMessage(body);
    if (message.kind !== 'request') {
      answerOther(message, request, reply);
      return;
    }
    const ineligible = deps.door.findIneligibility(caller);
    let read: ModernRequest;
    try {
      refuseRepeated(request.raw.rawHeaders);
      read = readEnvelope(request.headers, message);
      // An agent that may not act does not even learn which servers exist.
      if (ineligible === undefined) deps.router.checkPath(caller);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      sendError(reply, error.status, message.id, error);
      return;
    }
    const own = asModern(caller, read);
    if (read.method === 'subscriptions/listen') {
      await listen(own, read, accepts, reply, ineligible);
      return;
    }
    const outlet = deps.unread.outletOf(own);
    const maxBuffered = deps.messageBytes;
    const answer = new PostAnswer(reply, { accepts, maxBuffered, log: null, outlet });
    const exchange = modernExchange(read, answer, request.bodyPlace);
    const gone = () => exchange.cancellation.cancel();
    reply.raw.once('close', gone);
    // The client left while its body waited for its turn: that event came before.
    if (reply.raw.destroyed) gone();
    const result = await deps.requests.answer(own, read, exchange, ineligible);
    reply.raw.off('close', gone);
    challenge(reply, own, result);
    const { status, text } = answerOf(read, result);
    answer.end(status, text, () => errorText(read.id, RPC_ERRORS.INTERNAL, TOO_MUCH_UNREAD));
  }

  async function listen(
    caller: Caller,
    read: ModernRequest,
    accepts: Accepts,
    reply: FastifyReply,
    ineligible: Deny | undefined,
  ): Promise<void> {
    try {
      if (ineligible !== undefined) throw ineligibleError(ineligible);
      if (!accepts.events) throw new GatewayError(406, 'Accept must name text/event-stream.');
      await deps.listen.open(caller, read, reply);
    } catch (error) {
      if (reply.raw.headersSent) throw error;
      const result = await deps.failed(error, caller, read.method);
      challenge(reply, caller, result);
      const { status, text } = answerOf(read, result);
      reply.code(status).header('content-type', 'application/json').send(text);
    }
  }

  function challenge(reply: FastifyReply, caller: Caller, result: Answer): void {
    if (result.kind !== 'refusal' || !result.challenge) return;
    deps.challenge(reply, caller, result.challenge);
  }

  /**
   * The caller with the peer that servers know, and may ask through; a client that declared nothing
   * is asked nothing.
   */
  function asModern(caller: Caller, request: ModernRequest): Caller {
    const era = 'modern' as const;
    const declared = declaredCapabilities(request.capabilities, era);
    if (declared === null) return { ...caller, era };
    const { capabilities, isAskable } = declared;
    const isOwn = isAskable || takesTasks(capabilities);
    const peerFor = isOwn ? deps.parked.peer : sharedPeer;
    return { ...caller, era, peer: peerFor(caller.key, capabilities) };
  }

  return { post };
}

/** Refuses what is no request, and drops a notification. */
function answerOther(
  message: Exclude<ClientMessage, { kind: 'request' }>,
  { headers }: FastifyRequest,
  reply: FastifyReply,
): void {
  switch (message.kind) {
    case 'invalid':
      sendError(reply, 400, message.id, {
        code: RPC_ERRORS.INVALID_REQUEST,
        message: message.why,
      });
      return;
    case 'response':
      throw new GatewayError(
        400,
        `MCP ${MODERN_REVISION} has no responses of clients: make the request again with inputResponses.`,
      );
    case 'notification': {
      // Notifications have no effect here, and none is forwarded: what is not judged stays.
      const named = headers['mcp-method'];
      if (named !== undefined && named !== message.method) {
        throw mismatch('The header Mcp-Method is not the method of the body.');
      }
      reply.code(202).send();
    }
  }
}

function answerOf(
  { id, method }: ModernRequest,
  answer: Answer,
): { status: number; text: string | null } {
  if (answer.kind === 'result') {
    return { status: 200, text: resultText(id, modernResult(method, answer.raw, answer.value)) };
  }
  return { status: statusOf(method, answer), text: answerText(id, answer) };
}

/** The revision prescribes a status for these errors; all others are told in the answer alone. */
function statusOf(method: string, answer: Answer): number {
  if (answer.kind === 'refusal' && answer.status !== 200) return answer.status;
  const code = codeOf(answer);
  if (code === RPC_ERRORS.MISSING_CLIENT_CAPABILITY) return 400;
  return code === RPC_ERRORS.METHOD_NOT_FOUND && method !== TOOL_CALL ? 404 : 200;
}

/** The JSON-RPC code of an error; a server may have written anything there. */
function codeOf(answer: Answer): unknown {
  if (answer.kind === 'refusal') return answer.code;
  return answer.kind === 'error' && isObject(answer.value) ? answer.value.code : undefined;
}

/**
 * One request of a modern client in progress: messages that a server sends before the answer reach
 * the client if they belong to the request (MCP 2026-07-28, Streamable HTTP, receiving messages).
 */
function modernExchange(
  { progressToken, logLevel }: Pick<ModernRequest, 'progressToken' | 'logLevel'>,
  answer: Pick<PostAnswer, 'notify' | 'onGone'>,
  body: Pick<BodyPlace, 'use'> | null,
): Exchange {
  /** Without a level in the request there are no log messages. */
  const isWanted = (level: unknown) => {
    if (logLevel === undefined) return false;
    const rank = (LOG_LEVELS as readonly unknown[]).indexOf(level);
    return rank < 0 || rank >= LOG_LEVELS.indexOf(logLevel);
  };
  return {
    cancellation: new Cancellation(),
    wantsProgress: progressToken !== undefined,
    logLevel,
    onGone: (listener) => answer.onGone(listener),
    ...(body && { keepBody: () => body.use() }),
    onNotification({ method, params }) {
      if (method === 'notifications/progress') {
        // The server knows the gateway's token; the client knows its own.
        if (progressToken === undefined) return;
        answer.notify(notificationText(method, { ...params, progressToken }));
      } else if (method === 'notifications/message' && isWanted(params?.level)) {
        answer.notify(notificationText(method, params));
      }
    },
  };
}
