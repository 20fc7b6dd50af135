/** What all arguments of a call share, and the calls that stand within a call. */
import { wordsOfName } from '../../mcp/words-of-name.ts';
import { type ArgumentName, isBase, readArgumentName } from './arguments/argument-kinds.ts';
import { isTerminalTool } from './arguments/typed-text.ts';
import { isOfCluster } from './cluster-namespace.ts';
import { type DeletedFiles, findDeletedFiles, readArgument } from './deleted-files.ts';
import { findDeleteOperation, isDeletion } from './deleted-store.ts';
import { isDocument } from './document-places.ts';
import type { ReachCall } from './reach-finding.ts';
import { asksSearchServer, isChangingRequest, isReadOperation } from './read-requests.ts';
import { wordSet } from './word-set.ts';

const SHELL_TOOLS = wordSet(
  'shell bash sh zsh terminal exec execute powershell ssh command commands cmd console',
);
const SQL_TOOLS = wordSet(
  'sql query db database sqlite postgres postgresql mysql mariadb bigquery snowflake duckdb clickhouse',
);
const RUNS_CODE = wordSet('run exec execute eval evaluate interpreter repl python ipython');
const CODES = wordSet(
  'code cell python ipython jupyter notebook javascript js node typescript ruby perl php interpreter repl',
);
/** Programs in a browser have no files. */
const PAGES = wordSet('browser page puppeteer playwright chrome devtools');
const COMMAND_TOOLS = wordSet('mongo mongodb mongosh command');
const SEARCH_TOOLS = wordSet('search find lookup grep browse ask web');
const SENDS = wordSet(
  'send post message dm notify notification notifications email mail invite share broadcast multicast sms',
);
const CHATS = wordSet('slack discord mattermost teams zulip chat');
const CHANNELS = wordSet('channel channels chat chats room rooms');
const MOVES = wordSet('move mv rename');
const COPIES = wordSet('copy cp clone duplicate upload');
const CONTAINERS = wordSet(
  'owner repo repository project bucket namespace drive site org organization container dataset',
);

type Args = Readonly<Record<string, unknown>>;

export interface CallScope {
  /** With the action that its arguments ask for. */
  readonly call: ReachCall;
  readonly tool: ToolKind;
  /** The words of the argument that asks for a delete. */
  readonly operation: readonly string[] | undefined;
  /** How it names the files and folders that it deletes, where it says that it deletes any. */
  readonly files: DeletedFiles | undefined;
  /** Whether an argument names a document that has places within it. */
  readonly namesDocument: boolean;
  /** Where relative paths begin. */
  readonly base: string | undefined;
  /** Whether an argument names it. */
  readonly hasBase: boolean;
  readonly containers: number;
  readonly isRecursive: boolean;
  /** Whether it goes to a channel, perhaps. */
  readonly isChat: boolean;
  /** Whether it is a request over HTTP that changes something, with a body perhaps. */
  readonly isRequest: boolean;
}

/** @param outer of the call around it */
export function createScope(asked: ReachCall, outer?: CallScope): CallScope {
  const { args } = asked;
  const tool = inLanguage(readTool(asked.name), args);
  const operation = asked.action === 'read' ? undefined : findDeleteOperation(args);
  const isDelete = asked.action === 'delete' || operation !== undefined;
  const files = isDelete ? findDeletedFiles(args, tool.words, operation) : undefined;
  let pathCount = 0;
  let base: string | undefined;
  let containers = 0;
  let namesDocument = false;
  let isChat = tool.isChat || outer?.isChat === true;
  for (const key of Object.keys(args)) {
    const value = args[key];
    const name = readArgument(key, { files, tool });
    if (typeof value === 'string') {
      if (isBase(name) || files?.folder === key) base = value;
      else if (CONTAINERS.has(name.last)) containers++;
    }
    if (isDocument(name, value)) namesDocument = true;
    if (name.kind === 'recipient' && name.words.some((word) => CHANNELS.has(word))) isChat = true;
    if (!isBase(name) && (name.kind === 'path' || name.kind === 'command')) pathCount++;
  }
  // If the base is the only path, it is what the call is about.
  if (pathCount === 0 && !tool.isShell) base = undefined;
  const isRequest = isChangingRequest(args);
  const isSearch = typeof args.method === 'string' && asksSearchServer(args);
  const isRead = asked.action !== 'delete' && (isSearch || isReadOperation(args, tool.words));
  return {
    call: operation
      ? { ...asked, action: 'delete' }
      : isRead
        ? { ...asked, action: 'read' }
        : asked,
    tool: outer ? joined(outer.tool, tool) : tool,
    operation,
    files,
    namesDocument,
    base: base ?? outer?.base,
    hasBase: base !== undefined,
    containers: containers || (outer?.containers ?? 0),
    isRecursive: isRecursive(args),
    isChat,
    isRequest,
  };
}

/** Names of arguments that name a tool, and of those that hold its arguments. */
const TOOL_NAMES = ['tool', 'tool_name', 'toolName', 'function', 'function_name', 'name'];
const TOOL_ARGUMENTS = wordSet(
  'args arguments parameters params input tool_args tool_input toolArgs toolInput',
);
const IDENTIFIER = /^[\w.:/-]{1,200}$/;

/** A tool that an object asks to be called, and the member that holds the arguments. */
export function findToolOf(record: Args): { name: string; key: string } | undefined {
  const key = Object.keys(record).find((one) => TOOL_ARGUMENTS.has(one));
  if (key === undefined) return undefined;
  const name = TOOL_NAMES.map((one) => record[one]).find((one) => typeof one === 'string');
  return typeof name === 'string' && IDENTIFIER.test(name) ? { name, key } : undefined;
}

