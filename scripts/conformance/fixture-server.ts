/**
 * The MCP server that the conformance suite tests, once directly and once behind the gateway:
 * Streamable HTTP of both eras at one address, with sessions for the legacy one, and everything
 * that the suite asks of a server.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  localhostHostValidation,
  localhostOriginValidation,
  NodeStreamableHTTPServerTransport,
  toWebRequest,
} from '@modelcontextprotocol/node';
import {
  completable,
  type EventStore,
  isLegacyRequest,
  type JSONRPCMessage,
  McpServer,
  type PromptMessage,
  ResourceTemplate,
  type ServerCapabilities,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { registerInputRequired, verifyRequestState } from './fixture-input-required.ts';
import { createModernFixture, type ModernFixture } from './fixture-modern.ts';
import { type ListChanges, PIXEL, registerTools } from './fixture-tools.ts';

export interface FixtureServer {
  url: string;
  close(): Promise<void>;
}

/** Starts the server on a free port of the loopback address. */
export async function startFixtureServer(): Promise<FixtureServer> {
  const sessions = new Map<string, NodeStreamableHTTPServerTransport>();
  const modern = createModernFixture(newServer);
  const hostIsLocal = localhostHostValidation();
  const originIsLocal = localhostOriginValidation();
  const http = createServer((request, response) => {
    // Each of them sends the 403 itself and returns false.
    if (!hostIsLocal(request, response) || !originIsLocal(request, response)) return;
    handle(sessions, modern, request, response).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500);
      response.end(String(error));
    });
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    async close() {
      await Promise.all([...sessions.values()].map((transport) => transport.close()));
      await modern.close();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

async function handle(
  sessions: Map<string, NodeStreamableHTTPServerTransport>,
  modern: ModernFixture,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = request.method === 'POST' ? await readJson(request) : undefined;
  const isLegacy = await isLegacyRequest(await toWebRequest(request, body), body);
  if (!isLegacy) return modern.handle(request, response, body);
  const id = request.headers['mcp-session-id'];
  const known = typeof id === 'string' ? sessions.get(id) : undefined;
  if (known) return known.handleRequest(request, response, body);
  if (id !== undefined) {
    response.writeHead(404, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify({
        jsonrpc: '2.0',
        id: null,
        error: { code: -32001, message: 'Session not found' },
      }),
    );
    return;
  }
  // A transport without a session refuses everything but an initialize.
  const transport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (session) => void sessions.set(session, transport),
    onsessionclosed: (session) => void sessions.delete(session),
    eventStore: newEventStore(),
    retryInterval: 500,
  });
  const server: McpServer = newServer({
    tools: () => server.sendToolListChanged(),
    prompts: () => server.sendPromptListChanged(),
  });
  await server.connect(transport);
  await transport.handleRequest(request, response, body);
}

/** @returns undefined for invalid JSON, which either handler refuses */
async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown;
  } catch {
    return undefined;
  }
}

/** What was sent on one session's streams, for clients that reconnect. */
function newEventStore(): EventStore {
  const events: { id: string; streamId: string; message: JSONRPCMessage }[] = [];
  return {
    async storeEvent(streamId, message) {
      const id = `${streamId}_${events.length}`;
      events.push({ id, streamId, message });
      return id;
    },
    async getStreamIdForEventId(eventId) {
      return events.find((event) => event.id === eventId)?.streamId;
    },
    async replayEventsAfter(lastEventId, { send }) {
      const last = events.findIndex((event) => event.id === lastEventId);
      const streamId = events[last]?.streamId;
      if (streamId === undefined) throw new Error('no such event');
      for (const event of events.slice(last + 1)) {
        // A priming event has an empty message, which is not replayed.
        if (event.streamId !== streamId || !('jsonrpc' in event.message)) continue;
        await send(event.id, event.message);
      }
      return streamId;
    },
  };
}

function newServer(changes: ListChanges, capabilities: ServerCapabilities = {}): McpServer {
  const server = new McpServer(
    { name: 'conformance-fixture', version: '1.0.0' },
    {
      capabilities: {
        tools: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        prompts: { listChanged: true },
        completions: {},
        logging: {},
        ...capabilities,
      },
      requestState: { verify: verifyRequestState },
    },
  );
  registerTools(server, changes);
  registerInputRequired(server);
  registerResources(server);
  registerPrompts(server);
  return server;
}

function registerResources(server: McpServer): void {
  const add = (
    path: string,
    mimeType: string,
    content: { text: string } | { blob: string },
  ): void => {
    server.registerResource(
      path,
      `test://${path}`,
      { description: `The resource ${path}`, mimeType },
      async (uri) => ({ contents: [{ uri: uri.href, mimeType, ...content }] }),
    );
  };
  add('static-text', 'text/plain', { text: 'This is the content of the static text resource.' });
  add('static-binary', 'image/png', { blob: PIXEL });
  add('watched-resource', 'text/plain', { text: 'A resource to subscribe to.' });
  add('example-resource', 'text/plain', { text: 'A resource that a prompt embeds.' });
  server.registerResource(
    'template',
    new ResourceTemplate('test://template/{id}/data', { list: undefined }),
    { description: 'A resource with a parameter', mimeType: 'application/json' },
    async (uri, { id }) => ({
      contents: [
        {
          uri: uri.href,
          mimeType: 'application/json',
          text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
        },
      ],
    }),
  );
  server.server.setRequestHandler('resources/subscribe', async () => ({}));
  server.server.setRequestHandler('resources/unsubscribe', async () => ({}));
}

function registerPrompts(server: McpServer): void {
  const user = (content: PromptMessage['content']): PromptMessage => ({ role: 'user', content });
  const said = (text: string): PromptMessage => user({ type: 'text', text });
  server.registerPrompt('test_simple_prompt', { description: 'Without arguments' }, () => ({
    messages: [said('This is a simple prompt for testing.')],
  }));
  const completed = (description: string) =>
    completable(z.string().describe(description), (value) =>
      ['paris', 'park', 'party', 'test'].filter((word) => word.startsWith(value)),
    );
  server.registerPrompt(
    'test_prompt_with_arguments',
    {
      description: 'With two arguments',
      argsSchema: z.object({ arg1: completed('First'), arg2: completed('Second') }),
    },
    ({ arg1, arg2 }) => ({
      messages: [said(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)],
    }),
  );
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    {
      description: 'With a resource inside',
      argsSchema: z.object({ resourceUri: z.string().describe('URI of the resource') }),
    },
    ({ resourceUri }) => ({
      messages: [
        user({
          type: 'resource',
          resource: {
            uri: resourceUri,
            mimeType: 'text/plain',
            text: 'Embedded resource content for testing.',
          },
        }),
        said('Please process the embedded resource above.'),
      ],
    }),
  );
  server.registerPrompt('test_prompt_with_image', { description: 'With an image inside' }, () => ({
    messages: [
      user({ type: 'image', data: PIXEL, mimeType: 'image/png' }),
      said('Please analyze the image above.'),
    ],
  }));
}
