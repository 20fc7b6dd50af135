/**
 * The official SDK's server with a store of events, behind a real plane: it ends the stream of an
 * answer on purpose (polling, MCP 2025-11-25), or it breaks; and with a transport that answers on the
 * session's stream, as some servers do.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { uuidv7 } from '@governance/shared/ids';
import { DEFAULT_DLP_SETTINGS } from '@governance/shared/settings/dlp-settings';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import {
  type EventId,
  type EventStore,
  StreamableHTTPServerTransport,
  type StreamId,
} from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { HTTP_SERVER, startTestPlane, type TestPlane } from '../testing/test-plane.ts';

/** Keeps what comes after an event on its stream, in order (the SDK's example orders by chance). */
class Store implements EventStore {
  readonly #events: { id: EventId; streamId: StreamId; message: JSONRPCMessage }[] = [];

  async storeEvent(streamId: StreamId, message: JSONRPCMessage): Promise<EventId> {
    const id = `${streamId}/${this.#events.length}`;
    this.#events.push({ id, streamId, message });
    return id;
  }

  async getStreamIdForEventId(id: EventId): Promise<StreamId | undefined> {
    return this.#events.find((event) => event.id === id)?.streamId;
  }

  async replayEventsAfter(
    last: EventId,
    { send }: { send: (id: EventId, message: JSONRPCMessage) => Promise<void> },
  ): Promise<StreamId> {
    const at = this.#events.findIndex(({ id }) => id === last);
    const streamId = this.#events[at]?.streamId ?? '';
    for (const event of this.#events.slice(at + 1)) {
      if (event.streamId === streamId) await send(event.id, event.message);
    }
    return streamId;
  }
}

/** Accepts every message but `initialize` (202), and answers on the session's stream. */
class AcceptingTransport implements Transport {
  readonly sessionId = randomUUID();
  readonly #store = new Store();
  onmessage?: Transport['onmessage'];
  onclose?: () => void;
  #stream: ServerResponse | undefined;
  #initialize: ServerResponse | undefined;

  async start(): Promise<void> {}
  async close(): Promise<void> {
    this.onclose?.();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#initialize !== undefined) {
      this.#initialize.writeHead(200, {
        'content-type': 'application/json',
        'mcp-session-id': this.sessionId,
      });
      this.#initialize.end(JSON.stringify(message));
      this.#initialize = undefined;
      return;
    }
    this.#write(await this.#store.storeEvent('only', message), message);
  }

  #write(id: EventId, message: JSONRPCMessage): void {
    if (this.#stream?.writableEnded === false) {
      this.#stream.write(`id: ${id}\nretry: 50\ndata: ${JSON.stringify(message)}\n\n`);
    }
  }

  async handleRequest(request: IncomingMessage, response: ServerResponse, body?: unknown) {
    if (request.method === 'POST') {
      const message = body as JSONRPCMessage;
      if ('method' in message && message.method === 'initialize') this.#initialize = response;
      else response.writeHead(202).end();
      this.onmessage?.(message);
      return;
    }
    if (request.method !== 'GET') return void response.writeHead(200).end();
    this.#stream = response;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(':open\n\n');
    const last = request.headers['last-event-id'];
    const send = async (id: EventId, message: JSONRPCMessage) => this.#write(id, message);
    if (typeof last === 'string') await this.#store.replayEventsAfter(last, { send });
  }

  closeStream(): void {
    this.#stream?.end();
  }
}

type Served = StreamableHTTPServerTransport | AcceptingTransport;

let http: Server;
let plane: TestPlane;
let served: Map<string, Served>;
let createTransport: () => Served;
/** How the stream of an answer is cut after its first message. */
let cut: (transport: Served, closeSseStream: (() => void) | undefined) => void;
let gets: (string | undefined)[];
let done: number;
/** The progress that the agent hears of. */
let heard: number[];

