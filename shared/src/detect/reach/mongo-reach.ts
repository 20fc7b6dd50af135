/** Calls in the language of MongoDB's shell that change or remove everything in a collection. */
import type { WholeReach } from './program-reach.ts';

/** Without one of these a text is not looked at. */
const MAY = /\.\s*(?:delete|remove|update|drop|runCommand|adminCommand)|\$(?:out|merge)\b/i;
const EVERYTHING =
  /\.\s*(?:deleteMany|updateMany|remove)\s*\(\s*\{\s*\}|\.\s*deleteMany\s*\(\s*\)/i;
const DROP_DATABASE =
  /\.\s*(?:dropDatabase\s*\(|(?:run|admin)Command\s*\(\s*\{\s*["']?dropDatabase\b)/i;
const DROP_COLLECTION =
  /\bdb\b[^;\n]{0,200}\.\s*drop\s*\(|\.\s*runCommand\s*\(\s*\{\s*["']?drop\b/i;
/** The last stage of a pipeline. */
const WRITES = /\{\s*["']?\$(?:out|merge)["']?\s*:/;

export function findMongoReach(text: string): WholeReach | undefined {
  if (!MAY.test(text)) return undefined;
  if (DROP_DATABASE.test(text)) {
    const message = 'the call removes a whole database (dropDatabase)';
    return { rule: 'delete_whole', verdict: 'deny', message };
  }
  if (EVERYTHING.test(text)) {
    const message = 'the call deletes or changes everything: its filter matches all';
    return { rule: 'delete_wildcard', verdict: 'escalate', message };
  }
  if (WRITES.test(text)) {
    const message = 'the call writes what it finds over a collection';
    return { rule: 'delete_whole', verdict: 'escalate', message };
  }
  if (!DROP_COLLECTION.test(text)) return undefined;
  return { rule: 'delete_whole', verdict: 'escalate', message: 'the call removes a collection' };
}
