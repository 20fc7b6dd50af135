/**
 * The fast path for decisions and outcomes: checks their usual values and writes them in canonical
 * form in one pass. Each call writes two such records, and validating them with zod would cost more
 * than all other work on them. Derived from the schemas; a value that it does not handle takes the
 * general path. Proven by record-text.test.ts: both paths write the same text.
 */
import {
  Id,
  isStorableText,
  Sha256Hex,
  Text,
  Timestamp,
  USUAL_TIMESTAMP,
} from '@governance/shared/text';
import { safeParse, type z } from 'zod';

/** @returns the value in canonical form; undefined where the general path has to handle it */
export type QuickWrite = (value: unknown) => string | undefined;

/** No NUL, no characters that JSON escapes, and no surrogates. */
const PLAIN = /^[ !#-[\]-\ud7ff\ue000-\uffff]*$/;

const matching =
  (pattern: RegExp): QuickWrite =>
  (value) =>
    typeof value === 'string' && pattern.test(value) ? `"${value}"` : undefined;

const writeText: QuickWrite = (value) => {
  if (typeof value !== 'string') return undefined;
  if (PLAIN.test(value)) return `"${value}"`;
  return isStorableText(value) ? JSON.stringify(value) : undefined;
};

const STRINGS = new Map<unknown, QuickWrite>([
  [Text, writeText],
  [Id, matching(/^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)],
  [Sha256Hex, matching(/^[0-9a-f]{64}$/)],
  [Timestamp, matching(new RegExp(`^${USUAL_TIMESTAMP}$`))],
]);

/** Writes the usual values of a schema. */
export function quickWriteOf(schema: z.core.$ZodTypes): QuickWrite {
  const string = STRINGS.get(schema);
  if (string) return string;
  const { def } = schema._zod;
  switch (def.type) {
    case 'literal':
      return oneOf(def.values);
    case 'enum':
      return oneOf(Object.values(def.entries));
    case 'boolean':
      return (value) => (typeof value === 'boolean' ? String(value) : undefined);
    case 'number':
      return writeNumber(schema);
    case 'nullable': {
      const inner = def.innerType as z.core.$ZodTypes;
      const write = inner._zod.def.type === 'object' ? () => undefined : quickWriteOf(inner);
      return (value) => (value === null ? 'null' : write(value));
    }
    default: // a list
      return (value) => (Array.isArray(value) && value.length === 0 ? '[]' : undefined);
  }
}

function oneOf(values: readonly unknown[]): QuickWrite {
  const written = new Map(values.map((value) => [value, JSON.stringify(value)]));
  return (value) => written.get(value);
}

/** The largest of these that a schema allows is the upper bound of the fast path. */
const LIMITS = [Number.MAX_SAFE_INTEGER, 2_147_483_647, 999_999_999, 100, 1];

function writeNumber(schema: z.core.$ZodType): QuickWrite {
  const allows = (value: number) => safeParse(schema, value).success;
  const isInteger = !allows(0.5);
  const least = allows(0) ? 0 : 1;
  const most = LIMITS.find(allows) ?? 0;
  return (value) => {
    if (typeof value !== 'number' || !(value >= least && value <= most)) return undefined;
    return isInteger && !Number.isInteger(value) ? undefined : String(value);
  };
}
