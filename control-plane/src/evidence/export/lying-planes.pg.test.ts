/**
 * What one data plane repeats, contradicts or invents with its own key leaves the tenant's exports
 * as they are, for both verifiers; of inventions they warn.
 */
import { randomBytes } from 'node:crypto';
import { payloadDigest } from '@governance/shared/evidence/event-payload';
import { uuidv7 } from '@governance/shared/ids';
import { recordHash } from '@governance/shared/ledger/hash-chain';
import { expect, it, vi } from 'vitest';
import {
  AGENT_ID,
  aDecision,
  aHoldOpened,
  anOutcome,
} from '../../../../tests/support/a-data-plane.ts';
import { sealPayload } from '../../../../tests/support/a-payload.ts';
import { aShippingPlane } from '../../../../tests/support/a-shipping-plane.ts';
import {
  createEvidenceExports,
  memberOf,
  PACKAGES,
} from '../../../../tests/support/evidence-exports.ts';
import { createEvidenceReader } from '../../../../tests/support/evidence-reader.ts';
import { fillEscalations } from '../../../../tests/support/fill-escalations.ts';
import { testControlPlane } from '../../../../tests/support/test-control-plane.ts';
import { MAX_PENDING_OF_STREAM } from '../../ingest/second-holds.ts';

vi.setConfig({ testTimeout: 60_000 });

const HOUR = 3_600_000;
const at = (ms: number) => new Date(Date.now() + ms).toISOString();
const plane = await testControlPlane({ env: { SERVICE_CHECKPOINT_SECONDS: '1' } });
const { call, aTenantAdmin } = plane;
const TIME = { from: at(-HOUR), to: at(HOUR) };
const exports = createEvidenceExports(plane, TIME);
const reader = createEvidenceReader();

type Shipping = Awaited<ReturnType<typeof aShippingPlane>>;

/** Of a tenant of its own: what they export is waited for at a time. */
async function twoPlanes() {
  const admin = await aTenantAdmin();
  const [honest, lying] = [await aShippingPlane(plane, admin), await aShippingPlane(plane, admin)];
  const created = async (url: string, body: object): Promise<string> => {
    const answer = await call(url, { token: admin.token, body });
    expect(answer.statusCode, answer.body).toBe(201);
    return answer.json().id;
  };
  /** The one volume of an export, which must be verified. */
  const exported = async (asked: object = {}) => {
    const anchor = await exports.anchorOf(admin.token);
    const volumes = await exports.exported(admin.token, asked);
    expect(volumes).toHaveLength(1);
    const [volume = expect.unreachable()] = volumes;
    const reading = await reader.read(volume, anchor);
    expect(reading).toMatchObject({ verdict: 'VERIFIED', fails: [] });
    const lines = async (name: string) => (await memberOf(volume, name)).split('\n').slice(0, -1);
    return { ...reading, lines };
  };
  return { admin, honest, lying, created, exported };
}

const invent = ({ decide }: Shipping, over: object = {}) =>
  decide({
    ...over,
    ...{ bundle_revision: 999, grant_id: uuidv7(), delegation_chain: [uuidv7()] },
    workflow_session_id: uuidv7(),
  });

it.concurrent('a repeated id multiplies no records', async () => {
  const { lying, exported } = await twoPlanes();
  const decision = lying.decide();
  for (let n = 1; n < 20; n++) lying.writer.append({ ...decision });
  for (let n = 0; n < 20; n++) lying.writer.append(anOutcome(decision.id));
  await lying.ship();
  const { lines } = await exported({ agent_ids: [AGENT_ID] });
  expect(await lines('events.ndjson')).toHaveLength(40);
});

it.concurrent('the id of another’s event puts no record into the export of its session', async () => {
  const { honest, lying, created, exported } = await twoPlanes();
  const about = { agent_type: 't', owner: 'o', description: '' };
  const owner = await created('/api/v1/agents', { ...about, name: 'owner' });
  const helper = await created('/api/v1/agents', { ...about, name: 'helper' });
  const participants = [{ agent_id: helper, role: 'r', allowed_actions: ['*'] }];
  const workflow = { name: 'w', owner_agent_id: owner, participants };
  const id = await created('/api/v1/workflows', workflow);
  const session = await created(`/api/v1/workflows/${id}/sessions`, {});
  const event = honest.decide({ agent_id: owner, workflow_session_id: session });
  await honest.ship();
  lying.decide({ agent_id: owner, id: event.id });
  await lying.ship();
  const { lines } = await exported({ workflow_session_id: session });
  expect(await lines('events.ndjson')).toHaveLength(1);
});

