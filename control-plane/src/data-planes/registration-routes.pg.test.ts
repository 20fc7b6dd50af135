import { createPublicKey, sign, verify } from 'node:crypto';
import { RegistrationReply } from '@governance/shared/channel/channels';
import { uuidv7 } from '@governance/shared/ids';
import { beforeEach, describe, expect, it } from 'vitest';
import { aRegistration, type TestRegistration } from '../../../tests/support/a-registration.ts';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const began = new Date('2026-03-01T12:00:00.000Z').getTime();
let time = began;
const { call, aTenantAdmin, controlPlane, test } = await testControlPlane({
  now: () => new Date(time),
});

let admin: Awaited<ReturnType<typeof aTenantAdmin>>;
let root: { id: string; token: string };
beforeEach(async () => {
  time = began;
  admin = await aTenantAdmin();
  root = await issue();
});

const TOKENS = '/api/v1/admin/data-plane-tokens';
const REGISTER = '/api/v1/data-planes/register';

async function issue(body: object = {}, token = admin.token) {
  const wanted = { label: 'Frankfurt', region: 'eu-central', expires_days: 30, ...body };
  const answer = await call(TOKENS, { token, body: wanted });
  expect(answer.statusCode, answer.body).toBe(200);
  return answer.json() as { id: string; token: string };
}

const revoke = (id: string) => call(`${TOKENS}/${id}`, { token: admin.token, method: 'DELETE' });

async function register(plane: TestRegistration, token = root.token, changes: object = {}) {
  const answer = await call(REGISTER, { token, body: plane.provenWith(token, changes) });
  expect(answer.statusCode, answer.body).toBe(200);
  const reply = RegistrationReply.parse(answer.json());
  return { ...reply, token: reply.token.token, expiresAt: reply.token.expires_at };
}

const refusal = async (plane: TestRegistration, token = root.token) => {
  const answer = await call(REGISTER, { token, body: plane.provenWith(token) });
  return [answer.statusCode, answer.json().detail];
};

const renew = (deploymentId: string, token: string) =>
  call(`/api/v1/data-planes/${deploymentId}/token`, { token, method: 'POST' });

const beat = (deploymentId: string, token: string) =>
  call(`/api/v1/data-planes/${deploymentId}/heartbeat`, {
    token,
    body: {
      deployment_id: deploymentId,
      active_agent_count: 0,
      proxy_rpm_1m: 0,
      escalations_pending: 0,
      opa_bundle_version: '1',
      uptime_seconds: 1,
    },
  });

const statusOfBeat = async (deploymentId: string, token: string) =>
  (await beat(deploymentId, token)).statusCode;

const listPlanes = async () =>
  (await call('/api/v1/data-planes', { token: admin.token })).json().data_planes;
const statusOf = async (deploymentId: string) =>
  (await listPlanes()).find(
    (plane: { deployment_id: string }) => plane.deployment_id === deploymentId,
  ).status;
const listTokens = async () => (await call(TOKENS, { token: admin.token })).json().tokens;
const tokenIdOf = async (deploymentId: string): Promise<string> =>
  (await listTokens()).find(
    (one: { deployment_id: string | null }) => one.deployment_id === deploymentId,
  ).id;

async function actions(): Promise<string[]> {
  const { rows } = await test.superuser.query(
    `SELECT bytes FROM ledger_records WHERE tenant_id = $1 AND type = 'admin_action'
     ORDER BY position`,
    [admin.scope.tenantId],
  );
  return rows.map((row) => JSON.parse(row.bytes.toString()).action);
}

