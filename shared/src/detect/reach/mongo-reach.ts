/** Calls in the language of MongoDB's shell that change or remove everything in a collection. */
import type { WholeReach } from './program-reach.ts';

/** Without one of these a text is not looked at. */
const MAY = /\.\s*(?:delete|remove|update|drop)/i;
const EVERYTHING =
  /\.\s*(?:deleteMany|updateMany|remove)\s*\(\s*\{\s*\}|\.\s*deleteMany\s*\(\s*\)/i;
const DROP_DATABASE = /\.\s*dropDatabase\s*\(/i;
const DROP_COLLECTION = /\bdb\b[^;\n]{0,200}\.\s*drop\s*\(/i;

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
  if (!DROP_COLLECTION.test(text)) return undefined;
  return { rule: 'delete_whole', verdict: 'escalate', message: 'the call removes a collection' };
}
