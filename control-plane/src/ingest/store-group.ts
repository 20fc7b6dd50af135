/**
 * Stores checked batches of one tenant in one transaction: heads locked, each batch placed, then
 * projections, heads, positions and one COPY of all new records. A record that contradicts the
 * stored stream goes to quarantine in the same commit, and so does one that PostgreSQL refuses: the
 * transaction is repeated with the refused records found by bisection. Nothing here notifies
 * anybody: NOTIFY would make every commit of the database wait for the one before it.
 */
import pg, { type Pool, type PoolClient } from 'pg';
import type { Overflow, ProjectedRecord, Projection } from '../platform/feature.ts';
import { type CheckedBatch, type CheckedRecord, quarantined } from './batch-check.ts';
import { compareOverlap, type Fork, type QuarantinedRecord } from './batch-overlap.ts';
import { placeBatch, type StreamPosition } from './batch-place.ts';
import { findFailing } from './bisect.ts';
import {
  beginWithHeads,
  type HeadMove,
  keepInQuarantine,
  type QuarantineEntry,
  readHashes,
  type StoredHash,
  takePositions,
  withinForkBounds,
} from './ingest-store.ts';
import { copyInto, copyStatement, encodeCopy, type NewLedgerRow } from './ledger-copy.ts';

export type Outcome =
  | {
      kind: 'stored';
      isNew: boolean;
      quarantined: QuarantinedRecord[];
      /** The new records that were not projected. */
      overflows: Overflow[];
    }
  | { kind: 'fork'; fork: Fork }
  | { kind: 'gap'; expected: { epoch: number; seq: number } }
  /** It was not judged, and may have to be disputed before it is stored. */
  | { kind: 'unjudged' };

export interface StoredGroup {
  /** In the order of the batches. */
  outcomes: Outcome[];
  /** The position of the last stored record; undefined when none was stored. */
  position: number | undefined;
}

const ATTEMPTS = 3;
const COPY_RECORDS = copyStatement('ledger_records');

export interface Ledger {
  pool: Pool;
  projections: readonly Projection[];
}

/**
 * @param batches at most one per stream
 * @returns after the commit
 */
export async function storeGroup(
  { pool, projections }: Ledger,
  tenantId: string,
  batches: readonly CheckedBatch[],
): Promise<StoredGroup> {
  let bisecting = false;
  for (let attempt = 1; ; attempt++) {
    try {
      return await inTransaction(pool, (client) =>
        writeGroup({ client, projections, tenantId }, batches, bisecting),
      );
    } catch (error) {
      const mayHelp = isRefusedValue(error) ? !bisecting : isTransient(error);
      if (!mayHelp || attempt >= ATTEMPTS) throw error;
      bisecting ||= isRefusedValue(error);
    }
  }
}

interface Writing {
  client: PoolClient;
  projections: readonly Projection[];
  tenantId: string;
}

interface Plan {
  batch: CheckedBatch;
  before: StreamPosition;
  outcome: Outcome;
  fresh: CheckedRecord[];
}

async function writeGroup(
  writing: Writing,
  batches: readonly CheckedBatch[],
  bisecting: boolean,
): Promise<StoredGroup> {
  const { client, tenantId } = writing;
  const streams = batches.map((batch) => batch.header.stream);
  const heads = await beginWithHeads(client, tenantId, streams);
  const plans: Plan[] = [];
  for (const batch of batches) {
    const before = heads.get(batch.header.stream.toLowerCase());
    if (!before) throw new Error('a stream head vanished under its lock');
    plans.push(await plan(client, tenantId, before, batch));
  }
  if (bisecting) await quarantineRefused(writing, plans);
  for (const { batch, outcome, fresh } of plans) {
    const { stream, epoch } = batch.header;
    if (outcome.kind !== 'stored') continue;
    const unreadable = fresh
      .filter(({ fault }) => fault !== null)
      .flatMap((record) => toEntry(epoch, record));
    await keepInQuarantine(client, tenantId, stream, unreadable);
    outcome.quarantined.push(...unreadable);
  }
  return {
    outcomes: plans.map(({ outcome }) => outcome),
    position: await append(writing, plans),
  };
}

/** Places a batch; stores the records of a fork in quarantine. */
async function plan(
  client: PoolClient,
  tenantId: string,
  before: StreamPosition,
  batch: CheckedBatch,
): Promise<Plan> {
  const { header, records } = batch;
  const placement = placeBatch(before, batch);
  if (placement.kind === 'gap') return { batch, before, outcome: placement, fresh: [] };
  const from = placement.kind === 'append' ? placement.from : records.length;
  const overlap =
    placement.kind === 'fork'
      ? { fork: placement, quarantined: [] }
      : compareOverlap(await readOverlap(client, tenantId, batch, from), batch, from);
  if (overlap.fork) {
    const { seq, expected, actual } = overlap.fork;
    const entries = records
      .filter((record) => record.seq >= seq)
      .map(({ seq, hash, bytes }): QuarantineEntry => {
        const reason = 'contradicts the stream that is stored';
        return { epoch: header.epoch, seq, kind: 'fork', hash, reason, bytes };
      });
    const kept = await withinForkBounds(client, tenantId, header.stream, entries);
    await keepInQuarantine(client, tenantId, header.stream, kept);
    return { batch, before, outcome: { kind: 'fork', fork: { seq, expected, actual } }, fresh: [] };
  }
  const fresh = records.slice(from);
  if (batch.isUnjudged && fresh.length > 0) {
    return { batch, before, outcome: { kind: 'unjudged' }, fresh: [] };
  }
  const { quarantined } = overlap;
  return {
    batch,
    before,
    outcome: { kind: 'stored', isNew: fresh.length > 0, quarantined, overflows: [] },
    fresh,
  };
}

