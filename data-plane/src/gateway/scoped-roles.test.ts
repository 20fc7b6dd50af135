/** `resource_scopes` as an agent experiences them: in lists, in calls, and in what policies see. */
import { uuidv7 } from '@governance/shared/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HTTP_SERVER, startTestPlane, type TestPlane } from '../testing/test-plane.ts';
import { startTestUpstream, type TestUpstream } from '../testing/test-upstream.ts';

let upstream: TestUpstream;
let plane: TestPlane;

beforeAll(async () => {
  upstream = await startTestUpstream({
    tools: [{ name: 'read_file' }, { name: 'read_table' }, { name: 'write_file' }],
    capabilities: { tools: {}, resources: {} },
    methods: {
      'resources/read': ({ uri }) => ({ contents: [{ uri, text: 'text' }] }),
    },
  });
  const servers = ['files', 'mail'].map((id) => HTTP_SERVER(id, upstream.url));
  plane = await startTestPlane({ servers });
});

afterAll(async () => {
  await plane?.stop();
  await upstream?.stop();
});

type Role = { permissions: string[]; scopes: string[]; isOld?: boolean };

/** As the control plane sends it; `isOld` as it did before it sent scopes separately. */
function addRole({ permissions, scopes, isOld }: Role): string {
  const id = uuidv7();
  const isFlat = scopes.length === 0 || isOld === true;
  const name = `role ${id}`;
  const fact = { id, name, permissions: isFlat ? permissions : [], resource_scopes: scopes };
  plane.apply('role', id, fact);
  if (!isFlat) plane.apply('scoped_role', id, { id, permissions, resource_scopes: scopes });
  return id;
}

function anAgent(...roles: Role[]) {
  const agent = plane.addAgent([]);
  agent.update({ role_ids: roles.map(addRole) });
  return agent;
}

type Agent = ReturnType<typeof anAgent>;

async function ask(agent: Agent, path: string, method: string, params: object) {
  const message = { jsonrpc: '2.0', id: 1, method, params };
  const { json } = await plane.post(path, message, { authorization: agent.basic });
  return json;
}

const toolCall = (agent: Agent, tool: string, args: object, server = 'files') =>
  ask(agent, `/mcp/v1/${server}`, 'tools/call', { name: tool, arguments: args });

const toolsOf = async (agent: Agent, path: string) => {
  const { result } = await ask(agent, path, 'tools/list', {});
  return result.tools.map(({ name }: { name: string }) => name);
};

const READS: Role = { permissions: ['*:read'], scopes: ['files/read_*', 'target:/srv/**'] };

