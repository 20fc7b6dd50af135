/**
 * The one way into a tenant's rows.
 *
 * `inTenant` opens a transaction, tells PostgreSQL the tenant (for this transaction only), runs the
 * callback, and then, in the same transaction, writes what the callback appended to the feed and to
 * the admin audit chain. A change, its feed entry and its audit record commit together or not at
 * all.
 *
 * Both are numbered by the tenant's row in tenant_heads. It is locked last, after the callback's
 * own work, so that transactions of one tenant wait for each other only during the commit, and
 * numbers become visible in order. Proven by tenant-scope.pg.test.ts.
 */

import { FACTS, type NewFact } from '@governance/shared/channel/facts';
import { feedDigest } from '@governance/shared/channel/feed-chain';
import { AppError } from '@governance/shared/errors';
import { uuidv7 } from '@governance/shared/ids';
import { canonicalize } from '@governance/shared/json/canonical-json';
import {
  type AdminActionRecord,
  type ChainHead,
  chainRecord,
  type UnchainedRecord,
} from '@governance/shared/ledger/ledger-record';
import { Id } from '@governance/shared/text';
import { boundedDetails } from '../admin-details.ts';
import type { AdminRole } from '../admin-role.ts';
import type { Prisma } from '../generated/client.ts';
import type { ChangeBus } from './change-bus.ts';
import { damagedRow } from './damaged-rows.ts';
import { type Connections, isLockTimeout } from './database.ts';
import { boundHeldLocks } from './tenant-lock.ts';

/** Who acts; goes into the audit record. */
export interface Actor {
  id: string;
  username: string;
  role: AdminRole | 'super_admin' | 'system' | 'data_plane';
}

/** The tenant, the actor and the request of a change. Made by the guards, or by `systemScope`. */
export interface TenantScope {
  tenantId: string;
  actor: Actor;
  requestId?: string | undefined;
  /** A super-admin acting in a tenant by X-Tenant-Id. */
  breakGlass?: boolean | undefined;
}

/** An administrator's or the service's own action, as the audit chain keeps it. */
export interface AdminAction {
  /** snake_case, past tense: `agent_created`. */
  action: string;
  /** What it was done to: an id, or a path like `agent/<id>/role/<id>`. */
  target: string;
  /** JSON values only; never a secret. */
  details?: Record<string, unknown>;
  /** The record's id, where a row names it; a new one unless given. */
  id?: string;
}

export interface TenantTransaction {
  /** The models of prisma/schema.prisma, and `$queryRaw`, inside this transaction. */
  db: Prisma.TransactionClient;
  scope: TenantScope;
  /** Buffers a fact for the data planes; numbered and written at the end. */
  feed: { append(fact: NewFact): void };
  /** Buffers an audit record; chained and written at the end. */
  audit: { append(action: AdminAction): void };
}

/** The tenant's numbers after the commit; undefined where this transaction wrote nothing. */
export interface Heads {
  feedSeq: number | undefined;
  position: number | undefined;
}

export interface TransactionOptions {
  isolationLevel?: Prisma.TransactionIsolationLevel;
}

export interface TenantDatabase {
  /**
   * Runs `work` in a transaction that sees and writes this tenant's rows only.
   *
   * @returns what `work` returns, after the commit
   * @throws what `work` throws, after the rollback; AppError UNAVAILABLE when it waited for a lock
   *   for as long as it may
   */
  inTenant<T>(
    scope: TenantScope,
    work: (tx: TenantTransaction) => Promise<T>,
    options?: TransactionOptions,
  ): Promise<T>;
  /** The same, with the tenant's feed_seq for `AppliedBarrier.wait`. */
  inTenantWithHeads<T>(
    scope: TenantScope,
    work: (tx: TenantTransaction) => Promise<T>,
    options?: TransactionOptions,
  ): Promise<{ result: T } & Heads>;
  /** A transaction outside any tenant: reads the list of tenants, reads and writes service_keys. */
  inPlatform<T>(actor: Actor, work: (tx: PlatformTransaction) => Promise<T>): Promise<T>;
}

export interface PlatformTransaction {
  db: Prisma.TransactionClient;
  actor: Actor;
}

export interface TenantDatabaseDeps {
  connections: Pick<Connections, 'prisma'>;
  changes: ChangeBus;
  now: () => Date;
}

