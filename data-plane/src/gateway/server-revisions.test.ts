/** Servers over stdio of other revisions than the client's. */
import { afterEach, expect, it } from 'vitest';
import { STDIO_SERVER, startTestPlane, type TestPlane } from '../testing/test-plane.ts';
import { parseInitializeAnswer } from '../upstream/initialize.ts';

/** Answers in its own revision, whatever the client asks for, as MCP's lifecycle allows. */
const serverOf = (revision: string) => `
  const send = (m) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...m }) + '\\n');
  const info = { protocolVersion: '${revision}', capabilities: { tools: {} }, serverInfo: {} };
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method } = JSON.parse(line);
    if (id === undefined) return;
    if (method === 'initialize') return send({ id, result: info });
    if (method === 'tools/list') {
      return send({ id, result: { tools: [{ name: 'get_word', inputSchema: { type: 'object' } }] } });
    }
    if (method === 'tools/call') {
      return send({ id, result: { content: [{ type: 'text', text: 'a word' }] } });
    }
    send({ id, error: { code: -32601, message: 'no' } });
  });`;

let plane: TestPlane;
afterEach(() => plane.stop());

async function open(revision: string) {
  const command = {
    command: process.execPath,
    args: ['-e', serverOf(revision)],
    env: {},
    cwd: '/',
  };
  plane = await startTestPlane({
    servers: [STDIO_SERVER('old')],
    stdioServers: new Map([['old', command]]),
  });
  const authorization = plane.addAgent(['*:*']).basic;
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  };
  const begin = { jsonrpc: '2.0', id: 1, method: 'initialize', params };
  const answer = await plane.post('/mcp/v1/old', begin, { authorization });
  const headers = {
    authorization,
    'mcp-session-id': answer.headers.get('mcp-session-id') ?? '',
    'mcp-protocol-version': '2025-11-25',
  };
  const ask = async (method: string, of: object) => {
    const request = { jsonrpc: '2.0', id: 2, method, params: of };
    const { json } = await plane.post('/mcp/v1/old', request, headers);
    return json;
  };
  return { begun: answer.json, ask };
}

it('serves a server of 2024-11-05, and tells the client its own revision', async () => {
  const { begun, ask } = await open('2024-11-05');
  expect(begun.result.protocolVersion).toBe('2025-11-25');
  const list = await ask('tools/list', {});
  expect(list.result.tools.map(({ name }: { name: string }) => name)).toEqual(['get_word']);
  const call = await ask('tools/call', { name: 'get_word', arguments: {} });
  expect(call.result.content).toEqual([{ type: 'text', text: 'a word' }]);
});

it('refuses a server of an unknown revision, and says which are known', async () => {
  const { begun } = await open('2023-01-01');
  expect(begun.error.data).toEqual({ failure: 'refused' });
  const value = { protocolVersion: '2023-01-01', capabilities: {}, serverInfo: {} };
  const answer = { kind: 'result', raw: JSON.stringify(value), value } as const;
  expect(() => parseInitializeAnswer(answer)).toThrow(
    'the server speaks MCP 2023-01-01, the gateway 2026-07-28, 2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05',
  );
});
