/**
 * A real modern client, unmodified, through the gateway: to a server of each era, over HTTP and
 * stdio, at its own path and at the unified one. Its client answers every question of a server.
 */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEverythingPlane } from '../../testing/test-everything.ts';
import type { TestPlane } from '../../testing/test-plane.ts';

let plane: TestPlane;

beforeAll(async () => {
  plane = await startEverythingPlane();
});

afterAll(() => plane?.stop());

const capabilities = { roots: {}, sampling: {}, elicitation: {} };

async function connect(path: string, permissions = ['*:*']) {
  const authorization = plane.addAgent(permissions).basic;
  const client = new Client(
    { name: 'journey', version: '2' },
    { capabilities, versionNegotiation: { mode: 'auto' } },
  );
  client.setRequestHandler('sampling/createMessage', () => ({
    model: 'a-model',
    role: 'assistant' as const,
    content: { type: 'text' as const, text: 'sampled by the client' },
  }));
  client.setRequestHandler('elicitation/create', () => ({
    action: 'accept' as const,
    content: { name: 'Ada' },
  }));
  client.setRequestHandler('roots/list', () => ({
    roots: [{ uri: 'file:///work', name: 'the work' }],
  }));
  const url = new URL(`${plane.url}${path}`);
  await client.connect(
    new StreamableHTTPClientTransport(url, { requestInit: { headers: { authorization } } }),
  );
  expect(client.getNegotiatedProtocolVersion()).toBe('2026-07-28');
  return client;
}

const PATHS = [
  ['/mcp/v1/http', ''],
  ['/mcp/v1/stdio', ''],
  ['/mcp/v1', 'http__'],
  ['/mcp/v1', 'stdio__'],
] as const;

describe.each(PATHS)('a modern client at %s (%s) with a legacy server', (path, prefix) => {
  let client: Client;
  beforeAll(async () => {
    client = await connect(path);
  });
  afterAll(() => client?.close());

  const call = async (name: string, args: Record<string, unknown>) =>
    JSON.stringify(await client.callTool({ name: `${prefix}${name}`, arguments: args }));

  it('lists and calls tools, with progress', async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain(`${prefix}echo`);
    expect(await call('echo', { message: 'hi' })).toContain('Echo: hi');
    const received: number[] = [];
    const onprogress = ({ progress }: { progress: number }) => void received.push(progress);
    const name = `${prefix}trigger-long-running-operation`;
    await client.callTool({ name, arguments: { duration: 0.6, steps: 3 } }, { onprogress });
    // The client itself reports rounds: the server asks for its roots at some point. The last step
    // comes with the answer, after which the client may receive no more progress.
    expect([...new Set(received)].slice(0, 2)).toEqual([1, 2]);
  });

  it('receives the questions of the server', async () => {
    const sampling = { prompt: 'say something', maxTokens: 10 };
    expect(await call('trigger-sampling-request', sampling)).toContain('sampled by the client');
    expect(await call('trigger-elicitation-request', {})).toContain('Name: Ada');
    expect(await call('get-roots-list', {})).toContain('file:///work');
  });

  it('reads resources and prompts and completes', async () => {
    const { resources } = await client.listResources();
    const [first] = resources;
    const read = await client.readResource({ uri: first?.uri ?? '' });
    expect(read.contents[0]?.uri).toBe(first?.uri);
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).toContain(`${prefix}simple-prompt`);
    const prompt = await client.getPrompt({ name: `${prefix}simple-prompt` });
    expect(prompt.messages).not.toEqual([]);
    const ref = { type: 'ref/prompt' as const, name: `${prefix}completable-prompt` };
    const argument = { name: 'department', value: 'E' };
    expect((await client.complete({ ref, argument })).completion.values).toContain('Engineering');
  });
});
