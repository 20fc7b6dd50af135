/** What a call does with an argument, as its name and the tool's say. */
import type { ArgumentName } from './argument-kinds.ts';
import type { CallScope, ToolKind } from './call-scope.ts';
import type { PathUse } from './reach-finding.ts';
import { wordSet } from './word-set.ts';

const SOURCES = wordSet('src source sources from old');
const TARGETS = wordSet('dst dest destination destinations to new target');

/** Words of tools that reach phones, beside those that send. */
const CALLS = wordSet('call calls dial fax whatsapp');
/** Words of ids that are recipients of what is sent. */
const USERS = wordSet(
  'user users member members contact contacts subscription subscriptions player players device devices token tokens',
);

/** Whether an argument names recipients; ids of users and phones do where something is sent. */
export function isRecipient({ kind, words }: ArgumentName, tool: ToolKind): boolean {
  if (kind === 'recipient') return !tool.isMove;
  if (kind === 'phone') return tool.isSend || tool.words.some((word) => CALLS.has(word));
  if (!tool.isSend || kind !== 'ids') return false;
  // Without another word they are those of phones.
  return words.join(' ') === 'numbers' || words.some((word) => USERS.has(word));
}

/** What a call does with the path that an argument names. */
export function useOf(
  { words }: ArgumentName,
  { call, tool }: CallScope,
): { use: PathUse; isMoved?: boolean } {
  const { action } = call;
  if (action === 'read' || action === 'delete') return { use: action };
  const isSource = words.some((word) => SOURCES.has(word));
  if (tool.isMove && !words.some((word) => TARGETS.has(word))) {
    return { use: 'delete', isMoved: true };
  }
  return { use: isSource && tool.isCopy ? 'read' : 'write' };
}
