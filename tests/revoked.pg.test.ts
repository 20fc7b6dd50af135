/**
 * What was good and is not any more: for every route of the table whose credential can be revoked
 * now, the very next request is refused, and others' credentials go on.
 */
import { uuidv7 } from '@governance/shared/ids';
import { beforeEach, describe, expect, it } from 'vitest';
import { productRoutes, routeName, routePath } from './support/route-paths.ts';
import { type CallOptions, testControlPlane } from './support/test-control-plane.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

let now = new Date('2026-03-01T12:00:00.000Z');
const plane = await testControlPlane({ now: () => now });
const { call, controlPlane, test, aTenantAdmin } = plane;
const routes = productRoutes(controlPlane.routes);

let admin: Awaited<ReturnType<typeof aTenantAdmin>>;
beforeEach(async () => {
  now = new Date('2026-03-01T12:00:00.000Z');
  admin = await aTenantAdmin();
});

const deploymentId = uuidv7();
type Route = (typeof routes)[number];

const ask = (route: Route, token: string) =>
  call(routePath(route, { tenantId: admin.scope.tenantId, deploymentId }), {
    method: route.method as CallOptions['method'],
    token,
  });

const named = (chosen: Route[]) => chosen.map((route) => [routeName(route), route] as const);

describe('an administrator’s token', () => {
  const ADMIN_GUARDS = ['admin', 'admin-or-platform', 'tenant-admin', 'super-admin'];
  const guarded = routes.filter(({ guard }) => ADMIN_GUARDS.includes(guard));

  const change = (assignment: string) =>
    test.superuser.query(`UPDATE administrators SET ${assignment} WHERE id = $1`, [
      admin.scope.actor.id,
    ]);

  it.each(named(guarded))('ends at %s with the password and with the account', async (_, route) => {
    await change('token_version = token_version + 1');
    const afterPassword = await ask(route, admin.token);
    await change(`token_version = token_version - 1, status = 'disabled'`);
    const afterDisabling = await ask(route, admin.token);
    for (const answer of [afterPassword, afterDisabling]) {
      expect(answer.statusCode, answer.body).toBe(401);
      expect(answer.json()).toEqual({ detail: expect.any(String) });
    }
  });

  it('is valid again when the account is', async () => {
    await change(`status = 'disabled'`);
    expect((await call('/api/v1/agents', { token: admin.token })).statusCode).toBe(401);
    await change(`status = 'active'`);
    expect((await call('/api/v1/agents', { token: admin.token })).statusCode).toBe(200);
  });
});

describe('a data plane’s token', () => {
  const guarded = routes.filter(({ guard }) => guard === 'data-plane');
  const TOKENS = '/api/v1/admin/data-plane-tokens';

  const issue = async (): Promise<{ id: string; token: string }> => {
    const body = { label: 'soon gone', region: 'eu', expires_days: 1 };
    return (await call(TOKENS, { token: admin.token, body })).json();
  };

  it('is shown at routes', () => {
    expect(guarded.map(routeName)).toEqual(
      expect.arrayContaining([
        'GET /api/v1/opa/bundle/:tenant_id',
        'POST /api/v1/data-planes/:deployment_id/heartbeat',
      ]),
    );
  });

  it.each(named(guarded))('ends at %s when it is revoked, and no other does', async (_, route) => {
    const [revoked, kept] = [await issue(), await issue()];
    expect((await ask(route, revoked.token)).statusCode).not.toBe(401);
    await call(`${TOKENS}/${revoked.id}`, { token: admin.token, method: 'DELETE' });
    const answer = await ask(route, revoked.token);
    expect(answer.statusCode).toBe(401);
    expect(answer.headers['www-authenticate']).toBe('Bearer');
    expect((await ask(route, kept.token)).statusCode).not.toBe(401);
  });

  it.each(named(guarded))('ends at %s when it expires, to the millisecond', async (_, route) => {
    const { token } = await issue();
    now = new Date(now.getTime() + DAY_MS - 1);
    expect((await ask(route, token)).statusCode).not.toBe(401);
    now = new Date(now.getTime() + 1);
    expect((await ask(route, token)).statusCode).toBe(401);
  });
});

describe('an agent’s credentials', () => {
  interface Credentials {
    id: string;
    client_id: string;
    client_secret: string;
  }

  const anAgent = async (): Promise<Credentials> => {
    const body = { name: 'agent', agent_type: 'assistant', owner: 'somebody' };
    return (await call('/api/v1/agents', { token: admin.token, body })).json();
  };

  const patch = (id: string, status: string) =>
    call(`/api/v1/agents/${id}`, { token: admin.token, method: 'PATCH', body: { status } });

  const WAYS: [string, (agent: Credentials) => ReturnType<typeof call>][] = [
    [
      'as JSON',
      ({ client_id, client_secret }) =>
        call('/api/v1/auth/token', {
          body: { grant_type: 'client_credentials', client_id, client_secret },
        }),
    ],
    [
      'as a form with HTTP Basic',
      ({ client_id, client_secret }) =>
        call('/api/v1/auth/token', {
          body: 'grant_type=client_credentials',
          headers: {
            'content-type': 'application/x-www-form-urlencoded',
            authorization: `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}`,
          },
        }),
    ],
  ];

  describe.each(WAYS)('%s', (_, login) => {
    it.each(['suspended', 'deprovisioned'])('get 403 for a %s agent', async (status) => {
      const [agent, other] = [await anAgent(), await anAgent()];
      await patch(agent.id, status);
      const answer = await login(agent);
      expect(answer.statusCode).toBe(403);
      expect(answer.json()).toMatchObject({ detail: expect.any(String) });
      expect((await login(other)).statusCode).toBe(200);
    });

    it('get 403 under the kill switch, until it is lifted or the agent released', async () => {
      const [agent, other] = [await anAgent(), await anAgent()];
      const pull = (body?: object) =>
        call('/api/v1/admin/killswitch', {
          token: admin.token,
          method: 'POST',
          ...(body ? { body } : {}),
        });
      await pull();
      expect((await login(agent)).statusCode).toBe(403);
      await patch(agent.id, 'active');
      expect((await login(agent)).statusCode).toBe(200);
      expect((await login(other)).statusCode).toBe(403);
      await pull({ lift: true });
      expect((await login(other)).statusCode).toBe(200);
    });

    it('get 401 with a secret that was rotated away, whatever the status', async () => {
      const agent = await anAgent();
      const path = `/api/v1/agents/${agent.id}/rotate`;
      const rotated = (await call(path, { token: admin.token, method: 'POST' })).json();
      expect((await login(agent)).statusCode).toBe(401);
      expect((await login(rotated)).statusCode).toBe(200);
      await patch(agent.id, 'suspended');
      // Who does not know the secret learns nothing of the agent.
      expect((await login(agent)).statusCode).toBe(401);
      expect((await login(rotated)).statusCode).toBe(403);
    });
  });
});
