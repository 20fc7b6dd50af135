import { randomBytes } from 'node:crypto';
import { encodeBatch, NDJSON } from '@governance/shared/channel/channel-routes';
import { RegistrationReply } from '@governance/shared/channel/channels';
import {
  type PayloadContent,
  type PayloadPart,
  payloadDigest,
} from '@governance/shared/evidence/event-payload';
import { uuidv7 } from '@governance/shared/ids';
import { beforeEach, expect, it, vi } from 'vitest';
import {
  aDecision,
  anOutcome,
  createWriter,
  type TestDataPlane,
} from '../../../tests/support/a-data-plane.ts';
import { sealPayload } from '../../../tests/support/a-payload.ts';
import { aRegistration } from '../../../tests/support/a-registration.ts';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';

const { call, aTenantAdmin, test, controlPlane } = await testControlPlane();

let admin: string;
let tenantId: string;
let token: string;
let plane: TestDataPlane;
beforeEach(async () => {
  ({
    token: admin,
    scope: { tenantId },
  } = await aTenantAdmin());
  await register();
});

/** Another data plane of the tenant, which the helpers below stand for from now on. */
async function register() {
  const issued = await call('/api/v1/admin/data-plane-tokens', {
    token: admin,
    body: { label: 'x' },
  });
  const root = issued.json().token;
  const keys = aRegistration();
  const body = keys.provenWith(root);
  const answer = await call('/api/v1/data-planes/register', { token: root, body });
  const reply = RegistrationReply.parse(answer.json());
  token = reply.token.token;
  plane = createWriter(tenantId, reply.deployment_id, keys.signingKey);
  plane.boot();
}

const protect = (body: object) =>
  call('/api/v1/admin/data-protection', { token: admin, method: 'PATCH', body });

const INPUT = JSON.stringify({ request: { parameters: { path: '/a' } } });
const RESULT = JSON.stringify({ content: [{ type: 'text', text: 'the secret' }] });

/** A call with both parts, in the ledger of the data plane; not shipped yet. */
function aCall(input = INPUT) {
  const salt = randomBytes(16);
  const digestOf = (text: string) => payloadDigest(salt, text);
  const decision = aDecision({ payload_digest: digestOf(input) });
  plane.append(decision);
  plane.append(anOutcome(decision.id, { payload_digest: digestOf(RESULT) }));
  return { id: decision.id, salt: salt.toString('base64url') };
}

const ship = () =>
  call(`/api/v1/data-planes/${plane.deploymentId}/audit-batches`, {
    token,
    body: encodeBatch(plane.batch(0)),
    headers: { 'content-type': NDJSON },
  });

function seal(
  { id, salt }: { id: string; salt: string },
  part: PayloadPart,
  changed: Partial<PayloadContent> = {},
) {
  return sealPayload(controlPlane, {
    tenant_id: tenantId,
    deployment_id: plane.deploymentId,
    event_id: id,
    part,
    mode: 'encrypted',
    salt,
    text: part === 'input' ? INPUT : RESULT,
    ...changed,
  });
}

const upload = (...payloads: object[]) =>
  call(`/api/v1/data-planes/${plane.deploymentId}/payloads`, { token, body: { payloads } });

const decrypt = (id: string, as = admin) =>
  call(`/api/v1/audit/events/${id}/decrypt`, { token: as, method: 'POST' });

async function looks() {
  const { rows } = await test.superuser.query(
    `SELECT bytes FROM ledger_records WHERE tenant_id = $1 AND type = 'admin_action' ORDER BY seq`,
    [tenantId],
  );
  return rows
    .map((row) => JSON.parse(row.bytes.toString()))
    .filter(({ action }) => /PAYLOAD_DECRYPTED|payload_read/.test(action))
    .map(({ action, details }) => `${action} ${details.result}`);
}

it('what a call asked for and got is stored encrypted and decrypted again', async () => {
  const event = aCall();
  const parts = [await seal(event, 'input'), await seal(event, 'result')];
  // Its records have not arrived yet.
  expect((await upload(...parts)).json()).toEqual({ results: ['waiting', 'waiting'] });
  expect((await ship()).statusCode).toBe(200);
  expect((await upload(...parts)).json()).toEqual({ results: ['stored', 'stored'] });
  expect((await upload(...parts)).json()).toEqual({ results: ['stored', 'stored'] });
  const { rows } = await test.superuser.query(
    'SELECT ciphertext FROM event_payloads WHERE tenant_id = $1',
    [tenantId],
  );
  expect(rows).toHaveLength(2);
  expect(rows.some(({ ciphertext }) => ciphertext.includes('the secret'))).toBe(false);

  const answer = await decrypt(event.id);
  expect(answer.statusCode, answer.body).toBe(200);
  const decrypted = { input: JSON.parse(INPUT), result: JSON.parse(RESULT) };
  expect(answer.json()).toEqual({ event_id: event.id, decrypted });
  const shown = await call(`/api/v1/audit/events/${event.id}/payload`, { token: admin });
  expect(shown.statusCode).toBe(400);
  expect(await looks()).toEqual(['PAYLOAD_DECRYPTED shown', 'payload_read payload_encrypted']);

  const other = await aTenantAdmin();
  expect((await decrypt(event.id, other.token)).statusCode).toBe(404);
  const status = await call('/api/v1/audit/retention-status', { token: admin });
  expect(status.json()).toEqual({ events_with_payload: 1, purged_last_24h: 0 });
});

