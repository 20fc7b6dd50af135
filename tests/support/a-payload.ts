/** A payload that a data plane sent, stored the way the product stores it. */
import { randomBytes } from 'node:crypto';
import type { ControlPlane } from '@governance/control-plane/app';
import {
  PAYLOAD_SEALING,
  type PayloadContent,
  payloadDigest,
} from '@governance/shared/evidence/event-payload';
import { GENESIS_HASH } from '@governance/shared/ledger/hash-chain';
import { chainRecord } from '@governance/shared/ledger/ledger-record';
import { CompactEncrypt, importJWK } from 'jose';
import { aDecision } from './a-data-plane.ts';
import type { TestDatabase } from './test-database.ts';

type Keys = Pick<ControlPlane, 'payloadSealingKey'>;

/** Seals a part as a data plane does. */
export async function sealPayload({ payloadSealingKey }: Keys, content: PayloadContent) {
  const { publicJwk } = await payloadSealingKey();
  const jwe = await new CompactEncrypt(Buffer.from(JSON.stringify(content)))
    .setProtectedHeader(PAYLOAD_SEALING)
    .encrypt(await importJWK(publicJwk, PAYLOAD_SEALING.alg));
  return { event_id: content.event_id, part: content.part, jwe };
}

/** Stores the input of one call and its record. @returns the event's id */
export async function aPayload(
  { superuser }: Pick<TestDatabase, 'superuser'>,
  controlPlane: Keys & Pick<ControlPlane, 'payloadIngest'>,
  place: { tenantId: string; deploymentId: string },
  mode: PayloadContent['mode'],
): Promise<string> {
  const { tenantId, deploymentId } = place;
  const text = '{"request":{}}';
  const salt = randomBytes(16);
  const decision = aDecision({ payload_digest: payloadDigest(salt, text) });
  const head = { tenant_id: tenantId, stream: deploymentId, epoch: 1, seq: 0, head: GENESIS_HASH };
  const { bytes, hash } = chainRecord(head, decision);
  await superuser.query(
    `INSERT INTO ledger_records (tenant_id, received_at, position, stream, epoch, seq, type, id,
       event_time, hash, prev_hash, bytes)
     VALUES ($1, now(), 1, $2, 1, 1, 'decision', $3, now(), $4, $5, $6)`,
    [tenantId, deploymentId, decision.id, hash, GENESIS_HASH, bytes],
  );
  const sealed = await sealPayload(controlPlane, {
    tenant_id: tenantId,
    deployment_id: deploymentId,
    event_id: decision.id,
    part: 'input',
    mode,
    salt: salt.toString('base64url'),
    text,
  });
  await controlPlane.payloadIngest.ingest(tenantId, deploymentId, { payloads: [sealed] });
  return decision.id;
}
