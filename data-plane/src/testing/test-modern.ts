/** Pools, exchanges and servers for the tests of modern servers. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAddressPolicy } from '@governance/shared/outbound/address-policy';
import { assetPath } from '@governance/shared/process/assets';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { type CreateMcpHandlerOptions, createMcpHandler } from '@modelcontextprotocol/server';
import { createUpstreamPool, type UpstreamPoolOptions } from '../upstream/sessions/pool.ts';
import { createAnswerRoom } from '../upstream/shares/answer-room.ts';
import {
  Cancellation,
  type ServerRequest,
  type UpstreamAnswer,
  type UpstreamExchange,
  UpstreamFailure,
  type UpstreamNotification,
  type UpstreamPeer,
  type UpstreamSession,
} from '../upstream/upstream.ts';
import { type TestServerHooks, testServerFactory } from './test-server.ts';
import { openStdio } from './test-upstream.ts';

export const TENANT = 'tenant';
export const LIMIT = 64 * 1024;

/** A pool that is closed by the caller. */
export function openTestPool(over: Partial<UpstreamPoolOptions> = {}) {
  return createUpstreamPool({
    room: createAnswerRoom(LIMIT, () => false),
    limits: { timeoutMs: 5000, messageBytes: LIMIT },
    client: { name: 'test', version: '1' },
    stdio: openStdio(),
    addresses: createAddressPolicy(['*']),
    connections: 20,
    requestsPerAgent: 64,
    requestsPerTenant: 256,
    maxSessions: 20,
    maxProcesses: 20,
    maxOwnProcesses: 8,
    servesSeveral: () => false,
    hasSession: () => false,
    idleMs: 60_000,
    findSealedCredential: () => undefined,
    isRegistered: () => true,
    findServer: () => undefined,
    findIneligibility: () => undefined,
    findDeploymentId: () => 'deployment',
    openSealed: async (sealed) => sealed,
    onNotification: () => undefined,
    log: { info: () => undefined, warn: () => undefined },
    ...over,
  });
}

/** How one of the SDK's servers is started over stdio. */
export function stdioCommand(mode: 'modern' | 'dual' | 'legacy') {
  const script = assetPath('data-plane/src/testing/test-stdio-server.ts');
  const args = ['--import', 'tsx', script, mode];
  return { command: process.execPath, args, env: {}, cwd: assetPath('.') };
}

export interface SeenPost {
  headers: IncomingMessage['headers'];
  message: { id?: number; method: string; params: Record<string, unknown> };
}

/** Serves HTTP on a free port of the loopback interface; `seen` has what was posted. */
export async function startHttp(
  handle: (request: IncomingMessage, response: ServerResponse, body: string) => void,
) {
  const seen: SeenPost[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      if (body !== '') seen.push({ headers: request.headers, message: JSON.parse(body) });
      handle(request, response, body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    seen,
    posts: (method: string) => seen.filter(({ message }) => message.method === method),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export type SdkServer = Awaited<ReturnType<typeof startSdkServer>>;

/** The SDK's server over Streamable HTTP; `legacy: 'reject'` makes it modern only. */
export async function startSdkServer(
  options: CreateMcpHandlerOptions = { legacy: 'reject' },
  hooks: TestServerHooks = {},
) {
  const current = { ...hooks };
  const handler = createMcpHandler((context) => testServerFactory(current)(context), options);
  const serve = toNodeHandler(handler);
  const http = await startHttp((request, response, body) => {
    void serve(request, response, body === '' ? undefined : JSON.parse(body));
  });
  return { ...http, hooks: current, notify: handler.notify };
}

export function testExchange(over: Partial<UpstreamExchange> = {}) {
  const notifications: UpstreamNotification[] = [];
  return {
    notifications,
    cancellation: new Cancellation(),
    onNotification: (one: UpstreamNotification) => void notifications.push(one),
    ...over,
  };
}

/** Asks a session; `members` are those of the params. */
export function ask(
  session: UpstreamSession,
  method: string,
  params: Record<string, unknown> = {},
  exchange: UpstreamExchange = testExchange(),
  retry?: string,
): Promise<UpstreamAnswer> {
  const members = JSON.stringify(params).slice(1, -1);
  return session.request({ method, members, wantsProgress: true, retry }, exchange);
}

export const call = (
  session: UpstreamSession,
  name: string,
  args: Record<string, unknown> = {},
  exchange?: UpstreamExchange,
  retry?: string,
) => ask(session, 'tools/call', { name, arguments: args }, exchange, retry);

/** The text of a tool's result. */
export function textOf({ value }: UpstreamAnswer): string {
  const { content } = value as { content: { text: string }[] };
  return content[0]?.text ?? '';
}

/** The kind of the failure that a request ends with. */
export async function failureOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'none',
    (error) => (error instanceof UpstreamFailure ? error.kind : String(error)),
  );
}

/** A client that answers what servers ask with `answer`; null for as long as it likes. */
export function testPeer(
  capabilities: Record<string, unknown>,
  answer: (request: ServerRequest) => unknown,
) {
  const asked: ServerRequest[] = [];
  const withdrawn: unknown[] = [];
  const peer: UpstreamPeer = {
    id: 'peer',
    bind: () => ({
      capabilities,
      async ask(request) {
        asked.push(request);
        const given = await answer(request);
        return given === null
          ? null
          : JSON.stringify({ jsonrpc: '2.0', id: request.id, ...(given as object) });
      },
      withdraw: (id) => void withdrawn.push(id),
      abandon: () => undefined,
    }),
  };
  return { peer, asked, withdrawn };
}
