/**
 * What a new user meets first, with the service in a process of its own: a start that cannot
 * succeed says so at once in one sentence, and one that does is reached by each of its names.
 */
import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import {
  Client,
  ClientCredentialsProvider,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AdminApi, adminApi } from './support/admin-api.ts';
import {
  builtService,
  freePort,
  type ServiceProcess,
  startService,
} from './support/service-process.ts';

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'governance-first-use-'));
let build: string;
let taken: Server;
let takenPort: number;

beforeAll(async () => {
  build = await builtService();
  taken = createServer();
  takenPort = await freePort();
  await new Promise<void>((resolve) => taken.listen(takenPort, '127.0.0.1', resolve));
});

afterAll(() => {
  taken.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs `main` as scripts/start.mjs does, to its end. */
async function start(env: Record<string, string>, args: string[] = []) {
  const main = `import(${JSON.stringify(pathToFileURL(join(build, 'service.js')).href)}).then((m) => m.main(process.env, ${JSON.stringify(args)}))`;
  const { PATH = '', HOME = '' } = process.env;
  const command = ['--input-type=module', '-e', main];
  try {
    const { stdout, stderr } = await run(process.execPath, command, {
      env: { PATH, HOME, SERVICE_DATA_DIR: join(folder, 'data'), SERVICE_PORT: '0', ...env },
      timeout: 50_000,
      killSignal: 'SIGKILL',
    });
    return { code: 0, text: stdout + stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, text: stdout + stderr };
  }
}

const DATA_PLANE = {
  SERVICE_DEPLOYMENT_MODE: 'data-plane',
  SERVICE_CP_URL: 'http://127.0.0.1:9',
  SERVICE_CP_TOKEN: 'x'.repeat(43),
};

/** A data folder with files that are no databases. */
function withDamaged(...paths: string[]): string {
  const dataDir = mkdtempSync(join(folder, 'damaged-'));
  for (const path of paths) {
    mkdirSync(join(dataDir, path, '..'), { recursive: true });
    writeFileSync(join(dataDir, path), 'no database '.repeat(1_000));
  }
  return dataDir;
}

describe('a start that cannot succeed', () => {
  const file = join(folder, 'a-file');
  writeFileSync(file, '');

  it.each([
    [
      'a taken port',
      () => ({ SERVICE_PORT: String(takenPort) }),
      /^port \d+ is in use on 127\.0\.0\.1: .*SERVICE_PORT/,
    ],
    [
      'a taken port of a data plane',
      () => ({ ...DATA_PLANE, SERVICE_PORT: String(takenPort) }),
      /^port \d+ is in use/,
    ],
    [
      'a taken port of workers',
      () => ({ ...DATA_PLANE, SERVICE_WORKERS: '2', SERVICE_PORT: String(takenPort) }),
      /^port \d+ is in use/,
    ],
    [
      'an address of another machine',
      () => ({ SERVICE_HOST: '192.0.2.1' }),
      /^192\.0\.2\.1 is no address of this machine: .*SERVICE_HOST/,
    ],
    [
      'a folder that is a file',
      () => ({ SERVICE_DATA_DIR: file }),
      /^the data folder .* there is a file of that name; set SERVICE_DATA_DIR/,
    ],
    [
      'a folder below a file',
      () => ({ SERVICE_DATA_DIR: join(file, 'x') }),
      /^the data folder .*; set SERVICE_DATA_DIR/,
    ],
    [
      'a database that is away',
      () => ({
        DATABASE_URL: 'postgresql://u:p@127.0.0.1:9/x',
        SERVICE_MASTER_KEY: Buffer.alloc(32).toString('base64'),
      }),
      /^the database of DATABASE_URL cannot be used: nothing listens there/,
    ],
    [
      'a host that nobody knows',
      () => ({
        DATABASE_URL: 'postgresql://u:p@nowhere.invalid/x',
        SERVICE_MASTER_KEY: Buffer.alloc(32).toString('base64'),
      }),
      /^the database of DATABASE_URL cannot be used: its host is unknown/,
    ],
    [
      'a damaged ledger',
      () => ({ ...DATA_PLANE, SERVICE_DATA_DIR: withDamaged('data-plane.db') }),
      /^the ledger .* is damaged: .*register-anew/,
    ],
  ])('says what to change for %s, in one sentence', async (_name, env, sentence) => {
    const { code, text } = await start(env());
    const said = text.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
    expect(said).toHaveLength(1);
    expect(said[0]).toMatch(sentence);
    expect(code).toBe(1);
    // Nothing long was begun: no database was made.
    expect(existsSync(join(folder, 'data', 'postgres'))).toBe(false);
  });

  it('says of each worker what to change', async () => {
    const dataDir = withDamaged('data-plane.db', 'worker-2/data-plane.db');
    const { code, text } = await start({
      ...DATA_PLANE,
      SERVICE_WORKERS: '2',
      SERVICE_DATA_DIR: dataDir,
    });
    const said = text.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
    expect(said.sort()).toEqual([
      expect.stringMatching(`^the ledger ${dataDir}/data-plane.db is damaged: .*register-anew`),
      expect.stringMatching(`^the ledger ${dataDir}/worker-2/data-plane.db is damaged: `),
    ]);
    expect(code).toBe(1);
  });

  it('shows how it is used', async () => {
    for (const args of [['--help'], ['--data-plane', '--help']]) {
      const { code, text } = await start({}, args);
      expect(code).toBe(0);
      expect(text).toContain('npm run data-plane');
      expect(text).toContain('kill-switch engage');
    }
  });

  it('is a data plane when asked for one', async () => {
    const { code, text } = await start({}, ['--data-plane']);
    expect(code).toBe(1);
    expect(text).toContain('SERVICE_CP_URL: is required in this mode');
  });
});

describe('a service without a configured address', () => {
  let service: ServiceProcess;
  let admin: AdminApi;
  let port: string;
  const names = ['localhost', '127.0.0.1'];

  beforeAll(async () => {
    service = await startService({ env: { SERVICE_PUBLIC_URL: '' } });
    admin = await adminApi(service.url, 'admin', service.adminPassword);
    port = new URL(service.url).port;
  });

  afterAll(() => service?.dispose());

  it('shows one address, and gives each client the one that it uses', async () => {
    expect(service.output()).toContain(`http://localhost:${port}`);
    for (const name of names) {
      const address = `http://${name}:${port}`;
      const get = async (path: string) => (await fetch(`${address}${path}`)).json();
      const resource = { resource: `${address}/mcp/v1`, authorization_servers: [address] };
      expect(await get('/.well-known/oauth-protected-resource/mcp/v1')).toMatchObject(resource);
      expect(await get('/.well-known/oauth-authorization-server')).toMatchObject({
        issuer: address,
        token_endpoint: `${address}/api/v1/auth/token`,
        code_challenge_methods_supported: ['S256'],
      });
      const denied = await fetch(`${address}/mcp/v1`, { method: 'POST' });
      expect(denied.headers.get('www-authenticate')).toContain(`resource_metadata="${address}/`);
    }
  });

  it('gives the OAuth provider of the MCP client a token by each of its names', async () => {
    const agent = await admin.post<{ client_id: string; client_secret: string }>('/api/v1/agents', {
      ...{ name: 'first', agent_type: 'test', owner: 'tests', description: '' },
    });
    for (const name of names) {
      const authProvider = new ClientCredentialsProvider({
        clientId: agent.client_id,
        clientSecret: agent.client_secret,
      });
      const client = new Client({ name: 'first-use', version: '1' });
      const url = new URL(`http://${name}:${port}/mcp/v1`);
      await client.connect(new StreamableHTTPClientTransport(url, { authProvider }));
      expect((await client.listTools()).tools).toEqual([]);
      await client.close();
    }
  });

  it('says at / what it is and where to go', async () => {
    const json = await fetch(`${service.url}/`);
    expect(await json.json()).toMatchObject({
      service: 'agent-governance',
      mode: 'standalone',
      links: { 'MCP gateway for agents': `${service.url}/mcp/v1` },
    });
    const html = await fetch(`${service.url}/`, { headers: { accept: 'text/html,*/*' } });
    expect(html.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(await html.text()).toContain(`href="${service.url}/docs"`);
  });

  it('leaves no password of an earlier start that is not the one in force', async () => {
    const path = join(service.dataDir, 'admin-password');
    expect(existsSync(path)).toBe(false);
    writeFileSync(path, 'stale\n');
    await service.stop();
    const again = await startService({
      dataDir: service.dataDir,
      adminPassword: service.adminPassword,
    });
    expect(existsSync(path)).toBe(false);
    service = again;
  });
});

describe('npm start', () => {
  it.runIf(process.platform !== 'win32')('stops in order when the shell of npm ends', async () => {
    // As npm runs it: a shell between, which a signal ends before the service.
    const shell = spawn('sh', ['-c', `"${process.execPath}" scripts/start.mjs; true`], {
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        npm_lifecycle_event: 'start',
        SERVICE_DATA_DIR: join(folder, 'npm-start-whole'),
        SERVICE_PORT: '0',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    });
    let said = '';
    shell.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
    const group = -(shell.pid as number);
    try {
      await expect.poll(() => said, { timeout: 50_000 }).toContain('where MCP clients connect');
      shell.kill('SIGKILL');
      await expect.poll(() => said, { timeout: 20_000 }).toContain('"msg":"stopped"');
    } finally {
      try {
        process.kill(group, 'SIGKILL');
      } catch {
        // It ended, as it should.
      }
    }
  });

  it('leaves no build process behind', async () => {
    const dataDir = join(folder, 'npm-start');
    const child = spawn(process.execPath, ['scripts/start.mjs', '--data-plane'], {
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        ...DATA_PLANE,
        SERVICE_DATA_DIR: dataDir,
        SERVICE_PORT: '0',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      await new Promise<void>((resolve, reject) => {
        child.stdout.on('data', (chunk: Buffer) => {
          if (chunk.toString().includes('where MCP clients connect')) resolve();
        });
        child.once('exit', (code) => reject(new Error(`ended with ${code}`)));
      });
      if (process.platform === 'linux') {
        const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8');
        expect(children.trim()).toBe('');
      }
    } finally {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await ended;
    }
  });
});
