/**
 * What agents and records are told of findings: the names of the patterns, and the action taken.
 */
import type { DlpFinding } from '@governance/shared/detect/findings';
import type { OutboundAction } from '@governance/shared/settings/dlp-settings';

/** The names of the matching patterns, without duplicates, in the order of the findings. */
export function patternsOf(findings: readonly DlpFinding[]): string[] {
  return [...new Set(findings.map(({ pattern }) => pattern))];
}

/** The actions as a record names them. */
export const DONE = { block: 'blocked', warn: 'warned', log: 'logged' } as const;

/** The strictest of some actions; `log` for none. */
export function strongestOf(actions: readonly OutboundAction[]): OutboundAction {
  if (actions.includes('block')) return 'block';
  return actions.includes('warn') ? 'warn' : 'log';
}

const MAX_NAMED = 5;

/** Names the patterns, but nothing of what matched. */
export function describeFindings(findings: readonly DlpFinding[]): string {
  const names = patternsOf(findings);
  const shown = names.slice(0, MAX_NAMED).join(', ');
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : '';
  return `it holds sensitive data: ${shown}${more}`;
}

/** The message for a text with too many disguises or candidates to examine in time. */
export const TOO_MUCH_TO_SCAN =
  'it could not be scanned in time: too much of it may be sensitive data';
