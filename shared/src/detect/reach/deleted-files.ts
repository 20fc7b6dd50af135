/** How a call names files and folders that it deletes, where no argument's name says `path`. */
import { type ArgumentName, readArgumentName } from './arguments/argument-kinds.ts';
import { deletedThing } from './deleted-store.ts';
import { wordSet } from './word-set.ts';

type Args = Readonly<Record<string, unknown>>;

export interface DeletedFiles {
  /** Arguments that name what is deleted. */
  readonly names: ReadonlySet<string>;
  /** The argument that names the folder of the file. */
  readonly folder?: string;
}

const FOLDERS = wordSet('folder folders directory directories dir dirs subfolder subdirectory');
const FILES = wordSet('file files path paths');
/** Words of a tool that leave open what it deletes. */
const ANYTHING = wordSet('item items entry entries');
/** Words behind what is deleted: `delete_folder_recursive`. */
const HOW = wordSet(
  'recursive recursively permanently forever now force tree contents safe safely tool all',
);
const REMOVES_FOLDERS = wordSet('rmdir rmtree rd');

/** Last words of arguments that name a folder, and of those that name anything. */
const OF_FOLDER = wordSet('folder folders location locations');
const NAMES = wordSet('name names');
const OF_TARGET = wordSet('target targets');
/** Last words of arguments that name a file within a folder. */
const OF_FILE = wordSet('name names filename filenames file files id ids key keys title');

/**
 * @param words of the tool's name
 * @param operation the words of the argument that asks for the delete
 * @returns undefined where the call does not say that it deletes files
 */
export function findDeletedFiles(
  args: Args,
  words: readonly string[],
  operation: readonly string[] = [],
): DeletedFiles | undefined {
  const what = whatIsDeleted(operation.length > 1 ? operation : words);
  if (what === undefined) return undefined;
  const named = Object.keys(args)
    .filter((key) => isNamed(args[key]))
    .map((key) => ({ key, ...readArgumentName(key) }));
  const keysOf = (some: (name: ArgumentName) => boolean) =>
    named.filter(some).map(({ key }) => key);
  const all = keysOf(isOfFolder);
  // Beside another argument it is where the thing is: `{folder: 'INBOX', id: 5}`.
  if (what === 'anything') return { names: new Set(named.length === 1 ? all : []) };
  const isLocated = all.length > 1 || named.some(({ kind }) => kind === 'path');
  // Beside a path a location is a region, or a room.
  const folders = isLocated ? keysOf((name) => isOfFolder(name) && !isLocation(name)) : all;
  const targets = keysOf(({ last }) => OF_TARGET.has(last));
  const isInFolder =
    what === 'files' &&
    (targets.length > 0 || named.some((name) => !isOfFolder(name) && isOfFile(name)));
  if (!isInFolder) return { names: new Set([...folders, ...targets]) };
  const [folder] = folders;
  return { names: new Set(targets), ...(folder !== undefined && { folder }) };
}

type Deleted = 'folders' | 'files' | 'anything';

function whatIsDeleted(words: readonly string[]): Deleted | undefined {
  if (words.some((word) => REMOVES_FOLDERS.has(word))) return 'folders';
  let end = words.length;
  while (end > 1 && HOW.has(words[end - 1] as string)) end--;
  const named = words.slice(0, end);
  const thing = named.includes('unlink') ? named.at(-1) : deletedThing(named);
  if (thing === undefined) return undefined;
  if (FOLDERS.has(thing)) return 'folders';
  if (FILES.has(thing)) return 'files';
  return ANYTHING.has(thing) ? 'anything' : undefined;
}

const isNamed = (value: unknown): boolean =>
  typeof value === 'number' ||
  (typeof value === 'object' && value !== null) ||
  (typeof value === 'string' && value !== '');

const isOfFolder = ({ words, last }: ArgumentName): boolean =>
  OF_FOLDER.has(last) || (NAMES.has(last) && OF_FOLDER.has(words.at(-2) ?? ''));

const isLocation = ({ words }: ArgumentName): boolean =>
  words.some((word) => word === 'location' || word === 'locations');

const isOfFile = ({ kind, last }: ArgumentName): boolean => kind === 'path' || OF_FILE.has(last);

interface Naming {
  readonly files: DeletedFiles | undefined;
  readonly tool: { readonly isSend: boolean; readonly isChat: boolean };
}

/**
 * The name of an argument of a call: that of a path where it names what is deleted, and of none
 * where it says how a file is called that is sent.
 */
export function readArgument(key: string, { files, tool }: Naming): ArgumentName {
  const name = readArgumentName(key);
  if (name.kind !== 'path') return files?.names.has(key) ? { ...name, kind: 'path' } : name;
  const isCalled = NAMES.has(name.last) && !name.words.includes('path');
  return isCalled && (tool.isSend || tool.isChat) ? { ...name, kind: 'other' } : name;
}
