/**
 * Records breaks of chains until a person acknowledges them. A break is recorded once and raises
 * one alert, however often it is found again.
 */
import type { CheckName } from '@governance/shared/evidence/checks/check';
import { uuidv7 } from '@governance/shared/ids';
import { raiseAlert } from '../alerts/raise-alert.ts';
import { systemScope, type TenantDatabase } from '../platform/database/tenant-scope.ts';
import { checkOf, type RecordedBreakKind } from './break-check.ts';

export type { LogBreakKind, RecordedBreakKind } from './break-check.ts';

/**
 * The stream id for breaks of the tenant's log. Their `epoch` is the log's epoch, and their `seq`
 * the size of the tree at that place (n + 1 for the leaf with index n; 0 where the fault is at none:
 * a log epoch without a valid statement, sizes that differ, checkpoints that are gone from a day).
 */
export const LOG_STREAM = '00000000-0000-0000-0000-000000000001';

/** The stream id for breaks of the tenant's bundles. Their `seq` is the revision. */
export const BUNDLE_STREAM = '00000000-0000-0000-0000-000000000002';

export interface FoundBreak {
  /** For `log_went_back`: stream is the tenant's id, epoch the log's epoch, seq the size. */
  stream: string;
  epoch: number;
  seq: number;
  kind: RecordedBreakKind;
  /**
   * Tells apart faults of one kind that can have the same place; must not change while the fault
   * stands, or each walk would record it anew.
   */
  fault?: string;
  /** Undefined: the default of the kind. */
  check?: CheckName | null;
  expected: string;
  actual: string;
  detail: string | null;
  /** For `admin_head_went_back` and `log_went_back`: when the lost state was signed. */
  signedAt?: Date;
}

export interface ChainBreakRecorder {
  /** @returns how many of the breaks are new */
  record(tenantId: string, found: readonly FoundBreak[]): Promise<number>;
  /**
   * Raises an alert about quarantined records; one per stream while it is unresolved.
   *
   * @param records one or more, in the order of the stream
   */
  recordQuarantined(
    tenantId: string,
    stream: string,
    records: readonly { epoch: number; seq: number; hash: string; reason: string }[],
  ): Promise<void>;
}

/** Breaks recorded per call: more would not help a reader, and all must fit into one statement. */
export const MAX_BREAKS_RECORDED = 1_000;

export function createChainBreakRecorder(deps: {
  db: Pick<TenantDatabase, 'inTenant'>;
  now: () => Date;
}): ChainBreakRecorder {
  return {
    record: async (tenantId, found) => {
      if (found.length === 0) return 0;
      return deps.db.inTenant(systemScope(tenantId), async (tx) => {
        const now = deps.now();
        const created = await tx.db.chainBreak.createManyAndReturn({
          data: found.slice(0, MAX_BREAKS_RECORDED).map((item) => ({
            tenantId,
            id: uuidv7(now.getTime()),
            stream: item.stream,
            epoch: item.epoch,
            // A damaged row can name a place that no column holds.
            seq: BigInt(Math.min(item.seq, Number.MAX_SAFE_INTEGER)),
            kind: item.kind,
            fault: item.fault ?? '',
            checkName: checkOf(item),
            expected: item.expected,
            actual: item.actual,
            detail: item.detail,
            detectedAt: now,
            signedAt: item.signedAt ?? null,
          })),
          skipDuplicates: true,
        });
        const streams = new Map<string, typeof created>();
        for (const row of created) {
          streams.set(row.stream, [...(streams.get(row.stream) ?? []), row]);
        }
        for (const [stream, rows] of streams) {
          const [first] = rows;
          if (!first) continue;
          await raiseAlert(tx, {
            alertType: 'CHAIN_BREAK',
            severity: 'critical',
            agentId: null,
            title: titleOf(stream, first.kind),
            details: {
              stream,
              breaks: rows.length,
              first: {
                id: first.id,
                kind: first.kind,
                check: first.checkName,
                epoch: first.epoch,
                seq: Number(first.seq),
                expected: first.expected,
                actual: first.actual,
              },
            },
            dedupeKey: `chain_break:${stream}`,
            now,
          });
        }
        return created.length;
      });
    },
    recordQuarantined: async (tenantId, stream, records) => {
      const [first] = records;
      if (!first) return;
      await deps.db.inTenant(systemScope(tenantId), async (tx) => {
        await raiseAlert(tx, {
          alertType: 'LEDGER_RECORD_QUARANTINED',
          severity: 'high',
          agentId: null,
          title: `Records of stream ${stream} cannot be read and are in quarantine`,
          details: {
            stream,
            records: records.length,
            // Without the record's bytes: they may be long, and the alert is recorded in the admin
            // chain.
            first: { epoch: first.epoch, seq: first.seq, hash: first.hash, reason: first.reason },
          },
          dedupeKey: `ledger_quarantine:${stream}`,
          now: deps.now(),
        });
      });
    },
  };
}

function titleOf(stream: string, kind: string): string {
  if (stream === LOG_STREAM) return 'The log of signed batches is broken';
  if (stream === BUNDLE_STREAM) return 'The signed members of a bundle were changed';
  return kind === 'log_went_back'
    ? 'The log of evidence does not continue what was signed of it before'
    : `The audit chain of stream ${stream} is broken`;
}