it.concurrent('a finding that names a session puts no record into its export', async () => {
  const { lying, created, exported } = await twoPlanes();
  const about = { agent_type: 't', owner: 'o', description: '' };
  const owner = await created('/api/v1/agents', { ...about, name: 'owner' });
  const workflow = { name: 'w', owner_agent_id: owner, participants: [] };
  const id = await created('/api/v1/workflows', workflow);
  const session = await created(`/api/v1/workflows/${id}/sessions`, {});
  const event = lying.decide({ agent_id: owner, workflow_session_id: session });
  const finding = { severity: 'low' as const, workflow_session_id: session };
  lying.decide({ agent_id: owner, id: event.id, dlp_findings: [finding] });
  await lying.ship();
  const { lines } = await exported({ workflow_session_id: session });
  expect(await lines('events.ndjson')).toHaveLength(1);
});

it.concurrent('what is dated after the time of a selective package is not in it, whenever it came', async () => {
  const { honest, lying, exported } = await twoPlanes();
  const asked = { agent_ids: [AGENT_ID] };
  const now = at(0);
  const dated = (timestamp: string, named: string) =>
    lying.decide({ timestamp, dlp_findings: [{ severity: 'low', timestamp: named }] });
  dated(at(2 * HOUR), now);
  dated(at(2 * HOUR), 'é\u0000\\"timestamp":"');
  await lying.ship();
  // A clock that is six minutes ahead.
  honest.decide({ timestamp: at(HOUR / 10) });
  honest.decide();
  await honest.ship();
  const countUntil = async (to: string) => {
    const { lines } = await exported({ ...asked, to });
    return (await lines('events.ndjson')).length;
  };
  expect(await countUntil(at(1_000))).toBe(1);
  expect(await countUntil(at(HOUR))).toBe(2);
  expect(await countUntil(at(3 * HOUR))).toBe(4);
});

it.concurrent('payloads of an id that was given twice are shown where they match a record', async () => {
  const { admin, honest, lying, exported } = await twoPlanes();
  const { tenantId } = admin.scope;
  const keep = async ({ deploymentId, decide, ship }: Shipping, id: string, text: string) => {
    const salt = randomBytes(16);
    decide({ id, payload_digest: payloadDigest(salt, text) });
    await ship();
    const sealed = await sealPayload(plane.controlPlane, {
      ...{ tenant_id: tenantId, deployment_id: deploymentId, event_id: id },
      ...{ part: 'input', mode: 'full', salt: salt.toString('base64url'), text },
    });
    await plane.controlPlane.payloadIngest.ingest(tenantId, deploymentId, { payloads: [sealed] });
  };
  const [first, second] = [uuidv7(), uuidv7()];
  await keep(honest, first, '{"request":{"a":1}}');
  // Another's id, and its own with the digest of something else.
  await keep(lying, first, '{"request":{"a":2}}');
  await keep(lying, second, '{"request":{"a":3}}');
  lying.decide({ id: second, payload_digest: 'ab'.repeat(32) });
  await lying.ship();
  const { lines } = await exported({ include_payloads: true });
  const shown = (await lines('payloads.ndjson')).map((line) => JSON.parse(line).payload);
  // Each data plane's own.
  expect(shown.sort()).toEqual([1, 2, 3].map((a) => `{"request":{"a":${a}}}`));
});

it.concurrent('later batches with only times of long ago do not widen an export', async () => {
  const { honest, lying, exported } = await twoPlanes();
  lying.decide();
  await lying.ship();
  honest.decide();
  await honest.ship();
  const to = at(1);
  const countOf = async (asked: object) =>
    (await (await exported(asked)).lines('events.ndjson')).length;
  // Asking is an administrator's action: the next export ends with its leaf, as this one does.
  const before = await countOf({ to });
  for (let n = 0; n < 3; n++) {
    lying.decide({ timestamp: '1971-01-01T00:00:00.000Z' });
    await lying.ship();
  }
  expect(await countOf({ to })).toBe(before);
  expect(await countOf({ from: '1970-01-01T00:00:00.000Z', to })).toBeGreaterThan(before);
});

