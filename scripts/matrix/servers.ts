/** The MCP servers of the matrix, and the requests made to each. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { assetPath } from '@governance/shared/process/assets';
import { freePort } from '../../tests/support/service-process.ts';
import { startModernServer } from './modern-server.ts';

interface Call {
  tool: string;
  args: Record<string, string | number>;
}

/** A server's features. The answer to a call must contain `shows`. */
export interface ServerKind {
  id: string;
  title: string;
  /** The npm package of the server. */
  packageName: string;
  /** The newest revision that it speaks. */
  revision: string;
  call: Call & { shows: string };
  /** Denied by policy. */
  denied: Call;
  resource?: { uri: string; shows: string };
  prompt?: { name: string; args: Record<string, string>; shows: string };
  completion?: { prompt: string; argument: string; value: string; shows: string };
  progress?: Call;
  elicitation?: Call & { shows: string };
  sampling?: Call & { shows: string };
}

/** Denies the calls that each cell expects to be denied. */
export const POLICY = `package matrix.forbidden

forbidden := {"get-env", "write_file", "delete_entities", "erase_notes"}

deny contains "no agent of the matrix may use this tool" if {
	input.request.tool_name in forbidden
}
`;

const LEGACY = '2025-11-25';

const everything = {
  packageName: '@modelcontextprotocol/server-everything',
  revision: LEGACY,
  call: { tool: 'get-sum', args: { a: 2, b: 3 }, shows: 'The sum of 2 and 3 is 5' },
  denied: { tool: 'get-env', args: {} },
  resource: { uri: 'demo://resource/static/document/architecture.md', shows: 'Architecture' },
  prompt: { name: 'args-prompt', args: { city: 'Oslo' }, shows: 'Oslo' },
  completion: {
    prompt: 'completable-prompt',
    argument: 'department',
    value: 'En',
    shows: 'Engineering',
  },
  progress: { tool: 'trigger-long-running-operation', args: { duration: 0.4, steps: 4 } },
  elicitation: { tool: 'trigger-elicitation-request', args: {}, shows: 'Name: Ada' },
  sampling: {
    tool: 'trigger-sampling-request',
    args: { prompt: 'say something', maxTokens: 10 },
    shows: 'sampled by the client',
  },
};

export const EVERYTHING_HTTP: ServerKind = {
  id: 'everything-http',
  title: 'server-everything, HTTP',
  ...everything,
};

export const EVERYTHING_STDIO: ServerKind = {
  id: 'everything-stdio',
  title: 'server-everything, stdio',
  ...everything,
};

export const MEMORY: ServerKind = {
  id: 'memory',
  title: 'server-memory, stdio',
  packageName: '@modelcontextprotocol/server-memory',
  revision: LEGACY,
  call: { tool: 'search_nodes', args: { query: 'gateway' }, shows: 'stands between' },
  denied: { tool: 'delete_entities', args: {} },
};

export const MODERN: ServerKind = {
  id: 'modern',
  title: 'modern server, HTTP',
  packageName: '@modelcontextprotocol/server',
  revision: '2026-07-28',
  call: { tool: 'greet', args: { name: 'Ada', language: 'nb' }, shows: 'Hei, Ada' },
  denied: { tool: 'erase_notes', args: {} },
  resource: { uri: 'note://welcome', shows: 'A note of the modern server' },
  prompt: { name: 'letter', args: { to: 'Oslo' }, shows: 'Dear Oslo' },
  completion: { prompt: 'letter', argument: 'to', value: 'Os', shows: 'Oslo' },
  progress: { tool: 'count_steps', args: { steps: 3 } },
  elicitation: { tool: 'ask_name', args: {}, shows: 'You are Ada' },
  sampling: { tool: 'ask_model', args: {}, shows: 'sampled by the client' },
};

/** @param folder that the server may read */
export function filesServer(folder: string): ServerKind {
  const path = join(folder, 'welcome.txt');
  return {
    id: 'files',
    title: 'server-filesystem, stdio',
    packageName: '@modelcontextprotocol/server-filesystem',
    revision: LEGACY,
    call: { tool: 'read_text_file', args: { path }, shows: 'Hello from a governed file' },
    denied: { tool: 'write_file', args: { path, content: 'changed' } },
  };
}

/** What is started, and how the service reaches it. */
export interface StartedServers {
  kinds: ServerKind[];
  /** Addresses by id, of the servers that have one. */
  urls: Record<string, string>;
  /** The file that SERVICE_MCP_SERVERS_FILE names; it starts the others. */
  serversFile: string;
  stop(): Promise<void>;
}

/** Starts the servers with an address and prepares the others. */
export async function startServers(folder: string): Promise<StartedServers> {
  const files = join(folder, 'files');
  await mkdir(files);
  await writeFile(join(files, 'welcome.txt'), 'Hello from a governed file\n');
  const memory = join(folder, 'memory.jsonl');
  const entity = { type: 'entity', name: 'gateway', entityType: 'service' };
  const observations = ['stands between agents and tools'];
  await writeFile(memory, `${JSON.stringify({ ...entity, observations })}\n`);
  const serversFile = join(folder, 'mcp-servers.json');
  const node = (name: string, ...args: string[]) => ({
    command: process.execPath,
    args: [serverEntry(name), ...args],
  });
  await writeFile(
    serversFile,
    JSON.stringify({
      servers: {
        [EVERYTHING_STDIO.id]: node('server-everything', 'stdio'),
        files: node('server-filesystem', files),
        [MEMORY.id]: { ...node('server-memory'), env: { MEMORY_FILE_PATH: memory } },
      },
    }),
  );
  const http = await startEverything();
  const modern = await startModernServer();
  return {
    kinds: [EVERYTHING_HTTP, EVERYTHING_STDIO, filesServer(files), MEMORY, MODERN],
    urls: { [EVERYTHING_HTTP.id]: http.url, [MODERN.id]: modern.url },
    serversFile,
    async stop() {
      http.child.kill();
      await modern.close();
    },
  };
}

/** The program of one of the reference servers. */
export function serverEntry(name: string): string {
  return assetPath(`node_modules/@modelcontextprotocol/${name}/dist/index.js`);
}

async function startEverything(): Promise<{ url: string; child: ChildProcess }> {
  const port = await freePort();
  const child = spawn(process.execPath, [serverEntry('server-everything'), 'streamableHttp'], {
    env: { ...process.env, PORT: String(port) },
    stdio: 'ignore',
  });
  const url = `http://127.0.0.1:${port}/mcp`;
  for (let i = 0; i < 200; i++) {
    const up = await fetch(url).then(
      () => true,
      () => false,
    );
    if (up) return { url, child };
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  child.kill();
  throw new Error('server-everything did not start');
}
