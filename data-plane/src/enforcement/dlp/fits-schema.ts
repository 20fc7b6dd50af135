/**
 * Whether a value still conforms to its JSON Schema after texts in it were replaced. The schema
 * comes from a server, so nothing in it is executed (no regular expressions). Only rules that a
 * replaced text can violate are checked. A rule that cannot be decided (a pattern, a format,
 * exclusive alternatives) counts as violated.
 */
import { isObject } from '../../upstream/message.ts';

/** Most levels of nested schemas, since the schema comes from a server. */
const MAX_DEPTH = 64;
/** Most schemas that may apply to one value. */
const MAX_SCHEMAS = 64;

/** Where a schema has one of these, the members below it cannot be checked one by one. */
const UNSURE = [
  'oneOf',
  'not',
  'if',
  'contains',
  'dependentSchemas',
  'dependencies',
  'patternProperties',
  'propertyNames',
  'unevaluatedProperties',
  'unevaluatedItems',
  '$dynamicRef',
  '$recursiveRef',
  'enum',
  'const',
];

/**
 * @param schema of the whole value, from the server
 * @param before the value, which conforms to the schema
 * @param after the same value with replaced texts
 */
export function fitsSchema(schema: unknown, before: unknown, after: unknown): boolean {
  return fits(gather(schema, schema), before, after, schema, 0);
}

/** @param schemas all schemas that may apply to the value; null where unknown */
function fits(
  schemas: Record<string, unknown>[] | null,
  before: unknown,
  after: unknown,
  root: unknown,
  depth: number,
): boolean {
  if (before === after) return true;
  if (typeof before === 'string' && typeof after === 'string') {
    return schemas?.every((schema) => takesText(schema, after)) === true;
  }
  if (typeof before !== 'object' || typeof after !== 'object' || !before || !after) return false;
  const changed = Object.keys(after).filter((key) => !isSame(at(before, key), at(after, key)));
  if (changed.length === 0) return true;
  if (schemas === null || depth > MAX_DEPTH) return false;
  if (schemas.some((schema) => UNSURE.some((keyword) => Object.hasOwn(schema, keyword)))) {
    return false;
  }
  if (Array.isArray(after) && schemas.some(({ uniqueItems }) => uniqueItems === true)) return false;
  return changed.every((key) => {
    const inner: Record<string, unknown>[] = [];
    for (const schema of schemas) {
      const below = Array.isArray(after) ? itemOf(schema, Number(key)) : memberOf(schema, key);
      const found = gather(below, root);
      if (found === null || inner.length + found.length > MAX_SCHEMAS) return false;
      inner.push(...found);
    }
    return fits(inner, at(before, key), at(after, key), root, depth + 1);
  });
}

function at(value: object, key: string): unknown {
  return (value as Record<string, unknown>)[key];
}

/** Copies keep the order of keys, so equal values have equal JSON. */
function isSame(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

function takesText(schema: Record<string, unknown>, text: string): boolean {
  const { enum: allowed, const: only, minLength, maxLength } = schema;
  const isUnsure =
    schema.pattern !== undefined ||
    schema.format !== undefined ||
    schema.contentEncoding !== undefined ||
    schema.contentMediaType !== undefined ||
    ['oneOf', 'not', 'if'].some((keyword) => Object.hasOwn(schema, keyword));
  if (isUnsure) return false;
  if (Array.isArray(allowed) && !allowed.includes(text)) return false;
  if (only !== undefined && only !== text) return false;
  // Characters, not UTF-16 units.
  const length = [...text].length;
  if (typeof minLength === 'number' && length < minLength) return false;
  return !(typeof maxLength === 'number' && length > maxLength);
}

function memberOf(schema: Record<string, unknown>, key: string): unknown {
  const { properties, additionalProperties } = schema;
  if (isObject(properties) && Object.hasOwn(properties, key)) return properties[key];
  return additionalProperties;
}

function itemOf(schema: Record<string, unknown>, index: number): unknown {
  const { prefixItems, items } = schema;
  if (Array.isArray(prefixItems) && index < prefixItems.length) return prefixItems[index];
  // Up to draft 2019-09 a list in `items` had the meaning of `prefixItems`.
  if (!Array.isArray(items)) return items;
  return index < items.length ? items[index] : schema.additionalItems;
}

/** A schema, and all that it references or combines for the same value; null where undecidable. */
function gather(schema: unknown, root: unknown): Record<string, unknown>[] | null {
  const found = new Set<Record<string, unknown>>();
  const waiting = [schema];
  while (waiting.length > 0) {
    const next = waiting.pop();
    // A schema that allows everything requires nothing.
    if (next === undefined || next === true) continue;
    if (!isObject(next)) return null;
    if (found.has(next)) continue;
    if (found.size >= MAX_SCHEMAS) return null;
    found.add(next);
    const { $ref, allOf, anyOf } = next;
    if ($ref !== undefined) waiting.push(resolve($ref, root));
    // Which alternative applied is unknown, so the text has to fit all of them.
    for (const parts of [allOf, anyOf]) if (Array.isArray(parts)) waiting.push(...parts);
  }
  return [...found];
}

/** Resolves a reference within the schema. @returns null for any other reference */
function resolve(ref: unknown, root: unknown): unknown {
  if (ref === '#') return root;
  if (typeof ref !== 'string' || !ref.startsWith('#/')) return null;
  let found: unknown = root;
  for (const step of ref.slice(2).split('/')) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return null;
    found = (found as Record<string, unknown>)[key];
  }
  return found ?? null;
}
