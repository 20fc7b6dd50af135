/** Deletes of things of a cloud, a cluster or a registry that another command lists. */
import { deletedBranches, deletesSideBranches } from '../git-branches.ts';
import { wordSet } from '../word-set.ts';
import { nameOf } from './program-name.ts';
import type { ShellCommand } from './shell-frame.ts';
import { PRINTED } from './shell-variables.ts';

/** Programs whose things are operands, and those whose things are values of options. */
const OPERANDS = wordSet(
  'kubectl oc docker podman nerdctl helm gh glab gcloud doctl hcloud heroku fly flyctl vercel netlify eksctl lxc virsh vagrant multipass openstack ibmcloud userdel deluser redis-cli valkey-cli terraform tofu vault',
);
const OPTIONS = wordSet('aws az oci aliyun linode-cli');
/** Those that delete whatever they are given. */
const DELETE = wordSet('userdel deluser');
const VERBS = wordSet(
  'delete rm rmi rb remove destroy terminate uninstall purge undefine del unlink deleterepo',
);
const VERB = /^(?:batch-)?(?:delete|terminate|deregister|remove|purge)-[a-z-]{2,60}$/i;
/** Where the things are, and not which. */
const PLACES =
  /^(?:-[ngRlcfpho]|--(?:namespace|context|cluster|region|profile|project|zone|resource-group|subscription|location|repo|org|selector|filename|output|query|server|host|account|endpoint-url|kubeconfig))$/;
/** Options that take more than one thing. */
const SEVERAL = /(?:ids|names|arns|keys|entries|identifiers)$/;
/** Words before the verb, at most. */
const MAX_BEFORE = 6;

/** Whether a program is one of those. */
export const isOfThings = (name: string): boolean => OPERANDS.has(name) || OPTIONS.has(name);

/**
 * Whether a program deletes things, and which of them only the run shows.
 *
 * @param rest the words after the program; empty where a substitution prints one
 * @param isHanded whether it gets them of a pipe, as from xargs
 */
export function deletesListedThings(
  name: string,
  rest: readonly string[],
  command: ShellCommand,
  isHanded: boolean,
): boolean {
  const { isCut = false, hasList = false } = command;
  const areOptions = OPTIONS.has(name);
  if (name === 'git') return isHanded && deletesSideBranches(rest);
  // What xargs puts into a line for a shell.
  const isFilled = rest.some(
    (word, at) => FILLED.test(word) && (!areOptions || SEVERAL.test(rest[at - 1] ?? '')),
  );
  if (!isOfThings(name) || (!isCut && !isHanded && !isFilled)) return false;
  if (!isFilled && isBoundByName(command, isHanded)) return false;
  const verb = DELETE.has(name) ? -1 : verbAt(rest);
  if (verb === undefined || rest.some((word) => HARMLESS.test(word))) return false;
  if (isHanded || isFilled) return true;
  return rest.some((word, at) => {
    // One that is looked up is no list.
    if (at <= verb || !((word === '' && hasList) || word === PRINTED)) return false;
    const before = rest[at - 1] ?? '';
    if (PLACES.test(before) && !areOptions) return false;
    if (!areOptions || !before.startsWith('-')) return true;
    return SEVERAL.test(before) || (word === PRINTED && !PLACES.test(before));
  });
}

/** Whether all that a command is given has a certain name, by whatever way it is given. */
export function isBoundByName(
  { isCut = false, isNamed = false, isPipeNamed = false }: ShellCommand,
  isHanded: boolean,
): boolean {
  return isHanded ? isPipeNamed && (!isCut || isNamed) : isNamed;
}

const FILLED = /^(?:[\w./:-]{0,100}\/)?\{\}$/;
const HARMLESS = /^--(?:dry-?run(?:$|=(?!none))|help$|no-)/;

/** Where the verb stands among the first words of a command. */
function verbAt(rest: readonly string[]): number | undefined {
  let left = MAX_BEFORE;
  for (let at = 0; at < rest.length && left > 0; at++) {
    const word = rest[at] as string;
    if (word.startsWith('-')) continue;
    if (VERBS.has(nameOf(word)) || VERB.test(word)) return at;
    left--;
  }
  return undefined;
}

/**
 * How many things a program deletes that are named one by one.
 *
 * @param rest the words after the program
 */
export function countDeletedThings(name: string, rest: readonly string[]): number {
  if (name === 'git') return deletedBranches(rest)?.length ?? 0;
  if (!isOfThings(name)) return 0;
  const verb = DELETE.has(name) ? -1 : verbAt(rest);
  if (verb === undefined || rest.some((word) => HARMLESS.test(word))) return 0;
  const things = rest.slice(verb + 1).filter((word) => word !== '' && !word.startsWith('-'));
  // Lists within a word: `--ids a,b,c`.
  return things.reduce((count, word) => count + word.split(',').length, 0);
}

const CONTAINERS = wordSet('docker podman nerdctl');
const FILTER = /^(?:-[a-z]*f|--filter)(?:=|$)/;
/** Two signs at least: a filter by one letter finds nearly everything. */
const NAMED = /^["']?(?:name|id|label|ancestor)=\^?[/\w.-]*[a-z0-9]{2}[\w.=/:$-]*["']?$/i;

const PASSES_ON = wordSet('head tail sort uniq');

/** Whether a pipeline lists only what has a certain name, as far as its last command goes. */
export const pipesByName = ({ words, isPiped }: ShellCommand, before: boolean): boolean =>
  isPiped ? before && PASSES_ON.has(nameOf(words[0])) : listsByName(words);

/** Whether a command lists only containers that have a certain name: `docker ps -qf name=web`. */
export function listsByName(words: readonly string[]): boolean {
  if (!CONTAINERS.has(nameOf(words[0]))) return false;
  return words.some((word, at) => {
    if (!FILTER.test(word)) return false;
    const value = word.includes('=') ? word.slice(word.indexOf('=') + 1) : (words[at + 1] ?? '');
    return NAMED.test(value);
  });
}
