import { asksForDelete } from '@governance/shared/detect/reach/deleted-store';
import { NOUN_WORDS, VERB_STEMS, VERB_WORDS } from '@governance/shared/mcp/tool-words';
import { wordsOfName } from '@governance/shared/mcp/words-of-name';
import type { ToolHeader } from '../../upstream/modern/tool-headers.ts';
import type { Action } from './calls.ts';

/** What is known of a tool. The hints are the server's (MCP ToolAnnotations), so untrusted. */
export interface ToolHints {
  readOnlyHint?: boolean | undefined;
  destructiveHint?: boolean | undefined;
  /** The arguments that a modern client repeats in headers; absent where there are none. */
  headers?: readonly ToolHeader[] | undefined;
  /** The arguments that ask for a dry run, as its input schema declares them. */
  dryRun?: readonly string[] | undefined;
  /** The arguments that choose between operations, a delete among them, as its schema declares. */
  operations?: readonly Operation[] | undefined;
  /** The action that an administrator set for the tool. */
  override?: ActionOverride | undefined;
}

/** An argument that chooses, and the values that its tool's input schema lists for it. */
export interface Operation {
  readonly name: string;
  readonly values: readonly string[];
}

export interface ActionOverride {
  action: Action;
  /** Whether the tool still has the definition for which the action was set. */
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
 * The most dangerous word of the name decides. The server's hints count only where they make the
 * action more dangerous, or where the name does not show one: a server cannot declare `delete_file`
 * a read. Without a telling name and a hint the action is `execute`. An action that an
 * administrator set takes precedence over name and hints; where the definition has changed since,
 * it counts only where it is more dangerous.
 */
export function deriveAction(toolName: string, hints: ToolHints | undefined): Action {
  const derived = hintedAction(toolName, hints);
  const override = hints?.override;
  if (override === undefined) return derived;
  return override.isInForce ? override.action : worseAction(derived, override.action);
}

function hintedAction(toolName: string, hints: ToolHints | undefined): Action {
  const named = actionOfName(toolName);
  if (hints?.destructiveHint === true) {
    return named === undefined ? 'delete' : worseAction(named, 'write');
  }
  if (hints?.readOnlyHint === false) return worseAction(named ?? 'write', 'write');
  if (hints?.readOnlyHint === true) return named ?? 'read';
  return named ?? 'execute';
}

/**
 * What a call of the tool does by the operation that it asks for; otherwise what the tool does. Only
 * for the blast radius: a tool is a delete by its server's hint alone since one of its operations is,
 * and another one counts as if the hint were not there. So the server gains nothing by listing
 * operations, nor the agent by an argument that the server does not know.
 */
export function operationOf(
  toolName: string,
  args: Readonly<Record<string, unknown>>,
  hints: ToolHints | undefined,
): Action {
  const action = deriveAction(toolName, hints);
  const { operations = [], override, destructiveHint, readOnlyHint } = hints ?? {};
  const isHinted = destructiveHint === true && readOnlyHint !== true && override === undefined;
  if (action !== 'delete' || !isHinted || operations.length === 0) return action;
  const isOther = operations.every(({ name, values }) => {
    const value = Object.hasOwn(args, name) ? args[name] : undefined;
    if (typeof value !== 'string' || !values.includes(value) || asksForDelete(value)) return false;
    const said = actionOfName(value);
    return said !== undefined && said !== 'delete';
  });
  return isOther ? hintedAction(toolName, { ...hints, destructiveHint: undefined }) : action;
}

/**
 * Whether a call asks for a dry run. It counts only by an argument that the tool declares: a server
 * ignores one that it does not know, and an agent may add any.
 */
export function asksForDryRun(
  args: Readonly<Record<string, unknown>>,
  hints: ToolHints | undefined,
): boolean {
  return hints?.dryRun?.some((name) => Object.hasOwn(args, name) && args[name] === true) === true;
}

/** A word after one of these counts as the first word of a name. */
const JOINING = new Set(['and', 'then', 'or']);

/** Most names whose action is cached, and most characters of such a name. */
const MAX_KNOWN_NAMES = 4096;
const MAX_KNOWN_LENGTH = 256;
const knownNames = new Map<string, Action | undefined>();

/** Caches the action of a name: the same few tools are called again and again. */
function actionOfName(toolName: string): Action | undefined {
  const known = knownNames.get(toolName);
  if (known !== undefined || knownNames.has(toolName)) return known;
  const action = readName(toolName);
  if (toolName.length > MAX_KNOWN_LENGTH) return action;
  // Bounded, since an agent may call any name.
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
  // A word that mixes scripts, or has a Latin look-alike in it, imitates another one.
  if (LATIN.test(word) && NOT_ASCII.test(word)) return 'execute';
  const verb = VERB_WORDS.get(word);
  if (verb !== undefined) return verb;
  // `list` at the end of a longer name is a noun: something is done with a list.
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
const NOT_ASCII = /[^a-z]/;