describe('a registration', () => {
  it('answers the data plane’s identity, what it may trust, and its own token', async () => {
    const plane = aRegistration({ label: 'plane 1' });
    const body = plane.provenWith(root.token);
    const answer = await call(REGISTER, { token: root.token, body });
    expect(answer.headers['cache-control']).toBe('no-store');
    const reply = answer.json();
    expect(reply).toEqual({
      tenant_id: admin.scope.tenantId,
      deployment_id: expect.any(String),
      region: 'eu-central',
      bundle_keys: await controlPlane.serviceKeys.bundleVerificationKeys(),
      feed_keys: await controlPlane.serviceKeys.feedVerificationKeys(),
      key_history: {
        keys: expect.arrayContaining([
          expect.objectContaining({ purpose: 'bundle', valid_to: null, revoked_at: null }),
          expect.objectContaining({ purpose: 'feed', valid_to: null, revoked_at: null }),
        ]),
        rotations: [],
      },
      token: { token: expect.stringMatching(/^dpt_/), expires_at: '2026-03-31T12:00:00.000Z' },
    });
    expect(await listPlanes()).toMatchObject([
      { deployment_id: reply.deployment_id, label: 'plane 1', region: 'eu-central' },
    ]);
    const tokens = (await listTokens()) as { id: string }[];
    expect(tokens.find(({ id }) => id !== root.id)).toMatchObject({
      deployment_id: reply.deployment_id,
      root_id: root.id,
      label: 'Frankfurt',
      region: 'eu-central',
    });
    expect(tokens.find(({ id }) => id === root.id)).toMatchObject({
      deployment_id: null,
      root_id: null,
    });
    expect(await statusOfBeat(reply.deployment_id, reply.token.token)).toBe(200);
    expect(await actions()).toEqual([
      'data_plane_token_issued',
      'data_plane_registered',
      'data_plane_token_renewed',
    ]);
    const { rows } = await test.superuser.query(
      'SELECT token_key FROM data_planes WHERE tenant_id = $1',
      [admin.scope.tenantId],
    );
    expect(JSON.parse(rows[0].token_key)).toEqual(plane.request.token_key);
  });

  it('answers the key that signs statements of this tenant’s feed', async () => {
    const { feed_keys: keys } = await register(aRegistration());
    const { key, kid } = await controlPlane.serviceKeys.feedSigningKey();
    const jwk = keys.find((one) => one.kid === kid);
    expect(jwk).toMatchObject({ kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA' });
    const data = Buffer.from('x');
    const publicKey = createPublicKey({ key: jwk as never, format: 'jwk' });
    expect(verify(null, data, publicKey, sign(null, data, key))).toBe(true);
  });

  it('seals the tenant’s credentials to the new key', async () => {
    const body = {
      server_id: 'files',
      transport: 'streamable-http',
      url: 'https://mcp.example/mcp',
      credential: { type: 'bearer', token: 'a secret' },
    };
    expect((await call('/api/v1/mcp-servers', { token: admin.token, body })).statusCode).toBe(201);
    const { deployment_id: id } = await register(aRegistration());
    const { rows } = await test.superuser.query(
      `SELECT key FROM feed_entries WHERE tenant_id = $1 AND kind = 'upstream_credential'`,
      [admin.scope.tenantId],
    );
    expect(rows).toEqual([{ key: `${id}/files` }]);
  });

  it('with the same signing key is the same data plane, and its older token ends a day later', async () => {
    const plane = aRegistration();
    const first = await register(plane);
    time += HOUR_MS;
    const again = await register(plane, root.token, { version: '1.1.0' });
    expect(again.deployment_id).toBe(first.deployment_id);
    expect(again.token).not.toBe(first.token);
    const planes = await listPlanes();
    expect(planes).toMatchObject([{ version: '1.1.0' }]);

    time += DAY_MS - 1;
    expect(await statusOfBeat(first.deployment_id, first.token)).toBe(200);
    time += 1;
    expect(await statusOfBeat(first.deployment_id, first.token)).toBe(401);
    expect(await statusOfBeat(first.deployment_id, again.token)).toBe(200);
  });

  it('with another key is another data plane of the same root', async () => {
    const [one, two] = [await register(aRegistration()), await register(aRegistration())];
    expect(one.deployment_id).not.toBe(two.deployment_id);
    expect(await statusOfBeat(one.deployment_id, two.token)).toBe(404);
  });

  it('raises an alert where it is a new one and its root is older than a day, one for each root', async () => {
    // A login lasts for eight hours.
    const logIn = () => {
      const { id, username } = admin.scope.actor;
      const { tenantId } = admin.scope;
      const account = { role: 'admin', id, username, tenantId, version: '1' } as const;
      return controlPlane.adminTokens.issue(account);
    };
    const alerts = async () =>
      (await call('/api/v1/monitor/alerts', { token: await logIn() })).json().alerts;
    const first = aRegistration({ label: 'of the roll-out' });
    await register(first);
    time += DAY_MS;
    await register(first);
    expect(await alerts()).toEqual([]);
    const late = await register(aRegistration({ label: 'a late one' }));
    await register(aRegistration({ label: 'another' }));
    expect(await alerts()).toMatchObject([
      {
        ...{ alert_type: 'DATA_PLANE_REGISTERED', severity: 'medium', agent_id: null },
        details: {
          ...{ deployment_id: late.deployment_id, label: 'a late one', region: 'eu-central' },
          ...{ root_id: root.id, root_label: 'Frankfurt' },
        },
      },
    ]);
    const other = await issue({}, await logIn());
    await register(aRegistration(), other.token);
    expect(await alerts()).toHaveLength(1);
  });

  it('is refused with a proof of another key, of another token, or of another request', async () => {
    const [plane, other] = [aRegistration(), aRegistration()];
    const second = await issue();
    const proven = plane.provenWith(root.token);
    const bodies: [string, object][] = [
      [root.token, { ...proven, proof: other.provenWith(root.token).proof }],
      // Seen on its way, and sent with a token of one's own.
      [second.token, proven],
      [root.token, { ...proven, registration: { ...proven.registration, version: '2' } }],
      [
        root.token,
        {
          ...proven,
          registration: { ...proven.registration, sealing_key: other.request.sealing_key },
        },
      ],
    ];
    for (const [token, body] of bodies) {
      const answer = await call(REGISTER, { token, body });
      expect(answer.statusCode, answer.body).toBe(422);
      expect(answer.json().errors).toMatchObject([{ loc: ['body', 'proof'] }]);
    }
    expect(await listPlanes()).toEqual([]);
  });

  it('names the key that is none', async () => {
    const plane = aRegistration({ sealing_key: { kty: 'OKP', crv: 'X25519', x: 'AAAA' } });
    const body = plane.provenWith(root.token);
    const answer = await call(REGISTER, { token: root.token, body });
    expect(answer.statusCode).toBe(422);
    expect(answer.json().errors).toMatchObject([{ loc: ['body', 'registration', 'sealing_key'] }]);
  });

  it('needs the token that was issued', async () => {
    const { token } = await register(aRegistration());
    expect(await refusal(aRegistration(), token)).toEqual([403, 'Register with an issued token.']);
  });

  it('is small', async () => {
    const body = aRegistration({ label: 'x'.repeat(20_000) }).provenWith(root.token);
    expect((await call(REGISTER, { token: root.token, body })).statusCode).toBe(413);
  });

  it.each([
    ['region', 100],
    ['version', 100],
    ['label', 300],
  ] as const)('names a %s that is longer than %i characters', async (field, most) => {
    const plane = aRegistration();
    const ask = (length: number) =>
      call(REGISTER, {
        token: root.token,
        body: plane.provenWith(root.token, { [field]: 'ä'.repeat(length) }),
      });
    const refused = await ask(most + 1);
    expect(refused.statusCode).toBe(422);
    expect(refused.json().errors[0].loc).toEqual(['body', 'registration', field]);
    expect(await listPlanes()).toEqual([]);
    expect((await ask(most)).statusCode).toBe(200);
    expect(await listPlanes()).toMatchObject([{ [field]: 'ä'.repeat(most) }]);
  });

  it('has to wait when one root registers endlessly', async () => {
    const { token } = root;
    const body = { ...aRegistration().provenWith(token), proof: 'none' };
    const limit = 600;
    for (let count = 0; count < limit; count++) await call(REGISTER, { token, body });
    const answer = await call(REGISTER, { token, body });
    expect([answer.statusCode, answer.headers['retry-after']]).toEqual([429, '61']);
    expect((await refusal(aRegistration(), (await issue()).token))[0]).toBe(200);
  });

  it('sent ten times at once is one data plane with one token that stays', async () => {
    const plane = aRegistration();
    const replies = await Promise.all(Array.from({ length: 10 }, () => register(plane)));
    expect(new Set(replies.map((reply) => reply.deployment_id)).size).toBe(1);
    const ends = (await listTokens())
      .filter((token: { root_id: string | null }) => token.root_id)
      .map((token: { expires_at: string }) => token.expires_at)
      .sort();
    const day = new Date(began + DAY_MS).toISOString();
    expect(ends).toEqual([...Array(9).fill(day), new Date(began + 30 * DAY_MS).toISOString()]);
  });

  it('is refused at the tenant’s limit', async () => {
    await test.superuser.query(
      `INSERT INTO data_planes (tenant_id, deployment_id, signing_key, sealing_key)
       SELECT $1, gen_random_uuid(), '{}', '{}' FROM generate_series(1, 2000)`,
      [admin.scope.tenantId],
    );
    const [status, detail] = await refusal(aRegistration());
    expect([status, detail]).toEqual([409, 'The tenant has as many data planes as it may have.']);
  });

  it('counts no data plane whose root was revoked, until it comes back', async () => {
    const plane = aRegistration();
    await register(plane);
    await test.superuser.query(
      `INSERT INTO data_planes (tenant_id, deployment_id, signing_key, sealing_key)
       SELECT $1, gen_random_uuid(), '{}', '{}' FROM generate_series(1, 1999)`,
      [admin.scope.tenantId],
    );
    const { token } = await issue();
    expect((await refusal(aRegistration(), token))[0]).toBe(409);
    expect((await refusal(plane))[0]).toBe(200);
    await revoke(root.id);
    expect((await refusal(aRegistration(), token))[0]).toBe(200);
    expect((await refusal(plane, token))[0]).toBe(409);
  });
});

describe('a renewal', () => {
  it('gives a token with the root’s lifetime; the old one has a day left', async () => {
    const { deployment_id: id, token } = await register(aRegistration());
    time += 15 * DAY_MS;
    const answer = await renew(id, token);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.json()).toEqual({
      token: expect.stringMatching(/^dpt_/),
      expires_at: new Date(time + 30 * DAY_MS).toISOString(),
    });
    const renewed = answer.json().token;
    time += DAY_MS - 1;
    expect([await statusOfBeat(id, token), await statusOfBeat(id, renewed)]).toEqual([200, 200]);
    time += 1;
    expect([await statusOfBeat(id, token), await statusOfBeat(id, renewed)]).toEqual([401, 200]);
  });

  it('never makes the old token live longer', async () => {
    const { deployment_id: id, token } = await register(aRegistration());
    time += 30 * DAY_MS - HOUR_MS;
    expect((await renew(id, token)).statusCode).toBe(200);
    time += HOUR_MS;
    expect(await statusOfBeat(id, token)).toBe(401);
  });

  it('goes on after the root has expired', async () => {
    const { deployment_id: id, token } = await register(aRegistration());
    time += 20 * DAY_MS;
    const second = (await renew(id, token)).json().token;
    time += 20 * DAY_MS;
    expect((await refusal(aRegistration()))[0]).toBe(401);
    const third = await renew(id, second);
    expect(third.json().expires_at).toBe(new Date(time + 30 * DAY_MS).toISOString());
  });

  it('is for a deployment’s own live token alone', async () => {
    const [one, other] = [await register(aRegistration()), await register(aRegistration())];
    const answers = [
      await renew(one.deployment_id, other.token),
      await renew(one.deployment_id, root.token),
      await renew(uuidv7(), one.token),
      await renew('no-uuid', one.token),
    ];
    expect(answers.map((answer) => answer.statusCode)).toEqual([404, 404, 404, 404]);
    time += 30 * DAY_MS;
    expect((await renew(one.deployment_id, one.token)).statusCode).toBe(401);
  });

  it('has to wait when it is requested endlessly', async () => {
    const { deployment_id: id, token } = await register(aRegistration());
    for (let count = 0; count < 10; count++) expect((await renew(id, token)).statusCode).toBe(200);
    expect((await renew(id, token)).statusCode).toBe(429);
  });
});

describe('a revocation', () => {
  it('of the root ends all that came of it, and nothing else', async () => {
    const planes = [await register(aRegistration()), await register(aRegistration())];
    const [first] = planes;
    const id = first?.deployment_id ?? '';
    const renewed = (await renew(id, first?.token ?? '')).json().token;
    const elsewhere = await issue();
    const stays = await register(aRegistration(), elsewhere.token);
    expect((await revoke(root.id)).statusCode).toBe(204);

    for (const plane of planes) {
      expect(await statusOfBeat(plane.deployment_id, plane.token)).toBe(401);
      expect((await renew(plane.deployment_id, plane.token)).statusCode).toBe(401);
      const bundle = `/api/v1/opa/bundle/${admin.scope.tenantId}`;
      expect((await call(bundle, { token: plane.token })).statusCode).toBe(401);
    }
    expect(await statusOfBeat(id, renewed)).toBe(401);
    expect((await refusal(aRegistration()))[0]).toBe(401);
    expect(await statusOfBeat(stays.deployment_id, stays.token)).toBe(200);
    for (const plane of planes) expect(await statusOf(plane.deployment_id)).toBe('revoked');
    expect(await statusOf(stays.deployment_id)).toBe('online');
    expect((await actions()).at(-1)).toBe('data_plane_token_revoked');
  });

  it('of the root keeps its data planes’ identities: they come back with another root', async () => {
    const plane = aRegistration();
    const before = await register(plane);
    await revoke(root.id);
    const after = await register(plane, (await issue()).token);
    expect(after.deployment_id).toBe(before.deployment_id);
    expect(await statusOfBeat(after.deployment_id, after.token)).toBe(200);
    expect(await statusOfBeat(before.deployment_id, before.token)).toBe(401);
    expect(await listPlanes()).toMatchObject([{ status: 'online' }]);
  });

  it('of a deployment’s token ends that deployment, with all its tokens and for good', async () => {
    const plane = aRegistration();
    const { deployment_id: id, token } = await register(plane);
    const renewed = (await renew(id, token)).json().token;
    const other = await register(aRegistration());
    expect((await revoke(await tokenIdOf(id))).statusCode).toBe(204);
    expect([await statusOfBeat(id, token), await statusOfBeat(id, renewed)]).toEqual([401, 401]);
    expect(await refusal(plane)).toEqual([409, expect.stringContaining('revoked')]);
    // Who holds the root is answered for any deployment_id, but not for this one any more.
    expect(await statusOfBeat(id, root.token)).toBe(200);
    expect(await statusOfBeat(other.deployment_id, other.token)).toBe(200);
    expect(await statusOf(id)).toBe('revoked');
    expect((await actions()).slice(-2)).toEqual(['data_plane_token_revoked', 'data_plane_revoked']);

    const anew = await register(aRegistration());
    expect(anew.deployment_id).not.toBe(id);
  });

  it('of a deployment’s token ends it also after its root was revoked', async () => {
    const plane = aRegistration();
    const { deployment_id: id } = await register(plane);
    await revoke(root.id);
    const childId = await tokenIdOf(id);
    expect((await revoke(childId)).statusCode).toBe(204);
    expect((await revoke(childId)).statusCode).toBe(204);
    expect(await refusal(plane, (await issue()).token)).toEqual([
      409,
      expect.stringContaining('revoked'),
    ]);
    expect((await actions()).filter((action) => action === 'data_plane_revoked')).toHaveLength(1);
  });

  it('repeated for a token that ended with its root leaves a deployment that came back', async () => {
    const plane = aRegistration();
    const { deployment_id: id } = await register(plane);
    const old = await tokenIdOf(id);
    await revoke(root.id);
    const { token } = await register(plane, (await issue()).token);
    expect((await revoke(old)).statusCode).toBe(204);
    expect(await statusOfBeat(id, token)).toBe(200);
  });

  it('that comes while a registration or a renewal is under way leaves no token behind', async () => {
    const plane = await register(aRegistration());
    const answers = await Promise.all([
      ...Array.from({ length: 5 }, () =>
        call(REGISTER, {
          token: root.token,
          body: aRegistration().provenWith(root.token),
        }),
      ),
      renew(plane.deployment_id, plane.token),
      revoke(root.id),
      renew(plane.deployment_id, plane.token),
    ]);
    for (const answer of answers) expect([200, 204, 401]).toContain(answer.statusCode);
    for (const token of await listTokens()) expect(token.revoked_at).not.toBeNull();
  });

  it('answers polls held with the token at once', async () => {
    const body = { name: 'p', rego_content: 'package p\n\nallow := true\n', status: 'active' };
    await call('/api/v1/policies', { token: admin.token, body });
    const plane = await register(aRegistration());
    const bystander = await register(aRegistration(), (await issue()).token);
    const url = `/api/v1/opa/bundle/${admin.scope.tenantId}`;
    const { etag } = (await call(url, { token: plane.token })).headers;
    const headers = { prefer: 'wait=50', 'if-none-match': String(etag) };
    const polls = [plane, bystander].map(({ token }) => call(url, { token, headers }));
    await new Promise((resolve) => setTimeout(resolve, 200));
    const asked = performance.now();
    await revoke(root.id);
    // The others are answered that nothing changed, and ask again.
    expect((await Promise.all(polls)).map((answer) => answer.statusCode)).toEqual([401, 304]);
    // Far from the 50 s for which they wait.
    expect(performance.now() - asked).toBeLessThan(25_000);
  });
});

describe('a fork', () => {
  it('is kept and reported once; its tokens end, and the key may not register', async () => {
    const plane = aRegistration();
    const { deployment_id: id, token } = await register(plane);
    const other = await register(aRegistration());
    const { tenantId } = admin.scope;
    await controlPlane.dataPlanes.markForked(tenantId, id);
    await controlPlane.dataPlanes.markForked(tenantId, id);
    expect(await statusOf(id)).toBe('forked');
    const alerts = (await call('/api/v1/monitor/alerts', { token: admin.token })).json().alerts;
    expect(alerts).toMatchObject([{ alert_type: 'DATA_PLANE_FORKED', severity: 'critical' }]);
    expect(await refusal(plane)).toEqual([409, expect.stringContaining('copied data folder')]);
    // Whichever writer shows it: both learn by it that they have to register again, and why not.
    expect((await renew(id, token)).statusCode).toBe(401);
    expect(await statusOfBeat(id, token)).toBe(401);
    expect(await statusOfBeat(other.deployment_id, other.token)).toBe(200);
    expect((await actions()).filter((action) => action === 'data_plane_forked')).toHaveLength(1);
  });
});

describe('the list', () => {
  it('shows how far each is behind the feed, and what it has yet to ship', async () => {
    const { deployment_id: id } = await register(aRegistration());
    const { rows } = await test.superuser.query(
      'SELECT feed_seq FROM tenant_heads WHERE tenant_id = $1',
      [admin.scope.tenantId],
    );
    await test.superuser.query(
      `UPDATE data_planes SET feed_cursor = $2, feed_read_at = $3, backlog_records = 12
       WHERE deployment_id = $1`,
      [id, Number(rows[0].feed_seq) - 3, new Date(began)],
    );
    expect(await listPlanes()).toMatchObject([
      { feed_lag: 3, backlog: 12, feed_read_at: new Date(began).toISOString() },
    ]);
  });

  it('counts no lag for a data plane ahead of a restored feed', async () => {
    const { deployment_id: id } = await register(aRegistration());
    await test.superuser.query(
      'UPDATE data_planes SET feed_cursor = 999 WHERE deployment_id = $1',
      [id],
    );
    expect(await listPlanes()).toMatchObject([{ feed_lag: 0 }]);
  });
});

it('a data plane with newer rules than a restored database gets them again, with a higher revision', async () => {
  const {
    token,
    deployment_id: deploymentId,
    tenant_id: tenantId,
  } = await register(aRegistration());
  const revision = async () => {
    const answer = await call(`/api/v1/opa/bundle/${tenantId}`, { token });
    return Number(answer.headers['x-bundle-revision']);
  };
  await controlPlane.bundles.requestBuild(tenantId);
  const before = await revision();
  const lost = before + 10_000;
  time = lost + 1;
  const told = (opa_bundle_version: string) =>
    call(`/api/v1/data-planes/${deploymentId}/heartbeat`, {
      token,
      body: {
        deployment_id: deploymentId,
        active_agent_count: 0,
        proxy_rpm_1m: 0,
        escalations_pending: 0,
        opa_bundle_version,
        uptime_seconds: 1,
      },
    });
  expect((await told(String(before))).statusCode).toBe(200);
  expect((await told('none')).statusCode).toBe(200);
  expect(await revision()).toBe(before);
  expect((await told(String(lost))).statusCode).toBe(200);
  await expect.poll(revision).toBeGreaterThan(lost);
});

it('many that register at once occupy no connection of the pool while they wait', async () => {
  const bodies = Array.from({ length: 12 }, () => aRegistration().provenWith(root.token));
  let isDone = false;
  let waiting = 0;
  const watch = async () => {
    while (!isDone) {
      const { rows } = await test.superuser.query<{ n: number }>(
        `SELECT count(*)::int AS n FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event = 'advisory'`,
      );
      waiting = Math.max(waiting, rows[0]?.n ?? 0);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  const watching = watch();
  try {
    const answers = bodies.map((body) => call(REGISTER, { token: root.token, body }));
    for (const { statusCode } of await Promise.all(answers)) expect(statusCode).toBe(200);
  } finally {
    isDone = true;
    await watching;
  }
  expect(waiting).toBe(0);
});
