/** What an argument is, judged by its name. Spellings of names vary, so their words count. */
import { wordsOfName } from '../../../mcp/words-of-name.ts';
import { wordSet } from '../word-set.ts';

export type ArgumentKind =
  | 'content'
  | 'command'
  | 'sql'
  | 'recipient'
  | 'phone'
  | 'path'
  | 'ids'
  | 'other';

export interface ArgumentName {
  readonly kind: ArgumentKind;
  readonly words: readonly string[];
  readonly last: string;
}

/** Text that is stored or sent unchanged, whatever it looks like. */
const CONTENT = wordSet(
  'content contents text body message description title subject comment prompt code html markdown summary note notes patch diff string str input',
);
const COMMAND = wordSet(
  'command commands commandline cmd cmds cmdline argv shell bash powershell script',
);
/** Last words that say in what form a command is given: `command_line`, `script_to_run`. */
const FORMS = wordSet('line lines text string str code body content run execute');
const SQL = wordSet('sql query queries statement statements stmt');
const RECIPIENT = wordSet(
  'to cc bcc recipient recipients receiver receivers email emails attendee attendees invitee invitees guest guests channel channels mailto subscriber subscribers audience chat chats',
);
/** Recipients of a tool that sends; of another one what somebody has. */
const PHONE = wordSet('phone phones');
const PATH = wordSet(
  'path paths file files filename filenames filepath filepaths dir dirs directory directories uri uris src dst source sources destination destinations',
);
/** Of `file_name` and `directory_name`; mailboxes have folders, too. */
const OF_FILES = wordSet('file dir directory');
const NAMES_OF = wordSet('name names');
const IDS = wordSet(
  'id ids uuid uuids key keys number numbers users members targets items records rows objects names tags labels issues messages threads events documents nodes',
);

const NAMES = new Map<string, ArgumentName>();
/** Names that are cached; agents may invent any number. */
const MAX_NAMES = 5_000;
/** Characters of a name that are read. */
export const MAX_NAME = 200;

export function readArgumentName(key: string): ArgumentName {
  const found = NAMES.get(key);
  if (found !== undefined) return found;
  const words = wordsOfName(key.slice(0, MAX_NAME));
  const name = { kind: kindOf(words), words, last: words.at(-1) ?? '' };
  if (NAMES.size >= MAX_NAMES) NAMES.clear();
  if (key.length <= MAX_NAME) NAMES.set(key, name);
  return name;
}

/** Endings of texts: the member `to.txt` is a file, and no recipient. */
const TEXT_FILES = wordSet('txt md csv tsv json yml yaml html htm xml log rst');

function kindOf(words: readonly string[]): ArgumentKind {
  const last = words.at(-1) ?? '';
  if (words.length > 1 && TEXT_FILES.has(last)) return 'content';
  if (FORMS.has(last) && words.slice(0, -1).some((word) => COMMAND.has(word))) return 'command';
  if (CONTENT.has(last)) return 'content';
  if (COMMAND.has(last)) return 'command';
  if (SQL.has(last)) return 'sql';
  if (words.some((word) => RECIPIENT.has(word)) && !words.includes('from')) return 'recipient';
  if (PATH.has(last) || words.includes('path') || /(?:path|file|dir)$/.test(last)) return 'path';
  if (words.some((word) => PHONE.has(word)) && !words.includes('from')) return 'phone';
  if (NAMES_OF.has(last) && OF_FILES.has(words.at(-2) ?? '')) return 'path';
  return IDS.has(last) ? 'ids' : 'other';
}

/** All words of the names of arguments that say who sends, and whom answers go to. */
const OF_SENDER = wordSet('from sender reply replyto to return path email address mail name');

/** Whether an argument names no recipient, but who sends: `from_email`, `reply_to`. */
export function isSender({ words }: ArgumentName): boolean {
  if (words.length === 0 || !words.every((word) => OF_SENDER.has(word))) return false;
  const has = (word: string) => words.includes(word);
  if (has('reply') || has('replyto')) return true;
  return !has('to') && (has('from') || has('sender') || (has('return') && has('path')));
}

const BASES = wordSet('cwd workdir root workspace');
const OF_BASE = wordSet('working work base root repo repository project');
const IS_BASE = wordSet('path dir directory root');

/** Whether an argument says where relative paths begin. */
export function isBase({ words, last }: ArgumentName): boolean {
  return BASES.has(last) || (words.length > 1 && OF_BASE.has(words[0] ?? '') && IS_BASE.has(last));
}

/** Characters that may precede a path to hide its beginning. */
const PATH_FORM =
  /^[\s\p{Cf}"'`]*(?:[/\\~]|\.{1,2}(?:[/\\]|$)|[a-z]:[/\\]|file:|%(?:25)*(?:2e|2f|5c|7e)|\$(?:\{?home|env:)|%(?:userprofile|homepath|windir|systemroot)%|(?!https?:|wss?:)[a-z][a-z0-9+.-]{1,20}:\/\/|[\uff0f\uff3c\uff0e\uff5e])/iu;

/** Whether a text has the form of a path, regardless of its name. */
export function isPathForm(text: string): boolean {
  return PATH_FORM.test(text);
}

/** Whether an empty path leaves a server at its own folder. */
export function isNowhere(text: string, { last }: ArgumentName): boolean {
  return text.trim() === '' && /path|dir/.test(last);
}

/** Last words of arguments in which a slash is a name. */
const NO_PATHS = wordSet('vhost vhosts delimiter separator');

export const isNoPath = ({ last }: ArgumentName): boolean => NO_PATHS.has(last);
