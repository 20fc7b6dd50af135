/**
 * Real MCP clients, unmodified, with the resources, prompts, completions, subscriptions and log
 * messages of the reference server, over HTTP and stdio, at its own path and at the unified one.
 */
import {
  Client as ClientV2,
  StreamableHTTPClientTransport as HttpV2,
} from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEverythingPlane } from '../testing/test-everything.ts';
import type { TestAgent, TestPlane } from '../testing/test-plane.ts';

let plane: TestPlane;
let agent: TestAgent;

beforeAll(async () => {
  plane = await startEverythingPlane();
});

afterAll(() => plane?.stop());

/** What the journeys need of a client, the same in both. */
interface Heard {
  client: Pick<
    ClientV1,
    | 'listResources'
    | 'listResourceTemplates'
    | 'readResource'
    | 'listPrompts'
    | 'getPrompt'
    | 'complete'
    | 'subscribeResource'
    | 'unsubscribeResource'
    | 'setLoggingLevel'
    | 'getServerCapabilities'
    | 'close'
  >;
  updates: string[];
  levels: string[];
  call(name: string): Promise<unknown>;
}

const clients: Record<string, (path: string) => Promise<Heard>> = {
  'SDK v1': async (path) => {
    const client = new ClientV1({ name: 'journey', version: '1' });
    const received = { updates: [] as string[], levels: [] as string[] };
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
      received.updates.push(params.uri);
    });
    client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
      received.levels.push(params.level);
    });
    await client.connect(new HttpV1(new URL(`${plane.url}${path}`), options()));
    return { client, ...received, call: (name) => client.callTool({ name, arguments: {} }) };
  },
  'SDK v2': async (path) => {
    const client = new ClientV2({ name: 'journey', version: '2' });
    const received = { updates: [] as string[], levels: [] as string[] };
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
      received.updates.push(params.uri);
    });
    client.setNotificationHandler('notifications/message', ({ params }) => {
      received.levels.push(params.level);
    });
    await client.connect(new HttpV2(new URL(`${plane.url}${path}`), options()));
    const call = (name: string) => client.callTool({ name, arguments: {} });
    return { client: client as unknown as Heard['client'], ...received, call };
  },
};

// An agent of its own for each journey, since subscriptions are shared by agent.
const options = () => {
  agent = plane.addAgent(['*:*']);
  return { requestInit: { headers: { authorization: agent.basic } } };
};

const PATHS: [string, (name: string) => string, (uri: string) => string][] = [
  ['/mcp/v1/http', (name) => name, (uri) => uri],
  ['/mcp/v1/stdio', (name) => name, (uri) => uri],
  ['/mcp/v1', (name) => `http__${name}`, (uri) => `mcp+http+${uri}`],
];

describe.each(Object.keys(clients))('%s', (name) => {
  describe.each(PATHS)('at %s', (path, toolName, toUri) => {
    it('reads, completes, subscribes and listens', async () => {
      const received = await clients[name]?.(path);
      if (received === undefined) throw new Error(`no client ${name}`);
      const { client, updates, levels, call } = received;
      try {
        expect(client.getServerCapabilities()).toMatchObject({
          resources: { subscribe: true, listChanged: true },
          prompts: { listChanged: true },
          completions: {},
          logging: {},
        });
        const { resources } = await client.listResources();
        const first = resources.find((one) => one.uri.includes('architecture'));
        const { contents } = await client.readResource({ uri: first?.uri ?? '' });
        expect(contents[0]?.uri).toBe(first?.uri);
        const { resourceTemplates } = await client.listResourceTemplates();
        const template = toUri('demo://resource/dynamic/text/{resourceId}');
        expect(resourceTemplates.map((one) => one.uriTemplate)).toContain(template);
        const uri = template.replace('{resourceId}', '7');
        const dynamic = await client.readResource({ uri });
        expect(JSON.stringify(dynamic.contents)).toContain('Resource 7');

        const { prompts } = await client.listPrompts();
        expect(prompts.map((one) => one.name)).toContain(toolName('args-prompt'));
        const args = { city: 'Oslo' };
        const prompt = await client.getPrompt({ name: toolName('args-prompt'), arguments: args });
        expect(JSON.stringify(prompt.messages)).toContain('Oslo');
        const { completion } = await client.complete({
          ref: { type: 'ref/prompt', name: toolName('completable-prompt') },
          argument: { name: 'name', value: 'A' },
          context: { arguments: { department: 'Engineering' } },
        });
        expect(completion.values).toEqual(['Alice']);

        await client.setLoggingLevel('emergency');
        await client.subscribeResource({ uri });
        await call(toolName('toggle-simulated-logging'));
        await call(toolName('toggle-subscriber-updates'));
        await expect.poll(() => updates, { timeout: 8_000 }).toContain(uri);
        await client.unsubscribeResource({ uri });
        expect(levels.filter((level) => level !== 'emergency')).toEqual([]);
        await call(toolName('toggle-simulated-logging'));
        await call(toolName('toggle-subscriber-updates'));
      } finally {
        await client.close();
      }
      const records = (await plane.records()).filter((record) => record.type === 'decision');
      const methods = records.filter((one) => one.agent_id === agent.id).map((one) => one.method);
      expect(methods.filter((method) => !method.startsWith('tools/')).sort()).toEqual([
        'completion/complete',
        // At the unified gateway the level is set at each server that can log.
        ...Array.from({ length: path === '/mcp/v1' ? 2 : 1 }, () => 'logging/setLevel'),
        'prompts/get',
        'prompts/list',
        'resources/list',
        'resources/read',
        'resources/read',
        'resources/subscribe',
        'resources/templates/list',
        'resources/unsubscribe',
      ]);
    });
  });
});