it.concurrent('a stored key that was edited is the reason why an export fails', async () => {
  const { admin, honest } = await twoPlanes();
  const { token } = admin;
  honest.decide();
  await honest.ship();
  const { rowCount } = await plane.test.superuser.query(
    `UPDATE data_planes SET signing_key = replace(signing_key, '"crv"', '"crw"')
     WHERE tenant_id = $1 AND deployment_id = $2`,
    [admin.scope.tenantId, honest.deploymentId],
  );
  expect(rowCount).toBe(1);
  const { id } = (await call(PACKAGES, { token, body: TIME })).json();
  await vi.waitFor(
    async () => {
      const { status, failure } = (await call(`${PACKAGES}/${id}`, { token })).json();
      expect(status).toBe('failed');
      expect(failure).toContain(`stored key of data plane ${honest.deploymentId} cannot be read`);
    },
    { timeout: 20_000, interval: 100 },
  );
});

it.concurrent('what a forked stream says afterwards is warned of', async () => {
  const { honest, lying: copied, exported } = await twoPlanes();
  honest.decide();
  await honest.ship();
  const copy = copied.writer.clone();
  copied.decide();
  await copied.ship();
  copy.append(aDecision({}));
  const own = copied.writer.records.splice(0, Number.POSITIVE_INFINITY, ...copy.records);
  expect((await copied.send(copy.records.length - 1)).statusCode).toBe(409);
  copied.writer.records.splice(0, Number.POSITIVE_INFINITY, ...own);
  copied.decide({ policy_result: 'deny' });
  await copied.ship();
  const { warns } = await exported();
  expect(warns).toEqual({
    'keys.validity': `two writers had the key of the stream ${copied.deploymentId}`,
  });
});

it.concurrent.each([
  ['contiguous', {}],
  ['selective', { agent_ids: [AGENT_ID] }],
])('what a data plane invents is warned of in a %s package', async (_kind, asked) => {
  const { honest, lying, exported } = await twoPlanes();
  honest.decide();
  await honest.ship();
  invent(lying);
  await lying.ship();
  honest.decide();
  await honest.ship();
  const { warns } = await exported(asked);
  expect(Object.keys(warns)).toEqual(['policy.binding', 'approval.binding', 'delegation.binding']);
  for (const said of Object.values(warns)) expect(said).toContain(lying.deploymentId);
});

it.concurrent('and in one that begins after its dispute', async () => {
  const { lying, exported } = await twoPlanes();
  await lying.ship();
  invent(lying, { timestamp: at(120_000) });
  await lying.ship();
  const { warns, lines } = await exported({ from: at(60_000) });
  expect(Object.keys(warns)).toEqual(['policy.binding', 'approval.binding', 'delegation.binding']);
  const causes = await lines('causes.ndjson');
  expect(causes.map((line) => JSON.parse(JSON.parse(line).record).action)).toEqual([
    'record_disputed',
  ]);
});

/** Leaves of others, which no export of these tests has: copies of the first one. */
async function addLeaves({ scope: { tenantId } }: { scope: { tenantId: string } }, count: number) {
  await plane.test.superuser.query(
    `WITH place AS (UPDATE tenant_positions SET log_size = log_size + $2 WHERE tenant_id = $1
       RETURNING log_size - $2 AS size)
     INSERT INTO ledger_batches (tenant_id, stream, epoch, first_seq, last_seq, header, signature,
       leaf_index, first_time, last_time)
     SELECT $1, $3, 1, n, n, header, signature, size + n - 1, to_timestamp(0), to_timestamp(0)
     FROM place, generate_series(1, $2::int) AS n, ledger_batches
     WHERE tenant_id = $1 AND leaf_index = 0`,
    [tenantId, count, uuidv7()],
  );
}

it.concurrent.each([
  ['', 0, []],
  [' behind others of its stream', 0, [120_000]],
  [' 10,000 leaves later', 10_001, []],
  [' 10,000 leaves later, behind others of its stream', 10_001, [120_000]],
])('an invention that is shipped again%s is warned of in a package that begins between', async (_when, leaves, ahead) => {
  const { admin, lying, exported } = await twoPlanes();
  await lying.ship();
  const invented = lying.countShipped();
  invent(lying);
  await lying.ship();
  await addLeaves(admin, leaves);
  for (const ms of ahead) {
    lying.decide({ timestamp: at(ms) });
    await lying.ship();
  }
  lying.decide({ timestamp: at(120_000) });
  await lying.ship(invented);
  const { warns, lines } = await exported({ from: at(60_000) });
  expect(Object.keys(warns)).toEqual(['policy.binding', 'approval.binding', 'delegation.binding']);
  const causes = await lines('causes.ndjson');
  expect(causes.filter((line) => line.includes('record_disputed'))).toHaveLength(1);
});

