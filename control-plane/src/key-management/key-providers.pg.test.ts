/** Payloads under each key service, through the API: the services' doubles, and PostgreSQL. */
import { randomBytes } from 'node:crypto';
import { encodeBatch, NDJSON } from '@governance/shared/channel/channel-routes';
import { RegistrationReply } from '@governance/shared/channel/channels';
import { payloadDigest } from '@governance/shared/evidence/event-payload';
import { beforeAll, describe, expect, it } from 'vitest';
import { aDecision, createWriter } from '../../../tests/support/a-data-plane.ts';
import { sealPayload } from '../../../tests/support/a-payload.ts';
import { aRegistration } from '../../../tests/support/a-registration.ts';
import { aTenant } from '../../../tests/support/a-tenant.ts';
import { type TestReplica, testReplicas } from '../../../tests/support/test-replicas.ts';
import { AWS_KEY, GCP_KEY, providerDoubles } from './testing/provider-doubles.ts';

const doubles = await providerDoubles();
const { aws, gcp, vault, azure, azureDouble } = doubles;
const right = () => ({
  aws: aws(),
  gcp: gcp(),
  vault: vault(),
  azure: azure(azureDouble.credential),
});
const replicas = await testReplicas();
const [replica, refused, restarted] = await Promise.all([
  replicas.start({ keyProviders: right() }),
  replicas.start({ keyProviders: doubles.wrong() }),
  // It has no data key in memory.
  replicas.start({ keyProviders: right() }),
]);

const POLICY = '/api/v1/admin/data-protection';
const INPUT = { request: { parameters: { path: '/a' } } };

const PROVIDERS = [
  ['aws', AWS_KEY, '90ab', 'AWS KMS answered with InvalidSignatureException'],
  ['gcp', GCP_KEY, 'oads', 'Cloud KMS answered with 401'],
  ['azure', 'payloads', 'oads', 'Azure Key Vault answered with Unauthorized'],
  ['vault', 'payloads', 'oads', 'Vault answered with 403'],
] as const;

describe.each(PROVIDERS)('%s', (kms_provider, kms_key_id, kms_key_id_suffix, reason) => {
  let tenantId: string;
  let token: string;
  beforeAll(async () => {
    const { actor, ...scope } = await aTenant(replicas.test);
    ({ tenantId } = scope);
    const account = { role: 'admin', id: actor.id, username: actor.username, tenantId } as const;
    token = await replica.controlPlane.adminTokens.issue({ ...account, version: '1' });
  });

  const change = { payload_mode: 'encrypted', encryption_enabled: true, kms_provider, kms_key_id };
  const protect = ({ call }: TestReplica) =>
    call(POLICY, { token, method: 'PATCH', body: { ...change, test_kms_connectivity: true } });

  async function register() {
    const path = '/api/v1/admin/data-plane-tokens';
    const issued = await replica.call(path, { token, body: { label: 'x' } });
    const { token: root } = (await issued.json()) as { token: string };
    const keys = aRegistration();
    const body = keys.provenWith(root);
    const answer = await replica.call('/api/v1/data-planes/register', { token: root, body });
    const reply = RegistrationReply.parse(await answer.json());
    const writer = createWriter(tenantId, reply.deployment_id, keys.signingKey);
    writer.boot();
    return { writer, token: reply.token.token };
  }

  /** A call with an input, recorded at the control plane; and its payload as it was sealed. */
  async function aCall() {
    const { writer, token } = await register();
    const at = `/api/v1/data-planes/${writer.deploymentId}`;
    const salt = randomBytes(16);
    const text = JSON.stringify(INPUT);
    const { id } = aDecision();
    writer.append(aDecision({ id, payload_digest: payloadDigest(salt, text) }));
    const shipped = await fetch(`${replica.url}${at}/audit-batches`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': NDJSON },
      body: new Uint8Array(encodeBatch(writer.batch(0))),
    });
    expect(shipped.status).toBe(200);
    const sealed = await sealPayload(replica.controlPlane, {
      ...{ tenant_id: tenantId, deployment_id: writer.deploymentId, event_id: id },
      ...{ part: 'input', mode: 'encrypted', salt: salt.toString('base64url'), text },
    });
    const upload = ({ call }: TestReplica) =>
      call(`${at}/payloads`, { token, body: { payloads: [sealed] } });
    return { id, upload };
  }

  const decrypt = ({ call }: TestReplica, id: string) =>
    call(`/api/v1/audit/events/${id}/decrypt`, { token, method: 'POST' });

  async function decryptions(id: string) {
    const { rows } = await replicas.test.superuser.query(
      `SELECT bytes FROM ledger_records WHERE tenant_id = $1 AND type = 'admin_action' ORDER BY seq`,
      [tenantId],
    );
    const records = rows.map(({ bytes }) => JSON.parse(bytes.toString()));
    return records
      .filter(({ action, target }) => action === 'PAYLOAD_DECRYPTED' && target === `event/${id}`)
      .map(({ details }) => details.result);
  }

  it('a credential that it refuses changes nothing, and the answer says why', async () => {
    const answer = await protect(refused);
    expect(answer.status).toBe(400);
    const detail = `The key provider ${kms_provider} does not work: ${reason}`;
    expect(await answer.json()).toEqual({ detail });
    const policy = await (await replica.call(POLICY, { token })).json();
    expect(policy).toMatchObject({ payload_mode: 'metadata_only', kms_provider: null });
  });

  it('keeps a payload that is decrypted with its credential alone', async () => {
    const answer = await protect(replica);
    expect(answer.status).toBe(200);
    const { kms_key_id: _, ...shown } = change;
    expect(await answer.json()).toMatchObject({ ...shown, kms_key_id_suffix });

    const { id, upload } = await aCall();
    const waiting = await upload(refused);
    expect(waiting.status).toBe(503);
    const stored = await upload(replica);
    expect(await stored.json()).toEqual({ results: ['stored'] });
    const { rows } = await replicas.test.superuser.query(
      `SELECT provider, kms_key_id FROM data_keys WHERE tenant_id = $1 AND purpose = 'payload'`,
      [tenantId],
    );
    expect(rows).toEqual([{ provider: kms_provider, kms_key_id }]);

    const failed = await decrypt(refused, id);
    expect(failed.status).toBe(500);
    expect(await failed.json()).toEqual({ detail: 'The payload cannot be decrypted.' });
    const decrypted = await decrypt(restarted, id);
    expect(decrypted.status).toBe(200);
    expect(await decrypted.json()).toEqual({ event_id: id, decrypted: { input: INPUT } });
    expect(await decryptions(id)).toEqual(['failed', 'shown']);
  });
});
