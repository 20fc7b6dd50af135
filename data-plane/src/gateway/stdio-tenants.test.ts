/**
 * A process started while a data plane had one tenant no longer belongs to that tenant once a
 * second one comes, unless its entry names it.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  STDIO_SERVER,
  startTestPlane,
  type TestAgent,
  type TestPlane,
} from '../testing/test-plane.ts';
import type { StdioServer } from '../upstream/stdio/servers-file.ts';

const SERVER = `
  const send = (m) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...m }) + '\\n');
  const info = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: {} };
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method } = JSON.parse(line);
    if (id === undefined) return;
    if (method === 'initialize') return send({ id, result: info });
    if (method === 'tools/list') return send({ id, result: { tools: [{ name: 'read_it' }] } });
    if (method === 'tools/call') return send({ id, result: { content: [] } });
    send({ id, error: { code: -32601, message: 'no' } });
  });`;
const TENANTS: string[] = [];
const command: StdioServer = { command: process.execPath, args: ['-e', SERVER], env: {}, cwd: '/' };

let isSeveral = false;
let plane: TestPlane;
let agent: TestAgent;

beforeAll(async () => {
  const other = '0190aaaa-0000-7000-8000-00000000000b';
  plane = await startTestPlane({
    servers: ['unowned', 'mine', 'theirs', 'missing'].map(STDIO_SERVER),
    stdioServers: new Map([
      ['unowned', command],
      ['mine', { ...command, tenants: TENANTS }],
      ['theirs', { ...command, tenants: [other] }],
    ]),
    servesSeveral: () => isSeveral,
  });
  TENANTS.push(plane.tenantId);
  agent = plane.addAgent(['*:*']);
});
afterAll(() => plane.stop());

const post = (method: string, params: object = {}) =>
  plane.post('/mcp/v1', { jsonrpc: '2.0', id: 1, method, params }, { authorization: agent.basic });
const call = async (server: string) => {
  const { json } = await post('tools/call', { name: `${server}__read_it`, arguments: {} });
  return json.error?.message ?? 'ok';
};
const listed = async () =>
  (await post('tools/list')).json.result.tools.map(({ name }: { name: string }) => name);
/** The agent learns neither the names that there are nor whose they are. */
const REFUSED =
  'The MCP server refused the gateway, or the gateway may not use it: administrators see why in its health.';

it('is used only by the tenants that its entry names, and the others learn which ones they may use', async () => {
  expect([await call('unowned'), await call('mine')]).toEqual(['ok', 'ok']);
  expect([await call('theirs'), await call('missing')]).toEqual([REFUSED, REFUSED]);
  expect(await listed()).toEqual(['unowned__read_it', 'mine__read_it']);
  const { failing, reasons } = plane.plane.serverReport(plane.tenantId);
  expect(failing).toEqual(['missing', 'theirs']);
  const reason = (name: string) =>
    `No stdio server named ${name} is available to this tenant. Available: mine, unowned.`;
  expect(reasons).toEqual({ missing: reason('missing'), theirs: reason('theirs') });
  expect(plane.plane.listStdioNames(plane.tenantId)).toEqual(['mine', 'unowned']);
});

it('belongs to nobody without tenants in its entry, as soon as there are several', async () => {
  isSeveral = true;
  expect([await call('unowned'), await call('mine')]).toEqual([REFUSED, 'ok']);
  expect(await listed()).toEqual(['mine__read_it']);
  const { failing, reasons } = plane.plane.serverReport(plane.tenantId);
  expect(failing).toEqual(['missing', 'theirs', 'unowned']);
  expect(reasons?.unowned).toBe(
    'No stdio server named unowned is available to this tenant. Available: mine. An entry of SERVICE_MCP_SERVERS_FILE must name its tenants.',
  );
});