it.each([
  ['contiguous', {}],
  ['selective', { agent_ids: [AGENT_ID] }],
])('a dispute of what was never stored is in no %s package', async (_kind, asked) => {
  const { lying, exported } = await twoPlanes();
  await lying.ship();
  const { superuser } = plane.test;
  await superuser.query(
    `CREATE OR REPLACE FUNCTION refuse_batch() RETURNS trigger LANGUAGE plpgsql
       AS $$ BEGIN RAISE EXCEPTION 'not now'; END $$;
     CREATE TRIGGER refuse BEFORE INSERT ON ledger_batches FOR EACH ROW
       WHEN (NEW.stream = '${lying.deploymentId}') EXECUTE FUNCTION refuse_batch()`,
  );
  const before = lying.writer.clone();
  before.append(aDecision({ bundle_revision: 998 }));
  const own = lying.writer.records.splice(0, Number.POSITIVE_INFINITY, ...before.records);
  expect((await lying.send(1)).statusCode).toBe(500);
  await superuser.query('DROP TRIGGER refuse ON ledger_batches');
  lying.writer.records.splice(0, Number.POSITIVE_INFINITY, ...own);
  invent(lying, { timestamp: at(120_000) });
  await lying.ship();
  const { warns, lines } = await exported({ from: at(60_000), ...asked });
  expect(Object.keys(warns)).toEqual(['policy.binding', 'approval.binding', 'delegation.binding']);
  const causes = await lines('causes.ndjson');
  expect(causes.filter((line) => line.includes('record_disputed'))).toHaveLength(1);
});

it.concurrent('a record that was changed after it was disputed fails', async () => {
  const { admin, lying } = await twoPlanes();
  invent(lying);
  await lying.ship();
  const invented = lying.writer.records.at(-1) ?? expect.unreachable();
  const changed = invented.bytes.toString().replace('"read_file"', '"read_fi1e"');
  await plane.test.superuser.query(
    'UPDATE ledger_records SET bytes = $1, hash = $2 WHERE tenant_id = $3 AND hash = $4',
    [Buffer.from(changed), recordHash(Buffer.from(changed)), admin.scope.tenantId, invented.hash],
  );
  const anchor = await exports.anchorOf(admin.token);
  const [volume = expect.unreachable()] = await exports.exported(admin.token);
  const { fails } = await reader.read(volume, anchor);
  expect(fails).toEqual(expect.arrayContaining(['batch.root', 'delegation.binding']));
});

it.concurrent.each([
  ['contiguous', {}],
  ['selective', { agent_ids: [AGENT_ID] }],
])('a second hold under the id of an approved one changes nothing in a %s package', async (_kind, asked) => {
  const { admin, lying, exported } = await twoPlanes();
  const escalation_id = uuidv7();
  const ofTool = { tool_name: 'delete_thing' };
  const [held, other] = [lying.decide(ofTool), lying.decide(ofTool)];
  lying.writer.append(aHoldOpened(held, { escalation_id }));
  await lying.ship();
  const url = `/api/v1/escalations/${escalation_id}/approve`;
  const { grant } = (await call(url, { token: admin.token, body: {} })).json();
  lying.decide({ ...ofTool, grant_id: grant.id });
  lying.writer.append(aHoldOpened(other, { escalation_id }));
  await lying.ship();
  const { passes } = await exported(asked);
  expect(passes).toContain('approval.binding');
});

it.concurrent('a hold that found no room is warned of, where another was approved under its id', async () => {
  const { admin, lying, exported } = await twoPlanes();
  const { tenantId } = admin.scope;
  const { deploymentId } = lying;
  const escalation_id = uuidv7();
  const ofTool = { tool_name: 'delete_thing' };
  await fillEscalations(plane.test, { tenantId, deploymentId }, MAX_PENDING_OF_STREAM);
  lying.writer.append(aHoldOpened(lying.decide(ofTool), { escalation_id }));
  await lying.ship();
  await plane.test.superuser.query('DELETE FROM escalations WHERE tenant_id = $1', [tenantId]);
  // Its event is in no record, so that the package of its agent does not show it.
  lying.writer.append(aHoldOpened(aDecision(ofTool), { escalation_id }));
  await lying.ship();
  const url = `/api/v1/escalations/${escalation_id}/approve`;
  const { grant } = (await call(url, { token: admin.token, body: {} })).json();
  lying.decide({ ...ofTool, grant_id: grant.id });
  await lying.ship();
  const { warns } = await exported({ agent_ids: [AGENT_ID] });
  expect(warns).toEqual({ 'approval.binding': expect.stringContaining(deploymentId) });
});
