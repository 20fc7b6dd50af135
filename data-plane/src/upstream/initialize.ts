import { z } from 'zod';
import { LEGACY_REVISIONS, refusalFrom } from './era.ts';
import type {
  SendToClient,
  ServerRequest,
  SessionPeer,
  UpstreamAnswer,
  UpstreamInfo,
} from './upstream.ts';
import { UpstreamFailure } from './upstream.ts';

/** The gateway's own name towards servers. */
export interface ClientInfo {
  name: string;
  version: string;
}

/** The members of `initialize`'s params. The capabilities are those of the client behind it. */
export function initializeMembers(client: ClientInfo, peer: SessionPeer | undefined): string {
  const capabilities = JSON.stringify(peer?.capabilities ?? {});
  return (
    `"protocolVersion":"${LEGACY_REVISIONS[0]}","capabilities":${capabilities},` +
    `"clientInfo":${JSON.stringify(client)}`
  );
}

const InitializeResult = z.looseObject({
  protocolVersion: z.enum(LEGACY_REVISIONS),
  capabilities: z.record(z.string(), z.unknown()),
  serverInfo: z.record(z.string(), z.unknown()),
  instructions: z.string().optional(),
});

/** Reads the answer to `initialize`. Throws UpstreamFailure where it is unusable. */
export function parseInitializeAnswer(answer: UpstreamAnswer): UpstreamInfo {
  if (answer.kind === 'error') throw refusalFrom('initialize', answer);
  const parsed = InitializeResult.safeParse(answer.value);
  if (!parsed.success) {
    throw new UpstreamFailure('malformed', `initialize: ${z.prettifyError(parsed.error)}`);
  }
  const { protocolVersion, capabilities, serverInfo, instructions } = parsed.data;
  return {
    era: 'legacy',
    protocolVersion,
    capabilities,
    serverInfo,
    instructions: instructions ?? null,
  };
}

/** The whole text of a request. Its id is its progress token too. */
export function requestText(
  id: number,
  request: { method: string; members: string; wantsProgress: boolean },
): string {
  const meta = request.wantsProgress ? `"_meta":{"progressToken":${id}}` : '';
  const comma = meta !== '' && request.members !== '' ? ',' : '';
  const method = JSON.stringify(request.method);
  return `{"jsonrpc":"2.0","id":${id},"method":${method},"params":{${request.members}${comma}${meta}}}`;
}

/** A notification without params. */
export function notificationText(method: string): string {
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
export function serverRequestAnswer(id: string | number, method: string): string {
  const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},`;
  if (method === 'ping') return `${head}"result":{}}`;
  return `${head}"error":{"code":-32601,"message":"The client does not support this method."}}`;
}

/** Answers a server's request through the client, if there is one. Never throws. */
export function answerServer(
  request: ServerRequest,
  peer: SessionPeer | undefined,
  send: SendToClient | undefined,
  reply: (text: string) => void,
): void {
  if (peer === undefined || request.method === 'ping') {
    reply(serverRequestAnswer(request.id, request.method));
    return;
  }
  void peer.ask(request, send).then((text) => {
    if (text !== null) reply(text);
  });
}
