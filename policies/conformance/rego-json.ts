/** Rego values and JSON: how OPA turns the one into the other, and YAML's numbers digit by digit. */
import { isAlias, isMap, isScalar, isSeq, type Node } from 'yaml';
import {
  compareRego,
  RegoNumber,
  RegoObject,
  RegoSet,
  type RegoValue,
} from '../src/evaluator/rego-value.ts';

/** The JSON text of a value; a set becomes an array in its order, a non-string key its text. */
export function toJsonText(value: RegoValue): string {
  if (value instanceof RegoNumber) return value.text;
  if (value instanceof RegoSet) return `[${value.items.map(toJsonText).join(',')}]`;
  if (value instanceof RegoObject) {
    return `{${value.entries.map(([key, item]) => `${keyText(key)}:${toJsonText(item)}`).join(',')}}`;
  }
  if (Array.isArray(value)) return `[${value.map(toJsonText).join(',')}]`;
  return JSON.stringify(value);
}

function keyText(key: RegoValue): string {
  return JSON.stringify(typeof key === 'string' ? key : toJsonText(key));
}

/** The value that remains in JSON: sets as arrays in their order, keys as strings. */
export function throughJson(value: RegoValue): RegoValue {
  if (value instanceof RegoSet) return value.items.map(throughJson);
  if (value instanceof RegoObject) {
    return new RegoObject(
      value.entries.map(([key, item]) => [
        typeof key === 'string' ? key : toJsonText(key),
        throughJson(item),
      ]),
    );
  }
  return Array.isArray(value) ? value.map(throughJson) : value;
}

export function sorted(value: RegoValue): RegoValue {
  return Array.isArray(value) ? [...value].sort(compareRego) : value;
}

/** A YAML node as OPA reads it, its numbers as they are written. */
export function fromYaml(node: Node | null, resolve: (alias: Node) => Node | undefined): RegoValue {
  if (node === null) return null;
  if (isAlias(node)) return fromYaml(resolve(node) ?? null, resolve);
  if (isMap(node)) {
    return new RegoObject(
      node.items.map((pair) => [
        yamlKey(pair.key as Node),
        fromYaml(pair.value as Node | null, resolve),
      ]),
    );
  }
  if (isSeq(node)) return node.items.map((item) => fromYaml(item as Node, resolve));
  if (!isScalar(node)) throw new Error('an unknown kind of YAML node');
  const { value } = node;
  if (typeof value === 'number' || typeof value === 'bigint') {
    const source = node.source ?? String(value);
    return new RegoNumber(/^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(source) ? source : String(value));
  }
  return value as string | boolean | null;
}

function yamlKey(node: Node): string {
  if (!isScalar(node)) throw new Error('a key that is not a scalar');
  return String(node.value);
}
