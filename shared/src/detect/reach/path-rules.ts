/** How far a deleted, written or read path may reach. */

import { Glob } from '../../glob.ts';
import type { BlastRadiusSettings } from './blast-radius-settings.ts';
import { asHome, depthOf, type PathForm, readPathForms } from './path-forms.ts';
import { graver, type PathUse, type ReachFinding, type TouchedPath } from './reach-finding.ts';

export type JudgePath = (touched: TouchedPath) => ReachFinding[];

/**
 * Never to be deleted, whoever might approve it: a root, a home, and what is directly below the
 * root.
 */
const DENIED_DEPTH = 1;
/** Longer names are not file names. */
const MAX_NAME = 1_024;
/** Characters of a path that are compared with a pattern. */
const MAX_COMPARED = 4 * MAX_NAME;
const EFFORT = 100_000;

/** Prepares a tenant's settings for judging paths. */
export function createPathRules(settings: BlastRadiusSettings): JudgePath {
  const prefixes = settings.config_path_prefixes.map((prefix) => ({
    prefix,
    forms: readPathForms(prefix),
  }));
  const patterns = settings.protected_file_patterns.map((pattern) => ({
    pattern,
    matches: protectedMatcher(pattern),
  }));
  const { min_delete_depth: minDepth } = settings;

  return (touched) => {
    const forms = readPathForms(touched.text, touched.base);
    const found: ReachFinding[] = [];
    const { use, place } = touched;
    if (forms.some(({ isUnread }) => isUnread)) {
      const message = 'the call names a path with spellings that are too long together';
      found.push({ rule: 'unreadable', verdict: 'escalate', message, place });
    }
    if (use === 'delete') {
      let worst: ReachFinding | undefined;
      for (const form of forms) {
        const judged = judgeDelete(form, touched, minDepth);
        if (judged) worst = graver(worst, judged);
      }
      if (worst) found.push(worst);
    }
    if (use !== 'read') {
      const config = prefixes.find(({ forms: of }) =>
        of.some((prefix) => forms.some((form) => isUnder(form, prefix, use))),
      );
      if (config) {
        const what = use === 'delete' ? 'removes' : 'writes';
        const message = `the call ${what} configuration under ${config.prefix}`;
        found.push({ rule: 'config_path', verdict: 'escalate', message, place });
      }
    }
    const guarded = patterns.find(({ matches }) => forms.some(matches));
    if (guarded) {
      const verdict = use === 'read' ? 'escalate' : 'deny';
      const message = `the call ${DOES[use]} a protected file (${guarded.pattern})`;
      found.push({ rule: 'protected_file', verdict, message, place });
    }
    return touched.isLater ? found.map((one) => ({ ...one, verdict: 'escalate' })) : found;
  };
}

const DOES: Record<PathUse, string> = { read: 'reads', write: 'writes', delete: 'deletes' };

/** Whether a segment stands for several names. */
function isWild(segment: string): boolean {
  if (segment.includes('*') || segment.includes('?')) return true;
  return segment.includes('{') && segment.includes(',');
}

