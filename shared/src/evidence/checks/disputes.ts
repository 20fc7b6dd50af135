/**
 * Disputes (ADR 93): what the control plane says, in a leaf before that of a data plane's record,
 * about what the record refers to and the control plane does not have. They turn the named check's
 * failure of that very record into a warning, and nothing else: a data plane that invents a
 * delegation spoils no package of its tenant. Proven by verifier/src/disputes.test.ts.
 */
import { createHash } from 'node:crypto';
import type { LedgerRecord } from '../../ledger/ledger-record.ts';
import {
  DISPUTED_TARGET,
  type DisputableCheck,
  DisputeDetails,
  RECORD_DISPUTED,
} from '../../ledger/record-dispute.ts';
import { EVIDENCE_MEMBERS, VOLUME_LIMITS } from '../evidence-package.ts';
import type { CheckHooks, Tally } from './check.ts';
import type {
  BatchView,
  DisputableRecord,
  DisputeLookUp,
  EventView,
  Evidence,
} from './evidence.ts';
import { lineOf } from './location.ts';

/** A record as a dispute names it: by stream, epoch, seq and hash. */
export const toDisputable = (
  { line, hash, batch }: Pick<EventView, 'line' | 'hash' | 'batch'>,
  { stream, epoch, seq }: Pick<LedgerRecord, 'stream' | 'epoch' | 'seq'>,
): DisputableRecord => ({ line, stream, epoch, seq, hash, leafIndex: batch?.leafIndex });

export interface Disputes extends DisputeLookUp {
  hooks: Partial<CheckHooks>;
  /** They cannot be read: nothing is excused. */
  failed(): void;
}

/** Collects the disputes of a package while it is read; ask it once all members were read. */
export function createDisputes(): Disputes {
  /** The first leaf in which the control plane disputed a check of a record. */
  const disputed = new Map<string, number>();
  /** Selective packages: the leaf of each line of events. */
  const leaves: number[] = [];
  let isBroken = false;

  function read(
    record: LedgerRecord | null,
    batch: Pick<BatchView, 'signer' | 'leafIndex'> | undefined,
  ): void {
    if (record?.type !== 'admin_action' || record.action !== RECORD_DISPUTED) return;
    if (batch?.signer?.purpose !== 'batch' || !record.target.startsWith(DISPUTED_TARGET)) return;
    const details = DisputeDetails.safeParse(record.details);
    if (!details.success) return;
    const stream = record.target.slice(DISPUTED_TARGET.length);
    const { epoch, records } = details.data;
    for (const { check, ...one } of records) {
      const key = keyOf(check, { stream, epoch, ...one });
      const before = disputed.get(key);
      if (before === undefined && disputed.size >= VOLUME_LIMITS.disputed) continue;
      disputed.set(key, Math.min(before ?? batch.leafIndex, batch.leafIndex));
    }
  }

  function isDisputed(check: DisputableCheck, record: DisputableRecord): boolean {
    const leaf = record.leafIndex ?? leaves[record.line - 1];
    const before = disputed.get(keyOf(check, record));
    return !isBroken && leaf !== undefined && before !== undefined && before < leaf;
  }

  return {
    hooks: {
      event: ({ record, batch }) => read(record, batch),
      eventProof: ({ line, value }) => {
        leaves[line - 1] = value.leaf_index;
      },
      cause: ({ record, batch }) => read(record, batch),
    },
    failed: () => {
      isBroken = true;
    },
    isDisputed,
  };
}

/** Counts an event; its fault is a warning if the control plane disputed it. */
export function judgeDisputable(
  { tally, evidence, check }: { tally: Tally; evidence: Evidence; check: DisputableCheck },
  record: DisputableRecord,
  fault: string | undefined,
): void {
  if (fault !== undefined && evidence.disputes.isDisputed(check, record)) {
    tally.warn(warningOf(record.stream, fault), lineOf(EVIDENCE_MEMBERS.events, record.line));
  } else tally.judge(fault, EVIDENCE_MEMBERS.events, record.line);
}

/** What a check says in place of a failure that is excused. */
export const warningOf = (stream: string, fault: string): string =>
  `${fault}: the control plane disputed it before it took the record of the stream ${stream}`;

/** A digest, since there may be very many: it takes a quarter of the memory of the text. */
const keyOf = (
  check: string,
  { stream, epoch, seq, hash }: Omit<DisputableRecord, 'line' | 'leafIndex'>,
): string =>
  createHash('sha256').update(`${check}/${stream}/${epoch}/${seq}/${hash}`).digest('binary');
