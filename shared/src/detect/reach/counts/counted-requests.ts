/** How many things a request changes whose text lists them: GraphQL, bulk requests of a search server. */

const IS_MUTATION = /^\s{0,99}(?:#[^\n]{0,999}\n\s{0,99}){0,9}mutation\b/;
/** A field with a name of its own: `a1: closeIssue(`. */
const FIELD = /\b\w{1,60}\s{0,9}:\s{0,9}[A-Za-z_]\w{0,60}\s{0,9}\(/g;
const IS_BULK = /^\s{0,99}\{\s{0,9}"(?:index|create|update|delete)"\s{0,9}:/;
const BULK = /^\s{0,9}\{\s{0,9}"(?:index|create|update|delete)"\s{0,9}:/gm;

export function countRequested(text: string): number {
  if (IS_MUTATION.test(text)) return text.match(FIELD)?.length ?? 0;
  return text.includes('\n') && IS_BULK.test(text) ? (text.match(BULK)?.length ?? 0) : 0;
}
