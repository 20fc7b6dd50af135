/**
 * Takes the batches of data planes into the ledger. A batch is acknowledged only after the commit
 * returned; whatever is stored is never overwritten. Proven by ingest-service.pg.test.ts: any
 * interleaving of repeated, reordered and cut batches leaves each (stream, epoch, seq) once.
 */
import type { KeyObject } from 'node:crypto';
import { AppError } from '@governance/shared/errors';
import { type PublicJwk, readEd25519Key } from '@governance/shared/evidence/ed25519';
import type { BatchHeader, BatchReceipt, SignedBatch } from '@governance/shared/ledger/audit-batch';
import { LRUCache } from 'lru-cache';
import type { Pool } from 'pg';
import type { ChainBreakRecorder } from '../chain/chain-breaks.ts';
import type { QuarantineTrial } from '../chain/ledger-row.ts';
import type { ChangeBus } from '../platform/database/change-bus.ts';
import type { Overflow, Projection } from '../platform/feature.ts';
import { type CheckedBatch, checkBatch } from './batch-check.ts';
import type { Fork } from './batch-overlap.ts';
import { createGroupQueue } from './group-queue.ts';
import { findSigningKey } from './ingest-store.ts';
import { createKnownAgents } from './known-agents.ts';
import { belongsInQuarantine } from './quarantine-trial.ts';
import type { RecordDisputes } from './record-disputes.ts';
import { type Outcome, storeGroup } from './store-group.ts';
import {
  agentsOf,
  findViolations,
  markUnknownAgents,
  type Violation,
  type ViolationAlerts,
} from './violations.ts';

export interface IngestDeps {
  ingestPool: Pool;
  /** The projections of all features, in the order in which they take locks. */
  projections: readonly Projection[];
  changes: ChangeBus;
  breaks: Pick<ChainBreakRecorder, 'record' | 'recordQuarantined'>;
  violations: ViolationAlerts;
  /** Tests of storing alone have none. */
  disputes?: RecordDisputes;
  /** Bars a data plane whose stream forked from everything except delivering its records. */
  markForked(tenantId: string, deploymentId: string): Promise<void>;
}

export interface IngestService extends QuarantineTrial {
  /**
   * Stores a batch of a data plane's ledger. A record that is a valid link of the chain but cannot
   * be read or stored, or that no data plane may write, is kept in quarantine, and the stream
   * continues after it.
   *
   * @param tenantId and deploymentId as the caller's credentials say; the stream is the deployment
   * @returns after the commit: `accepted`, or `already_stored` when every record was there before
   * @throws AppError VALIDATION_FAILED naming the seq of a bad record; DATA_PLANE_NOT_FOUND;
   *   BATCH_CONFLICT when the batch contradicts what is stored (`errors[0].type` is `stream_fork`;
   *   a chain break and an alert are recorded) or when earlier records are missing here
   *   (`stream_gap`; `loc` ends in the epoch and seq that are expected); UNAVAILABLE when these
   *   arrived while it was judged: it is judged when it is sent again
   */
  ingestBatch(tenantId: string, deploymentId: string, batch: SignedBatch): Promise<BatchReceipt>;
}

/** How much one transaction of a tenant stores; the tenant's other writers wait for it. */
const GROUP_LIMITS = { items: 16, records: 2_000, bytes: 8 * 1024 * 1024 };
const KEYS_KEPT = 10_000;
const KEY_KEPT_MS = 60_000;

