/**
 * `npm run foreign`: clients and servers in other languages through the gateway, if Python and Go
 * are installed. Each client lists, calls, and is denied, with HTTP Basic and with its own OAuth
 * provider, at each server's path and at the unified one. Exits with 1 if a check fails or nothing
 * could be run.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { z } from 'zod';
import { type AdminApi, adminApi } from '../../tests/support/admin-api.ts';
import {
  type RegisteredAgent,
  registerAgent,
  registerRole,
} from '../../tests/support/admin-setup.ts';
import { freePort, startService } from '../../tests/support/service-process.ts';
import { prepareGo, preparePython, type Toolchain } from './toolchains.ts';

const run = promisify(execFile);
const CLIENT_TIMEOUT_MS = 180_000;
const SERVER_START_MS = 60_000;

const SERVERS = { Python: ['fastmcp', 'sdk'], Go: ['go-sdk'] };
const CLIENTS: Record<
  Toolchain['name'],
  readonly (readonly [library: string, credential: string])[]
> = {
  Python: [
    ['sdk', 'basic'],
    ['sdk', 'oauth'],
    ['fastmcp', 'basic'],
    ['fastmcp', 'oauth'],
  ],
  // mcp-go has a provider for authorization codes only.
  Go: [
    ['go-sdk', 'basic'],
    ['go-sdk', 'oauth'],
    ['mcp-go', 'basic'],
  ],
};

const Check = z.object({
  path: z.string(),
  check: z.enum(['connect', 'list', 'call', 'denied']),
  ok: z.boolean(),
  said: z.string(),
});
type Check = z.infer<typeof Check>;

interface ForeignServer {
  id: string;
  /** Undefined for a process that the data plane starts. */
  url?: string;
}

async function main(): Promise<void> {
  const toolchains = [preparePython(), prepareGo()].filter((found) => found !== undefined);
  for (const name of ['Python', 'Go'] as const) {
    if (!toolchains.some((found) => found.name === name))
      console.log(`${name}: not found, skipped`);
  }
  const folder = await mkdtemp(join(tmpdir(), 'governance-foreign-'));
  // When run as root, PostgreSQL's own user needs access, or its files would stay in /var/lib.
  await chmod(folder, 0o711);
  const processes: ChildProcess[] = [];
  try {
    const { servers, serversFile } = await startServers(toolchains, folder, processes);
    const service = await startService({
      dataDir: join(folder, 'data'),
      env: { SERVICE_MCP_SERVERS_FILE: serversFile },
    });
    try {
      const admin = await adminApi(service.url, 'admin', service.adminPassword);
      const agent = await setUp(admin, servers);
      let failed = 0;
      let passed = 0;
      for (const toolchain of toolchains) {
        for (const [library, credential] of CLIENTS[toolchain.name]) {
          const checks = await runClient(
            toolchain,
            [library, credential],
            service.url,
            agent,
            servers,
          );
          const bad = checks.filter(({ ok }) => !ok);
          const expected = 3 * (2 * servers.length);
          const missing = expected - checks.length;
          console.log(
            `${toolchain.name} ${library}, ${credential}: ${checks.length - bad.length} of ${expected} checks`,
          );
          for (const { path, check, said } of bad)
            console.log(`  FAILED ${path} ${check}: ${said}`);
          failed += bad.length + Math.max(0, bad.length === 0 ? missing : 0);
          passed += checks.length - bad.length;
        }
      }
      console.log(`${passed} passed, ${failed} failed`);
      if (failed > 0) console.log(service.output().slice(-4_000));
      if (failed > 0 || passed === 0) process.exitCode = 1;
    } finally {
      await service.stop();
    }
  } finally {
    for (const child of processes) child.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  }
}

async function startServers(
  toolchains: Toolchain[],
  folder: string,
  processes: ChildProcess[],
): Promise<{ servers: ForeignServer[]; serversFile: string }> {
  const servers: ForeignServer[] = [];
  const commands: Record<string, { command: string; args: string[] }> = {};
  for (const toolchain of toolchains) {
    for (const library of SERVERS[toolchain.name]) {
      const id = `${toolchain.name.toLowerCase()}-${library}`;
      const port = await freePort();
      const { command, args } = toolchain.server(library, String(port));
      processes.push(spawn(command, args, { stdio: 'ignore' }));
      await untilListening(port, id);
      servers.push({ id: `${id}-http`, url: `http://127.0.0.1:${port}/mcp` });
      commands[`${id}-stdio`] = toolchain.server(library, 'stdio');
      servers.push({ id: `${id}-stdio` });
    }
  }
  const serversFile = join(folder, 'servers.json');
  await writeFile(serversFile, JSON.stringify({ servers: commands }));
  return { servers, serversFile };
}

async function untilListening(port: number, id: string): Promise<void> {
  const deadline = Date.now() + SERVER_START_MS;
  while (Date.now() < deadline) {
    const socket = connect(port, '127.0.0.1');
    const isThere = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isThere) return;
    await delay(100);
  }
  throw new Error(`the server ${id} did not start`);
}

/** An agent that may read: `wipe_disk` is denied because of its name. */
async function setUp(admin: AdminApi, servers: ForeignServer[]): Promise<RegisteredAgent> {
  for (const { id, url } of servers) {
    const way = url
      ? { transport: 'streamable-http', url }
      : { transport: 'stdio', local_name: id };
    await admin.post('/api/v1/mcp-servers', { server_id: id, ...way });
  }
  await admin.patch('/api/v1/admin/rate-limits', { enabled: false });
  return registerAgent(admin, 'foreign', await registerRole(admin, 'foreign', '*:read'));
}

async function runClient(
  toolchain: Toolchain,
  [library, credential]: readonly [string, string],
  gateway: string,
  agent: RegisteredAgent,
  servers: ForeignServer[],
): Promise<Check[]> {
  const { command, args } = toolchain.client(library, credential);
  const own = servers.map(({ id }) => [`/mcp/v1/${id}`, ''] as const);
  const checks: Check[] = [];
  // The unified path lists one set of tools per server.
  const rounds = [Object.fromEntries(own), ...servers.map(({ id }) => ({ '/mcp/v1': `${id}__` }))];
  for (const paths of rounds) {
    const { stdout } = await run(command, args, {
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        GATEWAY: gateway,
        CLIENT_ID: agent.client_id,
        CLIENT_SECRET: agent.client_secret,
        PATHS: JSON.stringify(paths),
      },
      timeout: CLIENT_TIMEOUT_MS,
      maxBuffer: 4 * 1024 * 1024,
    }).catch((error: { stdout?: string; stderr?: string; message: string }) => {
      console.log(error.stderr?.slice(-2_000) ?? error.message);
      return { stdout: error.stdout ?? '' };
    });
    for (const line of stdout.split('\n')) {
      if (line.startsWith('{')) checks.push(Check.parse(JSON.parse(line)));
    }
  }
  return checks;
}

await main();
