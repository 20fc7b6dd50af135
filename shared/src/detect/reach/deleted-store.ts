/** Deletes of a whole store of data, as the names of a tool and its arguments say. */
import { wordsOfName } from '../../mcp/words-of-name.ts';
import { MAX_NAME, readArgumentName } from './arguments/argument-kinds.ts';
import { isSideBranchName } from './git-branches.ts';
import { escalates, type ReachCall } from './reach-finding.ts';
import { wordSet } from './word-set.ts';

export const DELETES_A_STORE = escalates('delete_whole', 'the call deletes a whole store of data');

/** Containers of everything that somebody has. */
const STORES = wordSet(
  'database databases schema schemas keyspace keyspaces cluster clusters bucket buckets volume volumes repository repositories tenant tenants organization organizations',
);
/** Those that count only where the name says that they are deleted. */
const PARTS = wordSet(
  'repo repos table tables collection collections namespace namespaces ns project projects group groups stack stacks branch branches topic topics queue queues dataset datasets datastore datastores filesystem filesystems workspace workspaces vault vaults space team teams board boards guild guilds calendar calendars mailbox mailboxes zone zones environment environments site sites subtree realm realms catalog catalogs vpc vpcs',
);
/** Those whose last word alone is something smaller. */
const OF_TWO_WORDS = new Set([
  'user pool',
  'identity pool',
  'hosted zone',
  'file system',
  'db instance',
  'storage account',
  'data store',
  'data lake',
  'shared drive',
]);
/** Of a search server they hold the data; those of a table can be made again. */
const INDICES = wordSet('index indexes indices');
const OWNERS = wordSet('table collection');

const VERBS = wordSet(
  'delete deletes del remove rm rmdir drop purge destroy erase wipe truncate clear empty unlink nuke obliterate terminate deprovision decommission',
);
/** Of a machine, all that is on it. */
const WIPES = wordSet('wipe erase');
const DEVICES = wordSet('device devices disk disks drive drives machine computer phone');
/** Verbs after which something may only be taken away from another. */
const DETACHES = wordSet('remove rm');
/** First words of tools that change what they name, whatever their operation. */
const CHANGES = wordSet('update edit modify set patch add configure');
/** Words that end what is deleted: `remove_label_from_project` removes a label. */
const LINKS = wordSet('from of in on at to by with for via if and or then');
/** Words that leave open what is deleted: an argument says it. */
const ANYTHING = wordSet(
  'resource resources object objects entity entities item items asset assets manifest kubectl kubernetes s',
);
/** Kinds of Kubernetes that hold data, or of which all objects go with them. */
const KINDS = wordSet(
  'persistentvolumeclaim persistentvolumeclaims pvc persistentvolume persistentvolumes pv customresourcedefinition customresourcedefinitions crd',
);
/** First words of the names of such arguments: `resource_type`. */
const OF_TYPE = wordSet('resource object entity item asset target');

const OPERATIONS = wordSet('operation op action verb method mode command');
const DELETES = wordSet('delete remove rm rmdir unlink erase purge wipe drop');

const OF_SHELL = wordSet('rm rmdir unlink erase');

/** Whether a word says that something is deleted. */
export const isDeletion = (word: string): boolean => VERBS.has(word);

const lastWordOf = (key: string): string =>
  (key.length > MAX_NAME ? wordsOfName(key).at(-1) : readArgumentName(key).last) ?? '';

/** Whether an argument says which of several things a tool does. */
export const isOperation = (key: string): boolean => OPERATIONS.has(lastWordOf(key));

/** Whether such an argument asks for a delete. */
export const asksForDelete = (value: string): boolean => DELETES.has(wordsOfName(value)[0] ?? '');

/** The words of an argument that asks for a delete, where a tool does several things. */
export function findDeleteOperation(
  args: Readonly<Record<string, unknown>>,
): readonly string[] | undefined {
  for (const key of Object.keys(args)) {
    const value = args[key];
    if (typeof value !== 'string' || value.length > 100) continue;
    if (!isOperation(key)) continue;
    const last = lastWordOf(key);
    // What a shell runs is read as its command line.
    if (last === 'command' && /\s/.test(value)) continue;
    const words = wordsOfName(value);
    const [verb = ''] = words;
    if (last === 'command' && OF_SHELL.has(verb)) continue;
    if (DELETES.has(verb)) return words;
  }
  return undefined;
}

