/**
 * Many large answers at once: what arrives is bounded in bytes for each agent and for all, and
 * whoever is over that is told so. Others are served meanwhile.
 */
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { toolCall } from '../../testing/test-client.ts';
import { MIB } from '../../testing/test-memory.ts';
import { HTTP_SERVER, startTestPlane, type TestPlane } from '../../testing/test-plane.ts';
import { startTestUpstream, type TestUpstream } from '../../testing/test-upstream.ts';
import { heapShare } from '../../upstream/shares/fair-bytes.ts';

const LIMIT = 4 * MIB;
const TEXT = 'x'.repeat(LIMIT - 4096);
/** Of one agent, while no other has any. */
const FIT = Math.floor(Math.max(heapShare(16), 8 * LIMIT) / 2 / TEXT.length);
const CALLS = FIT + 8;

let upstream: TestUpstream;
let plane: TestPlane;
/** Answers whose last bytes the server keeps back, by their kind. */
const open: ServerResponse[] = [];

const NAMES = ['read_json', 'read_events'];

beforeAll(async () => {
  upstream = await startTestUpstream({
    tools: [...NAMES, 'small'].map((name) => ({ name, annotations: { readOnlyHint: true } })),
  });
  upstream.override(({ message }, response) => {
    if (message?.method !== 'tools/call') return false;
    const { id, params } = message as { id: number; params: { name: string } };
    if (params.name === 'small') return false;
    const isJson = params.name === 'read_json';
    response.writeHead(200, { 'content-type': isJson ? 'application/json' : 'text/event-stream' });
    const answer = { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: TEXT }] } };
    const whole = isJson ? JSON.stringify(answer) : `data: ${JSON.stringify(answer)}\n\n`;
    response.write(whole.slice(0, -3));
    open.push(response);
    response.once('finish-now', () => response.end(whole.slice(-3)));
    return true;
  });
  plane = await startTestPlane({ servers: [HTTP_SERVER('up', upstream.url)] });
});
afterAll(async () => {
  await plane?.stop();
  await upstream?.stop();
});

describe.each(NAMES)('%s', (name) => {
  it('of one agent at once: those without room are dropped, and said to be', async () => {
    open.length = 0;
    const headers = { authorization: plane.addAgent().basic };
    let busy = 0;
    const calls = Array.from({ length: CALLS }, async (_, id) => {
      const { json } = await plane.post('/mcp/v1/up', toolCall(name, {}, id), headers);
      if (json.error?.data?.failure !== 'no_room') return;
      expect(json.error.code).toBe(-32603);
      expect(json.error.message).toMatch(/^Busy: the answers .* did what it was asked for/);
      busy++;
    });
    await vi.waitFor(() => expect(busy).toBe(CALLS - FIT));
    // Another agent is served meanwhile.
    const other = { authorization: plane.addAgent().basic };
    const { json } = await plane.post('/mcp/v1/up', toolCall('small', {}), other);
    expect(json.result).toBeDefined();
    // Cut off, no valid answers, which are not inspected.
    for (const response of open) response.end('!');
    await Promise.all(calls);
    expect(busy).toBe(CALLS - FIT);
    // All room is free again.
    open.length = 0;
    const again = plane.post('/mcp/v1/up', toolCall(name, {}), headers);
    await vi.waitFor(() => expect(open.length).toBe(1));
    open[0]?.emit('finish-now');
    expect((await again).json.result).toBeDefined();
  });
});
