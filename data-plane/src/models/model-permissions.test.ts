/** Whom permissions for local models let do what, at models and elsewhere. */
import { afterEach, expect, it } from 'vitest';
import { startTestModelRuntime } from '../testing/test-model-runtime.ts';
import { HTTP_SERVER, startTestPlane } from '../testing/test-plane.ts';
import { startTestUpstream } from '../testing/test-upstream.ts';
import { createTestWorkflows } from '../testing/test-workflows.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

it('they cover no tool that a server calls like them', async () => {
  const names = ['web', 'localmodel-proxy'];
  const upstream = await startTestUpstream({ tools: names.map((name) => ({ name })) });
  ends.push(() => upstream.stop());
  const plane = await startTestPlane({ servers: [HTTP_SERVER('other', upstream.url)] });
  ends.push(() => plane.stop());
  const user = plane.addAgent(['web:read', 'web:write', 'localmodel-proxy:*', 'web:*']);
  const post = (method: string, params: object, of = user) =>
    plane.post(
      '/mcp/v1/other',
      { jsonrpc: '2.0', id: 1, method, params },
      { authorization: of.basic },
    );
  for (const name of names) {
    const { json } = await post('tools/call', { name, arguments: { q: 'x' } });
    expect(json.error, name).toMatchObject({ code: -32003 });
    expect(json.error.message, name).toContain('no policy allows this call');
  }
  expect((await post('tools/list', {})).json.result?.tools ?? []).toEqual([]);
  expect(upstream.messages('tools/call')).toEqual([]);
  // What names the tool's own server covers it.
  const other = plane.addAgent(['other/web:*']);
  const { json } = await post('tools/call', { name: 'web', arguments: {} }, other);
  expect(json.error).toBeUndefined();
  expect(upstream.messages('tools/call')).toHaveLength(1);
});

const CHAT = '/api/v1/localmodel/api/chat';
const BODY = { model: 'small', messages: [{ role: 'user', content: 'hello' }], stream: false };

it.each([
  true,
  false,
])('delegators pass on the calls that they may make, Local models active: %s', async (isActive) => {
  const runtime = await startTestModelRuntime();
  ends.push(() => runtime.stop());
  const plane = await startTestPlane({ config: { localModelUrl: runtime.url } });
  ends.push(() => plane.stop());
  if (!isActive) {
    await plane.setPolicies(plane.policies().filter(({ name }) => name !== 'Local models'));
  }
  const workflows = createTestWorkflows(plane);
  const worker = plane.addAgent(['*:*']);
  const participants = [{ agent_id: worker.id, role: 'w', allowed_actions: ['*'] }];
  const statuses: Record<string, number> = {};
  for (const permissions of [
    ['web:read', 'web:write'],
    ['web:read'],
    ['web:write'],
    ['localmodel-proxy:*'],
    ['localmodel-proxy:read'],
    ['localmodel-api:*'],
    ['web:*', 'localmodel-proxy:write'],
    ['*:*'],
  ]) {
    const owner = plane.addAgent(permissions);
    const { sessionId } = workflows.start({ owner_agent_id: owner.id, participants });
    const delegation = workflows.delegate(sessionId, owner.id, worker.id);
    const own = await plane.post(CHAT, BODY, { authorization: owner.bearer() });
    const delegated = await plane.post(CHAT, BODY, {
      authorization: worker.bearer(),
      'x-delegation-token': delegation.token(),
    });
    expect(delegated.status, permissions.join()).toBe(own.status);
    statuses[permissions.join()] = own.status;
  }
  expect(statuses).toMatchObject({
    'web:read,web:write': isActive ? 200 : 403,
    'localmodel-proxy:*': isActive ? 403 : 200,
    '*:*': 200,
  });

  // A bundle of an earlier version does not say which policy is active.
  plane.setSettings({ local_models_policy: undefined });
  for (const [permissions, status] of [
    [['web:*'], 403],
    [['localmodel-proxy:*'], 403],
    [['web:*', 'localmodel-proxy:*'], 200],
  ] as const) {
    const owner = plane.addAgent([...permissions]);
    const { sessionId } = workflows.start({ owner_agent_id: owner.id, participants });
    const delegation = workflows.delegate(sessionId, owner.id, worker.id);
    const headers = { authorization: worker.bearer(), 'x-delegation-token': delegation.token() };
    expect((await plane.post(CHAT, BODY, headers)).status, permissions.join()).toBe(status);
  }
});
