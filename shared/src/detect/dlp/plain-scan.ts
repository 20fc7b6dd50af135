/** One text as it stands: the pattern engine's candidates, then their judges. */
import type { Severity } from '../../ledger/ledger-record.ts';
import {
  createPatternSet,
  MAX_MATCHES_PER_PATTERN,
  type PatternMatch,
  type PatternSet,
} from '../engine/pattern-set.ts';
import type { Judge } from './builtin-pattern.ts';
import { BUILTIN_PATTERNS } from './builtin-patterns.ts';
import { GATES, type Gate } from './decode/gates.ts';
import type { Budget, ScanBudget } from './scan-budget.ts';
import type { DlpScannerOptions } from './scan-contract.ts';

export interface PlainFinding {
  readonly pattern: string;
  readonly severity: Severity;
  readonly start: number;
  readonly end: number;
  readonly custom: boolean;
}

export interface PlainScan {
  /**
   * The findings, and the disguises that the text may contain.
   *
   * @param isFull whether findings of a severity are no longer wanted
   * @throws ScanBudgetError when the text's budget is exhausted
   * @throws PatternBudgetError when the tenant's own patterns exhaust theirs
   */
  scan(text: string, budget: ScanBudget, isFull?: (severity: Severity) => boolean): PlainScanned;
  close(): void;
}

export interface PlainScanned {
  readonly findings: readonly PlainFinding[];
  readonly gates: ReadonlySet<Gate>;
}

/** For nearly all texts. */
const NOTHING: PlainScanned = { findings: [], gates: new Set() };

interface Entry {
  readonly name: string;
  readonly severity: Severity;
  readonly judge?: Judge;
}

/**
 * The longest slice in which the rest of a text is read when a pattern has more matches than `find`
 * returns.
 */
const SLICE = 8192;
const OVERLAP = 256;

/** @throws PatternSyntaxError for a tenant's pattern that the engine rejects */
export function createPlainScan(options: DlpScannerOptions): PlainScan {
  const builtin = builtinSet();
  const { set, gateOf: gates } = builtin;
  const entries = withChanges(builtin, options);
  const custom = options.custom ?? [];
  const customSet =
    custom.length > 0
      ? createPatternSet(
          custom.map(({ id, regex }) => ({ id, regex })),
          'tenant',
        )
      : undefined;
  const customById = new Map(custom.map((pattern) => [pattern.id, pattern]));
  const severityOf = (id: string) => (entries.get(id) ?? customById.get(id))?.severity;
  return {
    scan(text, budget, isFull = () => false) {
      const matches = firstMatches(set, text, budget);
      if (matches.length === 0 && customSet === undefined) return NOTHING;
      const findings: PlainFinding[] = [];
      const open = new Set<Gate>();
      // One occurrence of a disguise's mark is enough.
      const isWanted = (id: string) => {
        const severity = severityOf(id);
        return severity !== undefined && !isFull(severity);
      };
      for (const match of everyMatch(set, text, matches, budget, isWanted)) {
        const gate = gates.get(match.id);
        if (gate !== undefined) open.add(gate);
        const entry = entries.get(match.id);
        if (!entry || isFull(entry.severity)) continue;
        budget.judge();
        judge(entry, text, match, findings);
      }
      if (customSet === undefined || custom.every(({ severity }) => isFull(severity))) {
        return { findings: withoutLesser(findings), gates: open };
      }
      const own = firstMatches(customSet, text, budget.own);
      for (const match of everyMatch(customSet, text, own, budget.own, isWanted)) {
        const pattern = customById.get(match.id);
        if (!pattern || isFull(pattern.severity) || match.end === match.start) continue;
        const { name, severity } = pattern;
        findings.push({
          pattern: name,
          severity,
          start: match.start,
          end: match.end,
          custom: true,
        });
      }
      return { findings: withoutLesser(findings), gates: open };
    },
    close: () => customSet?.close(),
  };
}

interface BuiltinSet {
  readonly set: PatternSet;
  readonly patternOf: ReadonlyMap<string, { name: string; severity: Severity; judge?: Judge }>;
  readonly gateOf: ReadonlyMap<string, Gate>;
}

/**
 * One set for all scanners of the thread, since it takes megabytes and milliseconds: a tenant's
 * changes to a pattern are applied to its matches.
 */
let shared: BuiltinSet | undefined;

function builtinSet(): BuiltinSet {
  shared ??= createBuiltinSet();
  return shared;
}

