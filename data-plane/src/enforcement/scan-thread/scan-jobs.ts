/** Jobs for scan threads. Settings and values are sent as JSON, since text is copied fast. */
import { ScanBudgetError } from '@governance/shared/detect/dlp/scan-budget';
import { PatternBudgetError } from '@governance/shared/detect/engine/pattern-contract';
import { createIdentifierHash } from '@governance/shared/keys/identifier-hash';
import { DlpSettings } from '@governance/shared/settings/dlp-settings';
import { LRUCache } from 'lru-cache';
import { REDACTED } from '../call/cover-texts.ts';
import { type PreparedDlp, prepareDlp, type SentScan } from '../dlp/dlp-scanners.ts';
import {
  examineReceived,
  type ReceivedReport,
  type ReceivedText,
} from '../dlp/examine-received.ts';
import { createProtect, membersAlone } from '../payloads/protect-value.ts';
import type { Identified, IdentifierKey, ProtectionRules } from '../record/kept-payload.ts';

export type ScanJob =
  | { readonly kind: 'sent'; readonly settings: string; readonly value: string }
  | {
      readonly kind: 'received';
      readonly settings: string;
      readonly value: string;
      readonly received: Omit<ReceivedText, 'value' | 'raw'>;
    }
  | KeptJob;

/** Removes or hashes what may not be kept. */
interface KeptJob {
  readonly kind: 'kept';
  readonly settings: string;
  readonly value: string;
  readonly rules: ProtectionRules;
  readonly identified: Omit<Identified, 'hash'>;
  /** Null where nothing is hashed, or there is no key: identifiers are removed then. */
  readonly key: IdentifierKey | null;
}

export type ScanAnswer =
  | { readonly kind: 'sent'; readonly scan: SentScan }
  | { readonly kind: 'received'; readonly report: ReceivedReport }
  /** JSON; null where something cannot be removed. */
  | { readonly kind: 'kept'; readonly text: string | null }
  /** The tenant's own patterns took too long. */
  | { readonly kind: 'gave-up' }
  /** The text has more candidates than can be examined. */
  | { readonly kind: 'too-much' }
  | { readonly kind: 'failed'; readonly message: string };

/** DLP settings whose scanners a thread keeps. */
const MAX_PREPARED = 32;

/** Creates the function that a thread runs for each job. It never throws. */
export function createScanJobs(): (job: ScanJob) => ScanAnswer {
  const known = new LRUCache<string, PreparedDlp>({ max: MAX_PREPARED });
  const preparedFor = (settings: string): PreparedDlp => {
    let prepared = known.get(settings);
    if (prepared === undefined) {
      prepared = prepareDlp(DlpSettings.parse(JSON.parse(settings)));
      known.set(settings, prepared);
    }
    return prepared;
  };
  return (job) => {
    try {
      const prepared = preparedFor(job.settings);
      const value: unknown = JSON.parse(job.value);
      if (job.kind === 'sent') return { kind: 'sent', scan: prepared.examineSent(value) };
      if (job.kind === 'kept') return { kind: 'kept', text: keptOf(job, value, prepared) };
      const received = { ...job.received, value, raw: job.value };
      return { kind: 'received', report: examineReceived(received, prepared) };
    } catch (error) {
      if (error instanceof PatternBudgetError) return { kind: 'gave-up' };
      if (error instanceof ScanBudgetError) return { kind: 'too-much' };
      return { kind: 'failed', message: error instanceof Error ? error.message : String(error) };
    }
  };
}

function keptOf(
  { rules, identified, key, value: raw }: KeptJob,
  value: unknown,
  prepared: PreparedDlp,
): string | null {
  const hash = key ? createIdentifierHash(key.tenantId, key.key) : () => REDACTED;
  const protect = createProtect(rules, () => prepared.scanner);
  const left = protect(value, { ...identified, hash });
  if (!left) return null;
  // What the call asks for was read to find its texts in the members.
  if (identified.part === 'members') return JSON.stringify(membersAlone(left.value));
  return left.isChanged ? JSON.stringify(left.value) : raw;
}
