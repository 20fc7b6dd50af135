/** An MCP server that speaks only revision 2026-07-28. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { toNodeHandler } from '@modelcontextprotocol/node';
import {
  acceptedContent,
  type CallToolResult,
  completable,
  createMcpHandler,
  fromJsonSchema,
  inputRequired,
  inputResponse,
  McpServer,
} from '@modelcontextprotocol/server';
import { z } from 'zod';

const GREETINGS: Record<string, string> = { en: 'Hello', nb: 'Hei' };
const STEP_MS = 50;

const text = (value: string): CallToolResult => ({ content: [{ type: 'text', text: value }] });

/** Starts it on a free loopback port. */
export async function startModernServer(): Promise<{ url: string; close(): Promise<void> }> {
  const handler = createMcpHandler(newServer, { legacy: 'reject' });
  const handle = toNodeHandler(handler);
  const http = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    async close() {
      await handler.close();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

function newServer(): McpServer {
  const server = new McpServer({ name: 'modern', version: '1.0.0' });
  registerTools(server);
  registerAskingTools(server);
  server.registerResource(
    'welcome',
    'note://welcome',
    { description: 'A note', mimeType: 'text/plain' },
    async (uri) => ({ contents: [{ uri: uri.href, text: 'A note of the modern server' }] }),
  );
  const towns = ['Oslo', 'Bergen'];
  server.registerPrompt(
    'letter',
    {
      description: 'The beginning of a letter',
      argsSchema: z.object({
        to: completable(z.string(), (value) => towns.filter((town) => town.startsWith(value))),
      }),
    },
    ({ to }) => ({ messages: [{ role: 'user', content: { type: 'text', text: `Dear ${to}` } }] }),
  );
  return server;
}

function registerTools(server: McpServer): void {
  // A variable, since the schema's type lacks this member.
  const language = {
    type: 'string',
    enum: Object.keys(GREETINGS),
    'x-mcp-header': 'Language',
  } as const;
  server.registerTool(
    'greet',
    {
      description: 'Greets in a language that a header names too',
      inputSchema: fromJsonSchema<{ name: string; language: string }>({
        type: 'object',
        properties: { name: { type: 'string' }, language },
        required: ['name', 'language'],
      }),
    },
    async ({ name, language }) => text(`${GREETINGS[language]}, ${name}`),
  );
  server.registerTool('erase_notes', { description: 'Erases every note' }, async () =>
    text('erased'),
  );
  server.registerTool(
    'count_steps',
    { description: 'Tells its progress', inputSchema: z.object({ steps: z.number() }) },
    async ({ steps }, context) => {
      const progressToken = context.mcpReq._meta?.progressToken;
      for (let progress = 1; progress <= steps; progress++) {
        if (progressToken !== undefined) {
          const params = { progressToken, progress, total: steps };
          await context.mcpReq.notify({ method: 'notifications/progress', params });
        }
        await sleep(STEP_MS);
      }
      return text('counted');
    },
  );
}

function registerAskingTools(server: McpServer): void {
  const nameSchema = z.object({ name: z.string() });
  server.registerTool('ask_name', { description: 'Asks who is there' }, async (context) => {
    const given = acceptedContent(context.mcpReq.inputResponses, 'name', nameSchema);
    if (given !== undefined) return text(`You are ${given.name}`);
    const name = inputRequired.elicit({ message: 'Your name?', requestedSchema: nameSchema });
    return inputRequired({ inputRequests: { name }, requestState: 'asked-for-the-name' });
  });
  server.registerTool('ask_model', { description: 'Asks the model' }, async (context) => {
    const given = inputResponse(context.mcpReq.inputResponses, 'answer');
    if (given.kind === 'sampling') return text(JSON.stringify(given.result.content));
    const answer = inputRequired.createMessage({
      messages: [{ role: 'user', content: { type: 'text', text: 'Say something' } }],
      maxTokens: 10,
    });
    return inputRequired({ inputRequests: { answer } });
  });
}