/**
 * How long a statement waits for a lock. Whoever waits holds a connection of the pool, so a few
 * seconds are enough: longer than any change holds one, shorter than callers wait.
 */
const LOCK_TIMEOUT = '5s';
const RETRY_AFTER_SECONDS = 5;

/** The service itself as the actor: start-up, timers, ingest. */
export const SYSTEM_ACTOR: Actor = { id: 'system', username: 'system', role: 'system' };

export function systemScope(tenantId: string): TenantScope {
  return { tenantId, actor: SYSTEM_ACTOR };
}

export function createTenantDatabase(deps: TenantDatabaseDeps): TenantDatabase {
  const { prisma } = deps.connections;

  const inTenantWithHeads: TenantDatabase['inTenantWithHeads'] = async (scope, work, options) => {
    const facts: NewFact[] = [];
    const actions: AdminAction[] = [];
    const transaction = prisma.$transaction(async (db) => {
      await db.$queryRaw`
        SELECT set_config('app.tenant_id', ${scope.tenantId}, true),
          set_config('lock_timeout', ${LOCK_TIMEOUT}, true)`;
      const result = await work({
        db,
        scope,
        feed: { append: (fact) => void facts.push(fact) },
        audit: { append: (action) => void actions.push(action) },
      });
      return { result, heads: await flush(db, scope, facts, actions, deps.now()) };
    }, options);
    const { result, heads } = await transaction.catch((error: unknown) => {
      throw isLockTimeout(error) ? waitedTooLong(error) : error;
    });
    if (heads.feedSeq !== undefined || heads.position !== undefined) {
      deps.changes.publish({
        tenantId: scope.tenantId,
        ...(heads.feedSeq === undefined ? {} : { feedSeq: heads.feedSeq }),
        ...(heads.position === undefined ? {} : { position: heads.position }),
      });
    }
    return { result, ...heads };
  };

  return {
    inTenantWithHeads,
    inTenant: async (scope, work, options) =>
      (await inTenantWithHeads(scope, work, options)).result,
    inPlatform: (actor, work) =>
      prisma.$transaction(async (db) => {
        await db.$queryRaw`SELECT set_config('app.platform', 'on', true)`;
        return work({ db, actor });
      }),
  };
}