/** Signs with which a shell writes alternatives: what they stand for is not worked out. */
const ALTERNATIVES = /[[({]/;

/**
 * Whether a segment may stand for a name: what stands before its first wildcard and behind its
 * last one decides, so that the work is that of the name. `users?$top=9` is no wildcard for `etc`.
 */
function mayStandFor(segment: string, name: string): boolean {
  if (!isWild(segment)) return false;
  if (ALTERNATIVES.test(segment)) return true;
  if (!segment.includes('*') && segment.length !== name.length) return false;
  const signs = Math.min(segment.length, name.length + 1);
  for (let at = 0; at < signs && !isWild(segment[at] as string); at++) {
    if (segment[at] !== name[at]) return false;
  }
  for (let at = 1; at <= signs && !isWild(segment.at(-at) as string); at++) {
    if (segment.at(-at) !== name.at(-at)) return false;
  }
  return true;
}

function judgeDelete(
  form: PathForm,
  { place, isRecursive, isMoved, containers = 0 }: TouchedPath,
  minDepth: number,
): ReachFinding | undefined {
  const isRelative = form.from === 'relative';
  // A relative name does not show that a move concerns much.
  if (isMoved && isRelative && form.segments.length > 0) return undefined;
  const verb = isMoved ? 'moves or changes' : 'deletes';
  const wildAt = form.segments.findIndex(isWild);
  if (wildAt >= 0) {
    // `*.log` is less than all, so it counts as a segment.
    const isPart = !/^[*?.]+$/.test(form.segments[wildAt] ?? '');
    const above = { ...form, segments: form.segments.slice(0, wildAt) };
    const depth = containers + depthOf(above) + (isPart ? 1 : 0);
    const isDenied = !form.isPerhaps && (isRelative ? depth === 0 : depth <= DENIED_DEPTH);
    const verdict = isDenied ? 'deny' : 'escalate';
    const message = `the call ${verb} by a wildcard`;
    return { rule: 'delete_wildcard', verdict, message, place };
  }
  const depth = containers + depthOf(form);
  const least = isRecursive && minDepth > 0 ? minDepth + 1 : minDepth;
  if (depth >= least) return undefined;
  // Where a relative path begins is unknown here.
  const isTop = isRelative ? depth === 0 : depth <= DENIED_DEPTH && depth < minDepth;
  const isDenied = isTop && !form.isPerhaps;
  const verdict = isDenied ? 'deny' : 'escalate';
  const how = isRecursive ? ' with all that is in it' : '';
  const message = `the call ${verb}${how} at depth ${depth}, and the least is ${least}`;
  return { rule: 'delete_depth', verdict, message, place };
}

function isUnder(form: PathForm, prefix: PathForm, use: PathUse): boolean {
  if (form.from !== prefix.from) {
    const home = asHome(form);
    return home !== undefined && home.from === prefix.from && isUnder(home, prefix, use);
  }
  const [path, under] = [form.segments, prefix.segments];
  const shared = Math.min(path.length, under.length);
  for (let at = 0; at < shared; at++) {
    const segment = path[at] as string;
    // What is deleted may lie anywhere below: `find / -name '*.log' -delete`.
    const mayBe = use === 'delete' ? isWild(segment) : mayStandFor(segment, under[at] as string);
    if (segment !== under[at] && !mayBe) return false;
  }
  // Deleting a folder above it deletes it, too.
  return path.length >= under.length || use === 'delete';
}

function protectedMatcher(pattern: string): (form: PathForm) => boolean {
  // It matches at any depth, and so also at the beginning.
  const plain = pattern
    .toLowerCase()
    .replaceAll('\\', '/')
    .replace(/^(?:\*\*\/)+(?=.)/, '');
  if (plain.includes('/')) {
    const glob = new Glob(plain.startsWith('/') ? plain : `**/${plain}`, 'path');
    return ({ segments }) => isTooLong(segments) || matches(glob, `/${segments.join('/')}`);
  }
  const ending = plain.startsWith('*') && !plain.slice(1).includes('*') ? plain.slice(1) : null;
  const glob = new Glob(plain, 'name');
  return ({ segments }) =>
    namesOf(segments.at(-1)).some((name) =>
      ending === null ? matches(glob, name) : name.endsWith(ending),
    );
}

/** Whether the path is longer than what is compared, which counts as protected. */
function isTooLong(segments: readonly string[]): boolean {
  let length = 0;
  for (const segment of segments) {
    length += segment.length + 1;
    if (length > MAX_COMPARED) return true;
  }
  return false;
}

function matches(glob: Glob, text: string): boolean {
  if (text.length > MAX_COMPARED) return true;
  const effort = { left: EFFORT };
  // What takes too much work to compare counts as protected.
  return glob.matches(text, effort) || effort.left < 0;
}

/** A file's name as file systems read it: some drop trailing dots, or what follows a colon. */
function namesOf(segment: string | undefined): string[] {
  if (segment === undefined) return [];
  const name = segment.slice(-MAX_NAME);
  const names = [name];
  let end = name.length;
  while (end > 0 && (name[end - 1] === '.' || name[end - 1] === ' ')) end--;
  if (end < name.length) names.push(name.slice(0, end));
  for (const sign of [':', ';']) {
    const at = name.indexOf(sign);
    if (at > 0) names.push(name.slice(0, at));
  }
  return names;
}
