/** Requests within a call that only read, however many things they name. */
import { readArgumentName } from './arguments/argument-kinds.ts';
import { wordSet } from './word-set.ts';

type Member = Readonly<Record<string, unknown>>;

const READS = wordSet('GET HEAD');
/** All that such a request may hold; headers, for instance, may ask for another method. */
const MEMBERS = wordSet(
  'method http_method httpMethod path url uri relative_url relativeUrl endpoint id name params query depends_on dependsOn',
);
const OVERRIDES = /_method=/i;

/** Whether a list is one of requests to an HTTP API that are all reads. */
export function areReads(list: readonly unknown[]): boolean {
  return list.length > 0 && list.every(isRead);
}

function isRead(one: unknown): boolean {
  if (typeof one !== 'object' || one === null || Array.isArray(one)) return false;
  const { httpMethod, http_method = httpMethod, method = http_method } = one as Member;
  if (typeof method !== 'string' || !READS.has(method.toUpperCase())) return false;
  return Object.entries(one).every(
    ([key, value]) => MEMBERS.has(key) && !(typeof value === 'string' && OVERRIDES.test(value)),
  );
}

const CHANGES_BY = wordSet('POST PUT PATCH DELETE');
const METHODS = ['method', 'http_method', 'httpMethod'];

/** Whether a call asks for a request over HTTP by a method that changes something. */
export function isChangingRequest(record: Member): boolean {
  const method = METHODS.map((key) => record[key]).find((one) => typeof one === 'string');
  if (typeof method !== 'string' || !CHANGES_BY.has(method.toUpperCase())) return false;
  return ADDRESSES.some((key) => typeof record[key] === 'string') && !asksSearchServer(record);
}

/** Each as a word of its own, wherever it stands. */
const CHANGES = /\b(?:mutation|subscription)\b/;
const IS_QUERY =
  /^[\s,]*(?:#[^\n]*\n[\s,]*)*(?:query\b\s*(?:\w+\s*)?[({@]|\{\s*[A-Za-z_]\w*\s*[\w({])/;
const MAX_DOCUMENT = 64 * 1024;

/** Whether a call hands a GraphQL document, which only asks, the variables beside it. */
export function asksGraphQl({ query, variables }: Member): boolean {
  if (typeof query !== 'string' || typeof variables !== 'object') return false;
  return query.length <= MAX_DOCUMENT && IS_QUERY.test(query) && !CHANGES.test(query);
}

/** Addresses at which a search server only reads, whatever the body. */
const READS_AT = /(?:^|\/)_(?:mget|msearch|search|count|analyze|explain|termvectors)(?:[/?]|$)/;
const ADDRESSES = ['path', 'url', 'uri', 'endpoint', 'href'];

export function asksSearchServer(record: Member): boolean {
  return ADDRESSES.some((key) => {
    const value = record[key];
    return typeof value === 'string' && value.length <= 4_096 && READS_AT.test(value);
  });
}

const LOOKS = wordSet('read get list stat view exists head show cat info');
const OPERATIONS = wordSet('op operation action command');
/** Words of tools that do one of several things with files, and of those whose name says which. */
const OF_FILES = wordSet('edit editor file files fs filesystem');
const SAYS_WHICH = wordSet(
  'write create append put save set truncate move copy delete remove upload insert patch',
);

/**
 * Whether one of several operations only reads a file: nothing beside it could be written.
 *
 * @param words of the tool's name, where it is the operation of the whole call
 */
export function isReadOperation(record: Member, words?: readonly string[]): boolean {
  if (words && !(words.some(isOfFiles) && !words.some((word) => SAYS_WHICH.has(word))))
    return false;
  let operations = 0;
  let paths = 0;
  for (const [key, value] of Object.entries(record)) {
    if (OPERATIONS.has(key)) {
      if (typeof value !== 'string' || !LOOKS.has(value.toLowerCase())) return false;
      operations++;
    } else if (typeof value === 'string' && readArgumentName(key).kind === 'path') paths++;
    else if (typeof value === 'string' || (typeof value === 'object' && !isRange(value)))
      return false;
  }
  return operations === 1 && paths > 0;
}

const isOfFiles = (word: string): boolean => OF_FILES.has(word);
const isRange = (value: object | null): boolean =>
  value === null || (Array.isArray(value) && value.every((one) => typeof one === 'number'));
