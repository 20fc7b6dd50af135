/**
 * MCP Apps through the gateway: servers of the SDKs that link pages only for clients that declare the
 * extension, and the SDKs' clients, which do or do not. Other extensions pass in no direction.
 */
import { randomUUID } from 'node:crypto';
import {
  Client as ClientV2,
  StreamableHTTPClientTransport as HttpV2,
} from '@modelcontextprotocol/client';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Server as ServerV1 } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import {
  CallToolRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { createMcpHandler, Server as ServerV2 } from '@modelcontextprotocol/server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PATIENT } from '../testing/test-client.ts';
import { startHttp } from '../testing/test-modern.ts';
import {
  HTTP_SERVER,
  startTestPlane,
  type TestAgent,
  type TestPlane,
} from '../testing/test-plane.ts';

const APPS = 'io.modelcontextprotocol/ui';
const HTML = 'text/html;profile=mcp-app';
const PAGE = { uri: 'ui://clock/page.html', mimeType: HTML, text: '<!doctype html><p>12:00</p>' };
const OTHERS = { 'com.example/radio': { station: 'one' }, 'io.modelcontextprotocol/radio': {} };
/** What a client of MCP Apps declares, with what else it may have. */
const WITH_APPS = { extensions: { [APPS]: { mimeTypes: [HTML] } } };

type Declared = Record<string, unknown> | undefined;

const own = {
  capabilities: {
    tools: { listChanged: true },
    resources: { listChanged: true },
    extensions: { [APPS]: {}, ...OTHERS },
  },
};
const tools = (declared: Declared) => {
  const extensions = declared?.extensions as Record<string, { mimeTypes?: string[] }> | undefined;
  const isShown = extensions?.[APPS]?.mimeTypes?.includes(HTML);
  const _meta = { ui: { resourceUri: PAGE.uri, visibility: ['model', 'app'] } };
  const tool = { name: 'clock', inputSchema: { type: 'object' as const } };
  return { tools: [{ ...tool, ...(isShown && { _meta }) }] };
};
const saying = (declared: Declared) => ({
  content: [{ type: 'text' as const, text: JSON.stringify(declared ?? {}) }],
});

/** A server with sessions; `sessions` are those that clients have opened. */
async function startLegacy() {
  const sessions = new Map<
    string,
    { server: ServerV1; transport: StreamableHTTPServerTransport }
  >();
  const open = async () => {
    const server = new ServerV1({ name: 'clock', version: '1' }, own);
    const declared = () => server.getClientCapabilities();
    server.setRequestHandler(ListToolsRequestSchema, () => tools(declared()));
    server.setRequestHandler(CallToolRequestSchema, () => saying(declared()));
    server.setRequestHandler(ReadResourceRequestSchema, () => ({ contents: [PAGE] }));
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, { server, transport }),
      onsessionclosed: (id) => void sessions.delete(id),
    });
    await server.connect(transport as Parameters<ServerV1['connect']>[0]);
    return transport;
  };
  const http = await startHttp(async (request, response, body) => {
    const known = sessions.get(String(request.headers['mcp-session-id']));
    const transport = known?.transport ?? (await open());
    await transport.handleRequest(request, response, body === '' ? undefined : JSON.parse(body));
  });
  return { ...http, sessions };
}

/** A server without sessions: what it is told comes with each request. */
function startModern() {
  const handler = createMcpHandler(
    () => {
      const server = new ServerV2({ name: 'clock', version: '1' }, own);
      const declared = () => server.getClientCapabilities();
      server.setRequestHandler('tools/list', () => tools(declared()));
      server.setRequestHandler('tools/call', () => saying(declared()));
      server.setRequestHandler('resources/read', () => ({ contents: [PAGE] }));
      return server;
    },
    { legacy: 'reject' },
  );
  const serve = toNodeHandler(handler);
  return startHttp((request, response, body) => {
    void serve(request, response, body === '' ? undefined : JSON.parse(body));
  });
}

let plane: TestPlane;
let agent: TestAgent;
let legacy: Awaited<ReturnType<typeof startLegacy>>;
let modern: Awaited<ReturnType<typeof startModern>>;

