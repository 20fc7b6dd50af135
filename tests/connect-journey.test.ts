/**
 * From an administrator's installer token to a client that works: the command as a person runs it,
 * against the service in a process of its own, and real MCP clients that use what it wrote.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assetPath } from '@governance/shared/process/assets';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AdminApi, adminApi } from './support/admin-api.ts';
import { freePort, type ServiceProcess, startService } from './support/service-process.ts';

let service: ServiceProcess;
let admin: AdminApi;
let everything: ChildProcess;
let home: string;
let agentId: string;
/** All that the command said in this file. */
let said = '';
const secrets: string[] = [];

beforeAll(async () => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'governance-connect-')));
  const port = await freePort();
  const server = assetPath('node_modules/@modelcontextprotocol/server-everything/dist/index.js');
  everything = spawn(process.execPath, [server, 'streamableHttp'], {
    env: { ...process.env, PORT: String(port) },
    stdio: 'ignore',
  });
  service = await startService({ env: { SERVICE_DEBUG: 'true' } });
  admin = await adminApi(service.url, 'admin', service.adminPassword);
  const http = { server_id: 'everything', transport: 'streamable-http' };
  await admin.post('/api/v1/mcp-servers', { ...http, url: `http://127.0.0.1:${port}/mcp` });
  const role = await admin.post<{ id: string }>('/api/v1/roles', {
    ...{ name: 'caller', permissions: ['everything:*'] },
  });
  const agent = await admin.post<{ id: string }>('/api/v1/agents', {
    ...{ name: 'assistant', agent_type: 'test', owner: 'tests' },
  });
  agentId = agent.id;
  await admin.post(`/api/v1/agents/${agentId}/roles`, { role_id: role.id });
}, 120_000);

afterAll(async () => {
  await service?.dispose();
  everything?.kill();
  rmSync(home, { recursive: true, force: true });
});

async function aToken(client: string): Promise<string> {
  const path = `/api/v1/agents/${agentId}/installer-tokens`;
  const { token } = await admin.post<{ token: string }>(path, { client });
  secrets.push(token);
  return token;
}

/** `npm run connect`, with the token on standard input. */
async function connect(client: string, args: string[] = [], token = '') {
  const main = assetPath('scripts/connect/main.ts');
  const options = ['--client', client, '--url', service.url, ...args];
  const child = spawn(process.execPath, ['--import', 'tsx', main, ...options], {
    cwd: assetPath('.'),
    env: { PATH: process.env.PATH, HOME: home, USERPROFILE: home },
    stdio: 'pipe',
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      text += chunk;
    });
  }
  child.stdin.on('error', () => {});
  child.stdin.end(`${token}\n`);
  const code = await new Promise((resolve) => child.once('close', resolve));
  said += text;
  return { code, text };
}

interface Entry {
  url?: string;
  httpUrl?: string;
  headers?: Record<string, string>;
  command?: string;
  args?: string[];
  env?: Record<string, string>;
}

/** As each client reads its file; of TOML the two lines that there are. */
function readEntry(path: string, section: string): Entry {
  const text = readFileSync(path, 'utf8');
  if (section !== 'mcp_servers') return JSON.parse(text)[section].governance;
  const [url] = /(?<=^url = ).*$/m.exec(text) ?? [];
  const [authorization] = /(?<=Authorization = ).*(?= \}$)/m.exec(text) ?? [];
  return {
    url: JSON.parse(url as string),
    headers: { Authorization: JSON.parse(authorization as string) },
  };
}

/** Calls a tool as the client of that entry would. */
async function use({ url, httpUrl, headers, command, args = [], env }: Entry): Promise<string> {
  const client = new Client({ name: 'a-client', version: '1.0.0' });
  const address = url ?? httpUrl;
  if (address) {
    const options = { requestInit: { headers: headers ?? {} } };
    await client.connect(new StreamableHTTPClientTransport(new URL(address), options));
  } else {
    expect([command, ...args.slice(0, 2)]).toEqual(['npx', '-y', 'mcp-remote']);
    // What npx would run, without asking the registry for it.
    const bridge = assetPath('node_modules/mcp-remote/dist/proxy.js');
    const bridgeEnv = { PATH: process.env.PATH ?? '', HOME: home, ...env };
    const transport = new StdioClientTransport({
      ...{ command: process.execPath, args: [bridge, ...args.slice(2)], env: bridgeEnv },
      stderr: 'ignore',
    });
    await client.connect(transport);
  }
  try {
    const call = { name: 'everything__echo', arguments: { message: 'hello' } };
    const { content } = await client.callTool(call);
    return JSON.stringify(content);
  } finally {
    await client.close();
  }
}

