/**
 * Over real connections: the long polls that a data plane holds end at once with the definite 401
 * when its token is revoked, and a bystander's do not end so; and one data plane cannot take the
 * places of others.
 */
import { CHANNEL_PATHS } from '@governance/shared/channel/channel-routes';
import { RegistrationReply } from '@governance/shared/channel/channels';
import { FEED_START } from '@governance/shared/channel/feed-chain';
import { expect, it } from 'vitest';
import { aRegistration } from '../../../tests/support/a-registration.ts';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';
import { LISTENER_LIMITS } from '../feed/tenant-listeners.ts';

const { app, call, aTenantAdmin } = await testControlPlane();
const origin = await app.listen({ port: 0, host: '127.0.0.1' });
const TOKENS = '/api/v1/admin/data-plane-tokens';

async function aPlane(admin: string) {
  const body = { label: 'x' };
  const root = (await call(TOKENS, { token: admin, body })).json();
  const registration = aRegistration().provenWith(root.token);
  const answer = await call('/api/v1/data-planes/register', {
    token: root.token,
    body: registration,
  });
  const reply = RegistrationReply.parse(answer.json());
  return { root, tenantId: reply.tenant_id, id: reply.deployment_id, token: reply.token.token };
}
type Plane = Awaited<ReturnType<typeof aPlane>>;

const get = (path: string, token: string, headers: Record<string, string> = {}) =>
  fetch(`${origin}${path}`, { headers: { authorization: `Bearer ${token}`, ...headers } });

async function aPolicy(admin: string) {
  const body = { name: 'p', rego_content: 'package p\n\nallow := true\n', status: 'active' };
  expect((await call('/api/v1/policies', { token: admin, body })).statusCode).toBe(201);
}

const revoke = (id: string, admin: string) =>
  call(`${TOKENS}/${id}`, { token: admin, method: 'DELETE' });

/** Both long polls of a data plane that has everything, each for longer than the test. */
async function hold({ id, tenantId, token }: Plane) {
  const feedPath = CHANNEL_PATHS.feed(id);
  const first = await get(`${feedPath}?cursor=0&digest=${FEED_START}`, token);
  const { statement } = ((await first.json()) as { statement: { statement: unknown } }).statement;
  const { feed_seq: cursor, feed_digest: digest } = statement as Record<string, string>;
  const bundlePath = CHANNEL_PATHS.bundle(tenantId);
  const etag = (await get(bundlePath, token)).headers.get('etag') ?? '';
  expect(etag).not.toBe('');
  return [
    get(`${feedPath}?cursor=${cursor}&digest=${digest}&wait=30`, token),
    get(bundlePath, token, { prefer: 'wait=50', 'if-none-match': etag }),
  ];
}

const statusesOf = async (polls: Promise<Response>[]) =>
  (await Promise.all(polls)).map(({ status }) => status);

it.each(['the root', 'the deployment'])('held polls end with 401 at once: %s', async (what) => {
  const { token: admin } = await aTenantAdmin();
  await aPolicy(admin);
  const [plane, bystander] = [await aPlane(admin), await aPlane(admin)];
  const { tokens } = (await call(TOKENS, { token: admin })).json();
  const child = tokens.find((one: { deployment_id: string }) => one.deployment_id === plane.id);
  const polls = await hold(plane);
  const others = await hold(bystander);
  await new Promise((resolve) => setTimeout(resolve, 300));

  const asked = performance.now();
  const id = what === 'the root' ? plane.root.id : child.id;
  expect((await revoke(id, admin)).statusCode).toBe(204);
  expect(await statusesOf(polls)).toEqual([401, 401]);
  // Far from the 30 s for which the shorter of them waits.
  expect(performance.now() - asked).toBeLessThan(15_000);
  for (const answer of await Promise.all(polls)) {
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    expect(await answer.json()).toEqual({ detail: expect.stringContaining('revoked') });
  }
  // Who waits beside it is told that nothing changed, and asks again.
  expect(await statusesOf(others)).toEqual([200, 304]);
  expect((await get(CHANNEL_PATHS.bundle(plane.tenantId), plane.token)).status).toBe(401);
}, 30_000);

it('a deployment that holds its share of polls is told to wait, and another is not', async () => {
  const { token: admin } = await aTenantAdmin();
  await aPolicy(admin);
  const [plane, bystander] = [await aPlane(admin), await aPlane(admin)];
  const { perDeployment } = LISTENER_LIMITS;
  const held = await Promise.all(Array.from({ length: perDeployment }, () => hold(plane)));
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  // Asked for before what is refused, so that they are held when the token is revoked: later, they
  // would wait for their whole time.
  const others = await hold(bystander);
  for (const answer of await Promise.all(await hold(plane))) {
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
  }
  await revoke(plane.root.id, admin);
  expect(await statusesOf(held.flat())).toEqual(Array(2 * perDeployment).fill(401));
  expect(await statusesOf(others)).toEqual([200, 304]);
}, 60_000);
