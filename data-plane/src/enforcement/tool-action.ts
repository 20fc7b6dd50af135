import { wordsOfName } from '@governance/shared/words-of-name';
import type { ToolHeader } from '../upstream/modern/tool-headers.ts';
import type { Action } from './calls.ts';
import { NOUN_WORDS, VERB_STEMS, VERB_WORDS } from './tool-words.ts';

/** A server's hints about its tool (MCP, ToolAnnotations). Untrusted: the server wrote them. */
export interface ToolHints {
  readOnlyHint?: boolean | undefined;
  destructiveHint?: boolean | undefined;
  /** The arguments that a modern client repeats in headers, if there are any. */
  headers?: readonly ToolHeader[] | undefined;
  /** The action that an administrator set for the tool's definition at that time. */
  override?: ActionOverride | undefined;
}

export interface ActionOverride {
  action: Action;
  /** Whether the tool's definition is still the one that it was set for. */
  isInForce: boolean;
}

/** From the least dangerous to the most. */
const DANGER: readonly Action[] = ['read', 'write', 'execute', 'delete'];

/** The more dangerous of two. */
export function worseAction(one: Action, other: Action): Action {
  return DANGER.indexOf(one) < DANGER.indexOf(other) ? other : one;
}

/**
 * Whether a tool reads, writes, deletes or executes (docs/tool-actions.md).
 *
 * Of all words of the name the most dangerous one decides. The hints of the server are believed
 * only as far as they make the call look more dangerous, or settle what the name leaves open: a
 * server cannot pass `delete_file` off as a read. A name that says nothing, with no hint, is
 * `execute`. What an administrator said of the tool stands above both; where the definition has
 * changed since, it can only raise what they say.
 */
export function deriveAction(toolName: string, hints: ToolHints | undefined): Action {
  const derived = hintedAction(toolName, hints);
  const override = hints?.override;
  if (override === undefined) return derived;
  return override.isInForce ? override.action : worseAction(derived, override.action);
}

function hintedAction(toolName: string, hints: ToolHints | undefined): Action {
  const named = actionOfName(toolName);
  if (hints?.destructiveHint === true && hints.readOnlyHint !== true) {
    return named === undefined ? 'delete' : worseAction(named, 'write');
  }
  if (hints?.readOnlyHint === false) return worseAction(named ?? 'write', 'write');
  if (hints?.readOnlyHint === true) return named ?? 'read';
  return named ?? 'execute';
}

/** A word after one of these counts like the first word. */
const JOINING = new Set(['and', 'then', 'or']);

/** Names whose action is cached, and the characters of each, at most. */
const MAX_KNOWN_NAMES = 4096;
const MAX_KNOWN_LENGTH = 256;
const knownNames = new Map<string, Action | undefined>();

/** Caches the action of a name: the same few tools are called again and again. */
function actionOfName(toolName: string): Action | undefined {
  const known = knownNames.get(toolName);
  if (known !== undefined || knownNames.has(toolName)) return known;
  const action = readName(toolName);
  if (toolName.length > MAX_KNOWN_LENGTH) return action;
  // An agent may call tools by any name.
  if (knownNames.size >= MAX_KNOWN_NAMES) knownNames.clear();
  knownNames.set(toolName, action);
  return action;
}

function readName(toolName: string): Action | undefined {
  let found: Action | undefined;
  const words = wordsOfName(toolName);
  for (const [at, word] of words.entries()) {
    const previous = words[at - 1];
    const isFirst = previous === undefined || JOINING.has(previous);
    const said = actionOfWord(word, isFirst, words[at + 1] !== undefined);
    if (said !== undefined) found = found === undefined ? said : worseAction(found, said);
  }
  return found;
}

function actionOfWord(word: string, isFirst: boolean, hasObject: boolean): Action | undefined {
  // A word that mixes scripts imitates another one.
  if (LATIN.test(word) && OTHER.test(word)) return 'execute';
  const verb = VERB_WORDS.get(word);
  if (verb !== undefined) return verb;
  // A final `list` is a noun: something is done with a list, but nothing is listed.
  if (word === 'list') return isFirst || hasObject ? 'read' : undefined;
  if (isFirst) {
    const noun = NOUN_WORDS.get(word);
    if (noun !== undefined) return noun;
  }
  // Written together: `deletefile`, `bulkdelete`.
  const stem = VERB_STEMS.find(
    ([, verb]) =>
      (word.startsWith(verb) && word.length >= verb.length + 3) ||
      (word.endsWith(verb) && word.length >= verb.length + 2),
  );
  return stem?.[0];
}

const LATIN = /\p{Script=Latin}/u;
const OTHER = /[^\p{Script=Latin}]/u;
