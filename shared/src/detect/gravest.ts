/**
 * Which findings are reported where there are more than a report holds: the gravest. Lesser ones,
 * which somebody may plant, never keep a graver one out.
 */
import type { Severity } from '../ledger/ledger-record.ts';

const RANK: Readonly<Record<Severity, number>> = {
  info: 0,
  low: 1,
  medium: 2,
  high: 3,
  critical: 4,
};
const GRAVEST = RANK.critical;

interface Graded {
  readonly severity: Severity;
}

/** Higher for a graver finding; 0 is the lowest. */
export function rankOf({ severity }: Graded): number {
  return RANK[severity];
}

/** The rank of the gravest of some findings; below every other where there is none. */
export const highestRank = (findings: readonly Graded[]): number =>
  Math.max(-1, ...findings.map(rankOf));

/** Adds a finding; in a full list it displaces the last of the least grave, if it is graver. */
export function addGravest<F extends Graded>(findings: F[], finding: F, most: number): void {
  if (findings.length >= most) {
    const ranks = findings.map(rankOf);
    const least = Math.min(...ranks);
    if (rankOf(finding) <= least) return;
    findings.splice(ranks.lastIndexOf(least), 1);
  }
  findings.push(finding);
}

/** The gravest of some findings, in their order. */
export function gravestOf<F extends Graded>(findings: readonly F[], most: number): F[] {
  const kept: F[] = [];
  for (const finding of findings) addGravest(kept, finding, most);
  return kept;
}

/** Whether no finding could displace any of these. */
export function isFullOfGravest(findings: readonly Graded[], most: number): boolean {
  return findings.length >= most && findings.every((one) => rankOf(one) === GRAVEST);
}
