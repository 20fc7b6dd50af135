/** The members of every request to a modern server, and what such a server says about itself. */
import { zodFault } from '@governance/shared/http/zod-fault';
import { z } from 'zod';
import { EraRefusal, MODERN_REVISION, otherVersions, refusalFrom } from '../era.ts';
import type { SessionOptions } from '../initialize.ts';
import type { UpstreamAnswer, UpstreamInfo } from '../upstream.ts';

const PREFIX = 'io.modelcontextprotocol/';
export const SUBSCRIPTION_ID = `${PREFIX}subscriptionId`;

/** The member of `params` that `Mcp-Name` repeats, by method. */
export const NAMED_BY: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
]);

/** A request as a transport sends it. */
export interface ModernRequest {
  method: string;
  /** The members of `params` except `_meta`, as JSON without the braces. */
  members: string;
  /** The members of `_meta` except the progress token, likewise. */
  meta: string;
  wantsProgress: boolean;
}

/** The members of `_meta` in all requests of a session: the gateway, and who is behind it. */
export function metaMembers({ client, peer }: SessionOptions): string {
  return (
    `"${PREFIX}protocolVersion":"${MODERN_REVISION}",` +
    `"${PREFIX}clientInfo":${JSON.stringify(client)},` +
    `"${PREFIX}clientCapabilities":${JSON.stringify(peer?.capabilities ?? {})}`
  );
}

/** The member of `_meta` that asks for log messages. */
export function logLevelMember(level: string): string {
  return `,"${PREFIX}logLevel":${JSON.stringify(level)}`;
}

/** The whole text of a request. Its id is its progress token too. */
export function modernRequestText(id: number, request: ModernRequest): string {
  const { method, members, meta, wantsProgress } = request;
  const token = wantsProgress ? `,"progressToken":${id}` : '';
  const comma = members === '' ? '' : ',';
  return (
    `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},` +
    `"params":{${members}${comma}"_meta":{${meta}${token}}}}`
  );
}

const DiscoverResult = z.looseObject({
  resultType: z.literal('complete').optional(),
  supportedVersions: z.array(z.string()),
  capabilities: z.record(z.string(), z.unknown()),
  instructions: z.string().optional(),
  _meta: z
    .looseObject({ [`${PREFIX}serverInfo`]: z.record(z.string(), z.unknown()).optional() })
    .optional(),
});

/** Reads the answer to `server/discover`. Throws EraRefusal where it is not a modern server's. */
export function parseDiscoverAnswer(answer: UpstreamAnswer): UpstreamInfo {
  if (answer.kind === 'error') throw refusalFrom('server/discover', answer);
  const parsed = DiscoverResult.safeParse(answer.value);
  // A legacy server may answer an unknown method with anything.
  if (!parsed.success) throw new EraRefusal(`discover: ${zodFault(parsed.error)}`, 1);
  const { supportedVersions, capabilities, instructions, _meta } = parsed.data;
  if (!supportedVersions.includes(MODERN_REVISION)) {
    throw otherVersions(supportedVersions);
  }
  return {
    era: 'modern',
    protocolVersion: MODERN_REVISION,
    capabilities,
    serverInfo: (_meta?.[`${PREFIX}serverInfo`] ?? {}) as Record<string, unknown>,
    instructions: instructions ?? null,
  };
}
