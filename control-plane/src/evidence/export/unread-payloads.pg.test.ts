/** What no verifier reads of a payload leaves the tenant's packages as they are. */
import { randomBytes } from 'node:crypto';
import { payloadDigest } from '@governance/shared/evidence/event-payload';
import { uuidv7 } from '@governance/shared/ids';
import { GENESIS_HASH } from '@governance/shared/ledger/hash-chain';
import { chainRecord } from '@governance/shared/ledger/ledger-record';
import { Secret } from '@governance/shared/settings';
import { expect, it, vi } from 'vitest';
import { aDecision } from '../../../../tests/support/a-data-plane.ts';
import { sealPayload } from '../../../../tests/support/a-payload.ts';
import { aShippingPlane } from '../../../../tests/support/a-shipping-plane.ts';
import { createEvidenceExports, memberOf } from '../../../../tests/support/evidence-exports.ts';
import { createEvidenceReader } from '../../../../tests/support/evidence-reader.ts';
import { testControlPlane } from '../../../../tests/support/test-control-plane.ts';
import { createDataKeys, encryptUnder } from '../../key-management/data-keys.ts';
import { createKeyProviders } from '../../key-management/key-providers.ts';
import { PAYLOAD_PURPOSE } from '../../payloads/payload-ingest.ts';
import { payloadContext, payloadStore } from '../../payloads/payload-store.ts';
import { createMasterKey } from '../../platform/keys/master-key.ts';
import type { PackagedRecord } from './packaged-record.ts';
import { createPayloadReader } from './payload-lines.ts';

vi.setConfig({ testTimeout: 60_000 });

const at = (ms: number) => new Date(Date.now() + ms).toISOString();
const plane = await testControlPlane({ env: { SERVICE_CHECKPOINT_SECONDS: '1' } });
const exports = createEvidenceExports(plane, { from: at(-3_600_000), to: at(3_600_000) });
const reader = createEvidenceReader();

it.each([
  ['a salt in another writing', 'AAAAAAAAAAAAAAAAAAAAAB', '{}'],
  ['a text without UTF-8', 'A'.repeat(22), '{"a":"\ud800"}'],
])('%s is refused, and fails no package', async (_what, salt, text) => {
  const admin = await plane.aTenantAdmin();
  const { tenantId } = admin.scope;
  const { deploymentId, decide, ship } = await aShippingPlane(plane, admin);
  const keep = async (given: { salt: string; text: string }) => {
    const bytes = Buffer.from(given.salt, 'base64url');
    const { id } = decide({ payload_digest: payloadDigest(bytes, given.text) });
    await ship();
    const sealed = await sealPayload(plane.controlPlane, {
      ...{ tenant_id: tenantId, deployment_id: deploymentId, event_id: id },
      ...{ part: 'input', mode: 'full', ...given },
    });
    const { payloadIngest } = plane.controlPlane;
    const receipt = await payloadIngest.ingest(tenantId, deploymentId, { payloads: [sealed] });
    return { id, ...receipt };
  };
  const good = await keep({ salt: 'A'.repeat(22), text: '{"request":{}}' });
  const unread = await keep({ salt, text });
  const anchor = await exports.anchorOf(admin.token);
  const [volume = expect.unreachable()] = await exports.exported(admin.token, {
    include_payloads: true,
  });
  expect(await reader.read(volume, anchor)).toMatchObject({ verdict: 'VERIFIED', fails: [] });
  const lines = (await memberOf(volume, 'payloads.ndjson')).trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line).event_id)).toEqual([good.id]);
  expect(unread.results).toEqual(['refused']);
});

/** Payloads as they are stored, each with its record, and how packages read them. */
async function aStore() {
  const { scope } = await plane.aTenantAdmin();
  const { db } = plane.test;
  const providers = createKeyProviders(createMasterKey(new Secret(randomBytes(32))));
  const dataKeys = createDataKeys({ db, providers, now: () => new Date() });
  const choice = { purpose: PAYLOAD_PURPOSE, provider: 'local', keyId: '' } as const;
  const key = await dataKeys.current(scope, choice);
  const deploymentId = uuidv7();
  const read = createPayloadReader(dataKeys);
  return {
    store: async (salt: string, text: string): Promise<PackagedRecord> => {
      const { tenantId } = scope;
      const digest = payloadDigest(Buffer.from(salt, 'base64url'), text);
      const record = aDecision({ payload_digest: digest });
      const eventId = record.id;
      const context = payloadContext(tenantId, eventId, 'input');
      const plaintext = Buffer.from(JSON.stringify({ salt, text, mode: 'full' }));
      const row = { eventId, deploymentId, part: 'input', isEncrypted: false } as const;
      const ciphertext = encryptUnder(key, plaintext, context);
      await db.inTenant(scope, (tx) =>
        payloadStore(tx).insert({
          ...{ ...row, dataKeyId: key.id, ciphertext, receivedAt: new Date() },
        }),
      );
      const place = { epoch: 1, seq: 1, hash: '', prevHash: '', subjectId: null };
      return {
        ...{ ...place, stream: deploymentId, type: 'decision', id: eventId },
        text: chainRecord(
          { tenant_id: tenantId, stream: deploymentId, epoch: 1, seq: 0, head: GENESIS_HASH },
          record,
        ).bytes.toString(),
      };
    },
    /** Their events, as a package has them. */
    read: (page: readonly PackagedRecord[]): Promise<string[][]> =>
      db.inTenant(scope, async (tx) => {
        const steps: string[][] = [];
        for await (const lines of read(tx, page)) {
          steps.push(lines.map((line) => JSON.parse(line).event_id));
        }
        return steps;
      }),
    spoil: (id: string) =>
      plane.test.superuser.query(
        `UPDATE event_payloads SET ciphertext = set_byte(ciphertext, 40, get_byte(ciphertext, 40) # 1)
         WHERE event_id = $1`,
        [id],
      ),
  };
}