beforeAll(async () => {
  legacy = await startLegacy();
  modern = await startModern();
  plane = await startTestPlane({
    servers: [HTTP_SERVER('legacy', legacy.url), HTTP_SERVER('modern', modern.url)],
  });
  agent = plane.addAgent(['*:*']);
});

afterAll(async () => {
  await plane?.stop();
  await Promise.all([legacy?.stop(), modern?.stop()]);
});

interface AnyClient {
  announced(): Declared;
  listTools(): Promise<{ tools: { _meta?: unknown }[] }>;
  readResource(params: { uri: string }): Promise<{ contents: unknown[] }>;
  callTool(params: { name: string }): Promise<unknown>;
  close(): Promise<void>;
}

type Connect = (url: string, capabilities: object, authorization?: string) => Promise<AnyClient>;

const init = (authorization = agent.basic) => ({ requestInit: { headers: { authorization } } });

const connectV2 =
  (mode: 'auto' | 'legacy'): Connect =>
  async (url, capabilities, authorization) => {
    const client = new ClientV2(
      { name: 'host', version: '2' },
      { capabilities, versionNegotiation: { mode } },
    );
    await client.connect(new HttpV2(new URL(url), init(authorization)));
    return Object.assign(client, { announced: () => client.getServerCapabilities() });
  };

const CLIENTS: Record<string, Connect> = {
  'SDK v1': async (url, capabilities, authorization) => {
    const client = new ClientV1({ name: 'host', version: '1' }, { capabilities });
    await client.connect(new HttpV1(new URL(url), init(authorization)));
    return Object.assign(client, { announced: () => client.getServerCapabilities() });
  },
  'SDK v2, legacy': connectV2('legacy'),
  'SDK v2, modern': connectV2('auto'),
};
const WAYS = Object.keys(CLIENTS).flatMap((client) =>
  ['legacy', 'modern'].map((server) => ({ client, server })),
);

async function connect(client: string, path: string, capabilities: object, as = agent.basic) {
  const open = CLIENTS[client];
  if (open === undefined) throw new Error(`no client ${client}`);
  return open(`${plane.url}/mcp/v1${path}`, capabilities, as);
}

/** What the server behind a client's path was told of it. */
async function toldOf(client: AnyClient, tool = 'clock'): Promise<unknown> {
  const { content } = (await client.callTool({ name: tool })) as { content: { text: string }[] };
  return JSON.parse(content[0]?.text ?? '');
}

describe.each(WAYS)('$client at a $server server', ({ client: name, server }) => {
  it('is linked the pages of MCP Apps where it declares the extension', async () => {
    const client = await connect(name, `/${server}`, WITH_APPS);
    const { tools } = await client.listTools();
    expect(tools).toMatchObject([{ name: 'clock', _meta: { ui: { resourceUri: PAGE.uri } } }]);
    expect((await client.readResource({ uri: PAGE.uri })).contents).toEqual([PAGE]);
    expect(await toldOf(client)).toEqual(WITH_APPS);
    expect(client.announced()?.extensions).toEqual({ [APPS]: {} });
    await client.close();
  });

  it('is linked none otherwise, although another client of its agent is', async () => {
    const other = await connect(name, `/${server}`, WITH_APPS);
    await other.listTools();
    const client = await connect(name, `/${server}`, {});
    expect((await client.listTools()).tools[0]?._meta).toBeUndefined();
    expect(await toldOf(client)).toEqual({});
    expect(await toldOf(other)).toEqual(WITH_APPS);
    await Promise.all([client.close(), other.close()]);
  });

  it('declares no other extension, and nothing that it wrote into this one', async () => {
    const secret = { mimeTypes: ['my key is hunter2', HTML], note: 'hunter2' };
    const extensions = { [APPS]: secret, ...OTHERS };
    const client = await connect(name, `/${server}`, { extensions, experimental: { radio: {} } });
    expect(await toldOf(client)).toEqual(WITH_APPS);
    await client.close();
  });

  it('does not declare it for pages that the gateway does not know', async () => {
    const extensions = { [APPS]: { mimeTypes: ['text/uri-list'] } };
    const client = await connect(name, `/${server}`, { extensions });
    expect(await toldOf(client)).toEqual({});
    expect((await client.listTools()).tools[0]?._meta).toBeUndefined();
    await client.close();
  });

  it('declares what it can be asked beside it', async () => {
    const client = await connect(name, `/${server}`, { ...WITH_APPS, roots: {} });
    expect(await toldOf(client)).toEqual({ ...WITH_APPS, roots: {} });
    await client.close();
  });
});

