import { type UpstreamExchange, UpstreamFailure, type UpstreamSession } from '../upstream.ts';

/** The list methods of MCP, each with the member of the answer that holds its items. */
export const LIST_MEMBERS = {
  'tools/list': 'tools',
  'resources/list': 'resources',
  'resources/templates/list': 'resourceTemplates',
  'prompts/list': 'prompts',
} as const;
export type ListMethod = keyof typeof LIST_MEMBERS;

/** An item as its server wrote it. */
export type ListedItem = Record<string, unknown>;

/**
 * Asks a server for one page of a list.
 *
 * @throws UpstreamFailure; a JSON-RPC error of the server is a `refused`
 */
export async function listPage(
  session: Pick<UpstreamSession, 'request'>,
  method: ListMethod,
  cursor: string | undefined,
  exchange: UpstreamExchange,
) {
  const members = cursor === undefined ? '' : `"cursor":${JSON.stringify(cursor)}`;
  const answer = await session.request({ method, members, wantsProgress: false }, exchange);
  if (answer.kind === 'error') {
    const shown = answer.raw.slice(0, 200);
    throw new UpstreamFailure('refused', `${method} was answered with ${shown}`);
  }
  const value = answer.value as Record<string, unknown>;
  const items = value[LIST_MEMBERS[method]];
  if (!Array.isArray(items)) {
    throw new UpstreamFailure('malformed', `${method} without ${LIST_MEMBERS[method]}`);
  }
  const { nextCursor } = value;
  return {
    items: items.filter((item): item is ListedItem => typeof item === 'object' && item !== null),
    nextCursor: typeof nextCursor === 'string' && nextCursor !== '' ? nextCursor : undefined,
  };
}