function waitedTooLong(cause: unknown): AppError {
  return new AppError('UNAVAILABLE', 'Another change of this tenant is under way: try again.', {
    cause,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}

async function flush(
  db: Prisma.TransactionClient,
  scope: TenantScope,
  facts: NewFact[],
  actions: AdminAction[],
  now: Date,
): Promise<Heads> {
  const nothing: Heads = { feedSeq: undefined, position: undefined };
  if (facts.length === 0 && actions.length === 0) return nothing;

  await boundHeldLocks(db);
  const [row] = await db.$queryRaw<HeadsRow[]>`
    SELECT feed_seq, feed_digest, admin_stream, admin_epoch, admin_seq, admin_head
    FROM tenant_heads WHERE tenant_id = ${scope.tenantId}::uuid FOR UPDATE`;
  if (!row) throw damagedRow(`tenant_heads ${scope.tenantId}`, 'it is gone');

  const feed = await writeFacts(db, scope.tenantId, row, facts);
  const chain = chainActions(row, scope, actions, now);
  const position = await writeRecords(db, scope.tenantId, chain.records, now);
  await db.$executeRaw`
    UPDATE tenant_heads SET feed_seq = ${feed.seq}, feed_digest = ${feed.digest},
      admin_seq = ${chain.head.seq},
      admin_head = ${chain.head.head}, updated_at = ${now}
    WHERE tenant_id = ${scope.tenantId}::uuid`;
  return { feedSeq: facts.length > 0 ? feed.seq : undefined, position };
}

interface HeadsRow {
  feed_seq: bigint;
  feed_digest: string;
  admin_stream: string;
  admin_epoch: number;
  admin_seq: bigint;
  admin_head: string;
}

/** @returns the resulting feed_seq, unchanged when there is nothing to write */
async function writeFacts(
  db: Prisma.TransactionClient,
  tenantId: string,
  before: HeadsRow,
  facts: NewFact[],
): Promise<{ seq: number; digest: string }> {
  const end = { seq: Number(before.feed_seq), digest: before.feed_digest };
  if (facts.length === 0) return end;
  const last = end.seq;
  const values: (string | null)[] = [];
  const digests: string[] = [];
  for (const { kind, key, value: given } of facts) {
    // Checked before it is written: a malformed fact would stop every data plane of the tenant, and
    // one under another writing of its id would leave the present one in force.
    const value = given === null ? null : FACTS[kind].parse(given);
    if (Id.safeParse(key).success && key !== key.toLowerCase()) {
      throw new Error(`the key of the ${kind} ${key} is not in lower case`);
    }
    end.seq += 1;
    end.digest = feedDigest(end.digest, { seq: end.seq, kind, key, value });
    values.push(value === null ? null : canonicalize(value));
    digests.push(end.digest);
  }
  await db.$executeRaw`
    INSERT INTO feed_entries (tenant_id, seq, kind, key, value, digest)
    SELECT ${tenantId}::uuid, ${last}::bigint + n, kind, key, value, digest
    FROM unnest(${facts.map((fact) => fact.kind)}::text[], ${facts.map((fact) => fact.key)}::text[],
      ${values}::text[], ${digests}::text[])
      WITH ORDINALITY AS entry (kind, key, value, digest, n)`;
  return end;
}

interface ChainedRecord {
  id: string;
  type: string;
  epoch: number;
  seq: number;
  stream: string;
  hash: string;
  prevHash: string;
  bytes: Buffer;
}

/** Appends the actions to the tenant's admin chain, which begins with an epoch_start record. */
function chainActions(row: HeadsRow, scope: TenantScope, actions: AdminAction[], now: Date) {
  const head: ChainHead = {
    tenant_id: scope.tenantId,
    stream: row.admin_stream,
    epoch: row.admin_epoch,
    seq: Number(row.admin_seq),
    head: row.admin_head,
  };
  const timestamp = now.toISOString();
  const unchained: UnchainedRecord[] = actions.map((action) => ({
    ...toRecord(action, scope),
    timestamp,
  }));
  if (unchained.length > 0 && head.seq === 0) {
    unchained.unshift({
      type: 'epoch_start',
      id: uuidv7(now.getTime()),
      timestamp,
      bundle_revision: null,
      previous: null,
      reason: 'created',
      writer_version: 'control-plane',
    });
  }
  const records: ChainedRecord[] = unchained.map((record) => {
    const prevHash = head.head;
    const { bytes, hash, seq } = chainRecord(head, record);
    head.seq = seq;
    head.head = hash;
    return {
      id: record.id,
      type: record.type,
      epoch: head.epoch,
      seq,
      stream: head.stream,
      hash,
      prevHash,
      bytes,
    };
  });
  return { head, records };
}

function toRecord(
  { action, target, details, id = uuidv7() }: AdminAction,
  { actor, requestId, breakGlass }: TenantScope,
): Omit<
  AdminActionRecord,
  'v' | 'tenant_id' | 'stream' | 'epoch' | 'seq' | 'prev_hash' | 'timestamp'
> {
  return {
    type: 'admin_action',
    id,
    bundle_revision: null,
    actor: { ...actor, break_glass: breakGlass === true },
    action,
    target,
    details: boundedDetails({
      ...details,
      ...(requestId === undefined ? {} : { request_id: requestId }),
    }),
  };
}

/** @returns the position of the last record, undefined when there is none */
async function writeRecords(
  db: Prisma.TransactionClient,
  tenantId: string,
  records: ChainedRecord[],
  now: Date,
): Promise<number | undefined> {
  if (records.length === 0) return undefined;
  const [row] = await db.$queryRaw<{ position: bigint }[]>`
    UPDATE tenant_positions SET position = position + ${records.length}
    WHERE tenant_id = ${tenantId}::uuid RETURNING position`;
  if (!row) throw damagedRow(`tenant_positions ${tenantId}`, 'it is gone');
  const last = Number(row.position);
  await db.ledgerRecord.createMany({
    data: records.map((record, index) => ({
      tenantId,
      receivedAt: now,
      position: BigInt(last - records.length + 1 + index),
      stream: record.stream,
      epoch: record.epoch,
      seq: BigInt(record.seq),
      type: record.type,
      id: record.id,
      eventTime: now,
      hash: record.hash,
      prevHash: record.prevHash,
      bytes: new Uint8Array(record.bytes),
    })),
  });
  return last;
}
