/** Mutations of JSON: a value, key or item is changed or duplicated. */
import { EVIDENCE_MEMBERS } from '@governance/shared/evidence/evidence-package';
import { contentOf, fromLines, linesOf, packChanged, signChanged, withContent } from './members.ts';
import type { Base, Mutated, Mutator } from './mutator.ts';
import { mutateText, pick, type Random } from './random.ts';

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
type Path = (string | number)[];

const isObject = (value: Json): value is { [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function pathsOf(value: Json, before: Path = []): Path[] {
  if (Array.isArray(value)) {
    return [before, ...value.flatMap((item, at) => pathsOf(item, [...before, at]))];
  }
  if (!isObject(value)) return [before];
  const members = Object.entries(value);
  return [before, ...members.flatMap(([key, item]) => pathsOf(item, [...before, key]))];
}

function valueAt(value: Json, path: Path): Json {
  return path.reduce<Json>(
    (at, step) => (at as { [key: string]: Json })[step as string] as Json,
    value,
  );
}

function another(value: Json, whole: Json, random: Random): Json {
  const others = [null, true, '', 0, -1, 2 ** 53, [], {}, 'x'.repeat(300), '\u0000'];
  const way = random(5);
  if (way === 0) return pick(others, random);
  if (way === 1) return valueAt(whole, pick(pathsOf(whole), random));
  if (typeof value === 'number') return value + (random(2) === 0 ? 1 : -1);
  if (typeof value === 'string' && value.length > 0) return mutateText(value, random);
  if (typeof value === 'boolean') return !value;
  return pick(others, random);
}

/** Changes one place of a value, or removes it. */
function mutateJson(whole: Json, random: Random): Json {
  const copy = structuredClone(whole);
  const path = pick(pathsOf(copy).slice(1), random);
  const parent = valueAt(copy, path.slice(0, -1));
  const last = path.at(-1) as string;
  const way = random(8);
  if (Array.isArray(parent)) {
    if (way === 0) parent.splice(Number(last), 1);
    else parent[Number(last)] = another(parent[Number(last)] as Json, whole, random);
    return copy;
  }
  const object = parent as { [key: string]: Json };
  const value = object[last] as Json;
  if (way === 0) delete object[last];
  else if (way === 1) object[`${last}_`] = value;
  else object[last] = another(value, whole, random);
  return copy;
}

const LINES = ['batches', 'eventProofs', 'causes', 'bundles', 'payloads', 'events'] as const;

/** A place in a package that contains JSON: a document, or a line. */
function mutatePlace(
  { members }: Base,
  name: string,
  random: Random,
  change: (text: string) => string,
) {
  const content = contentOf(members, name);
  if (!content || content.length === 0) return undefined;
  if (!name.endsWith('.ndjson')) {
    return withContent(members, name, Buffer.from(change(content.toString('utf8'))));
  }
  const lines = linesOf(content);
  const at = random(lines.length);
  return withContent(members, name, fromLines(lines.with(at, change(lines[at] as string))));
}

const changed = (random: Random) => (text: string) =>
  JSON.stringify(mutateJson(JSON.parse(text) as Json, random));

const fields: Mutator = {
  name: 'fields',
  mutate: (base, random) => {
    const names = base.members.map(([name]) => name).filter((name) => !name.endsWith('.note'));
    const members = mutatePlace(base, pick(names, random), random, changed(random));
    return members && packChanged(base, members);
  },
};

/** Fields that are bound by writers, other keys or the log; the issuer may choose the rest. */
const fieldsSigned: Mutator = {
  name: 'fields, signed anew',
  mutate: (base, random) => {
    const names = [...LINES.map((name) => EVIDENCE_MEMBERS[name]), EVIDENCE_MEMBERS.proofs];
    const members = mutatePlace(base, pick(names, random), random, changed(random));
    return members && signChanged(base, members);
  },
};

const streams: Mutator = {
  name: 'ranges and heads of the manifest, signed anew',
  mutate: (base, random) => {
    const { manifest } = base.parts;
    if (manifest.scope.kind === 'selective') return undefined;
    const { log, streams } = manifest;
    const value = mutateJson(structuredClone({ log, streams }) as unknown as Json, random);
    if (JSON.stringify(value) === JSON.stringify({ log, streams })) return undefined;
    return signChanged(base, base.members, { ...manifest, ...(value as object) });
  },
};

/** Repeats an object's first key in front of it: two readers may use different ones. */
function withKeyTwice(text: string, random: Random): string {
  const starts = [...text.matchAll(/\{"([a-z_0-9]+)":/g)];
  if (starts.length === 0) return `${text} `;
  const { index, 0: found } = pick(starts, random);
  const value = pick(['null', '[]', '0', '""', '{}'], random);
  return `${text.slice(0, index)}${found}${value},${text.slice(index + 1)}`;
}

const keyTwice: Mutator = {
  name: 'duplicates: a key of an object, signed anew',
  mutate: (base, random) => {
    const names = base.members
      .map(([name]) => name)
      .filter((name) => !/^manifest|\.note$/.test(name));
    const twice = (text: string) => withKeyTwice(text, random);
    const members = mutatePlace(base, pick(names, random), random, twice);
    return members && signChanged(base, members);
  },
};

const TWICE = ['batches', 'events', 'eventProofs', 'bundles', 'payloads'] as const;

const lineTwice: Mutator = {
  name: 'duplicates: a line, signed anew',
  mutate: (base, random): Mutated | undefined => {
    const name = EVIDENCE_MEMBERS[pick(TWICE, random)];
    const content = contentOf(base.members, name);
    if (!content) return undefined;
    const lines = linesOf(content);
    const line = pick(lines, random);
    const twice = lines.toSpliced(random(lines.length + 1), 0, line);
    return signChanged(base, withContent(base.members, name, fromLines(twice)));
  },
};

const memberTwice: Mutator = {
  name: 'duplicates: a member',
  mutate: (base, random) => {
    const [name, content] = pick(base.members, random);
    const other = random(2) === 0 ? content : Buffer.from('{}\n');
    const at = 1 + random(base.members.length);
    const members = base.members.toSpliced(at, 0, [name, other]);
    return random(2) === 0 ? packChanged(base, members) : signChanged(base, members);
  },
};

export const JSON_MUTATORS: readonly Mutator[] = [
  fields,
  fieldsSigned,
  streams,
  keyTwice,
  lineTwice,
  memberTwice,
];
