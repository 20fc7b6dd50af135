/**
 * A tool's definition, as digests for comparison and as texts for an administrator. All members of
 * a definition have a digest, since a member without one could change unnoticed.
 */
import { hash } from 'node:crypto';
import { canonicalize } from '@governance/shared/json/canonical-json';
import { MAX_DIFFERENCE, type ToolDifference } from '@governance/shared/mcp/tool-pins';
import type { ListedTool } from '../../upstream/lists/list-tools.ts';

/** The compared members, with their names in MCP. */
const DEFINITION_MEMBERS = [
  'name',
  'title',
  'description',
  'inputSchema',
  'outputSchema',
  'annotations',
] as const;

/** Most UTF-16 units of a definition that are stored to show what changed. */
const MAX_KEPT = 16_384;
/** UTF-16 units of unchanged text shown before a difference. */
const SHOWN_BEFORE = 60;

/** Digests of the members that are present. */
export type MemberDigests = Readonly<Record<string, string>>;
/** The members as JSON, possibly cut. */
export type MemberTexts = Readonly<Record<string, string>>;

export interface ToolDefinition {
  readonly digest: string;
  readonly members: MemberDigests;
}

/** The digest of a tool's definition, and those of its members. */
export function definitionOf(tool: ListedTool): ToolDefinition {
  const members: Record<string, string> = {};
  for (const [name, text] of membersOf(tool)) members[name] = hash('sha256', text);
  return { digest: hash('sha256', canonicalize(members)), members };
}

/** The definition's texts, cut where they are long. */
export function textsOfDefinition(tool: ListedTool): MemberTexts {
  const texts: Record<string, string> = {};
  let left = MAX_KEPT;
  // The shortest first, so that long members share the room that is left.
  const members = membersOf(tool).sort(([, one], [, other]) => one.length - other.length);
  for (const [at, [name, text]] of members.entries()) {
    texts[name] = text.slice(0, Math.floor(left / (members.length - at))).toWellFormed();
    left -= texts[name].length;
  }
  return texts;
}

function membersOf(tool: ListedTool): [string, string][] {
  return DEFINITION_MEMBERS.flatMap((name): [string, string][] =>
    tool[name] === undefined ? [] : [[name, toJson(tool[name])]],
  );
}

function toJson(value: unknown): string {
  try {
    return canonicalize(value);
  } catch {
    // A value without a canonical form is compared as written.
    return `not canonical: ${JSON.stringify(value)}`;
  }
}

/** The members that differ; none where the earlier definition is unknown. */
export function changedMembers(before: MemberDigests, after: MemberDigests): string[] {
  if (Object.keys(before).length === 0) return [];
  return DEFINITION_MEMBERS.filter((name) => before[name] !== after[name]);
}

/** For each changed member: both texts from where they begin to differ. */
export function differenceOf(
  changed: readonly string[],
  before: MemberTexts,
  after: MemberTexts,
): ToolDifference {
  const room = Math.floor(MAX_DIFFERENCE / Math.max(1, changed.length));
  return changed.map((member) => {
    const [old, now] = [before[member], after[member]];
    // The texts differ only beyond the part that is stored.
    if (old !== undefined && old === now) return { member, before: '…', after: '…' };
    const from = Math.max(0, samePrefix(old ?? '', now ?? '') - SHOWN_BEFORE);
    return { member, before: excerpt(old, from, room), after: excerpt(now, from, room) };
  });
}

function samePrefix(one: string, other: string): number {
  const end = Math.min(one.length, other.length);
  let at = 0;
  while (at < end && one.charCodeAt(at) === other.charCodeAt(at)) at++;
  return at;
}

function excerpt(text: string | undefined, from: number, room: number): string | null {
  if (text === undefined) return null;
  const shown = text.slice(from, from + room).toWellFormed();
  return `${from > 0 ? '…' : ''}${shown}${text.length > from + room ? '…' : ''}`;
}
