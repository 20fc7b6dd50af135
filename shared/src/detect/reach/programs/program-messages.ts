/** Texts that a command hands to a server or a history: messages, titles, bodies. They name no files. */
import { wordSet } from '../word-set.ts';

interface Messages {
  /** Commands of a program that take a text. */
  readonly commands: ReadonlySet<string>;
  /** Options whose value is one, in the next word or behind it in the same. */
  readonly option: RegExp;
}

/** Of git, which shows files with other commands: `git show HEAD:.env`. */
const git: Messages = {
  commands: wordSet('commit tag merge stash notes'),
  option: /^(?:-[aqsvneSu]*m|--message)(?:=|$)/,
};
const server: Messages = {
  commands: wordSet('pr mr issue issues release ticket task card incident comment note workitem'),
  option:
    /^(?:-[btmnds]|--(?:body|title|notes|message|description|summary|subject|comment|text))(?:=|$)/,
};
const PROGRAMS = new Map<string, Messages>([
  ['git', git],
  ['hg', { ...git, commands: wordSet('commit ci tag') }],
  ['svn', { ...git, commands: wordSet('commit ci import copy delete') }],
  ...['gh', 'glab', 'hub', 'tea', 'jira', 'acli', 'linear', 'bd'].map(
    (name): [string, Messages] => [name, server],
  ),
]);

/** Words of options with their values before the command, at most. */
const MAX_BEFORE = 5;

/**
 * The words behind a program without such texts.
 *
 * @param name of the program
 */
export function withoutMessages(name: string, rest: readonly string[]): readonly string[] {
  const messages = PROGRAMS.get(name);
  if (!messages?.commands.has(commandOf(rest))) return rest;
  const end = rest.indexOf('--');
  return rest.filter((word, at) => {
    if (end >= 0 && at > end) return true;
    const before = rest[at - 1] ?? '';
    const isValue = messages.option.test(before) && !before.includes('=') && word !== '--';
    return !isValue && !(messages.option.test(word) && word.includes('='));
  });
}

/** Options of git before its command that have a value in the next word. */
const VALUE = /^(?:-[CcR]|--(?:git-dir|work-tree|namespace|repo))$/;

/** The first word that is no option, and no value of one. */
function commandOf(rest: readonly string[]): string {
  const first = rest
    .slice(0, MAX_BEFORE)
    .find((word, at) => !word.startsWith('-') && !VALUE.test(rest[at - 1] ?? ''));
  return first ?? '';
}
