/**
 * An agent that leaves as many calls as it can hanging at a silent server: it uses up its own share
 * and no other, whichever of its clients are still connected.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type Exchange,
  openWay,
  PATIENT,
  sendByHand,
  toolCall,
} from '../../testing/test-client.ts';
import {
  HTTP_SERVER,
  STDIO_SERVER,
  startTestPlane,
  type TestAgent,
  type TestPlane,
} from '../../testing/test-plane.ts';
import { startTestUpstream, type TestUpstream } from '../../testing/test-upstream.ts';

const SHARE = 6;
const PATH = '/mcp/v1/up';
/** A process that never answers a call. */
const SILENT_PROCESS = `
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method } = JSON.parse(line);
    const result = method === 'initialize'
      ? { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } }
      : { tools: [{ name: 'read_never', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } }] };
    if (id !== undefined && method !== 'tools/call') console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
  });
`;

let upstream: TestUpstream;
let plane: TestPlane;
let hog: TestAgent;
let mate: TestAgent;
let neighbour: TestAgent;
let hanging = 0;
let aborted = 0;
const open: Exchange[] = [];

beforeEach(async () => {
  hanging = 0;
  aborted = 0;
  upstream = await startTestUpstream({
    tools: [
      { name: 'read_now', annotations: { readOnlyHint: true } },
      {
        name: 'read_never',
        annotations: { readOnlyHint: true },
        handle: ({ response }) => {
          hanging++;
          response.once('close', () => aborted++);
        },
      },
    ],
  });
  const command = {
    command: process.execPath,
    args: ['-e', SILENT_PROCESS],
    env: {},
    cwd: undefined,
  };
  plane = await startTestPlane({
    servers: [HTTP_SERVER('up', upstream.url), STDIO_SERVER('process')],
    stdioServers: new Map([['process', command]]),
    config: {
      upstreamRequestsPerAgent: SHARE,
      upstreamRequestsPerTenant: 32,
      upstreamConnections: 32,
    },
  });
  hog = plane.addAgent(['*:*']);
  mate = plane.addAgent(['*:*']);
  neighbour = (await plane.addNeighbour()).addAgent(['*:*']);
});

afterEach(async () => {
  for (const { cut } of open.splice(0)) cut();
  await plane?.stop();
  await upstream?.stop();
});

const headersOf = ({ basic }: TestAgent) => ({ authorization: basic });
const ask = (agent: TestAgent) => plane.post(PATH, toolCall('read_now'), headersOf(agent));

/** More calls than the agent's share holds, half of them without waiting for a slot. */
function hang(path = PATH): void {
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...headersOf(hog),
  };
  for (let n = 0; n < 4 * SHARE; n++) {
    open.push(sendByHand(plane, 'POST', path, headers, toolCall('read_never', {}, n)));
  }
}

async function expectOthersServed(): Promise<void> {
  for (const agent of [mate, neighbour]) {
    const { json } = await ask(agent);
    expect(json.result.content).toBeDefined();
  }
}

describe('an agent whose calls hang', () => {
  it('uses up only its own share, learns that it is busy, and its decisions are recorded', async () => {
    await ask(hog);
    await plane.records();
    hang();
    await expect.poll(() => hanging, PATIENT).toBe(SHARE);
    await expectOthersServed();
    const { json } = await ask(hog);
    expect(json.error).toMatchObject({
      code: -32603,
      message: expect.stringMatching(/^Busy: this agent has 6 requests under way/),
      data: { failure: 'busy', event_id: expect.any(String) },
    });
    expect(hanging).toBe(SHARE);
    const records = await plane.records();
    const outcome = records.find(
      (one) => one.type === 'outcome' && one.event_id === json.error.data.event_id,
    );
    expect(outcome).toMatchObject({ outcome: 'blocked', detail: expect.stringMatching(/^Busy/) });
  });

  it('frees nothing by disconnecting: a legacy call keeps its slot', async () => {
    await ask(hog);
    hang();
    await expect.poll(() => hanging, PATIENT).toBe(SHARE);
    for (const { cut } of open.splice(0)) cut();
    await expectOthersServed();
    expect((await ask(hog)).json.error.message).toMatch(/^Busy/);
    expect(aborted).toBe(0);
  });

  it('frees it by disconnecting in MCP 2026-07-28, where that cancels', async () => {
    const call = await openWay('of MCP 2026-07-28', plane, PATH, hog.basic);
    const { headers, message } = call('read_never');
    for (let n = 0; n < SHARE; n++) open.push(sendByHand(plane, 'POST', PATH, headers, message));
    await expect.poll(() => hanging, PATIENT).toBe(SHARE);
    for (const { cut } of open.splice(0)) cut();
    await expect.poll(() => aborted, PATIENT).toBe(SHARE);
    await expect
      .poll(() => upstream.messages('notifications/cancelled').length, PATIENT)
      .toBe(SHARE);
    expect((await ask(hog)).json.result).toBeDefined();
  });

  it('has no more at a process of its own', async () => {
    hang('/mcp/v1/process');
    await expect
      .poll(async () => (await ask(hog)).json.error?.message, PATIENT)
      .toMatch(/^Busy: this agent/);
    await expectOthersServed();
  });
});

it('agents of one tenant together leave room for another tenant', async () => {
  const crowd = Array.from({ length: 5 }, () => plane.addAgent(['*:*']));
  for (const agent of crowd) {
    await ask(agent);
    hog = agent;
    hang();
  }
  await expect.poll(() => hanging, PATIENT).toBeGreaterThanOrEqual(2 * SHARE);
  expect((await ask(neighbour)).json.result.content).toBeDefined();
});

it('an agent at its limit does not affect what others learn of a server', async () => {
  const plain = { name: 'query', annotations: { readOnlyHint: true } };
  const other = await startTestUpstream({ tools: [plain] });
  try {
    plane.setServers([HTTP_SERVER('up', upstream.url), HTTP_SERVER('other', other.url)]);
    await ask(hog);
    hang();
    await expect.poll(() => hanging, PATIENT).toBe(SHARE);
    await plane.records();
    const call = (agent: TestAgent) =>
      plane.post('/mcp/v1/other', toolCall('query'), headersOf(agent));
    const [denied, served] = await Promise.all([call(hog), call(mate)]);
    expect(denied.json.error.message).toMatch(/^(Busy|Denied)/);
    expect(served.json.result).toBeDefined();
    const decided = (await plane.records()).find(
      (one) => one.type === 'decision' && one.agent_id === mate.id,
    );
    expect(decided).toMatchObject({ action: 'read' });
  } finally {
    await other.stop();
  }
});
