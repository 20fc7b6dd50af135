/** A server of the MCP SDK for tests: the same tools, resources and prompts in either era. */
import {
  completable,
  inputRequired,
  McpServer,
  type McpServerFactory,
  ResourceTemplate,
} from '@modelcontextprotocol/server';
import { z } from 'zod';

/** What the tools of a test's own server do, where that is not the same for all. */
export interface TestServerHooks {
  /** A call of `hang` was cancelled. */
  onAborted?(): void;
  /** Another tool is there. */
  extra?: string;
}

const text = (value: unknown) => ({
  content: [
    { type: 'text' as const, text: typeof value === 'string' ? value : JSON.stringify(value) },
  ],
});

const NAME = { type: 'object', properties: { name: { type: 'string' } } } as const;
const ask = (message: string) => inputRequired.elicit({ message, requestedSchema: NAME });

/** Builds the factory that both ways of serving take. */
export function testServerFactory(hooks: TestServerHooks = {}): McpServerFactory {
  return () => {
    const server = new McpServer(
      { name: 'modern-test', version: '1' },
      {
        capabilities: {
          tools: { listChanged: true },
          resources: { listChanged: true, subscribe: true },
          logging: {},
        },
        instructions: 'Be good.',
      },
    );
    addTools(server, hooks);
    server.registerResource('note', 'test://note', {}, async (uri) => ({
      contents: [{ uri: uri.href, text: 'a note' }],
    }));
    const template = new ResourceTemplate('test://notes/{id}', { list: undefined });
    server.registerResource('notes', template, {}, async (uri, { id }) => ({
      contents: [{ uri: uri.href, text: `note ${id}` }],
    }));
    const subject = completable(z.string(), (value) =>
      ['apples', 'apricots', 'pears'].filter((one) => one.startsWith(value)),
    );
    server.registerPrompt('tell', { argsSchema: z.object({ subject }) }, ({ subject }) => ({
      messages: [{ role: 'user', content: { type: 'text', text: `Tell of ${subject}.` } }],
    }));
    return server;
  };
}

function addTools(server: McpServer, hooks: TestServerHooks): void {
  server.registerTool('echo', { inputSchema: z.looseObject({}) }, (args) => text(args));
  server.registerTool('progress', { inputSchema: z.object({}) }, async (_args, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken;
    if (progressToken !== undefined) {
      const params = { progressToken, progress: 1, total: 2 };
      await mcpReq.notify({ method: 'notifications/progress', params });
    }
    await mcpReq.log('info', 'half of it');
    return text('done');
  });
  server.registerTool('hang', { inputSchema: z.object({}) }, async (_args, { mcpReq }) => {
    await new Promise<void>((resolve) => {
      mcpReq.signal.addEventListener('abort', () => resolve());
    });
    hooks.onAborted?.();
    return text('too late');
  });
  // Two rounds, of which the second needs the state of the first.
  server.registerTool('ask', { inputSchema: z.looseObject({}) }, (_args, { mcpReq }) => {
    const state = mcpReq.requestState<string>();
    const responses = mcpReq.inputResponses;
    if (responses === undefined) {
      return inputRequired({ inputRequests: { name: ask('Who?') }, requestState: 'one' });
    }
    if (state === 'one') {
      return inputRequired({
        inputRequests: { place: ask('Where?'), roots: inputRequired.listRoots() },
        requestState: `two ${JSON.stringify(responses.name)}`,
      });
    }
    return text({ state, responses });
  });
  const Region = z.object({
    region: z.string().meta({ 'x-mcp-header': 'Region' }),
    count: z.int().optional().meta({ 'x-mcp-header': 'Count' }),
    deep: z.object({ flag: z.boolean().meta({ 'x-mcp-header': 'Flag' }) }).optional(),
  });
  server.registerTool('by-region', { inputSchema: Region }, (args) => text(args));
  if (hooks.extra !== undefined) {
    server.registerTool(hooks.extra, { inputSchema: z.looseObject({}) }, () => text('extra'));
  }
}
