/** Branches that a command of git deletes, each by its name. */
import { wordSet } from './word-set.ts';

/** Branches on which others build, and those of a database, which hold its data: `br-…`. */
const MAIN =
  /^(?:refs\/heads\/)?(?:(?:origin|upstream)\/)?(?:main|master|trunk|dev|develop|development|staging|prod|production|stable|default|next|(?:releases?|hotfix)(?:[/-].*)?|v?\d[\w.-]*|br-.*)$/i;
const NAME = /^(?!refs\/(?!heads\/))(?!-)[\w./#@+-]{1,250}$/;

/** Whether a name is that of one branch on which nobody builds. */
export const isSideBranchName = (name: string): boolean => NAME.test(name) && !MAIN.test(name);

const COMMANDS = wordSet('branch push update-ref');
const DELETES: Readonly<Record<string, RegExp>> = {
  branch: /^(?:-[a-zA-Z]*[dD][a-zA-Z]*|--delete)$/,
  push: /^(?:-[a-zA-Z]*d[a-zA-Z]*|--delete)$/,
  'update-ref': /^-d$/,
};
/** Options that change more than what is named. */
const MORE = /^(?:--all|--mirror|--prune|--tags|--stdin)$/;
/** Words before the command, at most. */
const MAX_BEFORE = 6;

/**
 * The names of the branches that a command deletes.
 *
 * @param rest the words after `git`; empty where a substitution prints one
 * @returns undefined for another command
 */
export function deletedBranches(rest: readonly string[]): readonly string[] | undefined {
  const at = rest.slice(0, MAX_BEFORE).findIndex((word) => COMMANDS.has(word));
  const command = rest[at];
  if (command === undefined) return undefined;
  const words = rest.slice(at + 1);
  const hasOption = words.some((word) => DELETES[command]?.test(word));
  const operands = words.filter((word) => !word.startsWith('-'));
  // The first one is the server.
  const names = command === 'push' ? operands.slice(1) : operands;
  if (command === 'push' && !hasOption) {
    const deleted = names.filter((name) => name.startsWith(':'));
    return deleted.length > 0 ? deleted.map((name) => name.slice(1)) : undefined;
  }
  if (!hasOption) return undefined;
  // The commit that the branch is expected to be at may follow.
  return command === 'update-ref' ? names.slice(0, 1) : names;
}

/** Whether a command deletes no more than branches on which nobody builds. */
export function deletesSideBranches(rest: readonly string[]): boolean {
  const names = deletedBranches(rest);
  if (names === undefined || names.length === 0) return false;
  return names.every(isSideBranchName) && !rest.some((word) => MORE.test(word));
}
