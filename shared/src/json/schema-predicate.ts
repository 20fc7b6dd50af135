/**
 * A fast pre-check: whether a schema accepts a parsed JSON value unchanged. On a no, the schema
 * itself has to be asked, which knows the reason, or accepts all the same: so no schema is written
 * twice, and a construct unknown here only costs time. Proven by schema-predicate.test.ts: what is
 * accepted here the schema accepts, and returns equal.
 */
import type { z } from 'zod';

/** True: the schema accepts the value and would return an equal one. False means nothing. */
export type SchemaPredicate = (value: unknown) => boolean;

const undecided: SchemaPredicate = () => false;

/**
 * Derives the predicate of a schema.
 *
 * @param schema of JSON; kinds that are not known here are left to the schema
 */
export function createSchemaPredicate(schema: z.core.$ZodType): SchemaPredicate {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case 'object':
      return ofObject(def);
    case 'string':
      return ofText(def);
    case 'number':
      return ofNumber(def);
    case 'boolean':
      return (value) => typeof value === 'boolean';
    case 'literal':
    case 'enum': {
      const known: readonly unknown[] =
        def.type === 'literal' ? def.values : Object.values(def.entries);
      return def.checks?.length ? undecided : (value) => known.includes(value);
    }
    case 'nullable': {
      const inner = createSchemaPredicate(def.innerType);
      return (value) => value === null || inner(value);
    }
    case 'optional':
      return createSchemaPredicate(def.innerType);
    case 'array':
      return ofArray(def);
    case 'pipe': {
      const [first, second] = [createSchemaPredicate(def.in), createSchemaPredicate(def.out)];
      return (value) => first(value) && second(value);
    }
    case 'unknown':
      return (value) => value !== undefined;
    case 'record':
      return ofRecord(def);
    case 'union':
      return ofUnion(def);
    default:
      return undecided;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function ofObject({ shape, catchall, checks }: z.core.$ZodObjectDef): SchemaPredicate {
  if (checks?.length) return undecided;
  const members = Object.entries(shape).map(([key, schema]) => ({
    key,
    accepts: createSchemaPredicate(schema),
    isOptional: schema._zod.optin === 'optional',
  }));
  const rest = (catchall as z.core.$ZodTypes | undefined)?._zod.def.type;
  if (rest !== undefined && rest !== 'never' && rest !== 'unknown') return undecided;
  return (value) => {
    if (!isObject(value)) return false;
    let known = 0;
    for (const { key, accepts, isOptional } of members) {
      const item = value[key];
      if (item === undefined) {
        if (!isOptional) return false;
      } else if (accepts(item)) known++;
      else return false;
    }
    // Validators omit this one.
    if (rest === 'unknown') return !Object.hasOwn(value, '__proto__');
    let keys = 0;
    for (const _ in value) keys++;
    return keys === known;
  };
}

/** All of them, in their order. */
function all(checks: readonly SchemaPredicate[]): SchemaPredicate {
  const [first, second, ...more] = checks;
  if (!first) return () => true;
  if (!second) return first;
  return (value) => first(value) && second(value) && more.every((accepts) => accepts(value));
}

function ofText(def: z.core.$ZodStringDef & { pattern?: RegExp | undefined }): SchemaPredicate {
  const checks: SchemaPredicate[] = (def.checks ?? []).map(ofCheck);
  // A format of its own, such as a UUID's.
  const { pattern } = def;
  const hasFormat = 'format' in def;
  if (hasFormat && !isPlain(pattern)) return undecided;
  if (pattern) checks.push((value) => pattern.test(value as string));
  const accepts = all(checks);
  return (value) => typeof value === 'string' && accepts(value);
}

/** A stateful regular expression answers differently each time. */
const isPlain = (pattern: RegExp | undefined): pattern is RegExp =>
  pattern !== undefined && !pattern.global && !pattern.sticky;

/** The predicate of a check on a text or a number. */
function ofCheck(check: z.core.$ZodCheck<never>): SchemaPredicate {
  const { def } = check._zod as unknown as { def: z.core.$ZodChecks['_zod']['def'] };
  switch (def.check) {
    case 'string_format': {
      const pattern = def.format === 'regex' ? def.pattern : undefined;
      return isPlain(pattern) ? (value) => pattern.test(value as string) : undecided;
    }
    case 'max_length':
      return (value) => (value as string).length <= def.maximum;
    case 'min_length':
      return (value) => (value as string).length >= def.minimum;
    case 'greater_than': {
      const { value: limit, inclusive } = def;
      if (typeof limit !== 'number') return undecided;
      return (value) => (inclusive ? (value as number) >= limit : (value as number) > limit);
    }
    case 'less_than': {
      const { value: limit, inclusive } = def;
      if (typeof limit !== 'number') return undecided;
      return (value) => (inclusive ? (value as number) <= limit : (value as number) < limit);
    }
    case 'custom' as never: {
      const { fn } = def as unknown as { fn: (value: unknown) => unknown };
      return (value) => fn(value) === true;
    }
    default:
      return undecided;
  }
}

function ofNumber(def: z.core.$ZodNumberDef & { format?: string }): SchemaPredicate {
  const accepts = all((def.checks ?? []).map(ofCheck));
  const { format } = def;
  if (format !== undefined && format !== 'safeint') return undecided;
  const isNumber = format === undefined ? Number.isFinite : Number.isSafeInteger;
  return (value) => isNumber(value) && accepts(value);
}

function ofArray({ element, checks = [] }: z.core.$ZodArrayDef): SchemaPredicate {
  const accepts = createSchemaPredicate(element);
  const isBounded = all(checks.map(ofCheck));
  return (value) => Array.isArray(value) && isBounded(value) && value.every(accepts);
}

function ofRecord({ keyType, valueType, checks }: z.core.$ZodRecordDef): SchemaPredicate {
  const isText = (keyType as z.core.$ZodTypes)._zod.def.type === 'string';
  if (checks?.length || !isText || (keyType as z.core.$ZodTypes)._zod.def.checks?.length) {
    return undecided;
  }
  const accepts = createSchemaPredicate(valueType);
  return (value) => {
    if (!isObject(value) || Object.hasOwn(value, '__proto__')) return false;
    for (const key in value) if (!accepts(value[key])) return false;
    return true;
  };
}

/** For objects distinguished by one member. */
function ofUnion(
  def: z.core.$ZodUnionDef & { discriminator?: string | undefined },
): SchemaPredicate {
  const { discriminator, options } = def;
  if (discriminator === undefined || def.checks?.length) return undecided;
  const predicates = new Map<unknown, SchemaPredicate>();
  for (const option of options) {
    const accepts = createSchemaPredicate(option);
    for (const value of option._zod.propValues?.[discriminator] ?? []) {
      predicates.set(value, accepts);
    }
  }
  return (value) => isObject(value) && predicates.get(value[discriminator])?.(value) === true;
}
