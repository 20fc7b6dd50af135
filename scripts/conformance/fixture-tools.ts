/**
 * The tools that the conformance suite calls. The suite prescribes their names, arguments and
 * answers: it recognises a server by them.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type CallToolResult,
  fromJsonSchema,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';

/** A PNG of one pixel. */
export const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
/** A WAV header without samples. */
const SILENCE = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=';
const STEP_MS = 50;

const text = (value: string): CallToolResult => ({ content: [{ type: 'text', text: value }] });

/** Announces list changes that never happen. */
export interface ListChanges {
  tools(): void;
  prompts(): void;
}

/** @param server of one session or of one request */
export function registerTools(server: McpServer, changes: ListChanges): void {
  registerContentTools(server);
  registerStreamingTools(server);
  registerAskingTools(server);
  registerHeaderTool(server);
  for (const [name, change] of [
    ['test_trigger_tool_change', changes.tools],
    ['test_trigger_prompt_change', changes.prompts],
  ] as const) {
    server.registerTool(name, { description: 'Says that a list changed' }, async () => {
      change();
      return text('Said so.');
    });
  }
}

function registerContentTools(server: McpServer): void {
  const answers: Record<string, CallToolResult> = {
    test_simple_text: text('This is a simple text response for testing.'),
    test_image_content: { content: [{ type: 'image', data: PIXEL, mimeType: 'image/png' }] },
    test_audio_content: { content: [{ type: 'audio', data: SILENCE, mimeType: 'audio/wav' }] },
    test_embedded_resource: {
      content: [
        {
          type: 'resource',
          resource: {
            uri: 'test://embedded-resource',
            mimeType: 'text/plain',
            text: 'This is an embedded resource content.',
          },
        },
      ],
    },
    test_multiple_content_types: {
      content: [
        { type: 'text', text: 'Multiple content types test:' },
        { type: 'image', data: PIXEL, mimeType: 'image/png' },
        {
          type: 'resource',
          resource: {
            uri: 'test://mixed-content-resource',
            mimeType: 'application/json',
            text: JSON.stringify({ test: 'data', value: 123 }),
          },
        },
      ],
    },
  };
  for (const [name, answer] of Object.entries(answers)) {
    server.registerTool(name, { description: `Answers for ${name}` }, async () => answer);
  }
  server.registerTool('test_error_handling', { description: 'Always fails' }, async () => {
    throw new Error('This tool intentionally returns an error for testing');
  });
  server.registerTool(
    'json_schema_2020_12_tool',
    {
      description: 'Has an input schema with the keywords of JSON Schema 2020-12',
      inputSchema: fromJsonSchema({
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        $defs: {
          address: {
            $anchor: 'addressDef',
            type: 'object',
            properties: { street: { type: 'string' }, city: { type: 'string' } },
          },
        },
        properties: {
          name: { type: 'string' },
          address: { $ref: '#/$defs/address' },
          contactMethod: { type: 'string', enum: ['phone', 'email'] },
          phone: { type: 'string' },
          email: { type: 'string' },
        },
        allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
        if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema, never awaited
        then: { required: ['phone'] },
        else: { required: ['email'] },
        additionalProperties: false,
      }),
    },
    async () => text('The arguments fit the schema.'),
  );
}

function registerHeaderTool(server: McpServer): void {
  // A variable, since the schema's type lacks the member that asks for the header.
  const region = {
    type: 'string',
    description: 'Is in the header Mcp-Param-Region too',
    'x-mcp-header': 'Region',
  } as const;
  server.registerTool(
    'test_x_mcp_header',
    {
      description: 'Has an argument that a header repeats',
      inputSchema: fromJsonSchema<{ region: string }>({
        type: 'object',
        properties: { region },
        required: ['region'],
      }),
    },
    async (args) => text(`Region: ${args.region}`),
  );
}

