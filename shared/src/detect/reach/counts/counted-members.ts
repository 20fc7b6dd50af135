/** How many things an object names by its members: `ids: {rec0: true}`, `files: {'a/b': 'x'}`. */
import { type ArgumentName, isPathForm } from '../arguments/argument-kinds.ts';
import type { ReachCall } from '../reach-finding.ts';
import { isAddress } from '../recipients/recipients.ts';
import { wordSet } from '../word-set.ts';
import { isForShow } from './counted-lists.ts';

type Member = Readonly<Record<string, unknown>>;

const PAIRS = wordSet('pairs mapping mappings entries kv');
/** Arguments that name things, in the plural. */
const THINGS = wordSet(
  'ids uuids keys numbers users members targets items records rows objects issues messages threads events documents docs nodes updates changes operations actions files folders paths contacts customers orders products tickets tasks accounts people persons employees leads deals invoices payments devices pages posts comments cards channels repos repositories branches images photos emails patients resources entities instances pods services jobs students subscriptions assignments deletions removals edges relations',
);
/** Those of them that may also be what changes in one thing: `updates: {first_name: 'Ann'}`. */
const CHANGES = wordSet('updates changes');
const FILES = wordSet('files');
/** What belongs to one thing, however many members it has and whatever they are called. */
const OF_ONE_THING = wordSet(
  'record row cell cells field fields property properties props attribute attributes attrs value values column columns header headers headings param params parameter parameters arg args argument arguments variable variables vars bindings env environment option options setting settings config configuration metadata meta label labels tag tags annotation annotations style styles stylesheet css rule rules theme colors palette tokens schema schemas definitions defs components answers responses scores weights bias vector vectors embedding embeddings coordinates translations strings locale locales dependencies packages imports exports scripts workflow graph diagram scene state layout canvas dashboard document doc spec openapi swagger history choices enum errors',
);

/** What a request says, which is no prose where it has members. */
const BODIES = wordSet('body input');
/** Fewer may be the parts of one thing: the lines of an address. */
const FEWEST = 10;
/** Longer keys are texts. */
const MAX_KEY = 1_024;

/**
 * How many things the members of an object are.
 *
 * @param of the argument that it is; undefined for all arguments of a call
 * @param words of the tool's name
 * @param isInList whether it stands within a list, and `isItem` whether it is an item of one
 */
export function countMembers(
  record: Member,
  of: ArgumentName | undefined,
  { action, words }: { action: ReachCall['action']; words: readonly string[] },
  isInList: boolean,
  isItem: boolean,
): number {
  if (of === undefined || (action !== 'delete' && isForShow(words))) return 0;
  const keys = Object.keys(record);
  if (!isItem && PAIRS.has(of.last) && keys.every((key) => isPlain(record[key]))) {
    return keys.length;
  }
  if (keys.length < FEWEST || isOfOneThing(of, action)) return 0;
  // As of a list within a list.
  if (isInList && !isItem && of.kind !== 'ids') return 0;
  const kind = kindOfMost(keys, record);
  const isNamed = THINGS.has(of.last) && !isItem;
  const isTold = kind === 'object' && isDescription(keys.map((key) => record[key]).find(isObject));
  if (kind === undefined || isTold) return 0;
  if (isNamed && mayBeThings(of, kind, action)) return keys.length;
  // A record of a list has members of its own; numbers are weights, or points in time.
  if (isItem && kind !== 'object') return 0;
  if (kind === 'number' && !isNamed) return 0;
  return isMost(keys.filter(isKeyOfThing).length, keys.length) ? keys.length : 0;
}

/** Recipients are counted by themselves where a call sends. */
function isOfOneThing({ kind, last }: ArgumentName, action: ReachCall['action']): boolean {
  if (kind === 'recipient') return action !== 'delete';
  return kind === 'content' ? !BODIES.has(last) : OF_ONE_THING.has(last);
}

const isObject = (value: unknown): value is Member => typeof value === 'object' && value !== null;
const isPlain = (value: unknown): boolean => !isObject(value);

/** Whether the argument's name suffices, whatever the members are called. */
function mayBeThings({ last }: ArgumentName, kind: string, action: ReachCall['action']): boolean {
  if (kind === 'object') return true;
  if (CHANGES.has(last)) return false;
  return kind === 'boolean' || action === 'delete' || (FILES.has(last) && kind === 'string');
}

const isMost = (some: number, all: number): boolean => some * 10 >= all * 9;

/** The type of nearly all members; none where they are lists, whose items count. */
function kindOfMost(keys: readonly string[], record: Member): string | undefined {
  const counts = new Map<string, number>();
  for (const key of keys) {
    const value = record[key];
    // `{rec0: null}` says no more than `{rec0: true}`.
    const kind = value === null ? 'boolean' : Array.isArray(value) ? 'list' : typeof value;
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  for (const [kind, count] of counts) {
    if (kind !== 'list' && isMost(count, keys.length)) return kind;
  }
  return undefined;
}

/** Members of a JSON Schema, and of the description of an HTTP API. */
const OF_SCHEMA = ['type', '$ref', 'anyOf', 'oneOf', 'allOf', 'enum'];
const METHODS = ['get', 'post', 'put', 'patch', 'parameters'];
const TYPES = wordSet('string number integer boolean object array null');

/** Whether an object describes what a thing is like: `{type: 'string'}`, `{get: {…}}`. */
function isDescription(one: Member = {}): boolean {
  if (typeof one.type === 'string') return TYPES.has(one.type);
  if (METHODS.some((key) => typeof one[key] === 'object')) return true;
  return OF_SCHEMA.some((key) => key !== 'type' && key in one);
}

/** Names of fields and cells that are numbered: `line2`, `customfield_10001`, `A1`, `q7`. */
const FIELD =
  /^(?:(?:custom_?)?field|col(?:umn)?|line|question|answer|param|arg|var|step|option|choice|row|slot|key|value|attr|prop|text|label|header|[a-z]{1,2}(?=\d))[_-]?\d+$/i;
const DATE = /^\d{4}-\d{2}(?:-|$)|^\d{1,2}:\d{2}/;
const NO_SPACES = /^[\w.-][^\s:]*[^\s:/]$/;
const HAS_DIGIT = /\d/;
const ID = /^\w[\w.:-]*$/;

/** Whether a key looks like an id, a path or an address. */
function isKeyOfThing(key: string): boolean {
  if (key.length > MAX_KEY) return false;
  if (isPathForm(key) || isAddress(key)) return true;
  if (key.includes('/')) return NO_SPACES.test(key);
  return HAS_DIGIT.test(key) && ID.test(key) && !FIELD.test(key) && !DATE.test(key);
}
