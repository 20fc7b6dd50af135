/** The clients of the two TypeScript SDKs, and mcp-remote, driven by one of them. */
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { assetPath } from '@governance/shared/process/assets';
import {
  Client as ClientV2,
  StreamableHTTPClientTransport as HttpV2,
} from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { ANSWERS, type ClientKind, type MatrixClient } from './client.ts';

const LEGACY = '2025-11-25';
const MODERN = '2026-07-28';
const INFO = { name: 'matrix', version: '1.0.0' };
const capabilities = { elicitation: {}, sampling: {} };

export const SDK_V1: ClientKind = {
  title: 'SDK v1',
  packageName: '@modelcontextprotocol/sdk',
  revision: LEGACY,
  lacks: {},
  connect: (url, authorization) =>
    connectV1(new HttpV1(url, { requestInit: { headers: { authorization } } })),
};

export const SDK_V2_LEGACY: ClientKind = {
  title: 'SDK v2, legacy',
  packageName: '@modelcontextprotocol/client',
  revision: LEGACY,
  lacks: {},
  connect: (url, authorization) => connectV2(url, authorization, 'legacy'),
};

export const SDK_V2_MODERN: ClientKind = {
  title: 'SDK v2, modern',
  packageName: '@modelcontextprotocol/client',
  revision: MODERN,
  lacks: {},
  // Not pinned: it negotiates, as an application would, and must find the modern era by itself.
  connect: (url, authorization) => connectV2(url, authorization, 'auto'),
};

export const MCP_REMOTE: ClientKind = {
  title: 'mcp-remote',
  packageName: 'mcp-remote',
  revision: LEGACY,
  lacks: {},
  async connect(url, authorization, folder) {
    // It locks its folder per address, so two at a time must not share one.
    const own = await mkdtemp(join(folder, 'mcp-remote-'));
    return connectV1(
      new StdioClientTransport({
        command: process.execPath,
        args: [
          ...[assetPath('node_modules/mcp-remote/dist/proxy.js'), url.href],
          ...['--allow-http', '--transport', 'http-only'],
          // biome-ignore lint/suspicious/noTemplateCurlyInString: mcp-remote puts the variable in.
          ...['--header', 'Authorization:${AUTH}'],
        ],
        env: {
          ...(process.env as Record<string, string>),
          AUTH: authorization,
          MCP_REMOTE_CONFIG_DIR: own,
        },
        stderr: 'ignore',
      }),
    );
  },
};

async function connectV1(transport: Transport): Promise<MatrixClient> {
  const client = new ClientV1(INFO, { capabilities });
  client.setRequestHandler(ElicitRequestSchema, () => ANSWERS.elicitation);
  client.setRequestHandler(CreateMessageRequestSchema, () => ANSWERS.sampling);
  let revision: string | null = null;
  // The client reports the negotiated revision only to its transport.
  transport.setProtocolVersion = chain(transport.setProtocolVersion?.bind(transport), (agreed) => {
    revision = agreed;
  });
  await client.connect(transport);
  return {
    revision,
    listTools: async () => (await client.listTools()).tools.map(({ name }) => name),
    callTool: async (name, args, onprogress) =>
      JSON.stringify(await client.callTool({ name, arguments: args }, undefined, { onprogress })),
    listResources: async () => (await client.listResources()).resources.map(({ uri }) => uri),
    readResource: async (uri) => JSON.stringify(await client.readResource({ uri })),
    getPrompt: async (name, args) =>
      JSON.stringify(await client.getPrompt({ name, arguments: args })),
    complete: async (name, argument, value) => {
      const ref = { type: 'ref/prompt' as const, name };
      const params = { ref, argument: { name: argument, value } };
      return (await client.complete(params)).completion.values;
    },
    close: () => client.close(),
  };
}

async function connectV2(
  url: URL,
  authorization: string,
  mode: 'legacy' | 'auto',
): Promise<MatrixClient> {
  const client = new ClientV2(INFO, { capabilities, versionNegotiation: { mode } });
  client.setRequestHandler('elicitation/create', () => ANSWERS.elicitation);
  client.setRequestHandler('sampling/createMessage', () => ANSWERS.sampling);
  await client.connect(new HttpV2(url, { requestInit: { headers: { authorization } } }));
  return {
    revision: client.getNegotiatedProtocolVersion() ?? null,
    listTools: async () => (await client.listTools()).tools.map(({ name }) => name),
    callTool: async (name, args, onprogress) =>
      JSON.stringify(await client.callTool({ name, arguments: args }, { onprogress })),
    listResources: async () => (await client.listResources()).resources.map(({ uri }) => uri),
    readResource: async (uri) => JSON.stringify(await client.readResource({ uri })),
    getPrompt: async (name, args) =>
      JSON.stringify(await client.getPrompt({ name, arguments: args })),
    complete: async (name, argument, value) => {
      const ref = { type: 'ref/prompt' as const, name };
      const params = { ref, argument: { name: argument, value } };
      return (await client.complete(params)).completion.values;
    },
    close: () => client.close(),
  };
}

function chain(
  first: ((version: string) => void) | undefined,
  then: (version: string) => void,
): (version: string) => void {
  return (version) => {
    first?.(version);
    then(version);
  };
}