const SALT = 'A'.repeat(22);

it('what an earlier version took all the same is left out', async () => {
  const { store, read } = await aStore();
  const page = [
    await store('AAAAAAAAAAAAAAAAAAAAAB', '{}'),
    await store(SALT, '{"a":1}'),
    await store(SALT, '{"a":"\ud800"}'),
  ];
  expect((await read(page)).flat()).toEqual([page[1]?.id]);
});

it('one payload that a data plane names again and again fails no package, and is in it once', async () => {
  const admin = await plane.aTenantAdmin();
  const { tenantId } = admin.scope;
  const { deploymentId, decide, ship } = await aShippingPlane(plane, admin);
  const text = JSON.stringify('x'.repeat(1_000_000));
  const payload_digest = payloadDigest(Buffer.from(SALT, 'base64url'), text);
  const { id } = decide({ payload_digest });
  for (let n = 1; n < 300; n++) decide({ id, payload_digest });
  await ship();
  const sealed = await sealPayload(plane.controlPlane, {
    ...{ tenant_id: tenantId, deployment_id: deploymentId, event_id: id },
    ...{ part: 'input', mode: 'full', salt: SALT, text },
  });
  await plane.controlPlane.payloadIngest.ingest(tenantId, deploymentId, { payloads: [sealed] });
  const anchor = await exports.anchorOf(admin.token);
  const volumes = await exports.exported(admin.token, { include_payloads: true });
  expect(volumes).toHaveLength(1);
  const [volume = expect.unreachable()] = volumes;
  expect(await reader.read(volume, anchor)).toMatchObject({ verdict: 'VERIFIED', fails: [] });
  expect((await memberOf(volume, 'payloads.ndjson')).trimEnd().split('\n')).toHaveLength(1);
});

it('of one batch as many payloads are in a package as a volume may have', async () => {
  const admin = await plane.aTenantAdmin();
  const { tenantId } = admin.scope;
  const { deploymentId, decide, ship } = await aShippingPlane(plane, admin);
  const texts = Array<string>(60).fill(JSON.stringify('x'.repeat(960_000)));
  const salt = Buffer.from(SALT, 'base64url');
  const ids = texts.map((text) => decide({ payload_digest: payloadDigest(salt, text) }).id);
  await ship();
  for (const [n, text] of texts.entries()) {
    const sealed = await sealPayload(plane.controlPlane, {
      ...{ tenant_id: tenantId, deployment_id: deploymentId, event_id: ids[n] ?? '' },
      ...{ part: 'input', mode: 'full', salt: SALT, text },
    });
    await plane.controlPlane.payloadIngest.ingest(tenantId, deploymentId, { payloads: [sealed] });
  }
  const anchor = await exports.anchorOf(admin.token);
  const volumes = await exports.exported(admin.token, { include_payloads: true });
  const shown: string[] = [];
  for (const volume of volumes) {
    expect(await reader.read(volume, anchor)).toMatchObject({ verdict: 'VERIFIED', fails: [] });
    const lines = await memberOf(volume, 'payloads.ndjson').catch(() => '');
    shown.push(
      ...lines
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line).event_id),
    );
  }
  expect(shown).toEqual(ids.slice(0, 56));
});

it('many large payloads of one batch are read some at a time', async () => {
  const { store, read } = await aStore();
  const page: PackagedRecord[] = [];
  for (let n = 0; n < 20; n++) page.push(await store(SALT, `"${'x'.repeat(1_000_000)}"`));
  const [first = expect.unreachable()] = page;
  const steps = await read([...page, first]);
  expect(steps.map(({ length }) => length)).toEqual([8, 8, 4]);
  expect(steps.flat()).toEqual(page.map(({ id }) => id));
});

it('what is stored and was changed is the reason why an export fails', async () => {
  const { store, read, spoil } = await aStore();
  const page = [await store(SALT, '{}')];
  const [{ id } = expect.unreachable()] = page;
  await spoil(id);
  await expect(read(page)).rejects.toThrow(`the payload of event ${id} cannot be decrypted`);
});
