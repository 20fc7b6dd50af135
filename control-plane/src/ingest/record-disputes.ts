/**
 * Disputes records before they are taken (ADR 93). A data plane that invents an approval, a
 * delegation or a policy would make every package of its tenant fail that holds the record. So the
 * control plane says in its own chain what it does not have, and puts that into a leaf of the log;
 * only then is the batch stored, in a later leaf. Nothing is looked up for a batch whose references
 * are known. Proven by record-disputes.pg.test.ts.
 */
import {
  DISPUTED_TARGET,
  MAX_DISPUTED,
  RECORD_DISPUTED,
} from '@governance/shared/ledger/record-dispute';
import { LRUCache } from 'lru-cache';
import {
  systemScope,
  type TenantDatabase,
  type TenantTransaction,
} from '../platform/database/tenant-scope.ts';
import type { CheckedBatch } from './batch-check.ts';
import { compareOverlap } from './batch-overlap.ts';
import { BEFORE_FIRST, placeBatch } from './batch-place.ts';
import { createReferenceFacts, type ReferenceFacts, type References } from './reference-facts.ts';
import {
  type FoundFaults,
  findReferenceFaults,
  findReferring,
  grantOf,
  judgeReferences,
  NO_FAULTS,
  onceEach,
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

/** How many batches are known to be disputed, or are being disputed, and for how long. */
const DISPUTED_KEPT = 1_000;
const DISPUTED_KEPT_MS = 60_000;

/** The dispute of one batch, however often the batch is sent. */
interface Dispute {
  written: Promise<Written>;
  /** Undefined after a failure: what is written has only to be signed, when the batch comes again. */
  signed: Promise<void> | undefined;
}

interface Written extends Judged {
  isDisputed: boolean;
}

const judged = (violations: Violation[] = []): Judged => ({ violations, isUnjudged: false });

export function createRecordDisputes(deps: {
  db: Pick<TenantDatabase, 'inTenant'>;
  /** Puts the admin chain's records into leaves of the log. */
  signer: { signAll(tenantId: string): Promise<void> };
}): RecordDisputes {
  const facts = createReferenceFacts();
  // A batch may be sent several times at once, and again while the log cannot be signed.
  const disputes = new LRUCache<string, Dispute>({
    ...{ max: DISPUTED_KEPT, ttl: DISPUTED_KEPT_MS, updateAgeOnGet: true },
  });

  async function write(tenantId: string, batch: CheckedBatch, named: Named): Promise<Written> {
    const { stream, epoch } = batch.header;
    return deps.db.inTenant(systemScope(tenantId), async (tx) => {
      const has = await facts.lookUp(tx, named.references);
      const fresh = await findFresh(tx, batch, named, has);
      if (!fresh) return { violations: [], isUnjudged: true, isDisputed: false };
      const all = [...fresh.faults, ...fresh.doubts];
      for (let at = 0; at < all.length; at += MAX_DISPUTED) {
        const records = all.slice(at, at + MAX_DISPUTED);
        const target = `${DISPUTED_TARGET}${stream}`;
        tx.audit.append({ action: RECORD_DISPUTED, target, details: { epoch, records } });
      }
      return { ...judged(toViolations(epoch, fresh.faults)), isDisputed: all.length > 0 };
    });
  }

  /** Forgets what came to nothing: it is judged again when it comes again. */
  function begin(key: string, written: Promise<Written>): Dispute {
    const dispute: Dispute = { written, signed: undefined };
    const forget = () => {
      if (disputes.peek(key) === dispute) disputes.delete(key);
    };
    disputes.set(key, dispute);
    written.then(({ isDisputed }) => isDisputed || forget(), forget);
    return dispute;
  }

  /** A verifier accepts a dispute only from a leaf before the record's. */
  async function sign(tenantId: string, dispute: Dispute): Promise<void> {
    dispute.signed ??= deps.signer.signAll(tenantId).catch((error: unknown) => {
      dispute.signed = undefined;
      throw error;
    });
    await dispute.signed;
  }

  return {
    raise: async (tenantId, batch) => {
      const referring = findReferring(batch);
      const references = referencesOf(referring);
      const holds = findHolds(batch);
      const known = holds.length === 0 ? facts.fromMemory(tenantId, references) : undefined;
      if (known && findReferenceFaults(referring, known).length === 0) return judged();
      const { stream, epoch, first_seq, event_root } = batch.header;
      // Batches of different records may end in the same one, where nobody can read it.
      const key = [tenantId, stream, epoch, first_seq, event_root].join('/');
      const dispute =
        disputes.get(key) ?? begin(key, write(tenantId, batch, { references, referring, holds }));
      const { isDisputed, ...result } = await dispute.written;
      if (isDisputed) await sign(tenantId, dispute);
      return result;
    },
  };
}

interface Named {
  references: References;
  referring: readonly Referring[];
  holds: readonly OpenedHold[];
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
  { referring, holds }: Omit<Named, 'references'>,
  facts: ReferenceFacts,
): Promise<FoundFaults | undefined> {
  const { faults, doubts } = judgeReferences(referring, facts);
  const uses = referring.filter(({ decision }) => grantOf(decision) !== null);
  if (faults.length + doubts.length + uses.length + holds.length === 0) return NO_FAULTS;
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
    { faults: faults.filter(isFresh), doubts: doubts.filter(isFresh) },
    await findUsedAgain(tx, { stream, uses, from, faults }, facts),
    await findSecondHolds(tx, batch, from),
  ];
  return onceEach({
    faults: found.flatMap((one) => one.faults),
    doubts: found.flatMap((one) => one.doubts),
  });
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
