/** A server with the features that are hard to carry between the eras, in either era. */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node';
import {
  type CallToolResult,
  createMcpHandler,
  inputRequired,
  inputResponse,
  McpServer,
} from '@modelcontextprotocol/server';

export interface BridgingServer {
  url: string;
  /** Calls of the tool that runs until it is cancelled. */
  waits: Readonly<Waits>;
  close(): Promise<void>;
}

interface Waits {
  begun: number;
  cancelled: number;
}

/** Announces changes that did not happen. */
interface Changes {
  tools(): void;
  updated(uri: string): void;
}

type Handle = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

export const WATCHED = 'note://watched';
const SLOW_MS = 400;

/** Starts one on a free loopback port. */
export async function startBridgingServer(era: 'legacy' | 'modern'): Promise<BridgingServer> {
  const waits: Waits = { begun: 0, cancelled: 0 };
  const { handle, close } = era === 'legacy' ? legacyHandler(waits) : modernHandler(waits);
  const http = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    waits,
    async close() {
      await close();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

function modernHandler(waits: Waits) {
  const changes: Changes = {
    tools: () => handler.notify.toolsChanged(),
    updated: (uri) => handler.notify.resourceUpdated(uri),
  };
  const handler = createMcpHandler(() => newServer(changes, waits), { legacy: 'reject' });
  const handle: Handle = toNodeHandler(handler);
  return { handle, close: () => handler.close() };
}

function legacyHandler(waits: Waits) {
  const sessions = new Map<string, NodeStreamableHTTPServerTransport>();
  const handle: Handle = async (request, response) => {
    const known = sessions.get(String(request.headers['mcp-session-id']));
    if (known) return known.handleRequest(request, response);
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (session) => void sessions.set(session, transport),
    });
    const server: McpServer = newServer(
      {
        tools: () => server.sendToolListChanged(),
        updated: (uri) => void server.server.sendResourceUpdated({ uri }),
      },
      waits,
    );
    server.server.setRequestHandler('resources/subscribe', async () => ({}));
    server.server.setRequestHandler('resources/unsubscribe', async () => ({}));
    await server.connect(transport);
    await transport.handleRequest(request, response);
  };
  const close = async () => {
    await Promise.all([...sessions.values()].map((transport) => transport.close()));
  };
  return { handle, close };
}

const text = (value: string): CallToolResult => ({ content: [{ type: 'text', text: value }] });

function newServer(changes: Changes, waits: Waits): McpServer {
  const server = new McpServer(
    { name: 'bridging', version: '1.0.0' },
    {
      capabilities: {
        tools: { listChanged: true },
        resources: { subscribe: true },
        logging: {},
      },
    },
  );
  server.registerResource(
    'watched',
    WATCHED,
    { description: 'A note to watch', mimeType: 'text/plain' },
    async (uri) => ({ contents: [{ uri: uri.href, text: 'watched' }] }),
  );
  server.registerTool('change', { description: 'Says that things changed' }, async () => {
    changes.tools();
    changes.updated(WATCHED);
    return text('said');
  });
  server.registerTool('log', { description: 'Logs twice' }, async ({ mcpReq }) => {
    await mcpReq.log('debug', 'of no interest');
    await mcpReq.log('error', 'of interest');
    return text('logged');
  });
  server.registerTool('slow', { description: 'Tells how far it is' }, async ({ mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken;
    if (progressToken !== undefined) {
      const params = { progressToken, progress: 1, total: 2 };
      await mcpReq.notify({ method: 'notifications/progress', params });
    }
    await sleep(SLOW_MS);
    return text('at last');
  });
  server.registerTool('wait', { description: 'Runs until it is cancelled' }, async ({ mcpReq }) => {
    waits.begun++;
    await new Promise<void>((resolve) => {
      mcpReq.signal.addEventListener('abort', () => resolve());
    });
    waits.cancelled++;
    return text('cancelled');
  });
  server.registerTool('ask_roots', { description: 'Asks for roots' }, async ({ mcpReq }) => {
    const given = inputResponse(mcpReq.inputResponses, 'roots');
    if (given.kind === 'roots') return text(JSON.stringify(given.roots));
    return inputRequired({ inputRequests: { roots: inputRequired.listRoots() } });
  });
  server.registerTool('job', { description: 'Is a task, declared or not' }, async () => {
    const now = new Date().toISOString();
    return {
      ...{ resultType: 'task', content: [], taskId: 'job-1', status: 'working' },
      ...{ createdAt: now, lastUpdatedAt: now, ttlMs: 60_000 },
    };
  });
  return server;
}
