/**
 * The life of tokens as a model: whatever is issued, registered, renewed and revoked in whatever
 * order, a token is good exactly while the rules say so, at every route that takes one.
 */
import { createHash } from 'node:crypto';
import { encodeBatch, NDJSON } from '@governance/shared/channel/channel-routes';
import { RegistrationReply } from '@governance/shared/channel/channels';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createWriter } from '../../../tests/support/a-data-plane.ts';
import { aRegistration, type TestRegistration } from '../../../tests/support/a-registration.ts';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';
import { createTokenPurge } from './token-purge.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
let time = new Date('2026-03-01T12:00:00.000Z').getTime();
const now = () => new Date(time);
const { call, aTenantAdmin, controlPlane, test } = await testControlPlane({ now });

interface Token {
  id: string;
  secret: string;
  root: Token | undefined;
  plane: Plane | undefined;
  life: number;
  end: number;
  revokedAt: number;
}
interface Plane {
  keys: TestRegistration;
  id: string;
  isRevoked: boolean;
}

const step = fc.oneof(
  fc.record({ kind: fc.constant('issue' as const), days: fc.integer({ min: 1, max: 10 }) }),
  fc.record({ kind: fc.constant('register' as const), root: fc.nat(), plane: fc.nat(3) }),
  fc.record({ kind: fc.constant('renew' as const), token: fc.nat() }),
  fc.record({ kind: fc.constant('revoke' as const), token: fc.nat() }),
  fc.record({ kind: fc.constant('pass' as const), hours: fc.integer({ min: 1, max: 80 }) }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

async function createModel() {
  const { scope } = await aTenantAdmin();
  const { tenantId, actor } = scope;
  const account = { id: actor.id, username: actor.username, tenantId, version: '1' };
  /** A new one each time: an administrator's ends after 8 hours. */
  const asAdmin = () => controlPlane.adminTokens.issue({ role: 'admin', ...account });
  const tokens: Token[] = [];
  const planes: Plane[] = [];
  const keys = Array.from({ length: 4 }, () => aRegistration());
  const idOf = async (secret: string) => {
    const hash = createHash('sha256').update(secret).digest('hex');
    const { rows } = await test.superuser.query(
      'SELECT id FROM data_plane_tokens WHERE token_hash = $1',
      [hash],
    );
    return rows[0].id as string;
  };
  const isLive = (token: Token) => token.revokedAt === Infinity && token.end > time;
  const isBacklog = (token: Token) => Math.min(token.end, token.revokedAt) + 7 * DAY_MS > time;
  const pick = <T>(from: T[], index: number): T | undefined => from[index % from.length];

  async function addChild(secret: string, root: Token, plane: Plane) {
    for (const token of tokens) {
      if (token.plane === plane) token.end = Math.min(token.end, time + DAY_MS);
    }
    const fresh = { secret, root, plane, life: root.life, revokedAt: Infinity };
    tokens.push({ ...fresh, id: await idOf(secret), end: time + root.life });
  }

  const steps = {
    issue: async ({ days }: Extract<Step, { kind: 'issue' }>) => {
      const body = { label: 'x', expires_days: days };
      const url = '/api/v1/admin/data-plane-tokens';
      const { id, token } = (await call(url, { token: await asAdmin(), body })).json();
      const life = days * DAY_MS;
      const none = { root: undefined, plane: undefined };
      tokens.push({ id, secret: token, ...none, life, end: time + life, revokedAt: Infinity });
    },
    register: async (given: Extract<Step, { kind: 'register' }>) => {
      const token = pick(tokens, given.root);
      const own = keys[given.plane];
      if (!token || !own) return;
      const answer = await call('/api/v1/data-planes/register', {
        token: token.secret,
        body: own.provenWith(token.secret),
      });
      let plane = planes.find((one) => one.keys === own);
      const isAllowed = isLive(token) && !plane?.isRevoked;
      const refused = !isLive(token) ? 401 : token.plane ? 403 : 409;
      expect(answer.statusCode).toBe(isAllowed && !token.plane ? 200 : refused);
      if (answer.statusCode !== 200) return;
      const reply = RegistrationReply.parse(answer.json());
      if (!plane) {
        plane = { keys: own, id: reply.deployment_id, isRevoked: false };
        planes.push(plane);
      }
      expect(reply.deployment_id).toBe(plane.id);
      await addChild(reply.token.token, token, plane);
    },
    renew: async (given: Extract<Step, { kind: 'renew' }>) => {
      const token = pick(tokens, given.token);
      if (!token?.plane || !token.root) return;
      const { plane, root } = token;
      const answer = await call(`/api/v1/data-planes/${plane.id}/token`, {
        token: token.secret,
        method: 'POST',
      });
      expect(answer.statusCode).toBe(isLive(token) ? 200 : 401);
      if (answer.statusCode === 200) await addChild(answer.json().token, root, plane);
    },
    revoke: async (given: Extract<Step, { kind: 'revoke' }>) => {
      const token = pick(tokens, given.token);
      if (!token) return;
      const url = `/api/v1/admin/data-plane-tokens/${token.id}`;
      const answer = await call(url, { token: await asAdmin(), method: 'DELETE' });
      expect(answer.statusCode).toBe(204);
      const { plane } = token;
      const isRepeated = token.revokedAt !== Infinity;
      const hasOthers = tokens.some((one) => one.plane === plane && one.revokedAt === Infinity);
      if (plane && !(isRepeated && hasOthers)) plane.isRevoked = true;
      if (isRepeated) return;
      for (const one of tokens) {
        const isHit = one === token || (plane ? one.plane === plane : one.root === token);
        if (isHit) one.revokedAt = Math.min(one.revokedAt, time);
      }
    },
    pass: async ({ hours }: Extract<Step, { kind: 'pass' }>) => {
      time += hours * HOUR_MS;
    },
  };

  async function check() {
    for (const token of tokens) {
      const plane = token.plane ?? planes[0];
      if (!plane) continue;
      const url = `/api/v1/data-planes/${plane.id}`;
      const body = {
        deployment_id: plane.id,
        active_agent_count: 0,
        proxy_rpm_1m: 0,
        escalations_pending: 0,
        opa_bundle_version: '',
        uptime_seconds: 0,
      };
      const beat = await call(`${url}/heartbeat`, { token: token.secret, body });
      expect(beat.statusCode).toBe(isLive(token) ? 200 : 401);
      const writer = createWriter(tenantId, plane.id, plane.keys.signingKey);
      writer.boot();
      const batch = writer.batch(0);
      // Signed by the right key, but not what it says: enough to tell a door from what is behind it.
      const shipped = await call(`${url}/audit-batches`, {
        token: token.secret,
        body: encodeBatch({ ...batch, signature: 'none' }),
        headers: { 'content-type': NDJSON },
      });
      expect(shipped.statusCode).toBe(isBacklog(token) ? 422 : 401);
    }
  }

  return { tokens, check, run: (given: Step) => steps[given.kind](given as never) };
}

it('follows the rules, whatever happens in whatever order', { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 14 }), async (given) => {
      const model = await createModel();
      await model.run({ kind: 'issue', days: 5 });
      await model.run({ kind: 'register', root: 0, plane: 0 });
      for (const one of given) {
        await model.run(one);
        if (one.kind === 'pass' || one.kind === 'revoke') await model.check();
      }
      await model.check();
    }),
    { numRuns: 10 },
  );
});

