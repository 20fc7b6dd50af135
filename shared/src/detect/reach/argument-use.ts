/** What a call does with an argument, as its name and the tool's say. */
import type { ArgumentName } from './arguments/argument-kinds.ts';
import type { CallScope, ToolKind } from './call-scope.ts';
import { isWithinDocument } from './document-places.ts';
import type { PathUse } from './reach-finding.ts';
import { wordSet } from './word-set.ts';

const SOURCES = wordSet('src source sources from old');
const TARGETS = wordSet('dst dest destination destinations to new target');

/** Words of tools that reach phones, beside those that send. */
const CALLS = wordSet('call calls dial fax whatsapp');
/** Words of ids that are recipients of what is sent. */
const USERS = wordSet(
  'user users member members contact contacts subscription subscriptions player players device devices token tokens registration registrations',
);
/** Words of the names of what stands for a device that messages are pushed to. */
const TOKENS = wordSet('token tokens subscriptions players');
const OF_TOKENS = wordSet('device registration push fcm apns expo target');

/**
 * Whether an argument names recipients; ids of users, phones and tokens of devices do where
 * something is sent.
 *
 * @param depth how many names lead to it
 */
export function isRecipient(name: ArgumentName, tool: ToolKind, depth: number): boolean {
  const { kind, words } = name;
  if (kind === 'recipient') return !tool.isMove;
  if (kind === 'phone') return tool.isSend || tool.words.some((word) => CALLS.has(word));
  if (kind === 'other') return (tool.isSend || tool.words.includes('push')) && isToken(name, depth);
  if (!tool.isSend || kind !== 'ids') return false;
  // Without another word they are those of phones.
  return words.join(' ') === 'numbers' || words.some((word) => USERS.has(word));
}

/** Of a device; a single `token` beside the message lets somebody in. */
function isToken({ words, last }: ArgumentName, depth: number): boolean {
  if (!TOKENS.has(last) || !words.slice(0, -1).every((word) => OF_TOKENS.has(word))) return false;
  return last !== 'token' || words.length > 1 || depth > 2;
}

/** What a document holds that is no file of its own. */
const IN_DOCUMENT = wordSet(
  'sheet sheets worksheet worksheets range ranges cell cells row rows column columns pivot slicer sparklines paragraph paragraphs footnote footnotes endnote endnotes slide slides',
);
const FILES = wordSet(
  'file files path folder folders dir directory directories document documents workbook workbooks spreadsheet presentation',
);
const HAS_ENDING = /[^./\\]\.[a-z0-9]{2,5}$/i;

/** Whether the tool deletes within the document that a path names: `delete_rows`. */
const isWithin = (tool: readonly string[], path: string): boolean =>
  tool.some((word) => IN_DOCUMENT.has(word)) &&
  !tool.some((word) => FILES.has(word)) &&
  HAS_ENDING.test(path);

/** What a call does with the path that an argument names. */
export function useOf(
  name: ArgumentName,
  path: string,
  { call, tool, namesDocument }: CallScope,
): { use: PathUse; isMoved?: boolean } {
  const { action } = call;
  const { words } = name;
  if (action === 'read') return { use: action };
  if (action === 'delete') {
    const isPart =
      isWithin(tool.words, path) || (namesDocument && isWithinDocument(name, path, tool.words));
    return { use: isPart ? 'write' : action };
  }
  const isSource = words.some((word) => SOURCES.has(word));
  if (tool.isMove && !words.some((word) => TARGETS.has(word))) {
    return { use: 'delete', isMoved: true };
  }
  return { use: isSource && tool.isCopy ? 'read' : 'write' };
}
