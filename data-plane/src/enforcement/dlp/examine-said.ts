/** What DLP finds in what is said to a caller, and what is left of it. Pure: any thread may do it. */
import type { DlpFinding } from '@governance/shared/detect/findings';
import { actionFor } from '@governance/shared/dlp-settings';
import { textsOf } from '../said.ts';
import type { PreparedDlp } from './dlp-scanners.ts';
import { redact } from './redaction.ts';
import { partsOf, type SaidParts } from './said-parts.ts';

export interface SaidText {
  /** Whether it is a client's answer to a server, to which the settings for calls apply. */
  readonly isSent: boolean;
  readonly value: unknown;
  /** The value as JSON, where it is there. */
  readonly raw: string | null;
  /** The end of what came before in the same stream. */
  readonly carry: string;
  /** Of a tool's result. */
  readonly outputSchema: unknown;
}

export interface SaidReport {
  readonly findings: DlpFinding[];
  /** Without what is to be redacted; null where nothing is, or where it is to be blocked. */
  readonly redacted: { readonly value: unknown; readonly raw: string } | null;
}

/** @throws PatternBudgetError */
export function examineSaid(said: SaidText, prepared: PreparedDlp): SaidReport {
  const { isSent, value, raw } = said;
  const parts = partsOf(value, raw, isSent);
  const scan = isSent ? prepared.scanSent : prepared.scanSaid;
  const open = scan(parts.open);
  const fixed = [...binaryFindings(parts, scan), ...splitFindings(said, prepared)];
  const findings = [...open, ...fixed];
  if (isSent || findings.length === 0) return { findings, redacted: null };
  const { results } = prepared.settings;
  const actionOf = ({ severity }: DlpFinding) => actionFor(results, severity);
  // What is fixed may not be rewritten: binary members, and what was said half in the part before.
  const isBlocked =
    findings.some((finding) => actionOf(finding) === 'block') ||
    fixed.some((finding) => actionOf(finding) !== 'log');
  if (isBlocked || !open.some((finding) => actionOf(finding) === 'redact')) {
    return { findings, redacted: null };
  }
  const rest = redact(parts.open, prepared.redactor, said.outputSchema);
  if (rest === null) return { findings, redacted: null };
  const whole = parts.whole(rest);
  return { findings, redacted: { value: whole, raw: JSON.stringify(whole) } };
}

/** Findings in the texts of binary members, which are not rewritten. */
function binaryFindings({ decoded }: SaidParts, scan: PreparedDlp['scanSaid']): DlpFinding[] {
  return decoded.flatMap((text, index) =>
    scan(text).map((finding) => ({
      ...finding,
      place: `/binary/${index}`,
      disguise: [...new Set(['base64', ...(finding.disguise ?? [])])],
    })),
  );
}

/** UTF-16 units on both sides of the place where two parts of a stream meet. */
const SEAM = 256;

/** What began in the part before: its half is with the client already, the other half is not. */
function splitFindings({ carry, value }: SaidText, { scanner }: PreparedDlp): DlpFinding[] {
  if (carry === '') return [];
  const before = carry.slice(-SEAM);
  const text = textsOf(value).slice(0, SEAM);
  return scanner.scanText(before + text).flatMap(({ pattern, severity, start, length }) => {
    const isSplit = start < before.length && start + length > before.length;
    return isSplit ? [{ pattern, severity, place: '', length, disguise: ['split'] }] : [];
  });
}