/** Keywords of a JSON Schema for an object. */
const OF_SCHEMA = wordSet(
  'type properties required additionalProperties description title strict $schema $defs definitions examples',
);

/**
 * A call of another tool, as far as the call around it may do it.
 *
 * @returns undefined where the arguments are those of a definition: a schema
 */
export function innerCall(name: string, args: unknown, { call }: CallScope): ReachCall | undefined {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return undefined;
  if ('properties' in args && Object.keys(args).every((key) => OF_SCHEMA.has(key)))
    return undefined;
  const isDelete = call.action !== 'read' && wordsOfName(name).some(isDeletion);
  return { name, action: isDelete ? 'delete' : call.action, args: args as Args };
}

/** Whether an object asks for a delete itself, as one of several operations. */
export function isDeleteOperation(record: Args): boolean {
  return findDeleteOperation(record) !== undefined && !isGrant(record) && !isPatch(record);
}

const EFFECTS = new Set<unknown>(['Allow', 'Deny', 'allow', 'deny']);

/** A rule of permissions, in which a delete is no order. */
function isGrant(record: Args): boolean {
  const { effect, Effect = effect, allow } = record;
  const isRule = typeof allow === 'boolean' || EFFECTS.has(Effect);
  return isRule && !Object.keys(record).some((key) => readArgumentName(key).kind === 'path');
}

const OF_PATCH = wordSet('op path from value');

/** Part of a JSON Patch (RFC 6902), which removes a member of a value. */
function isPatch(record: Args): boolean {
  const { op, path } = record;
  if (op !== 'remove' || typeof path !== 'string' || path.length < 2) return false;
  return Object.keys(record).every((key) => OF_PATCH.has(key));
}

export interface ToolKind {
  readonly isShell: boolean;
  readonly isSql: boolean;
  /** Whether it runs code, and not in a page. */
  readonly isCode: boolean;
  /** Whether it takes the commands of a database. */
  readonly isDatabase: boolean;
  readonly isSearch: boolean;
  readonly isMove: boolean;
  readonly isCopy: boolean;
  readonly isMany: boolean;
  readonly isSend: boolean;
  readonly isChat: boolean;
  /** Whether it hands manifests to a cluster. */
  readonly isCluster: boolean;
  /** Whether it types into a program that runs. */
  readonly isTerminal: boolean;
  readonly words: readonly string[];
}

const CODE = wordSet('code source snippet program');

/** Whether an argument is code that the tool runs. */
export const isRunCode = ({ isCode }: ToolKind, { last }: ArgumentName): boolean =>
  isCode && CODE.has(last);

/** Names of tools, parsed; agents may invent any number. */
const TOOLS = new Map<string, ToolKind>();
const MAX_TOOLS = 5_000;
/** Characters of a name that are read. */
const MAX_NAME = 500;

function readTool(name: string): ToolKind {
  const known = TOOLS.get(name);
  if (known !== undefined) return known;
  const tool = toolOf(name);
  if (TOOLS.size >= MAX_TOOLS) TOOLS.clear();
  if (name.length <= MAX_NAME) TOOLS.set(name, tool);
  return tool;
}

const LANGUAGES = ['language', 'lang', 'runtime', 'interpreter', 'kernel'];
const OF_SHELLS = wordSet('bash sh shell zsh powershell pwsh');

/** A tool that runs code in the language that an argument names. */
function inLanguage(tool: ToolKind, args: Args): ToolKind {
  if (!tool.words.some((word) => RUNS_CODE.has(word))) return tool;
  const language = LANGUAGES.map((key) => args[key]).find((one) => typeof one === 'string');
  if (typeof language !== 'string' || typeof args.code !== 'string') return tool;
  if (SQL_TOOLS.has(language.toLowerCase())) return { ...tool, isSql: true };
  const isShell = OF_SHELLS.has(language.toLowerCase());
  return isShell ? { ...tool, isShell } : { ...tool, isCode: true };
}

function toolOf(name: string): ToolKind {
  const words = wordsOfName(name.slice(0, MAX_NAME));
  const has = (set: ReadonlySet<string>) => words.some((word) => set.has(word));
  return {
    isShell: has(SHELL_TOOLS) && !has(SQL_TOOLS),
    isSql: has(SQL_TOOLS),
    isCode: has(RUNS_CODE) && has(CODES) && !has(PAGES),
    isDatabase: has(COMMAND_TOOLS),
    isSearch: has(SEARCH_TOOLS),
    isMove: has(MOVES),
    isCopy: has(COPIES),
    isMany: words.includes('many') || words.includes('all'),
    isSend: has(SENDS),
    isChat: has(CHATS),
    isCluster: isOfCluster(words),
    isTerminal: isTerminalTool(words),
    words,
  };
}

/** The tool within a call; what the one around it is for may hold as well. */
function joined(outer: ToolKind, inner: ToolKind): ToolKind {
  return {
    ...inner,
    isShell: outer.isShell || inner.isShell,
    isSql: outer.isSql || inner.isSql,
    isCode: outer.isCode || inner.isCode,
    isDatabase: outer.isDatabase || inner.isDatabase,
    isMany: outer.isMany || inner.isMany,
    isMove: outer.isMove || inner.isMove,
    isCopy: outer.isCopy || inner.isCopy,
    isSearch: outer.isSearch,
    isTerminal: outer.isTerminal || inner.isTerminal,
    isCluster: outer.isCluster || inner.isCluster,
    isSend: outer.isSend || inner.isSend,
  };
}

/** Whether a flag of the call asks for recursion. */
function isRecursive(args: Args): boolean {
  for (const key of Object.keys(args)) {
    if (args[key] !== true && args[key] !== 'true') continue;
    const { words } = readArgumentName(key);
    if (words.includes('recursive') || words.includes('recurse')) return true;
  }
  return false;
}
