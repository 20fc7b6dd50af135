/** Clients of one agent, each with a process of its own that keeps state. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  STDIO_SERVER,
  startTestPlane,
  type TestAgent,
  type TestPlane,
} from '../testing/test-plane.ts';

const SERVER = `
  let kept = [];
  const send = (m) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...m }) + '\\n');
  const info = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: {} };
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) return;
    if (method === 'initialize') return send({ id, result: info });
    if (method === 'tools/list') return send({ id, result: { tools: [{ name: 'get_kept' }] } });
    if (method === 'tools/call') {
      kept.push(params.arguments.word);
      return send({ id, result: { content: [{ type: 'text', text: kept.join(' ') }] } });
    }
    send({ id, error: { code: -32601, message: 'no' } });
  });`;

let plane: TestPlane;
let agent: TestAgent;

beforeAll(async () => {
  const command = { command: process.execPath, args: ['-e', SERVER], env: {}, cwd: '/' };
  plane = await startTestPlane({
    servers: [STDIO_SERVER('memory')],
    stdioServers: new Map([['memory', command]]),
    config: { upstreamMaxProcessesPerAgent: 2 },
  });
  agent = plane.addAgent(['*:*']);
});
afterAll(() => plane.stop());

async function open() {
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: { roots: {} },
    clientInfo: { name: 'test', version: '1' },
  };
  const message = { jsonrpc: '2.0', id: 1, method: 'initialize', params };
  const answer = await plane.post('/mcp/v1', message, { authorization: agent.basic });
  const headers = {
    authorization: agent.basic,
    'mcp-session-id': answer.headers.get('mcp-session-id') ?? '',
    'mcp-protocol-version': '2025-11-25',
  };
  return {
    async keep(word: string): Promise<string> {
      const call = { name: 'memory__get_kept', arguments: { word } };
      const request = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: call };
      const { json } = await plane.post('/mcp/v1', request, headers);
      return json.error?.message ?? json.result.content[0].text;
    },
    end: () => fetch(`${plane.url}/mcp/v1`, { method: 'DELETE', headers }),
    listen: (signal: AbortSignal) =>
      fetch(`${plane.url}/mcp/v1`, {
        headers: { ...headers, accept: 'text/event-stream' },
        signal,
      }),
  };
}

it('keep it while their session lasts; one too many is refused until another ends', async () => {
  const [one, two] = [await open(), await open()];
  expect([await one.keep('a'), await two.keep('b')]).toEqual(['a', 'b']);
  const third = await open();
  for (let n = 0; n < 3; n++) {
    expect(await third.keep('x')).toMatch(/^Busy: the 2 processes .* in use/);
  }
  expect([await one.keep('c'), await two.keep('d')]).toEqual(['a c', 'b d']);
  await one.end();
  await expect.poll(() => third.keep('e')).toBe('e');
  expect(await two.keep('f')).toBe('b d f');
});

it('clients that left without ending their session make room for the next, as SDK clients leave', async () => {
  agent = plane.addAgent(['*:*']);
  for (let n = 0; n < 5; n++) {
    const client = await open();
    const leaving = new AbortController();
    const stream = await client.listen(leaving.signal);
    expect(stream.status).toBe(200);
    // The gateway notices a moment later that the previous client has left.
    await expect.poll(() => client.keep('word')).toBe('word');
    leaving.abort();
  }
});
