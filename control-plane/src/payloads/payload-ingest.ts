/**
 * Stores payloads from data planes: opens each, compares it with the digest in its event's chained
 * record, and stores it encrypted under a data key of the tenant's provider. A payload that does
 * not match its record is refused: it can be left out, but not changed. Proven by
 * payload-routes.pg.test.ts.
 */

import { AppError } from '@governance/shared/errors';
import {
  PAYLOAD_SEALING,
  PayloadContent,
  type PayloadReceipt,
  type PayloadUpload,
  payloadDigest,
  type SealedPayload,
} from '@governance/shared/evidence/event-payload';
import { DAY_MS } from '@governance/shared/time/durations';
import { compactDecrypt } from 'jose';
import type { Logger } from 'pino';
import { Counter, type Registry } from 'prom-client';
import { raiseAlert } from '../alerts/raise-alert.ts';
import { readRecord } from '../chain/ledger-row.ts';
import { recordsOf } from '../chain/records-of.ts';
import { type DataKey, type DataKeys, encryptUnder } from '../key-management/data-keys.ts';
import { KeyProviderError } from '../key-management/key-provider.ts';
import {
  systemScope,
  type TenantDatabase,
  type TenantScope,
  type TenantTransaction,
} from '../platform/database/tenant-scope.ts';
import { Prisma } from '../platform/generated/client.ts';
import type { SealingKeyPair } from './payload-sealing-key.ts';
import { payloadContext, payloadStore } from './payload-store.ts';
import { type ProtectionPolicy, readProtectionPolicy } from './protection-policy.ts';

export const PAYLOAD_PURPOSE = 'payload';

export interface PayloadIngestDeps {
  db: Pick<TenantDatabase, 'inTenant'>;
  dataKeys: DataKeys;
  sealingKey: () => Promise<SealingKeyPair>;
  registry: Registry;
  log: Pick<Logger, 'warn'>;
  now: () => Date;
  /** It never runs back: a payload's retention begins by it. */
  tokenNow: () => Date;
  /** By which a payload is too old to be kept: one that is left out is never sent again. */
  settledNow: () => Date;
}

export interface PayloadIngest {
  /**
   * @returns one result for each part, in order
   * @throws AppError DATA_PLANE_NOT_FOUND; UNAVAILABLE where the key provider does not answer: the
   *   upload is sent again
   */
  ingest(tenantId: string, deploymentId: string, upload: PayloadUpload): Promise<PayloadReceipt>;
}

type Result = PayloadReceipt['results'][number];

export function createPayloadIngest(deps: PayloadIngestDeps): PayloadIngest {
  const { db, now, tokenNow, settledNow } = deps;
  const counter = new Counter({
    name: 'governance_payloads_received_total',
    help: 'Parts of payloads that data planes sent, by result',
    labelNames: ['result'],
    registers: [deps.registry],
  });

  async function keyOf(scope: TenantScope, policy: ProtectionPolicy): Promise<DataKey> {
    const { kmsProvider, kmsKeyId } = policy;
    const provider = kmsProvider ?? 'local';
    const choice = { purpose: PAYLOAD_PURPOSE, provider, keyId: kmsKeyId ?? '' };
    try {
      return await deps.dataKeys.current(scope, choice);
    } catch (cause) {
      if (!(cause instanceof KeyProviderError)) throw cause;
      const { tenantId } = scope;
      deps.log.warn({ tenantId, provider, reason: cause.message }, 'payloads wait for their key');
      throw new AppError('UNAVAILABLE', 'The key provider does not answer: try again.', { cause });
    }
  }

  return {
    ingest: async (tenantId, deploymentId, { payloads }) => {
      const scope = systemScope(tenantId);
      // A root's token is bound to no deployment, so it could name any.
      const isOwn = await db.inTenant(scope, (tx) => isDataPlane(tx, deploymentId));
      if (!isOwn) throw new AppError('DATA_PLANE_NOT_FOUND');
      const { privateKey } = await deps.sealingKey();
      const opened: (PayloadContent | null)[] = [];
      for (const payload of payloads) {
        opened.push(await open(payload, privateKey, { tenantId, deploymentId }));
      }
      const key = await keyOf(scope, await db.inTenant(scope, readProtectionPolicy));
      const results = await db.inTenant(scope, async (tx) => {
        // Read again, since the key provider may have taken seconds.
        const policy = await readProtectionPolicy(tx);
        // A payload sent under an earlier mode is protected at least like a new one.
        const isEncrypted = policy.encryptionEnabled || policy.payloadMode === 'encrypted';
        const dueBefore = new Date(settledNow().getTime() - policy.payloadRetentionDays * DAY_MS);
        const results: Result[] = [];
        const inserted: string[] = [];
        for (const content of opened) {
          const { result, recordedAt } = content
            ? await checkAgainstChain(tx, content)
            : REFUSED_UNREAD;
          results.push(result);
          if (result !== 'stored' || !content) continue;
          // A purged payload that is sent again must not reappear.
          if (recordedAt && recordedAt <= dueBefore) continue;
          const { event_id: eventId, part, salt, text, mode } = content;
          const plaintext = Buffer.from(JSON.stringify({ salt, text, mode }));
          const isNew = await payloadStore(tx).insert({
            eventId,
            part,
            deploymentId,
            isEncrypted: isEncrypted || mode === 'encrypted',
            dataKeyId: key.id,
            ciphertext: encryptUnder(key, plaintext, payloadContext(tenantId, eventId, part)),
            receivedAt: tokenNow(),
          });
          if (isNew) inserted.push(eventId);
        }
        await payloadStore(tx).count(inserted);
        if (results.includes('refused')) await alertOfRefusal(tx, deploymentId, now());
        return results;
      });
      for (const result of results) counter.inc({ result });
      return { results };
    },
  };
}

