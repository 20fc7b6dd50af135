/** Mutations of GraphQL that delete a whole store, or change everything: their filter is empty. */
import { wordsOfName } from '../../../mcp/words-of-name.ts';
import { parseInner } from '../arguments/inner-json.ts';
import { deletesStore, isDeletion } from '../deleted-store.ts';

type Member = Readonly<Record<string, unknown>>;

const DOCUMENTS = ['query', 'mutation', 'document', 'operation', 'gql', 'graphql'];
/** Of a document and of its variables. */
const MAX_LENGTH = 64 * 1024;

/** What changes nothing in a document: its texts and comments. */
const BESIDE = /"""(?:[^"]|"(?!""))*(?:"""|$)|"(?:[^"\\\n]|\\.)*"?|#[^\n]*/g;
const FIELD = /\b(?:delete|update|remove|destroy|purge)\w{0,100}[\s,]{0,99}\(/gi;
/** A field with arguments; the name of the operation has them, too. */
const CALLED = /(?<!\bmutation\s{1,9})\b(\w{1,100})[\s,]{0,99}\(/g;
/** Without arguments it is bound by nothing. */
const OF_ALL =
  /(?<!\b(?:mutation|on|query|subscription)\s{1,9})\bdelete_?(?:many|all)\w{0,100}[\s,]{0,99}(?:\([\s,]{0,99}\)[\s,]{0,99})?\{/i;
/** A variable whose default is an empty filter. */
const DEFAULT =
  /\$(\w{1,100})[\s,]{0,99}:[\s,]{0,99}[\w![\]]{1,200}[\s,]{0,99}=[\s,]{0,99}\{[\s,]{0,99}\}/g;
const FILTER =
  /\b(?:where|filter|filters|condition|conditions|selector|query)[\s,]{0,99}:[\s,]{0,99}/g;
/** `{}`, and what is as empty: `{_and: []}`, `{id: {}}`. */
const EMPTY =
  /\{[\s,]{0,99}(?:\w{1,100}[\s,]{0,99}:[\s,]{0,99}(?:\{[\s,]{0,99}\}|\[[\s,{}]{0,99}\])[\s,]{0,99})?\}/y;

/** Whether a call hands such a document, perhaps with its filter among the variables. */
export function changesAllByGraphQl(record: Member): boolean {
  return mutationsOf(record).some((text) => changesAll(text, record.variables));
}

/** Whether a call hands one that deletes a whole store: `projectDelete(id: …)`. */
export function deletesStoreByGraphQl(record: Member): boolean {
  return mutationsOf(record).some((text) =>
    [...textless(text).matchAll(CALLED)].some(([, name = '']) => {
      const words = wordsOfName(name);
      return words.some(isDeletion) && deletesStore({ name, action: 'delete', args: {} }, words);
    }),
  );
}

function mutationsOf(record: Member): string[] {
  return DOCUMENTS.flatMap((key) => {
    const text = record[key];
    if (typeof text !== 'string' || text.length > MAX_LENGTH) return [];
    return /\bmutation\b/.test(text) ? [text] : [];
  });
}

const textless = (document: string): string =>
  document.replace(BESIDE, (one) => (one.startsWith('#') ? ' ' : '""'));

function changesAll(document: string, given: unknown): boolean {
  const plain = textless(document);
  const values = valuesOf(given);
  const empty = new Set([...plain.matchAll(DEFAULT)].map(([, name = '']) => name));
  for (const [name, value] of Object.entries(values)) {
    if (isEmpty(value)) empty.add(name);
    else empty.delete(name);
  }
  const text = plain.replace(/\$(\w{1,100})/g, (all, name) => (empty.has(name) ? '{}' : all));
  if (OF_ALL.test(text)) return true;
  // Each filter belongs to the field that begins last before it.
  const fields = [...text.matchAll(FIELD)].map(({ index }) => index);
  if (fields.length === 0) return false;
  const ends = [...text.matchAll(/\)/g)].map(({ index }) => index);
  for (const { index, 0: all } of text.matchAll(FILTER)) {
    EMPTY.lastIndex = index + all.length;
    if (EMPTY.test(text) && last(fields, index) > last(ends, index)) return true;
  }
  return false;
}

/** The last place before another one, or -1. */
function last(places: readonly number[], before: number): number {
  let from = 0;
  let to = places.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((places[middle] as number) < before) from = middle + 1;
    else to = middle;
  }
  return places[from - 1] ?? -1;
}

function valuesOf(given: unknown): Member {
  const values = typeof given === 'string' ? parsed(given) : given;
  return typeof values === 'object' && values !== null ? (values as Member) : {};
}

function parsed(text: string): unknown {
  return text.length > MAX_LENGTH || !/^\s*\{/.test(text) ? undefined : parseInner(text);
}

/** Of a filter that is empty all the same. */
const MAX_DEPTH = 3;

function isEmpty(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return false;
  const values: unknown[] = Object.values(value);
  if (!Array.isArray(value) && values.length > 1) return false;
  return values.every((one) => isEmpty(one, depth + 1));
}
