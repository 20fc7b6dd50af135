/**
 * Disputes records before they are taken (ADR 93). A data plane that invents an approval, a
 * delegation or a policy would make every package of its tenant fail that holds the record. So the
 * control plane says in its own chain what it does not have, and puts that into a leaf of the log;
 * only then is the batch stored, in a later leaf. Nothing is looked up for a batch whose references
 * are known. Proven by record-disputes.pg.test.ts.
 */
import { DISPUTED_TARGET, MAX_DISPUTED, RECORD_DISPUTED } from '@governance/shared/record-dispute';
import { LRUCache } from 'lru-cache';
import {
  systemScope,
  type TenantDatabase,
  type TenantTransaction,
} from '../platform/tenant-scope.ts';
import type { CheckedBatch } from './batch-check.ts';
import { compareOverlap } from './batch-overlap.ts';
import { BEFORE_FIRST, placeBatch } from './batch-place.ts';
import { createReferenceFacts, type ReferenceFacts } from './reference-facts.ts';
import {
  type FoundFaults,
  findReferenceFaults,
  findReferring,
  grantOf,
  NO_FAULTS,
  type ReferenceFault,
  type Referring,
  referencesOf,
} from './reference-faults.ts';
import { findHolds, findSecondHolds, type OpenedHold } from './second-holds.ts';
import { findUsedAgain } from './used-approvals.ts';
import type { Violation } from './violations.ts';

export interface RecordDisputes {
  /**
   * Disputes a batch's new records that refer to what the control plane does not have.
   *
   * @returns after the dispute is in a leaf of the log
   */
  raise(tenantId: string, batch: CheckedBatch): Promise<Judged>;
}

export interface Judged {
  /** What the operator is told. */
  violations: Violation[];
  /**
   * Earlier records are missing here. What is not stored is not disputed either: refused batches
   * would fill the admin chain. So this one must not be stored before it is judged.
   */
  isUnjudged: boolean;
}

/** A batch that is sent again at once was disputed; its operator may not have been told. */
const DISPUTED_KEPT = 1_000;
const DISPUTED_KEPT_MS = 60_000;

const judged = (violations: Violation[] = []): Judged => ({ violations, isUnjudged: false });

export function createRecordDisputes(deps: {
  db: Pick<TenantDatabase, 'inTenant'>;
  /** Puts the admin chain's records into leaves of the log. */
  signer: { signAll(tenantId: string): Promise<void> };
}): RecordDisputes {
  const facts = createReferenceFacts();
  const disputed = new LRUCache<string, Violation[]>({
    max: DISPUTED_KEPT,
    ttl: DISPUTED_KEPT_MS,
  });

  return {
    raise: async (tenantId, batch) => {
      const referring = findReferring(batch);
      const named = referencesOf(referring);
      const holds = findHolds(batch);
      const known = holds.length === 0 ? facts.fromMemory(tenantId, named) : undefined;
      if (known && findReferenceFaults(referring, known).length === 0) return judged();
      const { stream, epoch, first_seq, event_root } = batch.header;
      // Batches of different records may end in the same one, where nobody can read it.
      const key = [tenantId, stream, epoch, first_seq, event_root].join('/');
      const before = disputed.get(key);
      if (before) return judged(before);
      const found = await deps.db.inTenant(systemScope(tenantId), async (tx) => {
        const has = await facts.lookUp(tx, named);
        const fresh = await findFresh(tx, batch, { referring, holds }, has);
        if (!fresh) return undefined;
        const all = [...fresh.faults, ...fresh.doubts];
        for (let at = 0; at < all.length; at += MAX_DISPUTED) {
          const records = all.slice(at, at + MAX_DISPUTED);
          const target = `${DISPUTED_TARGET}${stream}`;
          tx.audit.append({ action: RECORD_DISPUTED, target, details: { epoch, records } });
        }
        return { faults: fresh.faults, isDisputed: all.length > 0 };
      });
      if (!found) return { violations: [], isUnjudged: true };
      if (!found.isDisputed) return judged();
      // A verifier accepts a dispute only from a leaf before the record's.
      await deps.signer.signAll(tenantId);
      const violations = toViolations(epoch, found.faults);
      disputed.set(key, violations);
      return judged(violations);
    },
  };
}

/**
 * The faults of records that will be stored. What is stored was disputed when it came, and what
 * contradicts the stream is not stored.
 *
 * @returns undefined where earlier records are missing
 */
async function findFresh(
  tx: TenantTransaction,
  batch: CheckedBatch,
  { referring, holds }: { referring: readonly Referring[]; holds: readonly OpenedHold[] },
  facts: ReferenceFacts,
): Promise<FoundFaults | undefined> {
  const faults = findReferenceFaults(referring, facts);
  const uses = referring.filter(({ decision }) => grantOf(decision) !== null);
  if (faults.length + uses.length + holds.length === 0) return NO_FAULTS;
  const { scope, db } = tx;
  const { stream, first_seq } = batch.header;
  const head = await db.streamHead.findUnique({
    where: { tenantId_stream: { tenantId: scope.tenantId, stream } },
  });
  const stored = head ? { ...head, nextSeq: Number(head.nextSeq) } : BEFORE_FIRST;
  const placement = placeBatch(stored, batch);
  if (placement.kind === 'gap') return undefined;
  if (placement.kind !== 'append') return NO_FAULTS;
  if (await contradicts(tx, batch, placement.from)) return NO_FAULTS;
  const from = first_seq + placement.from;
  const isFresh = ({ seq }: { seq: number }) => seq >= from;
  const found = [
    { faults: faults.filter(isFresh), doubts: [] },
    await findUsedAgain(tx, { stream, uses, from, faults }, facts),
    await findSecondHolds(tx, batch, from),
  ];
  return {
    faults: found.flatMap((one) => one.faults),
    doubts: found.flatMap((one) => one.doubts),
  };
}

/** Whether the first `count` records, which are stored, are others there. */
async function contradicts(
  { db, scope: { tenantId } }: TenantTransaction,
  batch: CheckedBatch,
  count: number,
): Promise<boolean> {
  if (count === 0) return false;
  const { stream, epoch, first_seq: first } = batch.header;
  const rows = await db.$queryRaw<{ seq: bigint; hash: string; prevHash: string }[]>`
    SELECT seq, hash, prev_hash AS "prevHash" FROM ledger_records
    WHERE tenant_id = ${tenantId}::uuid AND stream = ${stream}::uuid AND epoch = ${epoch}
      AND seq BETWEEN ${first} AND ${first + count - 1}`;
  const stored = new Map(
    rows.map(({ seq, ...one }) => [Number(seq), { ...one, isQuarantined: false }]),
  );
  return compareOverlap(stored, batch, count).fork !== undefined;
}

function toViolations(epoch: number, faults: readonly ReferenceFault[]): Violation[] {
  const [first] = faults;
  if (!first) return [];
  const { seq, hash, check, reason } = first;
  return [
    {
      kind: 'record_disputed',
      alert: ALERT,
      records: new Set(faults.map((one) => one.seq)).size,
      first: { epoch, seq, hash, reason: `${reason} (${check})` },
    },
  ];
}

const ALERT = {
  alertType: 'DATA_PLANE_VIOLATION',
  severity: 'high',
  title:
    'A data plane recorded calls under approvals, delegations or policies that are not known here',
} as const;