describe('a role with scopes', () => {
  it.each([
    ['as it is sent now', READS],
    ['as it was sent before', { ...READS, isOld: true }],
  ])('permits only within them, %s', async (_, role) => {
    const agent = anAgent(role);
    expect(await toolsOf(agent, '/mcp/v1/files')).toEqual(['read_file', 'read_table']);
    expect(await toolsOf(agent, '/mcp/v1')).toEqual(['files__read_file', 'files__read_table']);
    expect(await toolsOf(agent, '/mcp/v1/mail')).toEqual([]);

    const good = await toolCall(agent, 'read_file', { path: '/srv/a', mode: 'text' });
    expect(good.result).toBeDefined();
    for (const args of [
      {},
      { path: '/etc/passwd' },
      { path: '/srv/../etc/passwd' },
      { path: '/srv/%2e%2e/etc/passwd' },
      { path: '/srv/a', newPath: '/etc/passwd' },
      { path: '/srv/a', options: { output: { file: '/etc/passwd' } } },
      { paths: ['/srv/a', '/etc/passwd'] },
      { path: { uri: '/srv/a', value: 'etc/passwd' } },
      { path: '/srv/a', file: { parts: { first: ['etc/passwd'] } } },
      { path: '/srv/a', name: 'passwd' },
      { path: '/srv/a', project: 7 },
      { path: '/srv/a', glob: 'b\\..\\..\\etc' },
      { path: '//srv/a' },
      { path: 'file:////srv/a' },
      { path: '/srv/..;/etc/passwd' },
    ]) {
      const { error } = await toolCall(agent, 'read_file', args);
      expect(error, JSON.stringify(args)).toMatchObject({ code: -32003 });
    }
    expect((await toolCall(agent, 'read_file', { path: '/srv/a' }, 'mail')).error.code).toBe(
      -32003,
    );
    expect((await toolCall(agent, 'write_file', { path: '/srv/a' })).error.code).toBe(-32003);
  });

  it('permits nothing where its scopes cannot be read', async () => {
    for (const isOld of [true, false]) {
      const agent = anAgent({ permissions: ['*:*'], scopes: ['tagret:/srv'], isOld });
      expect(await toolsOf(agent, '/mcp/v1/files')).toEqual([]);
      expect((await toolCall(agent, 'read_file', { path: '/srv' })).error.code).toBe(-32003);
    }
  });

  it('lends its scopes to no other role, and takes none away', async () => {
    const wide = anAgent(READS, { permissions: ['mail:*'], scopes: [] });
    expect((await toolCall(wide, 'write_file', {}, 'mail')).result).toBeDefined();
    expect((await toolCall(wide, 'write_file', { path: '/srv/a' })).error.code).toBe(-32003);
    expect((await toolCall(wide, 'read_file', { path: '/etc' })).error.code).toBe(-32003);
    const apart = anAgent(READS, { permissions: ['*:write'], scopes: ['target:/tmp/*'] });
    expect((await toolCall(apart, 'write_file', { path: '/tmp/a' })).result).toBeDefined();
    expect((await toolCall(apart, 'write_file', { path: '/srv/a' })).error.code).toBe(-32003);
    expect((await toolCall(apart, 'read_file', { path: '/tmp/a' })).error.code).toBe(-32003);
  });

  it('narrows reads of resources by their URI', async () => {
    const scopes = ['target:doc://a/**'];
    const agent = anAgent({ permissions: ['files:read'], scopes });
    const read = (uri: string) => ask(agent, '/mcp/v1/files', 'resources/read', { uri });
    expect((await read('doc://a/1')).result).toBeDefined();
    expect((await read('doc://b/1')).error.code).toBe(-32003);
    expect((await read('doc://a/../b/1')).result).toBeDefined();
  });

  it('shows policies the permissions that hold for the call', async () => {
    const policies = {
      id: '0190aaaa-0000-7000-8000-0000000000aa',
      name: 'Shown',
      rego: `package shown
deny contains sprintf("sees %v", [concat(",", input.agent.permissions)]) if input.request.tool_name == "read_file"`,
    };
    const own = await startTestPlane({
      servers: [HTTP_SERVER('files', upstream.url)],
      policies: [policies],
    });
    const [a, b] = [uuidv7(), uuidv7()];
    own.apply('role', a, { id: a, name: 'a', permissions: ['files:read'], resource_scopes: [] });
    own.apply('role', b, { id: b, name: 'b', permissions: [], resource_scopes: ['target:/b'] });
    const scoped = { id: b, permissions: ['files:write'], resource_scopes: ['target:/b'] };
    own.apply('scoped_role', b, scoped);
    const agent = own.addAgent([]);
    agent.update({ role_ids: [a, b] });
    const said = async (path: string) => {
      const params = { name: 'read_file', arguments: { path } };
      const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
      const answer = await own.post('/mcp/v1/files', message, { authorization: agent.basic });
      return answer.json.error.message;
    };
    expect(await said('/b')).toContain('sees files:read,files:write');
    expect(await said('/a')).toMatch(/sees files:read$/);
    await own.stop();
  });
});

describe('a denial for want of a permission', () => {
  it('names the one that would cover the call, to the agent and in the record', async () => {
    await plane.records();
    const { error } = await toolCall(anAgent(), 'read_file', { path: '/a' });
    const needs = 'it needs a permission such as `files/read_file:read`';
    expect(error.message).toBe(`Denied by policy: default: no policy allows this call; ${needs}`);
    expect(error.data).toMatchObject({ needed_permission: 'files/read_file:read' });
    const record = (await plane.records()).find(({ type }) => type === 'decision');
    expect(record).toMatchObject({ policy_reason: expect.stringContaining(needs) });
    // With it the call is allowed.
    const cured = anAgent({ permissions: ['files/read_file:read'], scopes: [] });
    expect((await toolCall(cured, 'read_file', { path: '/a' })).result).toBeDefined();
  });

  it('says where a role has it for another scope', async () => {
    const { error } = await toolCall(anAgent(READS), 'read_file', { path: '/etc' });
    expect(error.message).toContain('in a role whose resource_scopes cover it');
  });

  it('says nothing of the kind where a policy denies', async () => {
    const policies = {
      id: '0190aaaa-0000-7000-8000-0000000000ab',
      name: 'Closed',
      rego: 'package closed\ndeny contains "closed"',
    };
    const own = await startTestPlane({
      servers: [HTTP_SERVER('files', upstream.url)],
      policies: [policies],
    });
    const params = { name: 'read_file', arguments: {} };
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
    const { basic: authorization } = own.addAgent([]);
    const { json } = await own.post('/mcp/v1/files', message, { authorization });
    expect(json.error.message).toBe('Denied by policy: Closed: closed');
    expect(json.error.data.needed_permission).toBeUndefined();
    await own.stop();
  });
});
