import {
  Cancellation,
  type UpstreamExchange,
  UpstreamFailure,
  type UpstreamSession,
} from './upstream.ts';

/** A tool as its server describes it: `name`, and whatever else it wrote. */
export interface ListedTool {
  name: string;
  [member: string]: unknown;
}

export interface ToolPage {
  tools: ListedTool[];
  nextCursor: string | undefined;
}

/** Pages of one server's list that are read at most, for a server whose cursor never ends. */
const MAX_PAGES = 50;

/**
 * Asks a server for one page of its tools.
 *
 * @throws UpstreamFailure; a JSON-RPC error of the server is a `refused`
 */
export async function listToolPage(
  session: UpstreamSession,
  cursor: string | undefined,
  exchange: UpstreamExchange = QUIET,
): Promise<ToolPage> {
  const members = cursor === undefined ? '' : `"cursor":${JSON.stringify(cursor)}`;
  const request = { method: 'tools/list', members, wantsProgress: false };
  const answer = await session.request(request, exchange);
  if (answer.kind === 'error') {
    throw new UpstreamFailure(
      'refused',
      `tools/list was answered with ${answer.raw.slice(0, 200)}`,
    );
  }
  const { tools, nextCursor } = answer.value as { tools?: unknown; nextCursor?: unknown };
  if (!Array.isArray(tools)) throw new UpstreamFailure('malformed', 'tools/list without tools');
  return {
    // What has no name cannot be called.
    tools: tools.filter((tool): tool is ListedTool => typeof tool?.name === 'string'),
    nextCursor: typeof nextCursor === 'string' && nextCursor !== '' ? nextCursor : undefined,
  };
}

/** All tools of a server. Throws UpstreamFailure. */
export async function listAllTools(session: UpstreamSession): Promise<ListedTool[]> {
  const all: ListedTool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const { tools, nextCursor } = await listToolPage(session, cursor);
    all.push(...tools);
    if (nextCursor === undefined) break;
    cursor = nextCursor;
  }
  return all;
}

const QUIET: UpstreamExchange = {
  onNotification: () => undefined,
  // Never cancelled; a getter, since an exchange that is shared must not keep anybody's listener.
  get cancellation() {
    return new Cancellation();
  },
};