async function isDataPlane({ db, scope: { tenantId } }: TenantTransaction, deploymentId: string) {
  const where = { tenantId_deploymentId: { tenantId, deploymentId } };
  return (await db.dataPlane.findUnique({ where, select: { deploymentId: true } })) !== null;
}

/** caller-controlled; null for a text that is not sealed to this key, or belongs elsewhere. */
async function open(
  { event_id, part, jwe }: SealedPayload,
  privateKey: SealingKeyPair['privateKey'],
  { tenantId, deploymentId }: { tenantId: string; deploymentId: string },
): Promise<PayloadContent | null> {
  try {
    const { plaintext } = await compactDecrypt(jwe, privateKey, {
      keyManagementAlgorithms: [PAYLOAD_SEALING.alg],
      contentEncryptionAlgorithms: [PAYLOAD_SEALING.enc],
    });
    const content = PayloadContent.parse(JSON.parse(Buffer.from(plaintext).toString('utf8')));
    const isInPlace =
      content.tenant_id === tenantId &&
      content.deployment_id === deploymentId &&
      content.event_id === event_id &&
      content.part === part;
    return isInPlace ? content : null;
  } catch {
    return null;
  }
}

const REFUSED_UNREAD: Checked = { result: 'refused', recordedAt: null };

interface Checked {
  result: Result;
  /** When its record arrived. */
  recordedAt: Date | null;
}

async function checkAgainstChain(tx: TenantTransaction, content: PayloadContent): Promise<Checked> {
  const row = await findRecord(tx, content);
  if (!row) return { result: 'waiting', recordedAt: null };
  const record = readRecord(row.bytes);
  const hasDigest = record?.v === 2 && (record.type === 'decision' || record.type === 'outcome');
  const salt = Buffer.from(content.salt, 'base64url');
  const isIts = hasDigest && record.payload_digest === payloadDigest(salt, content.text);
  return { result: isIts ? 'stored' : 'refused', recordedAt: row.received_at };
}

interface RecordRow {
  bytes: Uint8Array;
  received_at: Date;
}

/** @returns undefined when it has not arrived */
async function findRecord(
  { db, scope: { tenantId } }: TenantTransaction,
  { event_id, deployment_id, part }: PayloadContent,
): Promise<RecordRow | undefined> {
  const [column, type] =
    part === 'input' ? (['id', 'decision'] as const) : (['subject_id', 'outcome'] as const);
  const rows = await db.$queryRaw<RecordRow[]>`
    SELECT bytes, received_at FROM ${recordsOf(tenantId, column, Prisma.sql`${event_id}::uuid`)} found
    WHERE type = ${type} AND stream = ${deployment_id}::uuid ORDER BY position LIMIT 1`;
  return rows[0];
}

async function alertOfRefusal(tx: TenantTransaction, deploymentId: string, now: Date) {
  await raiseAlert(tx, {
    alertType: 'PAYLOAD_REFUSED',
    severity: 'high',
    agentId: null,
    title: 'A data plane sent a payload that does not match the digest in its record',
    details: { deployment_id: deploymentId },
    dedupeKey: `payload-refused:${deploymentId}`,
    now,
  });
}
