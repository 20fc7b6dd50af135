/**
 * Servers that die in the middle of a call: a connection destroyed at any point of the answer, a
 * killed process. The agent gets an error, the outcome is recorded, nothing is sent twice, and the
 * next call works.
 */
import { once } from 'node:events';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  CLIENT_NAMES,
  PATIENT,
  REAL_CLIENTS,
  textOf,
  toolCall,
} from '../../testing/test-client.ts';
import { growthPerRound, MIB } from '../../testing/test-memory.ts';
import {
  HTTP_SERVER,
  STDIO_SERVER,
  startTestPlane,
  type TestPlane,
} from '../../testing/test-plane.ts';
import {
  startTestUpstream,
  type TestUpstream,
  type UpstreamToolCall,
} from '../../testing/test-upstream.ts';

/** `die` begins an answer of 3 MB and is killed in it; `hang` never answers; `pid` does at once. */
const STDIO_SCRIPT = `
  const send = (m) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...m }) + '\\n');
  const answer = ({ id, method, params }) => {
    if (method === 'initialize') {
      const serverInfo = { name: 's', version: '1' };
      send({ id, result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo } });
    } else if (method === 'tools/list') {
      const tool = (name) => ({ name, inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } });
      send({ id, result: { tools: ['die', 'hang', 'pid'].map(tool) } });
    } else if (params?.name === 'die') {
      process.stdout.write('{"jsonrpc":"2.0","id":' + id + ',"result":{"text":"' + 'x'.repeat(${3 * MIB}), () => {
        process.kill(process.pid, 'SIGKILL');
      });
    } else if (params?.name === 'pid') {
      send({ id, result: { content: [{ type: 'text', text: String(process.pid) }] } });
    }
  };
  let buffered = '';
  process.stdin.on('data', (chunk) => {
    const lines = (buffered + chunk).split('\\n');
    buffered = lines.pop();
    for (const line of lines) answer(JSON.parse(line));
  });
`;

let upstream: TestUpstream;
let plane: TestPlane;
let basic: string;
let folder: string;

/** Ends the connection once what was written is on its way. */
async function die(response: ServerResponse): Promise<void> {
  if (response.writableNeedDrain) await once(response, 'drain');
  response.destroy();
}

const HALF = `{"jsonrpc":"2.0","id":1,"result":{"text":"${'x'.repeat(3 * MIB)}`;
const TOOLS: Record<string, (call: UpstreamToolCall) => void | Promise<void>> = {
  'before it answers': ({ response }) => void response.socket?.destroy(),
  'within its JSON': async ({ response }) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write(HALF);
    await die(response);
  },
  'within an event': async ({ response }) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`data: ${HALF}`);
    await die(response);
  },
  'between its progress and the answer': async ({ event, progressToken, response }) => {
    const params = { progressToken, progress: 1 };
    event({ jsonrpc: '2.0', method: 'notifications/progress', params });
    await new Promise((resolve) => setTimeout(resolve, 20));
    await die(response);
  },
};

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'governance-dying-')));
  writeFileSync(join(folder, 'server.cjs'), STDIO_SCRIPT);
  upstream = await startTestUpstream({
    tools: [
      { name: 'read', annotations: { readOnlyHint: true } },
      ...Object.entries(TOOLS).map(([name, handle]) => ({
        name,
        annotations: { readOnlyHint: true },
        handle,
      })),
    ],
  });
  const command = { command: process.execPath, args: ['server.cjs'], env: {}, cwd: folder };
  plane = await startTestPlane({
    servers: [HTTP_SERVER('up', upstream.url), STDIO_SERVER('local')],
    stdioServers: new Map([['local', command]]),
  });
  ({ basic } = plane.addAgent(['*:*']));
});

afterAll(async () => {
  await plane?.stop();
  await upstream?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const call = (server: string, name: string) =>
  plane.post(`/mcp/v1/${server}`, toolCall(name), { authorization: basic });

const outcomes = async () =>
  (await plane.records()).flatMap((one) => (one.type === 'outcome' ? [one.outcome] : []));

/** The error of an answer that is JSON, or a stream whose last event it is. */
function errorOf({ json, text }: Awaited<ReturnType<typeof call>>): unknown {
  const last = text.split('\n').findLast((line) => line.startsWith('data: '));
  return (json ?? JSON.parse(last?.slice('data: '.length) ?? '{}')).error;
}

const AWAY = {
  code: -32603,
  message: 'The MCP server cannot be reached.',
  data: { failure: 'unreachable', event_id: expect.any(String) },
};

describe.each(Object.keys(TOOLS))('over Streamable HTTP, %s', (when) => {
  it.each(CLIENT_NAMES)('%s gets an error, and continues', async (name) => {
    await outcomes();
    const sent = upstream.messages('tools/call').length;
    const client = await REAL_CLIENTS[name](`${plane.url}/mcp/v1/up`, basic);
    await expect(client.callTool(when)).rejects.toMatchObject({
      code: -32603,
      message: expect.stringContaining('cannot be reached'),
    });
    expect(textOf(await client.callTool('read', { a: 1 }))).toBe('{"a":1}');
    await client.close();
    const found: string[] = [];
    await expect.poll(async () => found.push(...(await outcomes())), PATIENT).toBe(2);
    expect(found).toEqual(['upstream_error', 'forwarded']);
    expect(upstream.messages('tools/call')).toHaveLength(sent + 2);
  });

  it('leaves no memory behind', async () => {
    const growth = await growthPerRound(5, async () => {
      expect(errorOf(await call('up', when))).toEqual(AWAY);
      // A successful answer in between, or the circuit breaker would open.
      expect((await call('up', 'read')).status).toBe(200);
    });
    expect(growth).toBeLessThan(0.25 * MIB);
  });
});

describe('a process that is killed', () => {
  it.each(CLIENT_NAMES)('%s gets an error, and the next call has a new process', async (name) => {
    await outcomes();
    const client = await REAL_CLIENTS[name](`${plane.url}/mcp/v1/local`, basic);
    const before = textOf(await client.callTool('pid'));
    // Everything else in progress there ends with it at once.
    const others = [1, 2, 3].map(() => client.callTool('hang').catch((error) => error));
    await expect(client.callTool('die')).rejects.toMatchObject({ code: -32603 });
    for (const error of await Promise.all(others)) {
      expect(error).toMatchObject({ code: -32603 });
    }
    const after = textOf(await client.callTool('pid'));
    expect(after).not.toBe(before);
    await client.close();
    const found: string[] = [];
    await expect.poll(async () => found.push(...(await outcomes())), PATIENT).toBe(6);
    expect(found.sort()).toEqual([
      ...['forwarded', 'forwarded'],
      ...['upstream_error', 'upstream_error', 'upstream_error', 'upstream_error'],
    ]);
    expect(() => process.kill(Number(before), 0)).toThrow('ESRCH');
    expect(process.kill(Number(after), 0)).toBe(true);
  });

  it('leaves neither a partial answer nor a process behind', async () => {
    const pids = new Set<number>();
    // A process that died is not restarted within a second, so there are few rounds.
    const growth = await growthPerRound(2, async () => {
      pids.add(Number((await call('local', 'pid')).json.result.content[0].text));
      expect(errorOf(await call('local', 'die'))).toEqual(AWAY);
    });
    expect(growth).toBeLessThan(1 * MIB);
    expect(pids.size).toBe(4);
    for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });
});