it('a payload that policy does not encrypt is shown, and not decrypted', async () => {
  const event = aCall();
  await ship();
  await upload(await seal(event, 'input', { mode: 'full' }));
  expect((await decrypt(event.id)).statusCode).toBe(400);
  const shown = await call(`/api/v1/audit/events/${event.id}/payload`, { token: admin });
  expect(shown.json()).toEqual({ event_id: event.id, payload: { input: JSON.parse(INPUT) } });
  const encrypting = await protect({ encryption_enabled: true, kms_provider: 'local' });
  expect(encrypting.statusCode).toBe(200);
  await upload(await seal(event, 'result', { mode: 'full' }));
  expect((await decrypt(event.id)).statusCode).toBe(200);
});

it('ids in capital letters name the same event', async () => {
  const event = aCall();
  await ship();
  const capital = { ...event, id: event.id.toUpperCase() };
  const place = {
    tenant_id: tenantId.toUpperCase(),
    deployment_id: plane.deploymentId.toUpperCase(),
  };
  expect((await upload(await seal(capital, 'input', place))).json()).toEqual({
    results: ['stored'],
  });
  expect((await decrypt(event.id)).json().decrypted).toEqual({ input: JSON.parse(INPUT) });
});

it('what JSON would not give back as it was is shown as its text', async () => {
  const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
  const shownAs = async (text: string) => {
    const event = aCall(text);
    await ship();
    await upload(await seal(event, 'input', { text }));
    const answer = await decrypt(event.id);
    expect(answer.statusCode, answer.body.slice(0, 200)).toBe(200);
    return answer.json().decrypted.input;
  };
  for (const text of [deep(257), deep(400_000), '{"id":9007199254740993}', '[1e400]']) {
    expect(await shownAs(text)).toBe(text);
  }
  for (const text of [deep(256), '{"id":9007199254740991}']) {
    expect(await shownAs(text)).toEqual(JSON.parse(text));
  }
});

it('404, 400 and 500 are recorded too', async () => {
  const event = aCall();
  await ship();
  expect((await decrypt(uuidv7())).statusCode).toBe(404);
  for (const given of ['no-id', 'a%00b', '%F0%9F%98%80'.repeat(80)]) {
    expect((await decrypt(given)).statusCode, given).toBe(404);
  }
  expect((await decrypt(event.id)).statusCode).toBe(400);
  await upload(await seal(event, 'input'));
  await test.superuser.query(
    `UPDATE event_payloads SET ciphertext = set_byte(ciphertext, 40, 255 - get_byte(ciphertext, 40))
     WHERE tenant_id = $1`,
    [tenantId],
  );
  const answer = await decrypt(event.id);
  expect(answer.statusCode).toBe(500);
  expect(answer.json().detail).toBe('The payload cannot be decrypted.');
  expect(await looks()).toEqual([
    ...Array(4).fill('PAYLOAD_DECRYPTED event_not_found'),
    'PAYLOAD_DECRYPTED payload_not_encrypted',
    'PAYLOAD_DECRYPTED failed',
  ]);
});

it('what is not what the record says is refused, with an alert', async () => {
  const [event, second] = [aCall(), aCall()];
  await ship();
  const { results } = (
    await upload(
      await seal(event, 'input', { text: '{"forged":true}' }),
      await seal(event, 'input', { salt: randomBytes(16).toString('base64url') }),
      await seal(event, 'input', { tenant_id: uuidv7() }),
      await seal(event, 'input', { deployment_id: uuidv7() }),
      { ...(await seal(event, 'input')), event_id: second.id },
      { ...(await seal(event, 'result')), part: 'input' },
      { event_id: event.id, part: 'input', jwe: 'a..b.c.d' },
      await seal(event, 'result'),
    )
  ).json();
  expect(results).toEqual([...Array(7).fill('refused'), 'stored']);
  const alerts = await call('/api/v1/monitor/alerts', { token: admin });
  const types = alerts.json().alerts.map((alert: { alert_type: string }) => alert.alert_type);
  expect(types.filter((type: string) => type === 'PAYLOAD_REFUSED')).toHaveLength(1);
});