/** Those of the first `count` records' places. */
async function readOverlap(
  client: PoolClient,
  tenantId: string,
  { header: { stream, epoch, first_seq: first } }: CheckedBatch,
  count: number,
): Promise<Map<number, StoredHash>> {
  if (count === 0) return new Map();
  return readHashes(client, tenantId, stream, { epoch, first, last: first + count - 1 });
}

async function append(writing: Writing, plans: readonly Plan[]): Promise<number | undefined> {
  const { client, tenantId } = writing;
  const rows: NewLedgerRow[] = [];
  const moves: HeadMove[] = [];
  for (const { batch, before, fresh } of plans) {
    if (fresh.length === 0) continue;
    const { header, signature } = batch;
    moves.push({ before, header, signature, times: timesOf(batch.records) });
    rows.push(...fresh);
  }
  if (rows.length === 0) return undefined;
  // Before the positions are taken: everything that raises and records an alert locks in this
  // order.
  const fresh = plans.flatMap((plan) => plan.fresh);
  const overflows = await project(writing, fresh);
  for (const { batch, outcome } of plans) {
    if (outcome.kind !== 'stored') continue;
    const own = batch.header.stream.toLowerCase();
    outcome.overflows = overflows.filter(({ stream }) => stream === own);
  }
  const place = await takePositions(client, tenantId, moves, rows.length);
  await copyRows(client, tenantId, rows, place);
  return place.firstPosition + rows.length - 1;
}

/**
 * The earliest and latest time of the records that verifiers can read, in quarantine or not: an
 * export selects leaves of the log by them.
 */
function timesOf(records: readonly CheckedRecord[]): HeadMove['times'] {
  let first: string | undefined;
  let last: string | undefined;
  for (const { columns, fault, shown } of records) {
    const eventTime = fault === null ? columns.eventTime : shown?.timestamp;
    // PostgreSQL knows no year 0.
    if (eventTime === undefined || eventTime < '1970') continue;
    if (first === undefined || eventTime < first) first = eventTime;
    if (last === undefined || eventTime > last) last = eventTime;
  }
  return first === undefined || last === undefined ? null : { first, last };
}

async function project(
  { client, tenantId, projections }: Writing,
  records: readonly CheckedRecord[],
): Promise<Overflow[]> {
  const overflows: Overflow[] = [];
  for (const { types, store } of projections) {
    const own: ProjectedRecord[] = [];
    for (const { record, columns, isAgentUnknown } of records) {
      if (!record || !types.includes(record.type)) continue;
      own.push({ record, agentId: isAgentUnknown ? null : columns.agentId });
    }
    if (own.length > 0) overflows.push(...(await store(client, tenantId, own)));
  }
  return overflows;
}

async function copyRows(
  client: PoolClient,
  tenantId: string,
  rows: readonly NewLedgerRow[],
  place: { firstPosition: number; receivedAt: number },
): Promise<void> {
  let payload: Buffer;
  try {
    payload = encodeCopy(tenantId, rows, place);
  } catch (cause) {
    throw new UnencodableRow('a row has no binary form', { cause });
  }
  const count = await copyInto(client, COPY_RECORDS, payload);
  if (count !== rows.length) throw new Error(`${count} of ${rows.length} records were stored`);
}

/** Finds the records that PostgreSQL refuses, each by itself, and marks them in the plans. */
async function quarantineRefused(writing: Writing, plans: readonly Plan[]): Promise<void> {
  for (const plan of plans) {
    const refused = await findFailing(plan.fresh, (some) => tryToStore(writing, some));
    plan.fresh = plan.fresh.map((record) => {
      const reason = refused.get(record);
      return reason === undefined ? record : quarantined(record, reason);
    });
  }
}

/** @returns why these records are refused, undefined when they are not; writes nothing */
export async function tryToStore(
  writing: Writing,
  records: readonly CheckedRecord[],
): Promise<string | undefined> {
  const { client, tenantId } = writing;
  await client.query('SAVEPOINT trial');
  try {
    await project(writing, records);
    // Negative positions, which no stored record has, so that no lock is needed and nobody waits.
    const place = { firstPosition: -records.length, receivedAt: Date.now() };
    await copyRows(client, tenantId, records, place);
    return undefined;
  } catch (error) {
    if (!isRefusedValue(error)) throw error;
    return error instanceof pg.DatabaseError
      ? `is refused by the database (${error.code})`
      : 'has no form that the database takes';
  } finally {
    await client.query('ROLLBACK TO SAVEPOINT trial');
  }
}

function toEntry(epoch: number, { seq, hash, bytes, fault }: CheckedRecord): QuarantineEntry[] {
  return fault === null ? [] : [{ epoch, seq, ...fault, hash, bytes }];
}

class UnencodableRow extends Error {}

/** Data exceptions, violated constraints, exceeded limits: errors that a value causes. */
function isRefusedValue(error: unknown): boolean {
  if (error instanceof UnencodableRow) return true;
  return error instanceof pg.DatabaseError && /^(22|23|54)/.test(error.code ?? '');
}

/**
 * Deadlocks and failed serialisation, which a retry resolves: the other transaction has finished.
 */
function isTransient(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^(40001|40P01)$/.test(error.code ?? '');
}

/** @param work begins the transaction */
async function inTransaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken = true;
  try {
    const result = await work(client);
    const { command } = await client.query('COMMIT');
    // PostgreSQL answers the commit of a failed transaction with ROLLBACK, without an error.
    if (command !== 'COMMIT') throw new Error(`the commit ended in ${command}`);
    broken = false;
    return result;
  } catch (error) {
    broken = !(await client.query('ROLLBACK').then(
      () => true,
      () => false,
    ));
    throw error;
  } finally {
    client.release(broken);
  }
}