/**
 * Whether a delete removes a whole store.
 *
 * @param words of the tool's name
 * @param operation the words of the argument that asked for the delete
 */
export function deletesStore(
  { args }: ReachCall,
  words: readonly string[],
  operation: readonly string[] = [],
): boolean {
  // An empty one holds nothing.
  if (args.if_empty === true || args.ifEmpty === true) return false;
  const named = operation.length > 1 ? operation : words;
  const said = [...named, ...operation];
  const isNamed = named.some(isDeletion);
  if (!isNamed && operation.length > 0 && CHANGES.has(words[0] ?? '')) return false;
  const thing = deletedThing(named);
  if (named.some((word) => WIPES.has(word)) && DEVICES.has(thing ?? '')) return true;
  if (thing === undefined || !ANYTHING.has(thing)) {
    const isCertain = isNamed || operation.length > 0;
    return STORES.has(thing ?? '') || (isCertain && isPart(thing, said, args, words));
  }
  return Object.keys(args).some((key) => {
    const value = args[key];
    if (typeof value !== 'string' || value.length > 100 || !isTypeName(key)) return false;
    if (KINDS.has(value.toLowerCase())) return true;
    const kind = wordsOfName(value).at(-1);
    return STORES.has(kind ?? '') || isPart(kind, said, args, words);
  });
}

function isPart(
  thing: string | undefined,
  words: readonly string[],
  args: Readonly<Record<string, unknown>>,
  tool: readonly string[],
): boolean {
  if (thing === 'branch' && isSideBranch(args, tool)) return false;
  if (thing === undefined || PARTS.has(thing)) return thing !== undefined;
  if (OF_TWO_WORDS.has(thing)) return true;
  if (!INDICES.has(thing) || words.includes('drop')) return false;
  return !Object.keys(args).some((key) =>
    readArgumentName(key).words.some((word) => OWNERS.has(word)),
  );
}

const REPOSITORIES = wordSet('repo repository project');
const OF_DATABASE = wordSet('database db');

/** Whether one branch of a git repository is named, which is not its main one. */
function isSideBranch(args: Readonly<Record<string, unknown>>, tool: readonly string[]): boolean {
  let branch: unknown;
  let hasRepository = tool[0] === 'git';
  for (const key of Object.keys(args)) {
    const { words, last } = readArgumentName(key);
    if (words.some((word) => OF_DATABASE.has(word))) return false;
    hasRepository ||= words.some((word) => REPOSITORIES.has(word));
    if (last === 'branch' || last === 'ref' || words.join(' ') === 'branch name') {
      if (branch !== undefined) return false;
      branch = args[key];
    }
  }
  return hasRepository && typeof branch === 'string' && isSideBranchName(branch);
}

/** The noun of a name that follows the verb, or stands before it: `project.delete`. */
export function deletedThing(words: readonly string[]): string | undefined {
  const at = words.findIndex(isDeletion);
  const verb = words[at];
  if (verb === undefined) return words.at(-1);
  const after = words.slice(at + 1);
  const end = after.findIndex((word) => LINKS.has(word));
  if (verb === 'unlink' || (after[end] === 'from' && DETACHES.has(verb))) return undefined;
  const things = end < 0 ? after : after.slice(0, end);
  const two = things.slice(-2).join(' ');
  if (things.length > 0) return OF_TWO_WORDS.has(two) ? two : things.at(-1);
  return end < 0 ? words[at - 1] : undefined;
}

/** Whether an argument says of what kind the thing is: `kind`, `resource_type`. */
export function isTypeName(key: string): boolean {
  const { words, last } = readArgumentName(key);
  if (words.length === 1) return last === 'kind';
  return (last === 'type' || last === 'kind') && OF_TYPE.has(words[0] ?? '');
}
