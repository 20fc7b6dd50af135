import type { Severity } from '../../ledger/ledger-record.ts';
import type { DlpFinding } from '../findings.ts';
import { rankOf } from '../gravest.ts';
import type { Stretch } from './builtin-pattern.ts';
import type { Leaf } from './json-document.ts';
import { MAX_FINDINGS, type TextFinding } from './scan-contract.ts';

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

/**
 * The findings of one scan: of each severity the first MAX_FINDINGS, so that no number of lesser ones
 * hides a graver one.
 */
export class FoundList<F extends Found> {
  readonly all: F[] = [];
  readonly #counts = new Map<Severity, number>();

  /** Whether further findings of a severity are left out. */
  readonly isFull = (severity: Severity): boolean =>
    (this.#counts.get(severity) ?? 0) >= MAX_FINDINGS;

  add(one: F): void {
    if (this.isFull(one.severity)) return;
    this.#counts.set(one.severity, (this.#counts.get(one.severity) ?? 0) + 1);
    this.all.push(one);
  }
}

/**
 * One value, one finding: of overlapping findings, a later one is kept only if it is more severe, or
 * undisguised and of another pattern.
 */
export function withoutDoubles<F extends Found>(found: F[]): F[] {
  if (found.length < 2) return found;
  const kept: F[] = [];
  for (const one of found) {
    const isKnown = kept.some(
      (other) =>
        one.start < other.end &&
        other.start < one.end &&
        rankOf(one) <= rankOf(other) &&
        (other.pattern === one.pattern || one.disguise.length > 0),
    );
    if (!isKnown) kept.push(one);
  }
  return kept.sort((a, b) => a.start - b.start);
}
