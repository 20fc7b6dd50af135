/**
 * Results of megabytes. Below the limit they pass whole; above it they are cut off at the limit,
 * however much the server still sends, and the agent is told why.
 */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { assetPath } from '@governance/shared/process/assets';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  CLIENT_NAMES,
  PATIENT,
  REAL_CLIENTS,
  textOf,
  toolCall,
} from '../../testing/test-client.ts';
import { growthPerRound, heldBytes, MIB, peakDuring } from '../../testing/test-memory.ts';
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

const LIMIT = 4 * MIB;
/** What the server would send if not cut off. */
const FLOOD = 96 * MIB;
/** So many megabytes are sent between two looks at the memory. */
const LOOK_EVERY = 3;
/** Buffers of the kernel, both ways, and of the parsers. */
const SLACK = 20 * MIB;
const FILESYSTEM = assetPath('node_modules/@modelcontextprotocol/server-filesystem/dist/index.js');

/** A stdio server whose tool `flood` answers with one line of FLOOD bytes; others answer at once. */
const STDIO_SCRIPT = `
  const { once } = require('node:events');
  const send = (m) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...m }) + '\\n');
  const answer = async ({ id, method, params }) => {
    if (method === 'initialize') {
      const serverInfo = { name: 's', version: '1' };
      send({ id, result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo } });
    } else if (method === 'tools/list') {
      const tool = (name) => ({ name, inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } });
      send({ id, result: { tools: [tool('flood'), tool('pid')] } });
    } else if (params?.name === 'flood') {
      process.stdout.write('{"jsonrpc":"2.0","id":' + id + ',"result":{"content":[{"type":"text","text":"');
      for (let sent = 0; sent < ${FLOOD}; sent += ${MIB}) {
        if (!process.stdout.write('x'.repeat(${MIB}))) await once(process.stdout, 'drain');
      }
      process.stdout.write('"}]}}\\n');
    } else if (id !== undefined) {
      send({ id, result: { content: [{ type: 'text', text: String(process.pid) }] } });
    }
  };
  let buffered = '';
  let turn = Promise.resolve();
  process.stdin.on('data', (chunk) => {
    const lines = (buffered + chunk).split('\\n');
    buffered = lines.pop();
    for (const line of lines) turn = turn.then(() => answer(JSON.parse(line)));
  });
`;

let upstream: TestUpstream;
let plane: TestPlane;
let basic: string;
let folder: string;
/**
 * What the server sent in its last flood, what was buffered meanwhile, and whether it was cut off.
 */
let flood = { sent: 0, held: 0, isCut: false };

const result = (text: string) => ({ content: [{ type: 'text', text }] });

async function pour(response: ServerResponse, head: string): Promise<void> {
  flood = { sent: 0, held: 0, isCut: false };
  const before = heldBytes();
  response.write(head);
  const chunk = Buffer.alloc(MIB, 'x');
  let goOn: () => void = () => undefined;
  response.on('drain', () => goOn()).on('close', () => goOn());
  while (flood.sent < FLOOD && !response.destroyed) {
    if (!response.write(chunk)) {
      await new Promise<void>((resolve) => {
        goOn = resolve;
      });
    }
    // The kernel may take many chunks at once: the gateway gets to run after each.
    await nextTurn();
    if (!response.destroyed) flood.sent += chunk.length;
    // A look collects all garbage. Of what is held until the end none misses a megabyte or two.
    if (flood.sent % (LOOK_EVERY * MIB) === 0 || response.destroyed) {
      flood.held = Math.max(flood.held, heldBytes() - before);
    }
  }
  flood.isCut = response.destroyed;
  response.end();
}

const beginning = (id: number) => `{"jsonrpc":"2.0","id":${id},"result":{"content":[{"text":"`;
const TOOLS: Record<string, (call: UpstreamToolCall) => void | Promise<void>> = {
  read_json: (call) => call.result(result('é'.repeat(Number(call.args.bytes) / 2))),
  read_event: ({ id, event, args, response }) => {
    event({ jsonrpc: '2.0', id, result: result('é'.repeat(Number(args.bytes) / 2)) });
    response.end();
  },
  // A size that is announced, one that is not, one event, and one of many lines.
  read_announced: async ({ id, response }) => {
    const headers = { 'content-type': 'application/json', 'content-length': FLOOD };
    await pour(response.writeHead(200, headers), beginning(id));
  },
  read_endless: async ({ id, response }) => {
    await pour(response.writeHead(200, { 'content-type': 'application/json' }), beginning(id));
  },
  read_endless_event: async ({ id, response }) => {
    const head = `data: ${beginning(id)}`;
    await pour(response.writeHead(200, { 'content-type': 'text/event-stream' }), head);
  },
  read_endless_lines: async ({ response }) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const { write } = response;
    const line = `data: ${'x'.repeat(1_017)}\n`;
    const lines = Buffer.from(line.repeat(MIB / line.length));
    // Each chunk is a megabyte of lines that belong to one event.
    response.write = ((chunk: Buffer | string) =>
      write.call(response, typeof chunk === 'string' ? chunk : lines, 'utf8')) as typeof write;
    await pour(response, 'event: message\n');
  },
};

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'governance-large-')));
  writeFileSync(join(folder, 'server.cjs'), STDIO_SCRIPT);
  writeFileSync(join(folder, 'large.txt'), 'y'.repeat(1.5 * MIB));
  upstream = await startTestUpstream({
    tools: Object.entries(TOOLS).map(([name, handle]) => ({
      name,
      annotations: { readOnlyHint: true },
      handle,
    })),
  });
  const command = (args: string[]) => ({ command: process.execPath, args, env: {}, cwd: folder });
  plane = await startTestPlane({
    servers: [HTTP_SERVER('up', upstream.url), STDIO_SERVER('files'), STDIO_SERVER('local')],
    stdioServers: new Map([
      ['files', command([FILESYSTEM, folder])],
      ['local', command(['server.cjs'])],
    ]),
  });
  ({ basic } = plane.addAgent(['*:*']));
});

