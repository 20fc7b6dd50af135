/** Which arguments of a tool choose between operations, a delete among them. Proven by operations.test.ts. */
import { asksForDelete, isOperation } from '@governance/shared/detect/reach/deleted-store';
import type { Operation } from '../call/tool-action.ts';

/** Values of one argument that are read, at most. */
const MAX_VALUES = 100;

/** Such arguments of a tool; undefined where its schema declares none. */
export function findOperations(inputSchema: unknown): readonly Operation[] | undefined {
  if (typeof inputSchema !== 'object' || inputSchema === null) return undefined;
  const { properties } = inputSchema as { properties?: unknown };
  if (typeof properties !== 'object' || properties === null) return undefined;
  const found = Object.entries(properties).flatMap(([name, schema]): Operation[] => {
    const values = isOperation(name) ? valuesOf(schema) : [];
    return values.some(asksForDelete) ? [{ name, values }] : [];
  });
  return found.length > 0 ? found : undefined;
}

function valuesOf(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null || !('enum' in schema)) return [];
  const { enum: values } = schema;
  if (!Array.isArray(values) || values.length > MAX_VALUES) return [];
  return values.every((one) => typeof one === 'string') ? values : [];
}