export function createIngestService(deps: IngestDeps): IngestService {
  const { ingestPool, projections, changes, breaks } = deps;
  const ledger = { pool: ingestPool, projections };
  // A deployment's key never changes: another key is another deployment.
  const keys = new LRUCache<string, KeyObject>({ max: KEYS_KEPT, ttl: KEY_KEPT_MS });

  const agents = createKnownAgents(ingestPool);

  async function keyOf(tenantId: string, deploymentId: string): Promise<KeyObject> {
    const name = `${tenantId}/${deploymentId}`;
    const known = keys.get(name);
    if (known) return known;
    const jwk = await findSigningKey(ingestPool, tenantId, deploymentId);
    if (jwk === undefined) throw new AppError('DATA_PLANE_NOT_FOUND');
    const key = readSigningKey(jwk);
    keys.set(name, key);
    return key;
  }

  const store = createGroupQueue(
    GROUP_LIMITS,
    async (
      tenantId,
      items: { checked: CheckedBatch; stream: string; records: number; bytes: number }[],
    ) => {
      const batches = items.map((item) => item.checked);
      const { outcomes, position } = await storeGroup(ledger, tenantId, batches);
      if (position !== undefined) changes.publish({ tenantId, position });
      return outcomes;
    },
  );

  async function acknowledge(
    tenantId: string,
    { header, records }: CheckedBatch,
    outcome: Outcome,
    violations: readonly Violation[],
  ): Promise<BatchReceipt> {
    const { stream, epoch, first_seq, last_seq, head } = header;
    if (outcome.kind === 'gap') throw gap(outcome.expected);
    if (outcome.kind === 'unjudged') throw unjudged();
    if (outcome.kind === 'fork') {
      const found = { stream, epoch, kind: 'fork', ...outcome.fork, detail: null } as const;
      await breaks.record(tenantId, [found]);
      await deps.markForked(tenantId, stream);
      throw fork(outcome.fork);
    }
    // Before the acknowledgement: if this fails, the batch is sent again, and reported again.
    const unreadable = outcome.quarantined.filter(
      ({ seq }) => records[seq - first_seq]?.fault?.kind !== 'forbidden',
    );
    if (unreadable.length > 0) await breaks.recordQuarantined(tenantId, stream, unreadable);
    const all = [...violations, ...outcome.overflows.map((one) => toViolation(header, one))];
    if (all.length > 0) await deps.violations.raise(tenantId, stream, all);
    return { status: outcome.isNew ? 'accepted' : 'already_stored', stream, epoch, last_seq, head };
  }

  return {
    async ingestBatch(tenantId, deploymentId, batch) {
      const key = await keyOf(tenantId, deploymentId);
      const projected = new Set<string>(projections.flatMap(({ types }) => types));
      const read = await checkBatch({ tenantId, stream: deploymentId, key }, batch, projected);
      const unknown = await agents.findUnknown(tenantId, agentsOf(read));
      const checked = markUnknownAgents(read, unknown);
      const violations = findViolations(checked, unknown, Date.now());
      const judged = await deps.disputes?.raise(tenantId, checked);
      violations.push(...(judged?.violations ?? []));
      const records = checked.records.length;
      const bytes = checked.records.reduce((sum, record) => sum + record.bytes.byteLength, 0);
      const outcome = await store(tenantId, {
        checked: { ...checked, isUnjudged: judged?.isUnjudged },
        stream: deploymentId,
        records,
        bytes,
      });
      return acknowledge(tenantId, checked, outcome, violations);
    },
    belongsInQuarantine: (tenantId, record) => belongsInQuarantine(ledger, tenantId, record),
  };
}

/**
 * @param jwk as registered. Versions before this one registered keys that evidence refuses
 * @throws AppError VALIDATION_FAILED
 */
function readSigningKey(jwk: string): KeyObject {
  try {
    return readEd25519Key(JSON.parse(jwk) as PublicJwk);
  } catch (cause) {
    const detail = 'The key registered for this stream cannot sign batches.';
    throw new AppError('VALIDATION_FAILED', detail, { cause });
  }
}

function toViolation(
  { epoch, first_seq: seq, head: hash }: BatchHeader,
  { kind, alertType, severity, title, records }: Overflow,
): Violation {
  const first = { epoch, seq, hash, reason: 'begins the batch' };
  return { kind, alert: { alertType, severity, title }, records, first };
}

function gap(expected: { epoch: number; seq: number }): AppError {
  const detail = `Earlier records are missing here: epoch ${expected.epoch}, seq ${expected.seq} comes next.`;
  return new AppError('BATCH_CONFLICT', detail, {
    errors: [{ loc: ['stream', expected.epoch, expected.seq], msg: detail, type: 'stream_gap' }],
  });
}

const unjudged = () =>
  new AppError('UNAVAILABLE', 'The records before these arrived at the same time: ship again.');

function fork({ seq, expected, actual }: Fork): AppError {
  const detail = `The record with seq ${seq} contradicts the stored stream.`;
  return new AppError('BATCH_CONFLICT', detail, {
    errors: [
      { loc: ['records', seq], msg: `${detail} (${expected}, ${actual})`, type: 'stream_fork' },
    ],
  });
}
