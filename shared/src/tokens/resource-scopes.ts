/**
 * `resource_scopes` of a role, which narrow its permissions. `tool:<glob>`, or an entry without a
 * kind, is matched with `server/tool`; `target:<glob>` with whatever a call is aimed at. Within a
 * kind one entry has to match, and each given kind has to. Nothing, or `*`: everything.
 */
import { type Effort, Glob } from '../glob.ts';
import { plainPattern } from '../mcp/target-readings.ts';

export interface ResourceScopes {
  /** Null: every tool. */
  readonly tools: readonly Glob[] | null;
  /** Null: every target, and calls without one. */
  readonly targets: readonly Glob[] | null;
}

/** What scopes see of a call. */
export interface Reach {
  /** `server/tool`. */
  readonly resource: string;
  /** All readings of the call's targets; null where one of them cannot be read. */
  readonly targets: readonly string[] | null;
}

const MAX_STARS = 16;
const KIND = /^[a-z][a-z0-9_-]*:/i;

/** What is wrong with an entry; undefined for a valid one. */
export function findScopeFault(entry: string): string | undefined {
  const parsed = parseEntry(entry);
  return typeof parsed === 'string' ? parsed : undefined;
}

/**
 * Reads the scopes of a role.
 *
 * @returns null where they narrow nothing; `none` where an entry cannot be read, since what it was
 *   to take away is not known
 */
export function parseResourceScopes(entries: readonly string[]): ResourceScopes | null | 'none' {
  const tools: Glob[] = [];
  const targets: Glob[] = [];
  let hasEveryTool = false;
  for (const entry of entries) {
    const parsed = parseEntry(entry);
    if (typeof parsed === 'string') return 'none';
    if (parsed.kind === 'target') targets.push(...parsed.globs);
    else if (parsed.isAll) hasEveryTool = true;
    else tools.push(...parsed.globs);
  }
  const scopes = {
    tools: hasEveryTool || tools.length === 0 ? null : tools,
    targets: targets.length === 0 ? null : targets,
  };
  return scopes.tools === null && scopes.targets === null ? null : scopes;
}

type Entry = { kind: 'tool' | 'target'; globs: Glob[]; isAll: boolean };

function parseEntry(entry: string): Entry | string {
  const named = KIND.exec(entry)?.[0];
  const kind = named?.slice(0, -1) ?? 'tool';
  const pattern = entry.slice(named?.length ?? 0);
  if (kind !== 'tool' && kind !== 'target') {
    return `begins with ${kind}: where only tool: and target: are known`;
  }
  if (pattern === '') return 'names nothing';
  if ((pattern.match(/\*+/g) ?? []).length > MAX_STARS) return `has more than ${MAX_STARS} stars`;
  if (kind === 'tool') {
    if (/[\s\p{Cc}]/u.test(pattern)) return 'has white space in it';
    const isAll = /^\*+$/.test(pattern);
    return { kind, globs: [new Glob(pattern, 'name')], isAll };
  }
  const plain = plainPattern(pattern);
  if (plain === null) return 'is no plain path, URI, address or name';
  const globs = [new Glob(plain, 'path')];
  // What is below a folder includes the folder.
  if (plain.endsWith('/**') && plain.length > 3) globs.push(new Glob(plain.slice(0, -3), 'path'));
  return { kind, globs, isAll: false };
}

/** Whether scopes admit a call. */
export function coverReach(scopes: ResourceScopes, reach: Reach, effort: Effort): boolean {
  if (!coverTool(scopes, reach.resource, effort)) return false;
  const { targets } = scopes;
  if (targets === null) return true;
  if (reach.targets === null || reach.targets.length === 0) return false;
  return reach.targets.every((text) => targets.some((glob) => glob.matches(text, effort)));
}

/** Whether scopes admit calls of a tool, for some target. */
export function coverTool({ tools }: ResourceScopes, resource: string, effort: Effort): boolean {
  return tools === null || tools.some((glob) => glob.matches(resource, effort));
}

/** Whether scopes admit calls of anything on a server. */
export function coverServer({ tools }: ResourceScopes, serverId: string, effort: Effort): boolean {
  return tools === null || tools.some((glob) => glob.canBegin(`${serverId}/`, effort));
}

/**
 * Whether one of the targets' patterns covers everything that another pattern matches. A star of
 * the other counts as a character that only a star matches; the number of folders that a double
 * star matches is tried.
 */
export function coverPattern(
  { targets }: ResourceScopes,
  pattern: string,
  effort: Effort,
): boolean {
  if (targets === null) return true;
  const plain = plainPattern(pattern);
  if (plain === null) return false;
  const isWithin = (text: string) => {
    const forms = FOLDERS.map((folders) => text.replaceAll(/\*{2,}/g, folders));
    return targets.some((glob) => forms.every((form) => glob.matches(form, effort)));
  };
  // What is below a folder includes the folder.
  const isFolder = plain.endsWith('/**') && plain.length > 3;
  return isWithin(plain) && (!isFolder || isWithin(plain.slice(0, -3)));
}

const FOLDERS = ['*', '*/*', '*/*/*', '*/*/*/*'];
