import type { Severity } from '../../ledger-record.ts';
import type { DlpFinding } from '../findings.ts';
import type { Stretch } from './builtin-pattern.ts';
import type { Leaf } from './json-document.ts';
import type { TextFinding } from './scan-contract.ts';

/** A finding with its place in the given text. */
export interface Found extends Stretch {
  readonly pattern: string;
  readonly severity: Severity;
  /** Empty if nothing was disguised. */
  readonly disguise: readonly string[];
}

/** A finding in a document of a JSON value: the leaves that it covers; one, unless it is split. */
export interface FoundInLeaves extends Found {
  readonly leaves: readonly Leaf[];
}

/** Maximum length of a finding's place. */
const MAX_PLACE = 256;

export function toTextFinding({ pattern, severity, start, end, disguise }: Found): TextFinding {
  const finding = { pattern, severity, start, length: end - start };
  return disguise.length > 0 ? { ...finding, disguise } : finding;
}

/** Findings as records hold them. A key that contains a finding appears as `*` in places. */
export function toDlpFindings(found: readonly FoundInLeaves[]): DlpFinding[] {
  const secret = new Set<string>();
  for (const { leaves } of found) {
    for (const { kind, pointer } of leaves) {
      if (kind === 'key') secret.add(pointer.slice(pointer.lastIndexOf('/') + 1));
    }
  }
  return found.map(({ pattern, severity, start, end, disguise, leaves }) => {
    const steps = (leaves[0]?.pointer ?? '').split('/');
    const place = steps.map((step) => (secret.has(step) ? '*' : step)).join('/');
    const finding = { pattern, severity, place: place.slice(0, MAX_PLACE), length: end - start };
    return disguise.length > 0 ? { ...finding, disguise } : finding;
  });
}

const RANK: Readonly<Record<Severity, number>> = {
  info: 0,
  low: 1,
  medium: 2,
  high: 3,
  critical: 4,
};

/**
 * One value, one finding: of overlapping findings, a later one is kept only if it is of another
 * pattern and is either undisguised or more severe.
 */
export function withoutDoubles(found: Found[]): Found[] {
  if (found.length < 2) return found;
  const kept: Found[] = [];
  for (const one of found) {
    const isKnown = kept.some(
      (other) =>
        one.start < other.end &&
        other.start < one.end &&
        (other.pattern === one.pattern ||
          (one.disguise.length > 0 && RANK[one.severity] <= RANK[other.severity])),
    );
    if (!isKnown) kept.push(one);
  }
  return kept.sort((a, b) => a.start - b.start);
}
