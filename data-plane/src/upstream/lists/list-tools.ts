import { isMethodName } from '@governance/shared/tokens/permission';
import type { Asker, UpstreamSession } from '../upstream.ts';
import type { ListedItem } from './list-page.ts';
import { LIST_BUDGETS, LIST_START, type ListPart, readListPart } from './list-part.ts';

/** A tool as its server describes it: `name`, and whatever else it wrote. */
export interface ListedTool {
  name: string;
  [member: string]: unknown;
}

/** Pages of one server's list that are read at a time. */
export const TOOL_PAGES = 50;
/** A tool with a longer name cannot be called. */
export const MAX_TOOL_NAME = 256;

/** The tools that can be called by their name. */
export function callableTools(items: ListedItem[]): ListedTool[] {
  return items.filter(
    (tool): tool is ListedTool =>
      typeof tool.name === 'string' &&
      tool.name.length <= MAX_TOOL_NAME &&
      !isMethodName(tool.name),
  );
}

/**
 * All tools of a server, as far as its list is read. Throws UpstreamFailure.
 *
 * @param asker on whose behalf; it is asked before each page
 */
export async function listAllTools(
  session: UpstreamSession,
  asker: Asker,
): Promise<Pick<ListPart, 'leftOut' | 'rest'> & { tools: ListedTool[] }> {
  const { items, rest, leftOut } = await readListPart(session, 'tools/list', LIST_START, {
    room: LIST_BUDGETS['tools/list'],
    pages: TOOL_PAGES,
    ...asker,
  });
  const cut = rest && `tools/list: what is beyond ${TOOL_PAGES} pages or came too late is left out`;
  return { tools: callableTools(items), rest, leftOut: leftOut ?? cut };
}
