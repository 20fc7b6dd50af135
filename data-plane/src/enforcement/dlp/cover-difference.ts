/**
 * Takes keys and the like out of what is told of a changed definition: alerts are chained, and what
 * no agent is shown need not stand there. Only critical findings: people are to see the rest as the
 * server wrote it. It is done to what is told alone, since a server may change thousands of tools.
 */
import type { BundleSettings } from '@governance/shared/bundle/bundle-format';
import type { DlpScanner } from '@governance/shared/detect/dlp/scan-contract';
import { MAX_DIFFERENCE, type ToolDifference } from '@governance/shared/mcp/tool-pins';
import type { RaiseAlert } from '../../alerts/raise-alert.ts';
import type { PinReports } from '../../contracts.ts';
import { REDACTED } from '../call/cover-texts.ts';
import { DEFAULT_DLP, dlpOf } from './dlp-scanners.ts';

export function createCoverDifference(findSettings: (tenantId: string) => BundleSettings | null) {
  function cover(tenantId: string, difference: ToolDifference): ToolDifference {
    const settings = findSettings(tenantId);
    const { scanner } = settings === null ? DEFAULT_DLP : dlpOf(settings);
    return difference.map(({ member, before, after }) => ({
      member,
      before: before && coverSecrets(before, scanner),
      after: after && coverSecrets(after, scanner),
    }));
  }

  return {
    /** Raises alerts without what their `difference` holds. */
    inAlerts:
      (raise: RaiseAlert): RaiseAlert =>
      (tenantId, alert) => {
        const { difference, ...details } = alert.details;
        if (difference === undefined) return raise(tenantId, alert);
        const covered = cover(tenantId, difference as ToolDifference);
        raise(tenantId, { ...alert, details: { ...details, difference: covered } });
      },
    inReports: ({ next, received }: PinReports): PinReports => ({
      next: (tenantId) =>
        next(tenantId)?.map((report) =>
          report.difference === undefined
            ? report
            : { ...report, difference: cover(tenantId, report.difference) },
        ),
      received,
    }),
  };
}

function coverSecrets(text: string, scanner: DlpScanner): string {
  let found: ReturnType<DlpScanner['scanText']>;
  try {
    found = scanner.scanText(text).filter(({ severity }) => severity === 'critical');
  } catch {
    // Too much to be looked at.
    return REDACTED;
  }
  let covered = '';
  let at = 0;
  for (const { pattern, start, length } of found) {
    if (start >= at) covered += `${text.slice(at, start)}[REDACTED:${pattern}]`;
    at = Math.max(at, start + length);
  }
  if (at === 0) return text;
  // Marks may be longer than what they cover.
  return (covered + text.slice(at)).slice(0, MAX_DIFFERENCE).toWellFormed();
}
