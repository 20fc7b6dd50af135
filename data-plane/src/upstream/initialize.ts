import { RPC_ERRORS } from '@governance/shared/errors';
import { zodFault } from '@governance/shared/http/zod-fault';
import { z } from 'zod';
import { LEGACY_REVISIONS, otherVersions, refusalFrom, SERVER_REVISIONS } from './era.ts';
import {
  type SendToClient,
  type ServerRequest,
  type SessionPeer,
  type UpstreamAnswer,
  UpstreamFailure,
  type UpstreamInfo,
  type UpstreamRequest,
} from './upstream.ts';

/** The gateway's own name towards servers. */
export interface ClientInfo {
  name: string;
  version: string;
}

/** For whom a session is opened, and who is told what becomes of it. */
export interface SessionOptions {
  client: ClientInfo;
  /** Why the agent that the session belongs to may not act; undefined where it may. */
  findIneligibility(): string | undefined;
  /** The client that the session belongs to, if servers may ask it something. */
  peer?: SessionPeer | undefined;
  /** The session was lost and opened again: subscriptions and log level are lost. */
  onReopened?: (() => void) | undefined;
  /** The server does not accept requests of the session's era, or no longer does. */
  onEraRefused?: (() => void) | undefined;
}

/** The request `initialize`. Its capabilities are those of the client behind the session. */
export function initializeRequest({
  client,
  peer,
}: Pick<SessionOptions, 'client' | 'peer'>): UpstreamRequest {
  const capabilities = JSON.stringify(peer?.capabilities ?? {});
  const members =
    `"protocolVersion":"${LEGACY_REVISIONS[0]}","capabilities":${capabilities},` +
    `"clientInfo":${JSON.stringify(client)}`;
  return { method: 'initialize', members, wantsProgress: false };
}

const InitializeResult = z.looseObject({
  protocolVersion: z.string(),
  capabilities: z.record(z.string(), z.unknown()),
  serverInfo: z.record(z.string(), z.unknown()),
  instructions: z.string().optional(),
});

/** Reads the answer to `initialize`. Throws UpstreamFailure where it is unusable. */
export function parseInitializeAnswer(answer: UpstreamAnswer): UpstreamInfo {
  if (answer.kind === 'error') throw refusalFrom('initialize', answer);
  const parsed = InitializeResult.safeParse(answer.value);
  if (!parsed.success) {
    throw new UpstreamFailure('malformed', `initialize: ${zodFault(parsed.error)}`);
  }
  const { protocolVersion, capabilities, serverInfo, instructions } = parsed.data;
  if (!SERVER_REVISIONS.some((known) => known === protocolVersion)) {
    throw otherVersions([protocolVersion]);
  }
  return {
    era: 'legacy',
    protocolVersion,
    capabilities,
    serverInfo,
    instructions: instructions ?? null,
  };
}

/** The whole text of a request. Its id is its progress token too. */
export function requestText(id: number, request: UpstreamRequest): string {
  const meta = request.wantsProgress ? `"_meta":{"progressToken":${id}}` : '';
  const comma = meta !== '' && request.members !== '' ? ',' : '';
  const method = JSON.stringify(request.method);
  return `{"jsonrpc":"2.0","id":${id},"method":${method},"params":{${request.members}${comma}${meta}}}`;
}

/** A notification without params. */
export function bareNotification(method: string): string {
  return `{"jsonrpc":"2.0","method":${JSON.stringify(method)}}`;
}

/** Tells a server that nobody waits for a request any more. */
export function cancelledText(id: number): string {
  return `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${id}}}`;
}

/**
 * The gateway's own answer to a request of the server. A ping is answered; everything else would
 * act on the agent (sampling, elicitation) or reveal something about it (roots), and no client
 * behind the session declared it.
 */
function serverRequestAnswer(id: string | number, method: string): string {
  const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},`;
  if (method === 'ping') return `${head}"result":{}}`;
  return `${head}"error":{"code":-32601,"message":"The client does not support this method."}}`;
}

/** The error in place of a client's answer, where its agent may not act any more. */
function withheldAnswer(id: string | number): string {
  const message = 'The gateway refused the request or its answer.';
  const error = { code: RPC_ERRORS.UNAUTHORIZED, message };
  return JSON.stringify({ jsonrpc: '2.0', id, error });
}

/**
 * Answers a server's request through the client, if there is one. Never throws.
 *
 * @param reply gets, beside the answer, the one to send if the agent may not act any more by then
 */
export function answerServer(
  request: ServerRequest,
  peer: SessionPeer | undefined,
  send: SendToClient | undefined,
  reply: (text: string, withheld: string) => void,
): void {
  const { id, method } = request;
  if (peer === undefined || method === 'ping') {
    const own = serverRequestAnswer(id, method);
    reply(own, own);
    return;
  }
  void peer.ask(request, send).then((text) => {
    if (text !== null) reply(text, withheldAnswer(id));
  });
}
