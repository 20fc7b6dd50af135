/**
 * The reference server asks real clients, unmodified, for a completion, a form and their roots,
 * through the gateway: over HTTP and stdio, at its own path and at the unified one.
 */
import {
  Client as ClientV2,
  StreamableHTTPClientTransport as HttpV2,
} from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEverythingPlane } from '../testing/test-everything.ts';
import type { TestPlane } from '../testing/test-plane.ts';

let plane: TestPlane;

beforeAll(async () => {
  plane = await startEverythingPlane();
});

afterAll(() => plane?.stop());

const capabilities = { roots: { listChanged: true }, sampling: {}, elicitation: {} };
const SAMPLED = {
  model: 'a-model',
  role: 'assistant' as const,
  content: { type: 'text' as const, text: 'sampled by the client' },
};
const FILLED = { action: 'accept' as const, content: { name: 'Ada' } };
const ROOTS = { roots: [{ uri: 'file:///work', name: 'the work' }] };

interface Asked {
  call(name: string, args: Record<string, unknown>): Promise<string>;
  close(): Promise<void>;
}

const options = () => ({
  requestInit: { headers: { authorization: plane.addAgent(['*:*']).basic } },
});

const clients: Record<string, (path: string) => Promise<Asked>> = {
  'SDK v1': async (path) => {
    const client = new ClientV1({ name: 'journey', version: '1' }, { capabilities });
    client.setRequestHandler(CreateMessageRequestSchema, () => SAMPLED);
    client.setRequestHandler(ElicitRequestSchema, () => FILLED);
    client.setRequestHandler(ListRootsRequestSchema, () => ROOTS);
    await client.connect(new HttpV1(new URL(`${plane.url}${path}`), options()));
    return {
      call: async (name, args) => JSON.stringify(await client.callTool({ name, arguments: args })),
      close: () => client.close(),
    };
  },
  'SDK v2': async (path) => {
    const client = new ClientV2({ name: 'journey', version: '2' }, { capabilities });
    client.setRequestHandler('sampling/createMessage', () => SAMPLED);
    client.setRequestHandler('elicitation/create', () => FILLED);
    client.setRequestHandler('roots/list', () => ROOTS);
    await client.connect(new HttpV2(new URL(`${plane.url}${path}`), options()));
    return {
      call: async (name, args) => JSON.stringify(await client.callTool({ name, arguments: args })),
      close: () => client.close(),
    };
  },
};

const PATHS = [
  ['/mcp/v1/http', ''],
  ['/mcp/v1/stdio', ''],
  ['/mcp/v1', 'http__'],
  ['/mcp/v1', 'stdio__'],
] as const;

describe.each(Object.keys(clients))('%s', (name) => {
  it.each(PATHS)('at %s (%s) is asked', async (path, prefix) => {
    const client = await clients[name]?.(path);
    if (client === undefined) throw new Error(`no client ${name}`);
    try {
      const sampling = { prompt: 'say something', maxTokens: 10 };
      const sampled = await client.call(`${prefix}trigger-sampling-request`, sampling);
      expect(sampled).toContain('sampled by the client');
      const filled = await client.call(`${prefix}trigger-elicitation-request`, {});
      expect(filled).toContain('Name: Ada');
      const roots = await client.call(`${prefix}get-roots-list`, {});
      expect(roots).toContain('file:///work');
    } finally {
      await client.close();
    }
  });
});
