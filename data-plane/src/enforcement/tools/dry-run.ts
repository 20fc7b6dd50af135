/** Which arguments of a tool ask for a dry run. Proven by dry-run.test.ts. */

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
