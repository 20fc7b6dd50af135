/**
 * Real MCP clients, unmodified, through the gateway to real MCP servers: every client, with both
 * kinds of credential, at one server and at all of them.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assetPath } from '@governance/shared/process/assets';
import {
  Client as ClientV2,
  StreamableHTTPClientTransport as HttpV2,
} from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  HTTP_SERVER,
  STDIO_SERVER,
  startTestPlane,
  type TestAgent,
  type TestPlane,
} from '../testing/test-plane.ts';

const MCP_REMOTE = assetPath('node_modules/mcp-remote/dist/proxy.js');
const EVERYTHING = assetPath('node_modules/@modelcontextprotocol/server-everything/dist/index.js');
const FILESYSTEM = assetPath('node_modules/@modelcontextprotocol/server-filesystem/dist/index.js');

let plane: TestPlane;
let agent: TestAgent;
let everything: ChildProcess;
let folder: string;

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'governance-files-')));
  writeFileSync(join(folder, 'hello.txt'), 'Hello from a file');
  const port = await freePort();
  everything = spawn(process.execPath, [EVERYTHING, 'streamableHttp'], {
    env: { ...process.env, PORT: String(port) },
    stdio: 'ignore',
  });
  const url = `http://127.0.0.1:${port}/mcp`;
  await reachable(url);
  const files = { command: process.execPath, args: [FILESYSTEM, folder], env: {}, cwd: folder };
  plane = await startTestPlane({
    servers: [HTTP_SERVER('everything', url), STDIO_SERVER('files')],
    stdioServers: new Map([['files', files]]),
  });
  agent = plane.addAgent(['*:*']);
});

afterAll(async () => {
  await plane?.stop();
  everything?.kill();
  rmSync(folder, { recursive: true, force: true });
});

/** What the journeys need of a client, whatever its version. */
interface AnyClient {
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(name: string, args: Record<string, unknown>, onProgress?: () => void): Promise<string>;
  close(): Promise<void>;
}

const clients: Record<string, (url: URL, authorization: string) => Promise<AnyClient>> = {
  'SDK v1': async (url, authorization) => {
    const client = new ClientV1({ name: 'journey', version: '1' });
    await client.connect(new HttpV1(url, { requestInit: { headers: { authorization } } }));
    return adaptV1(client);
  },
  'SDK v2': async (url, authorization) => {
    const client = new ClientV2({ name: 'journey', version: '2' });
    await client.connect(new HttpV2(url, { requestInit: { headers: { authorization } } }));
    return adaptV2(client);
  },
  'SDK v2, asking for the modern era first': async (url, authorization) => {
    const client = new ClientV2(
      { name: 'journey', version: '2' },
      { versionNegotiation: { mode: 'auto' } },
    );
    await client.connect(new HttpV2(url, { requestInit: { headers: { authorization } } }));
    return adaptV2(client);
  },
  'mcp-remote': async (url, authorization) => {
    const client = new ClientV1({ name: 'journey', version: '1' });
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [
          ...[MCP_REMOTE, url.href, '--allow-http', '--transport', 'http-only'],
          // biome-ignore lint/suspicious/noTemplateCurlyInString: mcp-remote puts the variable in.
          ...['--header', 'Authorization:${AUTH}'],
        ],
        env: {
          ...(process.env as Record<string, string>),
          AUTH: authorization,
          MCP_REMOTE_CONFIG_DIR: join(folder, '.mcp-auth'),
        },
        stderr: 'ignore',
      }),
    );
    return adaptV1(client);
  },
};

function adaptV2(client: ClientV2): AnyClient {
  return {
    listTools: () => client.listTools(),
    callTool: async (name, args, onProgress) => {
      const params = { name, arguments: args };
      return JSON.stringify(await client.callTool(params, { onprogress: onProgress }));
    },
    close: () => client.close(),
  };
}

function adaptV1(client: ClientV1): AnyClient {
  return {
    listTools: () => client.listTools(),
    callTool: async (name, args, onProgress) => {
      const options = { onprogress: onProgress };
      const params = { name, arguments: args };
      return JSON.stringify(await client.callTool(params, undefined, options));
    },
    close: () => client.close(),
  };
}

describe.each(Object.keys(clients))('%s', (name) => {
  describe.each(['Basic', 'Bearer'])('with %s', (scheme) => {
    const connect = async (path: string) => {
      const authorization = scheme === 'Basic' ? agent.basic : agent.bearer();
      const client = await clients[name]?.(new URL(`${plane.url}${path}`), authorization);
      if (!client) throw new Error(`no client ${name}`);
      return client;
    };

    it('uses one HTTP server', async () => {
      const client = await connect('/mcp/v1/everything');
      try {
        const { tools } = await client.listTools();
        expect(tools.map((tool) => tool.name)).toContain('echo');
        const answer = await client.callTool('echo', { message: 'hello there' });
        expect(answer).toContain('Echo: hello there');
      } finally {
        await client.close();
      }
    });

    it('uses one stdio server', async () => {
      const client = await connect('/mcp/v1/files');
      try {
        const answer = await client.callTool('read_text_file', { path: join(folder, 'hello.txt') });
        expect(answer).toContain('Hello from a file');
      } finally {
        await client.close();
      }
    });

    it('uses all servers at the unified gateway', async () => {
      const client = await connect('/mcp/v1');
      try {
        const names = (await client.listTools()).tools.map((tool) => tool.name);
        expect(names).toContain('everything__echo');
        expect(names).toContain('files__read_text_file');
        expect(await client.callTool('everything__get-sum', { a: 2, b: 3 })).toContain('5');
        const answer = await client.callTool('files__list_directory', { path: folder });
        expect(answer).toContain('hello.txt');
      } finally {
        await client.close();
      }
    });
  });

  it('receives progress before the answer', async () => {
    const client = await clients[name]?.(new URL(`${plane.url}/mcp/v1/everything`), agent.basic);
    let received = 0;
    try {
      const args = { duration: 0.5, steps: 4 };
      const answer = await client?.callTool('trigger-long-running-operation', args, () => {
        received++;
      });
      expect(answer).toContain('completed');
      // The SDK drops a progress message that it reads together with the answer: the last may be one.
      expect(received).toBeGreaterThanOrEqual(3);
    } finally {
      await client?.close();
    }
  });

  it('learns why a call is denied', async () => {
    const reader = plane.addAgent(['files:read']);
    const client = await clients[name]?.(new URL(`${plane.url}/mcp/v1/files`), reader.bearer());
    try {
      const names = (await client?.listTools())?.tools.map((tool) => tool.name);
      expect(names).toContain('read_text_file');
      expect(names).not.toContain('write_file');
      const args = { path: join(folder, 'new.txt'), content: 'x' };
      await expect(client?.callTool('write_file', args)).rejects.toThrow(/Denied by policy/);
    } finally {
      await client?.close();
    }
  });
});

it('refuses a client without a valid credential', async () => {
  const url = new URL(`${plane.url}/mcp/v1/everything`);
  const wrong = `Basic ${Buffer.from('nobody:nothing').toString('base64')}`;
  for (const name of ['SDK v1', 'SDK v2']) {
    await expect(clients[name]?.(url, wrong)).rejects.toThrow();
  }
});

async function reachable(url: string): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt++) {
    try {
      await fetch(url);
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
  throw new Error(`nothing answers at ${url}`);
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