it('of an id that was given twice the first record counts, also within one upload', async () => {
  const event = aCall();
  const second = { ...event, salt: randomBytes(16).toString('base64url') };
  const digest = payloadDigest(Buffer.from(second.salt, 'base64url'), INPUT);
  plane.append(aDecision({ id: event.id, payload_digest: digest }));
  await ship();
  const parts = [await seal(second, 'input'), await seal(event, 'input')];
  expect((await upload(...parts, ...parts)).json()).toEqual({
    results: ['refused', 'stored', 'refused', 'stored'],
  });
  expect((await decrypt(event.id)).json().decrypted).toEqual({ input: JSON.parse(INPUT) });
});

it('an id that a data plane repeats again and again is answered as that of its first record', async () => {
  const event = aCall();
  for (let n = 0; n < 40; n++) {
    plane.append(aDecision({ id: event.id, payload_digest: null }));
    plane.append(anOutcome(event.id, { payload_digest: 'ab'.repeat(32) }));
  }
  expect((await ship()).statusCode).toBe(200);
  await upload(await seal(event, 'input'), await seal(event, 'result'));
  const [input, result] = [JSON.parse(INPUT), JSON.parse(RESULT)];
  expect((await decrypt(event.id)).json().decrypted).toEqual({ input, result });
});

it('a data plane that repeats another one’s event id neither keeps its payload out nor replaces it', async () => {
  const event = aCall();
  await ship();
  const own = { token, plane };
  await register();
  const salt = randomBytes(16);
  const text = JSON.stringify({ request: { parameters: { path: '/harmless' } } });
  plane.append(aDecision({ id: event.id, payload_digest: payloadDigest(salt, text) }));
  await ship();
  const other = await seal({ id: event.id, salt: salt.toString('base64url') }, 'input', { text });
  expect((await upload(other)).json()).toEqual({ results: ['stored'] });
  ({ token, plane } = own);
  const parts = [await seal(event, 'input'), await seal(event, 'result')];
  expect((await upload(...parts)).json()).toEqual({ results: ['stored', 'stored'] });
  const decrypted = { input: JSON.parse(INPUT), result: JSON.parse(RESULT) };
  expect((await decrypt(event.id)).json()).toEqual({ event_id: event.id, decrypted });
  const status = await call('/api/v1/audit/retention-status', { token: admin });
  expect(status.json()).toMatchObject({ events_with_payload: 1 });
});

it('what came before the mode was changed is shown as the new mode says', async () => {
  const event = aCall();
  await ship();
  await protect({ payload_mode: 'encrypted' });
  await upload(await seal(event, 'input', { mode: 'full' }));
  const shown = await call(`/api/v1/audit/events/${event.id}/payload`, { token: admin });
  expect(shown.statusCode).toBe(400);
  expect((await decrypt(event.id)).statusCode).toBe(200);
});

it('a mode that is changed while the key provider is asked holds for what it encrypts', async () => {
  await protect({ payload_mode: 'full' });
  const event = aCall();
  await ship();
  const provider = await test.superuser.connect();
  try {
    // The key is awaited here as it is where a provider takes long.
    await provider.query('BEGIN; LOCK TABLE data_keys IN ACCESS EXCLUSIVE MODE');
    const stored = upload(await seal(event, 'input', { mode: 'full' }));
    await vi.waitFor(async () => {
      const { rows } = await test.superuser.query(
        `SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'data_keys'::regclass`,
      );
      expect(rows).not.toHaveLength(0);
    });
    expect((await protect({ payload_mode: 'encrypted' })).statusCode).toBe(200);
    await provider.query('COMMIT');
    expect((await stored).json()).toEqual({ results: ['stored'] });
  } finally {
    provider.release();
  }
  const shown = await call(`/api/v1/audit/events/${event.id}/payload`, { token: admin });
  expect(shown.statusCode).toBe(400);
  expect((await decrypt(event.id)).statusCode).toBe(200);
});

it('what was purged does not come back when it is sent again', async () => {
  const event = aCall();
  await ship();
  const part = await seal(event, 'input');
  await test.superuser.query(
    `UPDATE ledger_records SET received_at = received_at - interval '31 days'
     WHERE tenant_id = $1 AND stream = $2`,
    [tenantId, plane.deploymentId],
  );
  expect((await upload(part)).json()).toEqual({ results: ['stored'] });
  const status = await call('/api/v1/audit/retention-status', { token: admin });
  expect(status.json()).toEqual({ events_with_payload: 0, purged_last_24h: 0 });
});

it('a data plane sends its own', async () => {
  const elsewhere = await call(`/api/v1/data-planes/${uuidv7()}/payloads`, {
    token,
    body: { payloads: [{ event_id: uuidv7(), part: 'input', jwe: 'a..b.c.d' }] },
  });
  expect(elsewhere.statusCode).toBe(404);
  const without = await call(`/api/v1/data-planes/${plane.deploymentId}/payloads`, {
    token,
    body: { payloads: [] },
  });
  expect(without.statusCode).toBe(422);
});