function registerStreamingTools(server: McpServer): void {
  // One name per era: the suite looks for a different one in each.
  for (const name of ['test_tool_with_logging', 'test_logging_tool']) {
    server.registerTool(
      name,
      { description: 'Logs three times while it runs' },
      async (context: ServerContext) => {
        for (const message of ['Tool execution started', 'Tool processing data']) {
          await context.mcpReq.log('info', message);
          await sleep(STEP_MS);
        }
        await context.mcpReq.log('info', 'Tool execution completed');
        return text('Logged three times.');
      },
    );
  }
  server.registerTool(
    'test_tool_with_progress',
    { description: 'Tells its progress three times while it runs' },
    async (context: ServerContext) => {
      const progressToken = context.mcpReq._meta?.progressToken;
      for (const progress of [0, 50, 100]) {
        if (progressToken !== undefined) {
          await context.mcpReq.notify({
            method: 'notifications/progress',
            params: { progressToken, progress, total: 100 },
          });
        }
        if (progress < 100) await sleep(STEP_MS);
      }
      return text('Told its progress three times.');
    },
  );
  server.registerTool(
    'test_reconnection',
    { description: 'Closes the stream of its own call, whose answer waits for the client' },
    async (context: ServerContext) => {
      context.http?.closeSSE?.();
      await sleep(2 * STEP_MS);
      return text('The client came back for this answer.');
    },
  );
}

function registerAskingTools(server: McpServer): void {
  server.registerTool(
    'test_sampling',
    {
      description: 'Asks the client for a completion of its model',
      inputSchema: z.object({ prompt: z.string().describe('The prompt for the model') }),
    },
    async ({ prompt }, context) => {
      const { content } = await context.mcpReq.requestSampling({
        messages: [{ role: 'user', content: { type: 'text', text: prompt } }],
        maxTokens: 100,
      });
      const [first] = Array.isArray(content) ? content : [content];
      return text(`LLM response: ${first?.type === 'text' ? first.text : first?.type}`);
    },
  );
  server.registerTool(
    'test_elicitation',
    {
      description: 'Asks the user two questions',
      inputSchema: z.object({ message: z.string().describe('What the user is shown') }),
    },
    async ({ message }, context) => {
      const { action, content } = await context.mcpReq.elicitInput({
        message,
        requestedSchema: {
          type: 'object',
          properties: {
            username: { type: 'string', description: "User's response" },
            email: { type: 'string', description: "User's email address" },
          },
          required: ['username', 'email'],
        },
      });
      return text(`User response: action=${action}, content=${JSON.stringify(content ?? {})}`);
    },
  );
  const options = ['option1', 'option2', 'option3'];
  const titled = (noun: string) =>
    ['First', 'Second', 'Third'].map((word, i) => ({
      const: `value${i + 1}`,
      title: `${word} ${noun}`,
    }));
  registerForm(server, 'test_elicitation_sep1034_defaults', {
    name: { type: 'string', default: 'John Doe' },
    age: { type: 'integer', default: 30 },
    score: { type: 'number', default: 95.5 },
    status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean', default: true },
  });
  registerForm(server, 'test_elicitation_sep1330_enums', {
    untitledSingle: { type: 'string', enum: options },
    titledSingle: { type: 'string', oneOf: titled('Option') },
    legacyEnum: {
      type: 'string',
      enum: ['opt1', 'opt2', 'opt3'],
      enumNames: ['Option One', 'Option Two', 'Option Three'],
    },
    untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
    titledMulti: { type: 'array', items: { anyOf: titled('Choice') } },
  });
}

type Form = Extract<
  Parameters<ServerContext['mcpReq']['elicitInput']>[0],
  { requestedSchema: unknown }
>['requestedSchema']['properties'];

function registerForm(server: McpServer, name: string, properties: Form): void {
  server.registerTool(
    name,
    { description: 'Asks the user to fill a form' },
    async (context: ServerContext) => {
      const { action, content } = await context.mcpReq.elicitInput({
        message: 'Please fill in the form',
        requestedSchema: { type: 'object', properties },
      });
      return text(
        `Elicitation completed: action=${action}, content=${JSON.stringify(content ?? {})}`,
      );
    },
  );
}
