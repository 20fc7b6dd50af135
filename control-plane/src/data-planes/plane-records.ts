/**
 * What the admin records say of data planes and their tokens: which keys they registered last, and
 * which were revoked. Proven by attested-planes.pg.test.ts.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AdminActionRecord } from '@governance/shared/ledger/ledger-record';
import { findAdminRecord, type StoredRecord, searchAdminRecord } from '../chain/admin-records.ts';
import {
  findNewestRecords,
  type NewestRecord,
  type RecordKind,
  readAdminAction,
} from '../platform/database/newest-records.ts';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import { Prisma } from '../platform/generated/client.ts';
import {
  type AttestationFault,
  attestationFault,
  type Judge,
} from '../platform/keys/row-attestations.ts';
import {
  type PlaneRow,
  planeDetails,
  planeStatement,
  planeTarget,
  type TokenRow,
  tokenDetails,
  tokenTarget,
} from './plane-statements.ts';

/** The condition is that of ledger_records_plane_idx. */
export const PLANE_CHANGES: RecordKind = {
  condition: Prisma.sql`type = 'admin_action' AND (substring(bytes FROM 1 FOR 28) IN (
    '{"action":"data_plane_regist', '{"action":"data_plane_update', '{"action":"data_plane_attest',
    '{"action":"data_plane_forked', '{"action":"data_plane_revoke', '{"action":"data_planes_attes')
    OR substring(bytes FROM 1 FOR 34) = '{"action":"data_plane_token_revoke')`,
  target: 'data_plane/',
};

/** Nothing brings back what one of these records is about. */
const IS_ENDING = Prisma.sql`(substring(bytes FROM 1 FOR 28) IN (
    '{"action":"data_plane_forked', '{"action":"data_plane_revoke')
    OR substring(bytes FROM 1 FOR 34) = '{"action":"data_plane_token_revoke')`;

export type RowFault =
  | 'no_record'
  | 'record_damaged'
  | 'record_differs'
  | 'put_back'
  | AttestationFault;

/** Targets of records that ended them. */
export type Endings = ReadonlySet<string>;

export async function readEndings({
  db,
  scope: { tenantId },
}: TenantTransaction): Promise<Endings> {
  const rows = await db.$queryRaw<StoredRecord[]>`
    SELECT hash, bytes FROM ledger_records
    WHERE tenant_id = ${tenantId}::uuid AND ${PLANE_CHANGES.condition} AND ${IS_ENDING}`;
  return new Set(rows.flatMap((row) => readAdminAction(row)?.target ?? []));
}

/** Whether a token stands as valid that was revoked: alone, with its root, or its deployment. */
export const isPutBack = (
  ended: Endings,
  { id, rootId, deploymentId, revokedAt }: TokenRow,
): boolean =>
  revokedAt === null &&
  (ended.has(tokenTarget(id)) ||
    (rootId !== null && ended.has(tokenTarget(rootId))) ||
    (deploymentId !== null && ended.has(planeTarget(deploymentId))));

/** Whether the rows of before the first start of this version were attested. */
export async function hasBegun({ db, scope: { tenantId } }: TenantTransaction): Promise<boolean> {
  const rows = await db.$queryRaw<unknown[]>`
    SELECT 1 FROM ledger_records
    WHERE tenant_id = ${tenantId}::uuid AND ${PLANE_CHANGES.condition}
      AND substring(bytes FROM 1 FOR 28) = '{"action":"data_planes_attes' LIMIT 1`;
  return rows.length > 0;
}

/** Why rows are not what was registered last; those that are, are left out. */
export async function findPlaneFaults(
  tx: TenantTransaction,
  planes: readonly PlaneRow[],
  judge: Judge,
): Promise<Map<string, RowFault>> {
  const newest = await findNewestRecords(
    tx,
    PLANE_CHANGES,
    planes.map(({ deploymentId }) => deploymentId),
    planes.map(({ recordId }) => recordId),
  );
  const { tenantId } = tx.scope;
  const faults = new Map<string, RowFault>();
  for await (const plane of withRests(planes)) {
    const { deploymentId } = plane;
    const fault = findPlaneFault(tenantId, plane, newest.get(deploymentId), judge);
    if (fault) faults.set(deploymentId, fault);
  }
  return faults;
}

/** Signatures that are verified in a row: a tenant has thousands, and others are served meanwhile. */
const IN_A_ROW = 50;

export async function* withRests<T>(rows: readonly T[]): AsyncGenerator<T> {
  for (const [index, row] of rows.entries()) {
    if (index % IN_A_ROW === IN_A_ROW - 1) await nextTurn();
    yield row;
  }
}

function findPlaneFault(
  tenantId: string,
  plane: PlaneRow,
  newest: NewestRecord | undefined,
  judge: Judge,
): RowFault | undefined {
  if (!newest) return 'no_record';
  const { id, record } = newest;
  if (record?.target !== planeTarget(plane.deploymentId)) return 'record_damaged';
  if (record.action === 'data_plane_forked' || record.action === 'data_plane_revoked') {
    return 'put_back';
  }
  const expected = planeDetails(plane);
  const { signing_key, fingerprint } = record.details;
  const isSame =
    signing_key === expected.signing_key &&
    // Records of earlier versions have none.
    (fingerprint === undefined || fingerprint === expected.fingerprint);
  if (!isSame) return 'record_differs';
  return attestationFault(judge, planeStatement(tenantId, plane, id), plane);
}

/**
 * Whether the row was taken after this version's first start: until then nothing may have been
 * sealed for it.
 */
export async function hasMissedSecrets(
  tx: TenantTransaction,
  { recordId }: Pick<PlaneRow, 'recordId'>,
): Promise<boolean> {
  const stored = recordId ? await findAdminRecord(tx, recordId) : undefined;
  const record = stored && readAdminAction(stored);
  return record?.action === 'data_plane_attested' && record.details.first_start === false;
}

const ISSUED: readonly string[] = [
  'data_plane_token_issued',
  'data_plane_token_renewed',
  'data_plane_token_attested',
];

/** Whether a token that is not attested is what its record says. */
export async function findTokenRecordFault(
  tx: TenantTransaction,
  token: TokenRow,
): Promise<RowFault | undefined> {
  const { id, recordId } = token;
  const stored = recordId
    ? await findAdminRecord(tx, recordId)
    : await searchAdminRecord(tx, tokenTarget(id));
  if (!stored) return 'no_record';
  const record = readAdminAction(stored);
  if (!record) return 'record_damaged';
  return isOf(record, token) ? undefined : 'record_differs';
}

function isOf({ action, target, details }: AdminActionRecord, token: TokenRow): boolean {
  const { deployment_id = null, root_id = null, expires_at = null, fingerprint } = details;
  const expected = tokenDetails(token);
  const isWithin =
    expires_at === null ||
    (token.expiresAt !== null && token.expiresAt.toISOString() <= String(expires_at));
  // Records of earlier versions have no fingerprint, and their rows name no record.
  const isSame =
    fingerprint === undefined ? token.recordId === null : fingerprint === expected.fingerprint;
  return (
    ISSUED.includes(action) &&
    target === tokenTarget(token.id) &&
    deployment_id === expected.deployment_id &&
    root_id === expected.root_id &&
    isWithin &&
    isSame
  );
}
