import { Severity } from '@governance/shared/ledger-record';

const SEVERITIES: readonly Severity[] = Severity.options;

/** The worst severity of some findings; `info` for none. */
export function worstOf(findings: readonly { readonly severity: Severity }[]): Severity {
  const ranks = findings.map(({ severity }) => SEVERITIES.indexOf(severity));
  return SEVERITIES[Math.max(0, ...ranks)] ?? 'info';
}

/** The next worse severity; `critical` stays. */
export function promoted(severity: Severity): Severity {
  return SEVERITIES[SEVERITIES.indexOf(severity) + 1] ?? 'critical';
}
