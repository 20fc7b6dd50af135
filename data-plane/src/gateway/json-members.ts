import { parseStrictJson } from '@governance/shared/json/strict-json';

const MAX_DEPTH = 128;
/** The text was already parsed within bounds. */
const MAX_NODES = Number.POSITIVE_INFINITY;

/**
 * The JSON text of an object with one member replaced; everything else keeps its spelling.
 *
 * @param object what `raw` says, which has the member
 */
export function withMember(
  raw: string,
  object: Record<string, unknown>,
  member: string,
  renewed: unknown,
): string {
  const names = Object.keys(object);
  // Keys that look like array indexes are enumerated first, whatever the text's order.
  if (names.some((key) => key >= '0' && key < ':')) {
    return JSON.stringify({ ...object, [member]: renewed });
  }
  const memberSpans: number[] = [];
  parseStrictJson(raw, { maxDepth: MAX_DEPTH, maxNodes: MAX_NODES, numbers: 'any', memberSpans });
  const at = names.indexOf(member) * 2;
  return raw.slice(0, memberSpans[at]) + JSON.stringify(renewed) + raw.slice(memberSpans[at + 1]);
}