function createBuiltinSet(): BuiltinSet {
  const patternOf = new Map<string, { name: string; severity: Severity; judge?: Judge }>();
  const gateOf = new Map<string, Gate>();
  const sources: { id: string; regex: string }[] = [];
  for (const pattern of BUILTIN_PATTERNS) {
    const { name, severity } = pattern;
    pattern.expressions.forEach((expression, i) => {
      const id = `${name}/${i}`;
      const own = typeof expression === 'string' ? undefined : expression;
      patternOf.set(id, { name, severity, judge: own?.judge ?? pattern.judge });
      sources.push({ id, regex: own?.expression ?? String(expression) });
    });
  }
  for (const { gate, expressions } of GATES) {
    expressions.forEach((regex, i) => {
      gateOf.set(`gate ${gate}/${i}`, gate);
      sources.push({ id: `gate ${gate}/${i}`, regex });
    });
  }
  return { set: createPatternSet(sources, 'builtin'), patternOf, gateOf };
}

function withChanges(
  { patternOf }: BuiltinSet,
  { builtin = {} }: DlpScannerOptions,
): ReadonlyMap<string, Entry> {
  const entries = new Map<string, Entry>();
  for (const [id, pattern] of patternOf) {
    const changed = Object.hasOwn(builtin, pattern.name) ? builtin[pattern.name] : undefined;
    if (changed?.enabled === false) continue;
    entries.set(id, { ...pattern, severity: changed?.severity ?? pattern.severity });
  }
  return entries;
}

function judge(entry: Entry, text: string, match: PatternMatch, findings: PlainFinding[]): void {
  const { name: pattern, severity } = entry;
  const stretches = entry.judge ? entry.judge(text, match.start, match.end) : [match];
  for (const { start, end } of stretches) {
    if (end > start) findings.push({ pattern, severity, start, end, custom: false });
  }
}

/** What `find` returns for the whole text. */
function firstMatches(set: PatternSet, text: string, budget: Budget): readonly PatternMatch[] {
  budget.read(text.length);
  const matches = set.find(text);
  budget.found(matches.length);
  return matches;
}

/**
 * Every match, even of patterns with more than `find` returns: an attacker could put a hundred
 * harmless candidates before the one that counts.
 */
function* everyMatch(
  set: PatternSet,
  text: string,
  matches: readonly PatternMatch[],
  budget: Budget,
  isWanted: (id: string) => boolean,
): Generator<PatternMatch> {
  yield* matches;
  const resumeAt = cappedAt(matches, isWanted);
  if (resumeAt.size === 0) return;
  let at = Math.min(...resumeAt.values());
  // As long as the text that held a hundred matches, so that little is read twice.
  let size = Math.min(SLICE, at + 2 * OVERLAP);
  while (at < text.length) {
    budget.read(Math.min(size, text.length - at));
    const slice = set.find(text.slice(at, at + size));
    budget.found(slice.length);
    for (const { id, start, end } of slice) {
      const known = resumeAt.get(id);
      if (known === undefined || at + start < known) continue;
      yield { id, start: at + start, end: at + end };
      resumeAt.set(id, at + end);
    }
    const again = cappedAt(slice, isWanted);
    const step = again.size > 0 ? Math.max(1, Math.min(...again.values())) : size - OVERLAP;
    at += step;
    size = Math.min(SLICE, (again.size > 0 ? step : 2 * step) + 2 * OVERLAP);
  }
}

/** Where the matches of each pattern that reached the limit end. */
function cappedAt(
  matches: readonly PatternMatch[],
  isWanted: (id: string) => boolean,
): Map<string, number> {
  if (matches.length < MAX_MATCHES_PER_PATTERN) return new Map();
  const counts = new Map<string, { count: number; end: number }>();
  for (const { id, end } of matches) {
    const known = counts.get(id);
    counts.set(id, { count: (known?.count ?? 0) + 1, end });
  }
  return new Map(
    [...counts]
      .filter(([id, { count }]) => count >= MAX_MATCHES_PER_PATTERN && isWanted(id))
      .map(([id, { end }]) => [id, end]),
  );
}

const RANK: Readonly<Record<string, number>> = { info: 0, low: 1, medium: 2, high: 3, critical: 4 };

/**
 * One value, one finding: of overlapping built-in patterns, the more severe is kept, then the
 * longer. A tenant's own pattern is always reported.
 */
function withoutLesser(findings: readonly PlainFinding[]): readonly PlainFinding[] {
  if (findings.length < 2) return findings;
  const byStart = [...findings].sort((a, b) => a.start - b.start || b.end - a.end);
  const kept: PlainFinding[] = [];
  let last: PlainFinding | undefined;
  for (const finding of byStart) {
    if (finding.custom) {
      kept.push(finding);
    } else if (last === undefined || finding.start >= last.end) {
      kept.push(finding);
      last = finding;
    } else if (isAbove(finding, last)) {
      kept[kept.lastIndexOf(last)] = finding;
      last = finding;
    }
  }
  return kept;
}

function isAbove(one: PlainFinding, other: PlainFinding): boolean {
  const difference = (RANK[one.severity] ?? 0) - (RANK[other.severity] ?? 0);
  if (difference !== 0) return difference > 0;
  return one.end - one.start > other.end - other.start;
}
