/**
 * A result as text for people and pipelines: lines in a fixed order, printable ASCII only. Text
 * from the package is escaped, so that no package can print a verdict of its own.
 */
import type { CheckResult, CheckStatus } from '@governance/shared/evidence/checks/check';
import type { Location } from '@governance/shared/evidence/checks/location';
import type { VerificationResult } from './verify-package.ts';
import type { SetResult } from './verify-set.ts';

const LABELS: Record<CheckStatus, string> = {
  pass: 'PASS',
  fail: 'FAIL',
  skip: 'SKIP',
  warn: 'WARN',
};

/** @returns the report, ending with a line feed */
export function reportText(result: VerificationResult): string {
  const { verdict, independence, anchor_digest, package: of, events, complete_up_to } = result;
  const anchor = anchor_digest === null ? '' : ` (anchor sha256:${anchor_digest})`;
  const lines = [
    `VERDICT: ${verdict}`,
    `INDEPENDENCE: ${independence}${anchor}`,
    `PACKAGE: ${shown(of?.package_id ?? '-')}  TENANT: ${shown(of?.tenant_id ?? '-')}  EVENTS: ${events}`,
    complete_up_to
      ? `COMPLETE-UP-TO: tree ${complete_up_to.size} at ${shown(complete_up_to.time)}`
      : 'COMPLETE-UP-TO: not shown',
    ...result.checks.map(checkLine),
    summaryLine(result.summary),
  ];
  return `${lines.join('\n')}\n`;
}

/** @returns the report on a set, printed after the reports of its volumes */
export function setText({ verdict, checks }: SetResult): string {
  return `${[...checks.map(checkLine), `SET: ${verdict}`].join('\n')}\n`;
}

function checkLine(check: CheckResult<string>): string {
  const { name, status, checked, total, detail, location } = check;
  const counts = status === 'skip' ? '' : ` ${checked}/${total}`;
  const reason = detail === '' ? '' : ` ${shown(detail)}`;
  const at = location ? ` (${shown(placeOf(location))})` : '';
  return `[${LABELS[status]}] ${name}${counts}${reason}${at}`;
}

function placeOf({ member, line, path }: Location): string {
  return [member, line !== undefined && `line ${line}`, path].filter(Boolean).join(' ');
}

function summaryLine({ passed, failed, skipped, warnings }: VerificationResult['summary']): string {
  const warned = warnings > 0 ? `, ${warnings} warnings` : '';
  return `SUMMARY: ${passed} passed, ${failed} failed, ${skipped} skipped${warned}`;
}

const MAX_SHOWN = 300;

/** Printable ASCII; every other character as its code point. */
function shown(text: string): string {
  return [...text.slice(0, MAX_SHOWN)]
    .map((one) => (/^[\x20-\x7e]$/.test(one) && one !== '\\' ? one : escaped(one)))
    .join('');
}

const escaped = (one: string): string => `\\u{${(one.codePointAt(0) ?? 0).toString(16)}}`;