function serveTools(transport: Served): McpServer {
  const server = new McpServer({ name: 'sdk', version: '1' }, { capabilities: { logging: {} } });
  server.registerTool(
    'read_slowly',
    { description: 'Reads', annotations: { readOnlyHint: true } },
    async ({ _meta, sendNotification, closeSSEStream }) => {
      done++;
      const progressToken = _meta?.progressToken ?? '';
      const tell = (progress: number) =>
        sendNotification({ method: 'notifications/progress', params: { progressToken, progress } });
      await tell(1);
      await expect.poll(() => heard).toEqual([1]);
      cut(transport, closeSSEStream);
      await tell(2);
      return { content: [{ type: 'text', text: 'of BADGE-123456' }] };
    },
  );
  return server;
}

beforeEach(async () => {
  served = new Map();
  gets = [];
  done = 0;
  heard = [];
  http = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString('utf8');
    const body = text === '' ? undefined : JSON.parse(text);
    if (request.method === 'GET') gets.push(request.headers['last-event-id'] as string | undefined);
    const id = request.headers['mcp-session-id'];
    if (typeof id === 'string') {
      const transport = served.get(id);
      if (transport === undefined) response.writeHead(404).end();
      else await transport.handleRequest(request, response, body);
      return;
    }
    const transport = createTransport();
    await serveTools(transport).connect(transport as Transport);
    if (transport instanceof AcceptingTransport) served.set(transport.sessionId, transport);
    await transport.handleRequest(request, response, body);
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo;
  plane = await startTestPlane({ servers: [HTTP_SERVER('sdk', `http://127.0.0.1:${port}/mcp`)] });
  const badge = { id: uuidv7(), name: 'badge', regex: 'BADGE-[0-9]{6}', severity: 'critical' };
  plane.setSettings({ dlp: { ...DEFAULT_DLP_SETTINGS, custom: [badge as never] } });
  createTransport = () => {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      eventStore: new Store(),
      retryInterval: 50,
      onsessioninitialized: (id) => void served.set(id, transport),
    });
    return transport;
  };
});

afterEach(async () => {
  await plane.stop();
  http.closeAllConnections();
  http.close();
});

/** Calls it as the SDK's client, from the plane. */
async function call() {
  const client = new Client({ name: 'agent', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL(`${plane.url}/mcp/v1/sdk`), {
    requestInit: { headers: { authorization: plane.addAgent().basic } },
  });
  await client.connect(transport as Transport);
  try {
    return await client.callTool({ name: 'read_slowly', arguments: {} }, undefined, {
      onprogress: ({ progress }) => void heard.push(progress),
    });
  } finally {
    await client.close();
  }
}
const outcome = async () => (await plane.records()).findLast(({ type }) => type === 'outcome');
const REDACTED = { content: [{ type: 'text', text: 'of [REDACTED:badge]' }] };
const RECORDED = { outcome: 'forwarded', result_action: 'replaced' };

it('an answer whose stream the server ends on purpose is fetched, inspected and recorded', async () => {
  cut = (_transport, closeSseStream) => closeSseStream?.();
  expect(await call()).toMatchObject(REDACTED);
  expect(gets.filter((id) => id !== undefined)).toHaveLength(1);
  expect(done).toBe(1);
  expect(heard).toEqual([1, 2]);
  expect(await outcome()).toMatchObject(RECORDED);
});

it('an answer whose connection breaks is, too', async () => {
  cut = () => http.closeAllConnections();
  expect(await call()).toMatchObject(REDACTED);
  expect(gets.filter((id) => id !== undefined)).toHaveLength(1);
  expect(done).toBe(1);
  expect(heard).toEqual([1, 2]);
});

it.each([
  ['ends', (transport: Served) => void (transport as AcceptingTransport).closeStream()],
  ['breaks', () => http.closeAllConnections()],
] as const)('so is one on the session’s stream, which %s', async (_name, how) => {
  createTransport = () => new AcceptingTransport();
  cut = how;
  expect(await call()).toMatchObject(REDACTED);
  expect(gets.filter((id) => id !== undefined)).toHaveLength(1);
  expect(done).toBe(1);
  expect(heard).toEqual([1, 2]);
  expect(await outcome()).toMatchObject(RECORDED);
});
