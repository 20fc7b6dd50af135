/** What the audit record of an administrator's action tells of it. */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { canonicalize } from '@governance/shared/canonical-json';

/** As canonical JSON. The rest of the record's 256 KiB is for its other members. */
const MAX_DETAILS_BYTES = 200 * 1024;
/** A larger former value is shown by its digest: the record that set it has it. */
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
  const old: Details = { ...before };
  const now: Details = { ...after };
  const former = Object.keys({ ...old, ...now }).flatMap((name) => {
    const was = old[name] ?? null;
    const is = now[name] ?? null;
    if (isDeepStrictEqual(was, is)) return [];
    const isInner = isObject(was) && isObject(is);
    return [[name, isInner ? formerValues(was, is) : digested(was, MAX_FORMER_BYTES)] as const];
  });
  return Object.fromEntries(former);
}

/**
 * Nobody could verify a record beyond its limit. So where the details are too large, their largest
 * members are shown by their digests.
 *
 * @returns details of at most 200 KiB
 */
export function boundedDetails(details: Details): Details {
  const sizes = Object.entries(details).map(([name, value]) => ({ name, bytes: sizeOf(value) }));
  let total = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
  if (total <= MAX_DETAILS_BYTES) return details;
  const bounded = { ...details };
  for (const { name, bytes } of sizes.sort((a, b) => b.bytes - a.bytes)) {
    if (total <= MAX_DETAILS_BYTES) break;
    bounded[name] = digested(details[name], 0);
    total += sizeOf(bounded[name]) - bytes;
  }
  return bounded;
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
