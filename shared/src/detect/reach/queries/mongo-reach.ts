/** Calls in the language of MongoDB's shell that change or remove everything in a collection. */
import { denies, escalates, type WholeReach } from '../reach-finding.ts';

export const EVERYTHING = escalates(
  'delete_wildcard',
  'the call deletes or changes everything: its filter matches all',
);

/** Without one of these a text is not looked at. */
const MAY = /\.\s*(?:delete|remove|update|drop|runCommand|adminCommand)|\$(?:out|merge)\b/i;
const OF_ALL = /\.\s*(?:deleteMany|updateMany|remove)\s*\(\s*\{\s*\}|\.\s*deleteMany\s*\(\s*\)/i;
const DROP_DATABASE =
  /\.\s*(?:dropDatabase\s*\(|(?:run|admin)Command\s*\(\s*\{\s*["']?dropDatabase\b)/i;
const DROP_COLLECTION =
  /\bdb\b[^;\n]{0,200}\.\s*drop\s*\(|\.\s*runCommand\s*\(\s*\{\s*["']?drop\b/i;
/** The last stage of a pipeline. */
const WRITES = /\{\s*["']?\$(?:out|merge)["']?\s*:/;

export function findMongoReach(text: string): WholeReach | undefined {
  if (!MAY.test(text)) return undefined;
  if (DROP_DATABASE.test(text)) {
    return denies('delete_whole', 'the call removes a whole database (dropDatabase)');
  }
  if (OF_ALL.test(text)) return EVERYTHING;
  if (WRITES.test(text)) {
    return escalates('delete_whole', 'the call writes what it finds over a collection');
  }
  if (!DROP_COLLECTION.test(text)) return undefined;
  return escalates('delete_whole', 'the call removes a collection');
}
