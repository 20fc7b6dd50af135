import { highestRank } from '@governance/shared/detect/gravest';
import { Severity } from '@governance/shared/ledger/ledger-record';

/** In the order of their ranks. */
const SEVERITIES: readonly Severity[] = Severity.options;

/** The worst severity of some findings; `info` for none. */
export function worstOf(findings: readonly { readonly severity: Severity }[]): Severity {
  return SEVERITIES[Math.max(0, highestRank(findings))] ?? 'info';
}

/** The next worse severity; `critical` stays. */
export function promoted(severity: Severity): Severity {
  return SEVERITIES[SEVERITIES.indexOf(severity) + 1] ?? 'critical';
}
