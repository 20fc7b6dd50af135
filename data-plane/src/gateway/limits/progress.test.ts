/**
 * A tool that reports its progress a thousand times. All of it arrives in order, none of it stays
 * in memory, and a client that does not read costs the gateway no more than one message's limit.
 */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  CLIENT_NAMES,
  openWay,
  PATIENT,
  REAL_CLIENTS,
  readMessages,
  sendByHand,
  textOf,
  WAYS,
} from '../../testing/test-client.ts';
import { everythingCommand, startEverything } from '../../testing/test-everything.ts';
import { growthPerRound, heldBytes, MIB } from '../../testing/test-memory.ts';
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

const MESSAGES = 1_000;
/** A busy machine inspects a message in that time. */
const LONGEST_PAUSE_MS = 50;
const MAX_MORE = 500;
const LIMIT = 4 * MIB;
const PATH = '/mcp/v1/up';

let upstream: TestUpstream;
let everything: Awaited<ReturnType<typeof startEverything>>;
let plane: TestPlane;
let basic: string;
const sockets = new Set<Socket>();
/** How often the tool has sent all of its messages. */
let told = 0;
/** Called by the tool before each of its messages. */
let onMessage: (n: number) => void = () => undefined;
/** Whether the tool sends more than its messages. */
let goesOn: () => boolean = () => false;

/** Writes a message, and waits while the gateway does not read. */
async function write(response: ServerResponse, message: unknown): Promise<void> {
  if (!response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...(message as object) })}\n\n`)) {
    await once(response, 'drain');
  }
}

async function tell({ id, args, progressToken, response }: UpstreamToolCall) {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const message = 'x'.repeat(Number(args.size));
  for (let progress = 1; progress <= MESSAGES || goesOn(); progress++) {
    if (progress > MESSAGES) await sleep(Math.min(progress - MESSAGES, LONGEST_PAUSE_MS));
    onMessage(progress);
    const params = { progressToken, progress, total: MESSAGES, message };
    await write(response, { method: 'notifications/progress', params });
  }
  told++;
  await write(response, { id, result: { content: [{ type: 'text', text: 'told' }] } });
  response.end();
}

beforeAll(async () => {
  upstream = await startTestUpstream({
    tools: [{ name: 'tell', annotations: { readOnlyHint: true }, handle: tell }],
  });
  everything = await startEverything();
  plane = await startTestPlane({
    servers: [
      HTTP_SERVER('up', upstream.url),
      HTTP_SERVER('everything', everything.url),
      STDIO_SERVER('local'),
    ],
    stdioServers: new Map([['local', everythingCommand(tmpdir())]]),
  });
  plane.app.server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  ({ basic } = plane.addAgent(['*:*']));
});

afterAll(async () => {
  await plane?.stop();
  everything?.stop();
  await upstream?.stop();
});

afterEach(() => {
  onMessage = () => undefined;
  goesOn = () => false;
});

const lastOutcome = async () =>
  (await plane.records()).flatMap((one) => (one.type === 'outcome' ? [one.outcome] : [])).at(-1);

describe.each(CLIENT_NAMES)('%s', (name) => {
  it.each([
    ['Streamable HTTP', 'everything'],
    ['stdio', 'local'],
  ])('receives it in order, from a server over %s', async (_transport, server) => {
    const client = await REAL_CLIENTS[name](`${plane.url}/mcp/v1/${server}`, basic);
    const received: number[] = [];
    const args = { duration: 0.2, steps: MESSAGES };
    const answer = await client.callTool('trigger-long-running-operation', args, ({ progress }) => {
      received.push(progress);
    });
    expect(textOf(answer)).toContain('completed');
    expect(received).toEqual(Array.from(received, (_, i) => i + 1));
    // The SDKs drop progress that they read together with the answer.
    expect(received.length).toBeGreaterThan(MESSAGES * 0.9);
    await client.close();
  });
});

describe.each(WAYS)('a call by hand %s', (way) => {
  const send = async (size: number, id?: number) => {
    const call = await openWay(way, plane, PATH, basic);
    const { headers, message } = call('tell', { size }, id);
    return sendByHand(plane, 'POST', PATH, headers, message);
  };

  it('gets each message under its own token, then the answer', async () => {
    const { response } = await send(10, 7);
    const messages = await readMessages(await response);
    const answer = messages.pop();
    expect(answer).toMatchObject({ id: 7, result: { content: [{ text: 'told' }] } });
    expect(messages.map(({ params }) => params?.progress)).toEqual(
      Array.from({ length: MESSAGES }, (_, i) => i + 1),
    );
    expect(messages.every(({ params }) => params?.progressToken === 'mine')).toBe(true);
  });

  it('leaves no memory behind', async () => {
    const growth = await growthPerRound(5, async () => {
      const { response } = await send(1_000);
      expect(await readMessages(await response)).toHaveLength(MESSAGES + 1);
    });
    // A round is 1,000 messages of 1 KB.
    expect(growth).toBeLessThan(0.25 * MIB);
  });

  it('that does not read neither blocks the server nor holds the messages in memory', async () => {
    const size = 64 * 1024;
    const before = heldBytes();
    const alreadyTold = told;
    await plane.records();
    const seen = { buffered: 0, held: 0 };
    const look = () => {
      for (const socket of sockets) seen.buffered = Math.max(seen.buffered, socket.writableLength);
      return seen.buffered;
    };
    let sent = 0;
    onMessage = (n) => {
      sent = n;
      look();
      if (n % 250 === 0) seen.held = Math.max(seen.held, heldBytes() - before);
    };
    // Messages that come faster than they are inspected are dropped beyond the bounds: on a busy
    // machine so many that the kernel takes what is left. More follow, slower and slower.
    goesOn = () => look() <= 4 * size && sent < MESSAGES + MAX_MORE;
    const { response } = await send(size, 9);
    const unread = await response;
    // The server sent everything while the client read nothing.
    await expect.poll(() => told, { timeout: 90_000 }).toBe(alreadyTold + 1);
    await expect.poll(lastOutcome, PATIENT).toBe('forwarded');
    await expect.poll(look, PATIENT).toBeGreaterThan(4 * size);
    expect(seen.buffered).toBeLessThan(LIMIT + 2 * size);
    // 64 MB were sent.
    expect(seen.held).toBeLessThan(24 * MIB);
    const messages = await readMessages(unread);
    expect(messages.at(-1)).toMatchObject({ id: 9, result: {} });
    expect(messages.length).toBeLessThan(sent);
  }, 180_000);
});
