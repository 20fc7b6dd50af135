/**
 * Puts the admin chain's records into signed batches, which become leaves of the tenant's log like
 * those of data planes. The service signs them with its own batch key. Proven by log.pg.test.ts.
 */
import type { KeyObject } from 'node:crypto';
import { canonicalize } from '@governance/shared/json/canonical-json';
import { signBatch } from '@governance/shared/ledger/audit-batch';
import { boundHeldLocks } from '../platform/database/tenant-lock.ts';
import {
  systemScope,
  type TenantDatabase,
  type TenantTransaction,
} from '../platform/database/tenant-scope.ts';
import type { ServiceKeys } from '../platform/keys/keys.ts';
import { type LogHead, logStore } from './log-store.ts';

/** The limits of a batch, as for data planes. */
const BATCH = { records: 500, bytes: 4 * 1024 * 1024 } as const;

interface Row {
  stream: string;
  epoch: number;
  seq: bigint;
  hash: string;
  prev_hash: string;
  event_time: Date;
}

export interface AdminSigner {
  /** Puts what was recorded into leaves of the tenant's log. */
  signAll(tenantId: string, signal?: AbortSignal): Promise<void>;
}

export function createAdminSigner({
  db,
  serviceKeys,
}: {
  db: Pick<TenantDatabase, 'inTenant'>;
  serviceKeys: Pick<ServiceKeys, 'evidenceKey'>;
}): AdminSigner {
  /** @returns whether more may follow */
  const signNext = async (tenantId: string): Promise<boolean> => {
    const { key } = await serviceKeys.evidenceKey('batch');
    return db.inTenant(systemScope(tenantId), async (tx) => {
      const head = await logStore(tx).lockHead();
      return (await signNextAdminBatch(tx, key, head)) !== undefined;
    });
  };
  return {
    signAll: async (tenantId, signal) => {
      while (!signal?.aborted && (await signNext(tenantId)));
    },
  };
}

/**
 * Signs the next batch of the admin chain, if some records are not in a batch yet. The caller holds
 * the log head's lock.
 *
 * @returns the new end of the batches; undefined when there was nothing to sign
 */
async function signNextAdminBatch(
  tx: TenantTransaction,
  key: KeyObject,
  head: LogHead,
): Promise<Pick<LogHead, 'adminEpoch' | 'adminSeq'> | undefined> {
  const { tenantId } = tx.scope;
  const rows = await readUnsigned(tx, head);
  const [first] = rows;
  const last = rows.at(-1);
  if (!first || !last) return undefined;
  const { header, signature } = signBatch(
    key,
    {
      tenant_id: tenantId,
      stream: first.stream,
      epoch: first.epoch,
      first_seq: Number(first.seq),
      last_seq: Number(last.seq),
      prev_head: first.prev_hash,
      head: last.hash,
    },
    rows.map(({ hash }) => hash),
  );
  const times = rows.map(({ event_time }) => event_time.getTime());
  // From here to the commit, the tenant's other writers wait for the row of tenant_positions.
  await boundHeldLocks(tx.db);
  await tx.db.$executeRaw`
    WITH placed AS (
      UPDATE tenant_positions SET log_size = log_size + 1 WHERE tenant_id = ${tenantId}::uuid
      RETURNING log_size
    )
    INSERT INTO ledger_batches (tenant_id, stream, epoch, first_seq, last_seq, header, signature,
      received_at, leaf_index, first_time, last_time)
    SELECT ${tenantId}::uuid, ${first.stream}::uuid, ${first.epoch}::int, ${first.seq}::bigint,
      ${last.seq}::bigint, ${canonicalize(header)}, ${signature}, clock_timestamp(), log_size - 1,
      ${new Date(Math.min(...times))}::timestamptz, ${new Date(Math.max(...times))}::timestamptz
    FROM placed`;
  const end = { adminEpoch: last.epoch, adminSeq: Number(last.seq) };
  await logStore(tx).moveAdminEnd(end);
  return end;
}

/** Records of one epoch, at most a batch's worth. */
async function readUnsigned(
  { db, scope: { tenantId } }: TenantTransaction,
  { adminEpoch, adminSeq }: LogHead,
): Promise<Row[]> {
  const rows = await db.$queryRaw<Row[]>`
    SELECT * FROM (
      SELECT r.stream, r.epoch, r.seq, r.hash, r.prev_hash, r.event_time,
        sum(octet_length(r.bytes)) OVER (ORDER BY r.epoch, r.seq) - octet_length(r.bytes)
          AS bytes_before
      FROM ledger_records r JOIN tenant_heads h
        ON h.tenant_id = r.tenant_id AND h.admin_stream = r.stream
      WHERE r.tenant_id = ${tenantId}::uuid
        AND (r.epoch, r.seq) > (${adminEpoch}::int, ${adminSeq}::bigint)
        AND (r.epoch, r.seq) <= (h.admin_epoch, h.admin_seq)
      ORDER BY r.epoch, r.seq LIMIT ${BATCH.records}
    ) page WHERE bytes_before < ${BATCH.bytes} ORDER BY epoch, seq`;
  return rows.filter(({ epoch }) => epoch === rows[0]?.epoch);
}
