import { listPage } from './list-page.ts';
import type { UpstreamExchange, UpstreamSession } from './upstream.ts';

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
  exchange?: UpstreamExchange,
): Promise<ToolPage> {
  const { items, nextCursor } = await listPage(session, 'tools/list', cursor, exchange);
  return {
    // What has no name cannot be called.
    tools: items.filter((tool): tool is ListedTool => typeof tool.name === 'string'),
    nextCursor,
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