it('leaves no children behind 30 days after their end, but the newest of each', async () => {
  const model = await createModel();
  await model.run({ kind: 'issue', days: 2 });
  await model.run({ kind: 'register', root: 0, plane: 0 });
  for (let renewals = 0; renewals < 3; renewals++) {
    await model.run({ kind: 'pass', hours: 24 });
    await model.run({ kind: 'renew', token: model.tokens.length - 1 });
  }
  const purge = async () => {
    await createTokenPurge({ db: controlPlane.db, now }).run(new AbortController().signal);
    const { rows } = await test.superuser.query(
      'SELECT id FROM data_plane_tokens WHERE id = ANY($1)',
      [model.tokens.map(({ id }) => id)],
    );
    return rows.map(({ id }) => id).sort();
  };
  const ids = model.tokens.map(({ id }) => id);
  const [root, first] = ids;
  expect(await purge()).toEqual([...ids].sort());
  // Of the first one, which ended a day after it was replaced.
  time = (model.tokens[1]?.end ?? 0) + 30 * DAY_MS;
  expect(await purge()).toEqual([...ids].sort());
  time += 1;
  expect(await purge()).toEqual(ids.filter((id) => id !== first).sort());
  time += 400 * DAY_MS;
  expect(await purge()).toEqual([root, ids.at(-1)].sort());
});
