/**
 * Whether approvals in the feed are people's. Whoever owns the database can write a fact into the
 * feed, and the service signs the feed: so an approval is handed over only where its escalation's
 * row, the admin record of its end and the service's attestation of both say the same (ADR 104).
 * Proven by approval-check.pg.test.ts.
 */

import { FACTS, type FactOf, type FeedEntry } from '@governance/shared/channel/facts';
import { canonicalize } from '@governance/shared/json/canonical-json';
import { recordHash } from '@governance/shared/ledger/hash-chain';
import { GRANT_MS } from '@governance/shared/settings/hold-settings';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { Counter, type Registry } from 'prom-client';
import { raiseAlert } from '../alerts/raise-alert.ts';
import { findAdminRecord, type StoredRecord, searchAdminRecord } from '../chain/admin-records.ts';
import { readRecord } from '../chain/ledger-row.ts';
import type { PrepareApprovals } from '../feed/feed-store.ts';
import {
  systemScope,
  type TenantDatabase,
  type TenantTransaction,
} from '../platform/database/tenant-scope.ts';
import type { Escalation } from '../platform/generated/client.ts';
import {
  type Judge,
  ROLL_OUT_MS,
  type RowAttestations,
  type RowStatement,
} from '../platform/keys/row-attestations.ts';
import { toFact } from './escalation.ts';
import { statusOfResult } from './inbound-hold.ts';

/** Grants that ended longer ago are of no use to a data plane, whatever its clock. */
const CHECKED_AFTER_END_MS = 60 * 60 * 1000;
const TOLD_KEPT = 1_000;
/** A replica looks for a fact again after this long. */
const TOLD_MS = 10 * 60 * 1000;

export interface ApprovalCheckDeps {
  db: Pick<TenantDatabase, 'inTenant'>;
  attestations: Pick<RowAttestations, 'verifier'>;
  registry: Registry;
  log: Pick<Logger, 'error'>;
  now: () => Date;
  /** Milliseconds since the start. */
  elapsed?: () => number;
}

interface Approval {
  seq: number;
  key: string;
  value: FactOf<'optional.escalation'>;
}

export function createApprovalCheck(deps: ApprovalCheckDeps): PrepareApprovals {
  const began = performance.now();
  const elapsed = deps.elapsed ?? (() => performance.now() - began);
  const told = new LRUCache<string, true>({ max: TOLD_KEPT, ttl: TOLD_MS });
  const withheld = new Counter({
    name: 'approvals_withheld_total',
    help: 'Approvals in the feed that no admin record backs: they were not handed to data planes',
    registers: [deps.registry],
  });

  /** @returns why it is not handed over */
  async function findFault(
    tx: TenantTransaction,
    { key, value }: Approval,
    judge: Judge,
  ): Promise<string | undefined> {
    const { tenantId } = tx.scope;
    const where = { tenantId_id: { tenantId, id: value.escalation_id } };
    const row = await tx.db.escalation.findUnique({ where });
    if (row?.status !== 'approved') return 'no row of escalations is approved so';
    const fact = toFact(row, 'approved');
    if (fact.key !== key || canonicalize(fact.value) !== canonicalize(value)) {
      return 'the row of escalations says otherwise';
    }
    const { recordId, attestation } = row;
    const record = recordId
      ? await findAdminRecord(tx, recordId)
      : await searchAdminRecord(tx, approvalTarget(row));
    if (!record || !isOf(row, record)) return 'no admin record says so';
    const verdict = recordId ? judge(approvalStatement(row, recordId), attestation) : 'unsigned';
    if (verdict === 'attested') return undefined;
    if (verdict === 'wrong') return 'this service did not take the decision as it stands';
    return elapsed() < ROLL_OUT_MS ? undefined : 'this service did not take the decision';
  }

  /** Not awaited: the readers of a feed do not wait for an alert. */
  function tell(tenantId: string, { value }: Approval, fault: string): void {
    const { escalation_id: id, deployment_id, grant } = value;
    if (told.has(`${tenantId}/${id}`)) return;
    told.set(`${tenantId}/${id}`, true);
    withheld.inc();
    deps.log.error({ tenantId, escalationId: id, reason: fault }, 'an approval was withheld');
    const details = {
      ...{ escalation_id: id, deployment_id, grant_id: grant?.id ?? null, fault },
      remedy:
        'Nobody approved it through the API, so no data plane gets it. Find out who wrote to the database. If a person did mean it, have the call made again and approve that one.',
    };
    deps.db
      .inTenant(systemScope(tenantId), (tx) =>
        raiseAlert(tx, {
          alertType: 'APPROVAL_NOT_RECORDED',
          severity: 'critical',
          agentId: null,
          title: 'An approval that nobody gave was in the database: it was handed to no data plane',
          details,
          dedupeKey: `approval-not-recorded:${id}`,
          now: deps.now(),
        }),
      )
      .catch((err: unknown) =>
        deps.log.error({ tenantId, err }, 'the alert about an approval could not be raised'),
      );
  }

  return async () => {
    const judge = await deps.attestations.verifier();
    return async (tx, entries) => {
      const after = deps.now().getTime() - CHECKED_AFTER_END_MS;
      const approvals = entries.flatMap((entry) => toApproval(entry, after) ?? []);
      const found = new Set<number>();
      if (approvals.length === 0) return found;
      for (const approval of approvals) {
        const fault = await findFault(tx, approval, judge);
        if (fault === undefined) continue;
        found.add(approval.seq);
        tell(tx.scope.tenantId, approval, fault);
      }
      return found;
    };
  };
}

/** What is attested of an approved row. */
export function approvalStatement(row: Escalation, recordId: string): RowStatement {
  const states = { ...toFact(row, 'approved').value };
  return { tenantId: row.tenantId, about: approvalTarget(row), states, recordId };
}

const approvalTarget = ({ held, id }: Pick<Escalation, 'held' | 'id'>) =>
  held === 'result' ? `inbound_hold/${id}` : `escalation/${id}`;

/** Data planes read nothing else as an approval. */
function toApproval({ seq, kind, key, value }: FeedEntry, after: number): Approval | undefined {
  if (kind !== 'optional.escalation') return undefined;
  const fact = FACTS[kind].safeParse(value).data;
  if (fact?.resolution !== 'approved') return undefined;
  const ends = fact.grant?.expires_at ?? new Date(Date.parse(fact.resolved_at) + GRANT_MS);
  return new Date(ends).getTime() > after ? { seq, key, value: fact } : undefined;
}

/** Whether a record, whole, is that of a row's approval. */
function isOf(row: Escalation, { hash, bytes }: StoredRecord): boolean {
  const record = recordHash(bytes) === hash ? readRecord(bytes) : undefined;
  if (record?.type !== 'admin_action') return false;
  const action =
    row.held === 'result' ? `inbound_hold_${statusOfResult(row)}` : 'escalation_approved';
  return (
    record.action === action &&
    record.target === approvalTarget(row) &&
    record.details.deployment_id === row.deploymentId &&
    record.details.grant_id === row.grantId &&
    record.details.grant_expires_at === (row.grantExpiresAt?.toISOString() ?? null)
  );
}
