/** The actions that an administrator sets for tools, and how they lapse with the definition. */
import { uuidv7 } from '@governance/shared/ids';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import {
  HTTP_SERVER,
  startTestPlane,
  type TestAgent,
  type TestPlane,
} from '../testing/test-plane.ts';
import {
  startTestUpstream,
  type TestUpstream,
  type UpstreamTool,
} from '../testing/test-upstream.ts';

const tools: UpstreamTool[] = [
  { name: 'git_status' },
  { name: 'get_report' },
  { name: 'delete_draft' },
];
let upstream: TestUpstream;
let plane: TestPlane;
let reader: TestAgent;

beforeAll(async () => {
  upstream = await startTestUpstream({ tools });
  plane = await startTestPlane({
    servers: [HTTP_SERVER('up', upstream.url)],
    config: { holdWaitMs: 1 },
  });
  reader = plane.addAgent(['up:read']);
});

afterAll(async () => {
  await plane?.stop();
  await upstream?.stop();
});

type Action = 'read' | 'write' | 'delete' | 'execute';

function say(actions: Record<string, Action>) {
  const tool_actions = Object.fromEntries(
    Object.entries(actions).map(([name, action]) => [name, { action, set_id: uuidv7() }]),
  );
  plane.setServers([{ ...HTTP_SERVER('up', upstream.url), tool_actions }]);
}

/** The action that a call was recorded with. */
async function actionOf(name: string): Promise<unknown> {
  await plane.records();
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: {} } };
  await plane.post('/mcp/v1/up', message, { authorization: reader.basic });
  const record = (await plane.records()).find(({ type }) => type === 'decision');
  return (record as { action?: unknown }).action;
}

async function list(): Promise<string[]> {
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  const { json } = await plane.post('/mcp/v1/up', message, { authorization: reader.basic });
  return json.result.tools.map((tool: { name: string }) => tool.name);
}

beforeEach(() => {
  for (const tool of tools) delete tool.annotations;
  say({});
});

/** The alerts about tool actions; pins have alerts of their own. */
const alerts = async () =>
  (await plane.records()).filter(
    (record) => record.type === 'alert' && !('pinned_hash' in record.details),
  );

it('lowers and raises, in lists and in calls', async () => {
  expect(await list()).toEqual(['get_report']);
  expect(await actionOf('git_status')).toBe('execute');
  say({ git_status: 'read', delete_draft: 'write', get_report: 'delete' });
  expect(await actionOf('git_status')).toBe('read');
  expect(await actionOf('delete_draft')).toBe('write');
  expect(await actionOf('get_report')).toBe('delete');
  expect(await list()).toEqual(['git_status']);
  say({});
  expect(await actionOf('git_status')).toBe('execute');
});

it('lapses for good when the definition changes, until it is set again', async () => {
  const said = { git_status: 'read', get_report: 'write' } as const;
  say(said);
  expect(await list()).toEqual(['git_status']);
  expect(await alerts()).toEqual([]);
  expect(plane.plane.serverReport(plane.tenantId).reasons ?? {}).toEqual({});

  for (const tool of tools) tool.annotations = { title: 'Now it does more', readOnlyHint: true };
  // The hint of `git_status` counts, since its name says nothing; the setting can now only raise
  // it.
  await list();
  const raised = await alerts();
  expect(raised.map((alert) => (alert as { alert_type: string }).alert_type)).toEqual([
    'TOOL_DEFINITION_CHANGED',
    'TOOL_DEFINITION_CHANGED',
  ]);
  expect(await actionOf('get_report')).toBe('write');
  for (const tool of tools) tool.annotations = { title: 'Now it does more' };
  await list();
  expect(await actionOf('git_status')).toBe('execute');
  const { reasons } = plane.plane.serverReport(plane.tenantId);
  expect(reasons?.up).toBe('tool definition changed, tool_actions lapsed: git_status, get_report');

  // Back to the old definition: it has been another in between.
  for (const tool of tools) delete tool.annotations;
  await list();
  expect(await actionOf('git_status')).toBe('execute');

  say(said);
  expect(await actionOf('git_status')).toBe('read');
  expect(plane.plane.serverReport(plane.tenantId).reasons ?? {}).toEqual({});
});

it('only raises while the server does not list its tools', async () => {
  const stop = upstream.override(({ message }, response) => {
    if (message?.method !== 'tools/list') return false;
    const error = { code: -32603, message: 'no' };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, error }));
    return true;
  });
  say({ git_status: 'read', get_report: 'delete' });
  expect(await actionOf('git_status')).toBe('execute');
  expect(await actionOf('get_report')).toBe('delete');
  stop();
  await list();
  expect(await actionOf('git_status')).toBe('read');
});

it('of a tool with several operations are judged by the one that is asked for', async () => {
  const enumOf = (...values: string[]) => ({ enum: values, type: 'string' });
  const properties = {
    file_path: { type: 'string' },
    operation: enumOf('get', 'set', 'delete'),
    key_path: { type: 'string' },
  };
  const annotations = { readOnlyHint: false, destructiveHint: true };
  // As mcp-json-yaml-toml has it, and without the operations.
  const several = { name: 'data', inputSchema: { type: 'object', properties }, annotations };
  tools.push(several, { ...several, name: 'records', inputSchema: { type: 'object' } });
  await list();
  const agent = plane.addAgent(['*:*']);
  const ask = async (name: string, args: object) => {
    const message = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name, arguments: args },
    };
    const { json } = await plane.post('/mcp/v1/up', message, { authorization: agent.basic });
    return json.error?.code ?? 'done';
  };
  const file_path = 'config.json';
  for (const operation of ['get', 'set']) {
    expect(await ask('data', { file_path, operation, key_path: 'db' })).toBe('done');
    expect(await ask('records', { file_path, operation, key_path: 'db' })).toBe(-32004);
  }
  const within = { operation: 'delete', key_path: 'flags' };
  expect(await ask('data', { ...within, file_path: 'conf/config.json' })).toBe('done');
  expect(await ask('data', { ...within, file_path })).toBe(-32004);
  expect(await ask('data', { operation: 'wipe', file_path })).toBe(-32004);
  // A permission for the tool is needed all the same.
  const limited = plane.addAgent(['up:write']);
  const params = { name: 'data', arguments: { file_path, operation: 'get' } };
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
  const { json } = await plane.post('/mcp/v1/up', message, { authorization: limited.basic });
  expect(json.error.code).toBe(-32003);
  tools.splice(-2);
});
