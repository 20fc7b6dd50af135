/**
 * Clients for the tests of limits: the real ones, and one by hand that reads only on request
 * to and goes away when it likes.
 */
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import {
  Client as ClientV2,
  StreamableHTTPClientTransport as HttpV2,
} from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { modernRequest } from './test-modern-client.ts';
import type { TestPlane } from './test-plane.ts';

type ToolResult = Record<string, unknown>;

export interface RealClient {
  callTool(
    name: string,
    args?: Record<string, unknown>,
    onProgress?: (progress: { progress: number }) => void,
  ): Promise<ToolResult>;
  close(): Promise<void>;
}

/** `rounds` is how often a modern client asks again by itself; its own limit, ten, where left out. */
type Connect = (url: string, authorization: string, rounds?: number) => Promise<RealClient>;

export const REAL_CLIENTS: Record<'SDK v1' | 'SDK v2' | 'SDK v2, modern', Connect> = {
  'SDK v1': async (url, authorization) => {
    const client = new ClientV1({ name: 'limits', version: '1' });
    await client.connect(new HttpV1(new URL(url), { requestInit: { headers: { authorization } } }));
    return {
      callTool: (name, args = {}, onprogress) =>
        client.callTool({ name, arguments: args }, undefined, { onprogress }),
      close: () => client.close(),
    };
  },
  'SDK v2': (url, authorization) => connectV2(url, authorization, '2025-11-25'),
  'SDK v2, modern': (url, authorization, rounds) =>
    connectV2(url, authorization, '2026-07-28', rounds),
};

async function connectV2(
  url: string,
  authorization: string,
  revision: string,
  maxRounds?: number,
): Promise<RealClient> {
  const mode = revision === '2026-07-28' ? 'auto' : 'legacy';
  const client = new ClientV2(
    { name: 'limits', version: '2' },
    { versionNegotiation: { mode }, ...(maxRounds && { inputRequired: { maxRounds } }) },
  );
  await client.connect(new HttpV2(new URL(url), { requestInit: { headers: { authorization } } }));
  const spoken = client.getNegotiatedProtocolVersion();
  if (spoken !== revision) throw new Error(`the client speaks ${spoken}, not ${revision}`);
  return {
    callTool: (name, args = {}, onprogress) =>
      client.callTool({ name, arguments: args }, { onprogress }),
    close: () => client.close(),
  };
}

export const LEGACY_CLIENTS = ['SDK v1', 'SDK v2'] as const;
export const CLIENT_NAMES = Object.keys(REAL_CLIENTS) as (keyof typeof REAL_CLIENTS)[];

/** The text of a tool's answer. */
export function textOf({ content }: ToolResult): string {
  const [first] = content as { text?: string }[];
  return first?.text ?? '';
}

/** For `expect.poll`: a machine that does other things too takes its time. */
export const PATIENT = { timeout: 30_000, interval: 10 };

export const toolCall = (name: string, args: Record<string, unknown> = {}, id: number = 1) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args, _meta: { progressToken: 'mine' } },
});

export interface Exchange {
  /** The head of the answer; nothing of its body was read. */
  response: Promise<IncomingMessage>;
  /** Ends the connection, whatever is under way. */
  cut(): void;
}

/** How a call by hand is made. */
export const WAYS = ['in a session', 'without a session', 'of MCP 2026-07-28'] as const;

export interface CallByHand {
  headers: Record<string, string>;
  message: unknown;
}

/** @returns what makes the calls of one client */
export async function openWay(
  way: (typeof WAYS)[number],
  plane: Pick<TestPlane, 'post'>,
  path: string,
  authorization: string,
): Promise<(name: string, args?: Record<string, unknown>, id?: number) => CallByHand> {
  if (way === 'of MCP 2026-07-28') {
    return (name, args = {}, id = 1) => {
      const options = { authorization, id, meta: { progressToken: 'mine' } };
      const params = { name, arguments: args };
      const { headers, body } = modernRequest('tools/call', params, options);
      return { headers, message: body };
    };
  }
  const headers =
    way === 'in a session' ? await openSession(plane, path, authorization) : { authorization };
  return (name, args, id) => ({ headers, message: toolCall(name, args, id) });
}

/** One request on a connection of its own. */
export function sendByHand(
  plane: Pick<TestPlane, 'url'>,
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  headers: Record<string, string>,
  message?: unknown,
): Exchange {
  const request = httpRequest(`${plane.url}${path}`, {
    method,
    agent: false,
    headers: {
      accept: method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream',
      ...(message !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
  });
  const response = once(request, 'response').then(([answer]) => answer as IncomingMessage);
  // A client that goes away hears so, and does not care.
  response.catch(() => undefined);
  request.on('error', () => undefined);
  request.end(message === undefined ? undefined : JSON.stringify(message));
  return { response, cut: () => request.destroy() };
}

/** Reads an answer to its end. */
export async function readAll(response: IncomingMessage): Promise<string> {
  response.setEncoding('utf8');
  let text = '';
  for await (const chunk of response) text += chunk;
  return text;
}

/** The JSON-RPC messages of an answer, which is JSON or a stream of events. */
export async function readMessages(
  response: IncomingMessage,
): Promise<Record<string, Record<string, unknown>>[]> {
  const text = await readAll(response);
  if (response.headers['content-type']?.startsWith('application/json')) return [JSON.parse(text)];
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice('data: '.length)));
}

/** Opens a session by hand: the headers of its requests. */
export async function openSession(
  plane: Pick<TestPlane, 'post'>,
  path: string,
  authorization: string,
  capabilities: Record<string, unknown> = {},
): Promise<Record<string, string>> {
  const params = { protocolVersion: '2025-06-18', capabilities, clientInfo: {} };
  const message = { jsonrpc: '2.0', id: 0, method: 'initialize', params };
  const { headers } = await plane.post(path, message, { authorization });
  return { authorization, 'mcp-session-id': headers.get('mcp-session-id') ?? '' };
}
