/** What is said of findings: to agents by the names of the patterns, to policies as `input.dlp`. */
import type { PolicyInput } from '@governance/policies/contract';
import type { DlpFinding } from '@governance/shared/detect/findings';
import type { OutboundAction } from '@governance/shared/dlp-settings';
import type { CallDlp } from '../calls.ts';

/** From the least. */
const SEVERITIES = ['low', 'medium', 'high', 'critical'] as const;

const NOTHING: PolicyInput['dlp'] = { findings_count: 0, max_severity: null, patterns: [] };

/** `input.dlp` of the policies. */
export function dlpInput({ findings }: CallDlp): PolicyInput['dlp'] {
  if (findings.length === 0) return NOTHING;
  const found = new Set(findings.map(({ severity }) => severity));
  return {
    findings_count: findings.length,
    max_severity: SEVERITIES.findLast((severity) => found.has(severity)) ?? null,
    patterns: patternsOf(findings),
  };
}

/** The names of the patterns that were found, each once, in the order of the findings. */
export function patternsOf(findings: readonly DlpFinding[]): string[] {
  return [...new Set(findings.map(({ pattern }) => pattern))];
}

/** What a record says was done. */
export const DONE = { block: 'blocked', warn: 'warned', log: 'logged' } as const;

/** The strongest of some actions; `log` for none. */
export function strongestOf(actions: readonly OutboundAction[]): OutboundAction {
  if (actions.includes('block')) return 'block';
  return actions.includes('warn') ? 'warn' : 'log';
}

const MAX_NAMED = 5;

/** Names the patterns, and says nothing of what matched. */
export function describeFindings(findings: readonly DlpFinding[]): string {
  const names = patternsOf(findings);
  const shown = names.slice(0, MAX_NAMED).join(', ');
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : '';
  return `it holds sensitive data: ${shown}${more}`;
}

/** Said of a text with more disguises, or more that may be sensitive, than can be looked at. */
export const TOO_MUCH_TO_SCAN = 'too much in it could be sensitive data to be looked at in time';