describe('At the unified gateway', () => {
  it.each(Object.keys(CLIENTS))('%s is announced the extension, and linked pages', async (name) => {
    const client = await connect(name, '', WITH_APPS);
    expect(client.announced()?.extensions).toEqual({ [APPS]: {} });
    const { tools } = await client.listTools();
    expect(tools).toHaveLength(2);
    for (const { _meta } of tools) {
      expect(_meta).toMatchObject({ ui: { resourceUri: PAGE.uri } });
    }
    await client.close();
  });
});

describe('Sessions with a legacy server', () => {
  const countSessions = () => legacy.sessions.size;

  it('are shared by clients of one agent that declare the same, and by no others', async () => {
    const [one, two] = [plane.addAgent(['*:*']), plane.addAgent(['*:*'])];
    const before = countSessions();
    const open = (as: TestAgent, capabilities: object) =>
      connect('SDK v1', '/legacy', capabilities, as.basic);
    const clients = [await open(one, WITH_APPS), await open(one, WITH_APPS)];
    expect(countSessions() - before).toBe(1);
    clients.push(await open(one, {}), await open(one, {}));
    expect(countSessions() - before).toBe(2);
    clients.push(await open(two, WITH_APPS));
    expect(countSessions() - before).toBe(3);
    // A client that can be asked something has its own.
    clients.push(await open(one, { ...WITH_APPS, elicitation: {} }));
    expect(countSessions() - before).toBe(4);
    await Promise.all(clients.map((client) => client.close()));
  });

  it('tell their news to their own clients', async () => {
    const own = plane.addAgent(['*:*']);
    const heard = new Set<string>();
    const open = async (name: string, capabilities: object) => {
      const known = new Set(legacy.sessions.keys());
      const client = await connect('SDK v1', '/legacy', capabilities, own.basic);
      Object.assign(client, {
        fallbackNotificationHandler: async ({ method }: { method: string }) =>
          void heard.add(`${name} ${method}`),
      });
      const session = [...legacy.sessions].find(([id]) => !known.has(id))?.[1];
      return { client, server: session?.server };
    };
    const [one, other] = [await open('one', WITH_APPS), await open('other', {})];
    const bothHeard = async () => {
      await one.server?.sendToolListChanged();
      await other.server?.sendResourceListChanged();
      return heard.size >= 2;
    };
    await expect.poll(bothHeard, PATIENT).toBe(true);
    expect([...heard].sort()).toEqual([
      'one notifications/tools/list_changed',
      'other notifications/resources/list_changed',
    ]);
    await Promise.all([one.client.close(), other.client.close()]);
  });

  it('ask a client nothing that only declared an extension', async () => {
    const own = plane.addAgent(['*:*']);
    const known = new Set(legacy.sessions.keys());
    const client = await connect('SDK v1', '/legacy', WITH_APPS, own.basic);
    await client.listTools();
    const server = [...legacy.sessions].find(([id]) => !known.has(id))?.[1].server;
    for (const method of ['roots/list', 'ui/open-link', 'com.example/tune']) {
      const asked = server?.request({ method }, ListToolsRequestSchema);
      await expect(asked).rejects.toThrow(`The client does not support ${method}.`);
    }
    await client.close();
  });
});

it('A policy keeps pages out, and leaves the tools', async () => {
  const rego = `package test.pages
deny contains "No pages" if startswith(input.request.resource, "ui://")
`;
  const own = await startTestPlane({
    servers: [HTTP_SERVER('legacy', legacy.url)],
    policies: [{ id: 'pages', name: 'pages', rego }],
  });
  try {
    const { basic } = own.addAgent(['*:*']);
    const client = await CLIENTS['SDK v1']?.(`${own.url}/mcp/v1/legacy`, WITH_APPS, basic);
    await expect(client?.readResource({ uri: PAGE.uri })).rejects.toMatchObject({ code: -32003 });
    expect(await client?.callTool({ name: 'clock' })).toMatchObject({ content: [{}] });
    await client?.close();
  } finally {
    await own.stop();
  }
});