afterAll(async () => {
  await plane?.stop();
  await upstream?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const call = (server: string, name: string, args = {}) =>
  plane.post(`/mcp/v1/${server}`, toolCall(name, args), { authorization: basic });

const lastOutcome = async () =>
  (await plane.records()).filter((one) => one.type === 'outcome').at(-1);

describe.each(CLIENT_NAMES)('a result of 3 MB, for %s', (name) => {
  it.each(['read_json', 'read_event'])('passes whole over Streamable HTTP: %s', async (tool) => {
    const client = await REAL_CLIENTS[name](`${plane.url}/mcp/v1/up`, basic);
    const text = textOf(await client.callTool(tool, { bytes: 3 * MIB }));
    expect(Buffer.byteLength(text)).toBe(3 * MIB);
    expect(text === 'é'.repeat(1.5 * MIB)).toBe(true);
    await client.close();
    const { outcome, result_bytes } = (await lastOutcome()) ?? {};
    expect({ outcome, result_bytes }).toEqual({
      outcome: 'forwarded',
      result_bytes: Buffer.byteLength(JSON.stringify(result(text))),
    });
  });

  it('passes whole from the reference server over stdio', async () => {
    const client = await REAL_CLIENTS[name](`${plane.url}/mcp/v1/files`, basic);
    // It sends everything twice, as text and structured.
    const answer = await client.callTool('read_text_file', { path: join(folder, 'large.txt') });
    expect(textOf(answer) === 'y'.repeat(1.5 * MIB)).toBe(true);
    await client.close();
    expect((await lastOutcome())?.result_bytes).toBeGreaterThan(3 * MIB);
  });
});

it.each(['read_json', 'read_event'])('results of 3 MB leave no memory behind: %s', async (tool) => {
  const growth = await growthPerRound(4, async () => {
    const { text } = await call('up', tool, { bytes: 3 * MIB });
    expect(text.length).toBeGreaterThan(1.5 * MIB);
  });
  expect(growth).toBeLessThan(0.5 * MIB);
});

describe('a result over the limit', () => {
  it.each([
    'read_announced',
    'read_endless',
    'read_endless_event',
    'read_endless_lines',
  ])('is cut off at it over Streamable HTTP: %s', async (tool) => {
    const { status, json } = await call('up', tool);
    expect({ status, error: json.error }).toMatchObject({
      status: 200,
      error: { code: -32603, data: { failure: 'too_large' } },
    });
    expect(json.error.message).toContain(`${LIMIT} bytes`);
    await expect.poll(() => flood.isCut, PATIENT).toBe(true);
    expect(flood.sent).toBeLessThan(LIMIT + SLACK);
    expect(flood.held).toBeLessThan(LIMIT + SLACK);
    expect(await lastOutcome()).toMatchObject({ outcome: 'result_too_large', result_bytes: null });
    expect((await call('up', 'read_json', { bytes: 2 })).json.result).toEqual(result('é'));
  });

  it('is skipped over stdio, and the process lives on', async () => {
    const pid = (await call('local', 'pid')).json.result.content[0].text;
    const calling = call('local', 'flood');
    const peak = await peakDuring(calling);
    expect((await calling).json.error).toMatchObject({
      code: -32603,
      data: { failure: 'too_large' },
    });
    expect(await lastOutcome()).toMatchObject({ outcome: 'result_too_large' });
    // The rest of the line passes before the next answer comes.
    const next = call('local', 'pid');
    const later = await peakDuring(next);
    expect((await next).json.result.content[0].text).toBe(pid);
    expect(Math.max(peak, later)).toBeLessThan(LIMIT + SLACK);
  });

  it('leaves no memory behind, however often it comes', async () => {
    const growth = await growthPerRound(4, async () => {
      expect((await call('up', 'read_endless')).json.error.data.failure).toBe('too_large');
    });
    expect(growth).toBeLessThan(0.5 * MIB);
  });
});
