import type { ToolHeader } from '../upstream/modern/tool-headers.ts';
import type { Action } from './calls.ts';

/** What a server says of its tool (MCP, ToolAnnotations). Untrusted: the server wrote it. */
export interface ToolHints {
  readOnlyHint?: boolean | undefined;
  destructiveHint?: boolean | undefined;
  /** The arguments that a modern client repeats in headers, where there are such. */
  headers?: readonly ToolHeader[] | undefined;
}

// The words are compared one by one, in the order of the name: the first that says something wins.
const VERBS: readonly (readonly [Action, readonly string[]])[] = [
  ['delete', words('delete remove rm rmdir unlink drop truncate purge destroy erase wipe clear')],
  [
    'read',
    words(
      'read get list ls fetch find search query show describe view count check stat status head tail cat grep look lookup browse download inspect tree exists info summarize',
    ),
  ],
  [
    'write',
    words(
      'write create update set put add insert append edit modify change patch save upload move mv rename copy cp mkdir touch replace merge upsert post publish comment assign tag label toggle enable disable restore',
    ),
  ],
  [
    'execute',
    words(
      'execute exec run call invoke eval start stop restart kill send trigger deploy submit apply launch schedule cancel approve pay transfer email notify install',
    ),
  ],
];

const ACTION_OF = new Map(VERBS.flatMap(([action, list]) => list.map((word) => [word, action])));

function words(list: string): string[] {
  return list.split(' ');
}

/**
 * Whether a tool reads, writes, deletes or executes (architecture, "Policy contract").
 *
 * The hints of the server are believed only as far as they make the call look more dangerous, or
 * settle what the name leaves open: a server cannot pass `delete_file` off as a read. A name that
 * says nothing, with no hint, is `execute`.
 */
export function deriveAction(toolName: string, hints: ToolHints | undefined): Action {
  const named = actionOfName(toolName);
  if (hints?.destructiveHint === true && hints.readOnlyHint !== true) {
    if (named === undefined) return 'delete';
    return named === 'read' ? 'write' : named;
  }
  if (hints?.readOnlyHint === false)
    return named === undefined || named === 'read' ? 'write' : named;
  if (hints?.readOnlyHint === true) return named ?? 'read';
  return named ?? 'execute';
}

function actionOfName(toolName: string): Action | undefined {
  // snake_case, kebab-case, dotted and camelCase names fall into the same words.
  const split = toolName.replace(/([a-z0-9])([A-Z])/g, '$1 $2').toLowerCase();
  for (const word of split.split(/[^a-z]+/)) {
    const action = ACTION_OF.get(word);
    if (action !== undefined) return action;
  }
  return undefined;
}