const isMac = process.platform === 'darwin';
const data = isMac ? 'Library/Application Support' : '.config';
const FILES = [
  ['claude-desktop', `${data}/Claude/claude_desktop_config.json`, 'mcpServers'],
  ['claude-code', '.claude.json', 'mcpServers'],
  ['cursor', '.cursor/mcp.json', 'mcpServers'],
  ['vscode', `${data}/Code/User/mcp.json`, 'servers'],
  ['codex', '.codex/config.toml', 'mcp_servers'],
  ['gemini-cli', '.gemini/settings.json', 'mcpServers'],
] as const;

describe.runIf(process.platform !== 'win32')('npm run connect', () => {
  it.each(FILES)('connects %s, whose client then works', async (client, file, section) => {
    const path = join(home, file);
    const { code, text } = await connect(client, [], await aToken(client));
    expect(text).toMatch(`${client} is connected as assistant: entry governance in ${path}`);
    expect(code).toBe(0);
    const entry = readEntry(path, section);
    const basic = entry.headers?.Authorization ?? entry.env?.AGENT_AUTH ?? '';
    const credential = Buffer.from(basic.replace('Basic ', ''), 'base64').toString();
    secrets.push(basic, credential.split(':')[1] as string);
    expect(await use(entry)).toContain('hello');
  });

  it('each with a credential of its own, and one is revoked alone', async () => {
    const path = `/api/v1/agents/${agentId}/credentials`;
    const { credentials } = await admin.get<{ credentials: { id: string; client: string }[] }>(
      path,
    );
    expect(credentials.map(({ client }) => client)).toEqual(FILES.map(([client]) => client));
    const lost = credentials.find(({ client }) => client === 'cursor');
    await admin.delete(`${path}/${lost?.id}`);
    await expect(use(readEntry(join(home, '.cursor/mcp.json'), 'mcpServers'))).rejects.toThrow();
    const other = credentials.find(({ client }) => client === 'gemini-cli');
    expect(await use(readEntry(join(home, '.gemini/settings.json'), 'mcpServers'))).toContain(
      'hello',
    );
    // The log says which credential made a call.
    expect(service.output()).toContain(`"credential_id":"${other?.id}"`);
  });

  it('changes nothing and uses no token where it would not work', async () => {
    const token = await aToken('cursor');
    const path = join(home, '.cursor/mcp.json');
    const before = readFileSync(path);
    expect((await connect('cursor', [], token)).text).toMatch(/has an entry governance.*--replace/);
    const shown = await connect('cursor', ['--dry-run', '--replace']);
    expect([shown.code, shown.text]).toEqual([0, expect.stringMatching(/Basic <credential>/)]);
    writeFileSync(path, '{ "mcpServers": { ');
    expect((await connect('cursor', [], token)).text).toMatch(
      /line 1, column.*Nothing was changed/,
    );
    writeFileSync(path, before);
    const wrong = await connect('vscode', ['--name', 'second'], token);
    expect(wrong.text).toMatch(/answered 409: The token is for cursor/);
    expect(readFileSync(path).equals(before)).toBe(true);
    // It is good still.
    const replaced = await connect('cursor', ['--replace'], token);
    expect(replaced.code, replaced.text).toBe(0);
    expect(await use(readEntry(path, 'mcpServers'))).toContain('hello');
    const again = await connect('cursor', ['--replace'], token);
    expect([again.code, again.text]).toEqual([
      1,
      expect.stringMatching(/answered 401: .* Ask an administrator for a new one\./),
    ]);
  });

  it('is taken back byte for byte, or out of what has changed since', async () => {
    const path = join(home, '.gemini/settings.json');
    const before = '{\n  // mine\n  "ui": {"theme": "x"}\n}';
    writeFileSync(path, before);
    expect((await connect('gemini-cli', [], await aToken('gemini-cli'))).code).toBe(0);
    expect((await connect('gemini-cli', ['--undo'])).text).toMatch(/as it was before/);
    expect(readFileSync(path, 'utf8')).toBe(before);
    await connect('gemini-cli', [], await aToken('gemini-cli'));
    const later = readFileSync(path, 'utf8').replace('"x"', '"y"');
    writeFileSync(path, later);
    expect((await connect('gemini-cli', ['--undo'])).text).toMatch(/has changed since/);
    const after = readFileSync(path, 'utf8');
    expect(after).toMatch(/\/\/ mine\n {2}"ui": \{"theme": "y"\}/);
    expect(after).not.toMatch(/governance/);
    expect((await connect('gemini-cli', ['--undo'])).text).toMatch(/nothing to undo/);
  });

  it('takes back a file that it made', async () => {
    const path = join(home, 'other', 'mcp.json');
    mkdirSync(join(home, 'other'));
    await connect('cursor', ['--file', path], await aToken('cursor'));
    expect(existsSync(path)).toBe(true);
    expect((await connect('cursor', ['--file', path, '--undo'])).code).toBe(0);
    expect(existsSync(path)).toBe(false);
  });

  it('and neither prints a secret, nor does the service log one', () => {
    expect(secrets.length).toBeGreaterThan(15);
    for (const secret of secrets) {
      expect(said).not.toContain(secret);
      expect(service.output()).not.toContain(secret);
    }
  });
});
