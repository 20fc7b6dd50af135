/** What the audit record of an administrator's action tells of it. */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { canonicalize } from '@governance/shared/json/canonical-json';

/** As canonical JSON. The rest of the record's 256 KiB is for its other members. */
const MAX_DETAILS_BYTES = 200 * 1024;
/** A larger former value is shown by its digest: the record that set it usually has it. */
const MAX_FORMER_BYTES = 16 * 1024;

type Details = Record<string, unknown>;

/**
 * What a change replaced, so that one record tells what was and what is.
 *
 * @param before JSON values, and undefined for what was not set
 * @param after the same members after the change
 * @returns the former values of the members that changed, objects member by member; null for one
 * that was not set
 */
export function formerValues(before: object, after: object): Details {
  const [old, now] = [withoutPrototype(before), withoutPrototype(after)];
  const former = Object.keys({ ...old, ...now }).flatMap((name) => {
    const was = old[name] ?? null;
    const is = now[name] ?? null;
    if (isDeepStrictEqual(was, is)) return [];
    const isInner = isObject(was) && isObject(is);
    return [[name, isInner ? formerValues(was, is) : digested(was, MAX_FORMER_BYTES)] as const];
  });
  return Object.fromEntries(former);
}

/** Names may be any: those of tools, say, where one may be called `toString`. */
const withoutPrototype = (value: object): Details => Object.assign(Object.create(null), value);

/**
 * Nobody could verify a record beyond its limit. So where the details are too large, their largest
 * values are shown by their digests, the innermost first: whoever pads a change hides little of it.
 *
 * @returns details of at most 200 KiB
 */
export function boundedDetails(details: Details): Details {
  const bytes = sizeOf(details);
  if (bytes <= MAX_DETAILS_BYTES) return details;
  const bounded = copyOf(details);
  const left = boundPlaces(valuesIn(bounded), bytes);
  if (left > MAX_DETAILS_BYTES) boundPlaces(membersOf(bounded), left);
  return bounded;
}

/** A member of an object. */
interface Place {
  holder: Details;
  name: string;
  bytes: number;
}

/** Shows the largest by their digests. @returns how many bytes of the whole are left */
function boundPlaces(places: Place[], whole: number): number {
  let left = whole;
  for (const { holder, name, bytes } of places.sort((a, b) => b.bytes - a.bytes)) {
    const digest = digested(holder[name], 0);
    const saved = bytes - sizeOf(digest);
    if (left <= MAX_DETAILS_BYTES || saved <= 0) break;
    holder[name] = digest;
    left -= saved;
  }
  return left;
}

function membersOf(holder: Details): Place[] {
  return Object.keys(holder).map((name) => ({ holder, name, bytes: sizeOf(holder[name]) }));
}

/** All that are no objects with members of their own. */
function valuesIn(holder: Details): Place[] {
  return Object.entries(holder).flatMap(([name, value]) =>
    isObject(value) ? valuesIn(value) : [{ holder, name, bytes: sizeOf(value) }],
  );
}

function copyOf(details: Details): Details {
  const members = Object.entries(details);
  return Object.fromEntries(
    members.map(([name, value]) => [name, isObject(value) ? copyOf(value) : value]),
  );
}

/** @returns the value, or its digest where its canonical form has more bytes than that */
function digested(value: unknown, maxBytes: number): unknown {
  const text = canonicalize(value ?? null);
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxBytes) return value;
  return { omitted_bytes: bytes, sha256: createHash('sha256').update(text).digest('hex') };
}

const sizeOf = (value: unknown): number => Buffer.byteLength(canonicalize(value ?? null));

const isObject = (value: unknown): value is Details =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
