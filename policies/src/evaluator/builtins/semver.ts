/** OPA's semver.compare and semver.is_valid: Semantic Versioning 2.0.0, a leading v allowed. */
import { compareStrings } from '../rego-value.ts';
import type { Builtin } from './builtin.ts';

const FUEL_PER_CHARACTER = 20;
const IDENTIFIERS = /^[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*$/;
const MAX_INT64 = 2n ** 63n - 1n;

interface Version {
  core: readonly [bigint, bigint, bigint];
  prerelease: string;
}

export const semverCompare: Builtin = ([first, second], call) => {
  if (typeof first !== 'string' || typeof second !== 'string') return undefined;
  call.charge((first.length + second.length) * FUEL_PER_CHARACTER);
  const a = parseVersion(first);
  const b = parseVersion(second);
  return a && b ? compareVersions(a, b) : undefined;
};

export const semverIsValid: Builtin = ([version], call) => {
  if (typeof version !== 'string') return false;
  call.charge(version.length * FUEL_PER_CHARACTER);
  return parseVersion(version) !== undefined;
};

function parseVersion(text: string): Version | undefined {
  const [withoutMetadata, metadata] = cut(text.startsWith('v') ? text.slice(1) : text, '+');
  if (metadata !== undefined && !IDENTIFIERS.test(metadata)) return undefined;
  const [core, prerelease] = cut(withoutMetadata, '-');
  if (prerelease !== undefined && !isPrerelease(prerelease)) return undefined;
  const numbers = core.split('.');
  if (numbers.length !== 3) return undefined;
  const parsed = numbers.map(parseNumber);
  const [major, minor, patch] = parsed;
  if (major === undefined || minor === undefined || patch === undefined) return undefined;
  return { core: [major, minor, patch], prerelease: prerelease ?? '' };
}

function cut(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

function isPrerelease(text: string): boolean {
  return IDENTIFIERS.test(text) && text.split('.').every((part) => !/^0[0-9]+$/.test(part));
}

function parseNumber(text: string): bigint | undefined {
  if (!/^(0|[1-9][0-9]{0,18})$/.test(text)) return undefined;
  const value = BigInt(text);
  return value <= MAX_INT64 ? value : undefined;
}

function compareVersions(a: Version, b: Version): number {
  for (let i = 0; i < 3; i++) {
    const order = compare(a.core[i] as bigint, b.core[i] as bigint);
    if (order !== 0) return order;
  }
  if (a.prerelease === b.prerelease) return 0;
  if (a.prerelease === '') return 1;
  if (b.prerelease === '') return -1;
  const as = a.prerelease.split('.');
  const bs = b.prerelease.split('.');
  for (let i = 0; i < Math.min(as.length, bs.length); i++) {
    const order = comparePart(as[i] as string, bs[i] as string);
    if (order !== 0) return order;
  }
  return compare(as.length, bs.length);
}

function comparePart(a: string, b: string): number {
  const aNumeric = /^[0-9]+$/.test(a);
  const bNumeric = /^[0-9]+$/.test(b);
  if (aNumeric !== bNumeric) return aNumeric ? -1 : 1;
  if (!aNumeric) return Math.sign(compareStrings(a, b));
  return compare(clampInt64(a), clampInt64(b));
}

/** OPA compares numeric identifiers as 64-bit integers; larger ones stop at the largest. */
function clampInt64(digits: string): bigint {
  if (digits.length > 19) return MAX_INT64;
  const value = BigInt(digits);
  return value > MAX_INT64 ? MAX_INT64 : value;
}

function compare<T extends number | bigint>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
