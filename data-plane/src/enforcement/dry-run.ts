/**
 * Calls that ask for a dry run. One counts only where the tool declares the argument: a server
 * ignores an argument that it does not know, and an agent may add any.
 */
import type { ToolHints } from './tool-action.ts';

/** Names of such arguments, without what joins their words. */
const NAMES = new Set(['dryrun']);
const JOINS = /[_-]/g;

/** The arguments of a tool that ask for a dry run; undefined where its schema declares none. */
export function findDryRunArguments(inputSchema: unknown): readonly string[] | undefined {
  if (typeof inputSchema !== 'object' || inputSchema === null) return undefined;
  const { properties } = inputSchema as { properties?: unknown };
  if (typeof properties !== 'object' || properties === null) return undefined;
  const found = Object.entries(properties).filter(
    ([name, schema]) => NAMES.has(name.replace(JOINS, '').toLowerCase()) && isBoolean(schema),
  );
  return found.length > 0 ? found.map(([name]) => name) : undefined;
}

const isBoolean = (schema: unknown): boolean =>
  typeof schema === 'object' && schema !== null && 'type' in schema && schema.type === 'boolean';

/** Whether a call asks for one by an argument that its tool declares. */
export function asksForDryRun(
  args: Readonly<Record<string, unknown>>,
  hints: ToolHints | undefined,
): boolean {
  return hints?.dryRun?.some((name) => Object.hasOwn(args, name) && args[name] === true) === true;
}
