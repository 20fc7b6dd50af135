/** Deletes in Cypher of all nodes or relationships of a kind: `MATCH (n) DETACH DELETE n`. */
import { escalates, type WholeReach } from '../reach-finding.ts';

const DELETES_ALL = escalates(
  'sql_without_where',
  'the call deletes all nodes that it matches, without a condition',
);

const DELETE = /\b(?:DETACH\s{1,9})?DELETE\s{1,9}[A-Za-z_`]/i;
const BOUNDS = /\bWHERE\b|\bLIMIT\b|\{/i;
const MATCH = /^\s*(?:OPTIONAL\s{1,9})?MATCH\s*\(/i;

/** Whether a text is a query of a graph, and so none in SQL. */
export const isCypher = (text: string): boolean => MATCH.test(text);

export function findCypherReach(text: string): WholeReach | undefined {
  if (!MATCH.test(text) || !DELETE.test(text)) return undefined;
  // Properties of a node are a condition, too.
  return BOUNDS.test(text) ? undefined : DELETES_ALL;
}
