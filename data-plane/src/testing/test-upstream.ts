/**
 * An MCP server over Streamable HTTP for tests, written by hand on node:http so that it can also
 * do what no good server does. It keeps what it was sent, and checks what a real one would.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { StdioServer } from '../upstream/stdio/servers-file.ts';
import { createStdioAccess } from '../upstream/stdio/stdio-access.ts';

/** Processes that the one tenant of a plane may use. */
export function openStdio(servers: [name: string, server: StdioServer][] = []) {
  return createStdioAccess(new Map(servers), () => false, { warn: () => undefined });
}

export interface SeenRequest {
  httpMethod: string;
  headers: IncomingMessage['headers'];
  /** The body as it came, '' for none. */
  text: string;
  message: Record<string, unknown> | undefined;
}

export interface UpstreamTool {
  name: string;
  description?: string;
  annotations?: Record<string, unknown>;
  inputSchema?: Record<string, unknown>;
  /** Answers the call. The default echoes its arguments. */
  handle?: (call: UpstreamToolCall) => void | Promise<void>;
}

export interface UpstreamToolCall {
  id: number;
  args: Record<string, unknown>;
  progressToken: unknown;
  response: ServerResponse;
  /** Answers with JSON. */
  result(value: unknown): void;
  /** Sends one message of a stream, which it begins with the first. */
  event(message: unknown): void;
}

export interface TestUpstreamOptions {
  tools?: UpstreamTool[];
  /** Whether a GET opens a stream. */
  offersStream?: boolean;
  withSessions?: boolean;
  /** Replaces what it declares at `initialize`. */
  capabilities?: Record<string, unknown>;
  instructions?: string;
  /** Results of other methods, by their name. */
  methods?: Record<string, (params: Record<string, unknown>) => unknown>;
}

export type TestUpstream = Awaited<ReturnType<typeof startTestUpstream>>;

/** Starts the server on a free port of the loopback interface. */
export async function startTestUpstream(options: TestUpstreamOptions = {}) {
  const seen: SeenRequest[] = [];
  const tools = options.tools ?? [{ name: 'echo', annotations: { readOnlyHint: true } }];
  const sessions = new Set<string>();
  const streams = new Set<ServerResponse>();
  let nextSession = 1;
  const overrides: ((request: SeenRequest, response: ServerResponse) => boolean)[] = [];

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8');
      const message = text === '' ? undefined : JSON.parse(text);
      const one = { httpMethod: request.method ?? '', headers: request.headers, text, message };
      seen.push(one);
      if (overrides.some((override) => override(one, response))) return;
      void answer(one, response);
    });
  });

  async function answer({ httpMethod, headers, message }: SeenRequest, response: ServerResponse) {
    const session = headers['mcp-session-id'];
    if (httpMethod === 'GET') {
      if (!options.offersStream) return void response.writeHead(405).end();
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(':open\n\n');
      streams.add(response);
      response.on('close', () => streams.delete(response));
      return;
    }
    if (httpMethod === 'DELETE') {
      sessions.delete(String(session));
      return void response.writeHead(200).end();
    }
    if (message === undefined) return void response.writeHead(400).end();
    const send = (body: unknown) => {
      const text = JSON.stringify(body);
      response.writeHead(200, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(text),
      });
      response.end(text);
    };
    const { id, method } = message as { id?: number; method?: string };
    const result = (value: unknown) => send({ jsonrpc: '2.0', id, result: value });
    if (method === 'initialize') {
      const token = `upstream-session-${nextSession++}`;
      sessions.add(token);
      if (options.withSessions !== false) response.setHeader('mcp-session-id', token);
      return result({
        protocolVersion: '2025-06-18',
        capabilities: options.capabilities ?? { tools: { listChanged: true } },
        serverInfo: { name: 'test-upstream', version: '1' },
        instructions: options.instructions ?? 'Be good.',
      });
    }
    if (options.withSessions !== false && !sessions.has(String(session))) {
      return void response.writeHead(404).end();
    }
    if (id === undefined || method === undefined) return void response.writeHead(202).end();
    if (method === 'tools/list') {
      const listed = tools.map(({ name, description, annotations, inputSchema }) => ({
        name,
        ...(description !== undefined && { description }),
        inputSchema: inputSchema ?? { type: 'object' },
        ...(annotations && { annotations }),
      }));
      return result({ tools: listed });
    }
    const params = message.params as Record<string, unknown>;
    const other = options.methods?.[method];
    if (other !== undefined) return result(await other(params));
    const tool = tools.find((one) => one.name === params.name);
    if (method !== 'tools/call' || tool === undefined) {
      return send({ jsonrpc: '2.0', id, error: { code: -32602, message: 'Unknown tool' } });
    }
    const args = params.arguments as Record<string, unknown>;
    const meta = params._meta as Record<string, unknown> | undefined;
    const event = (value: unknown) => {
      if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`event: message\ndata: ${JSON.stringify(value)}\n\n`);
    };
    const call = { id, args, progressToken: meta?.progressToken, response, result, event };
    if (tool.handle) await tool.handle(call);
    else result({ content: [{ type: 'text', text: JSON.stringify(args) }] });
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    seen,
    /** The messages of one method that came, in their order. */
    messages: (method: string) => seen.filter((one) => one.message?.method === method),
    /** A session for a test that answers `initialize` itself. */
    openSession() {
      const token = `upstream-session-${nextSession++}`;
      sessions.add(token);
      return token;
    },
    /** Forgets all sessions, as a restart does. */
    forgetSessions: () => sessions.clear(),
    /** Whether a request belongs to a known session. */
    knows: (headers: IncomingMessage['headers']) => sessions.has(String(headers['mcp-session-id'])),
    /** Ends every stream that a GET opened. */
    endStreams() {
      for (const stream of streams) stream.end();
    },
    /** Sends a message on every stream that a GET opened. */
    push(message: unknown) {
      for (const stream of streams) stream.write(`data: ${JSON.stringify(message)}\n\n`);
    },
    streams: () => streams.size,
    /** Sees each request first; true: it has answered. */
    override(fn: (request: SeenRequest, response: ServerResponse) => boolean) {
      overrides.unshift(fn);
      return () => {
        overrides.splice(overrides.indexOf(fn), 1);
      };
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
