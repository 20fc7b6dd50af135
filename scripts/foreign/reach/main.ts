/**
 * `npm run foreign:reach`: blast radius at the tools of real servers: files, git, SQLite, mail, chat
 * and a code host. The servers come from the npm registry and what is behind three of them is a
 * double. An agent with every permission sees every tool and makes each call; what must pass has to
 * arrive, and nothing else. Exits with 1 if a check fails. Needs git.
 */
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import {
  getDefaultEnvironment,
  StdioClientTransport,
} from '@modelcontextprotocol/sdk/client/stdio.js';
import { type AdminApi, adminApi } from '../../../tests/support/admin-api.ts';
import {
  basicOf,
  type RegisteredAgent,
  registerAgent,
  registerRole,
} from '../../../tests/support/admin-setup.ts';
import { connectSdk } from '../../../tests/support/sdk-client.ts';
import { startService } from '../../../tests/support/service-process.ts';
import { startChat, startCodeHost, startMail } from './doubles.ts';
import { installServers, type ReachCase, type RealServer, realServers } from './servers.ts';

const CODES = { denied: -32003, escalated: -32004 };

interface Alert {
  alert_type: string;
  details: { rule?: string };
}

let failed = 0;
/** Of all servers: a tool whose description is taken for an injection is not listed. */
const seen = { tools: 0, missing: 0 };
/** The detector's goal for false alarms. */
const MOST_MISSING = 0.01;
function check(what: string, isGood: boolean, said: string): void {
  console.log(`${isGood ? 'ok    ' : 'FAILED'} ${what}${isGood ? '' : `: ${said}`}`);
  if (!isGood) failed++;
}

async function main(): Promise<void> {
  installServers();
  const folder = await mkdtemp(join(tmpdir(), 'governance-reach-'));
  // When run as root, PostgreSQL's own user needs access, or its files would stay in /var/lib.
  await chmod(folder, 0o711);
  const doubles = {
    mail: await startMail(),
    chat: await startChat(),
    codeHost: await startCodeHost(),
  };
  try {
    await prepareFolders(folder);
    const servers = realServers(folder, doubles);
    const serversFile = join(folder, 'servers.json');
    const local = servers.map(({ id, command, args, env }) => [id, { command, args, env }]);
    await writeFile(serversFile, JSON.stringify({ servers: Object.fromEntries(local) }));
    const service = await startService({
      dataDir: join(folder, 'data'),
      // Nobody decides here, so that a held call need not be waited for.
      env: { SERVICE_MCP_SERVERS_FILE: serversFile, SERVICE_HOLD_WAIT_SECONDS: '1' },
    });
    try {
      const admin = await adminApi(service.url, 'admin', service.adminPassword);
      const agent = await setUp(admin, servers);
      for (const server of servers) {
        await runServer(server, service.url, agent).catch((error: Error) =>
          check(`${server.id} is served`, false, error.message),
        );
      }
      const isMissingFew = seen.tools > 0 && seen.missing <= MOST_MISSING * seen.tools;
      const few = `at most one in a hundred of ${seen.tools} tools is taken for an injection`;
      check(few, isMissingFew, String(seen.missing));
      await checkWhatArrived(folder, doubles);
      await checkAlerts(admin, servers);
    } finally {
      if (failed > 0) console.log(service.output().slice(-4_000));
      await service.stop();
    }
  } finally {
    for (const double of Object.values(doubles)) await double.close();
    await rm(folder, { recursive: true, force: true });
  }
  console.log(failed === 0 ? 'all passed' : `${failed} failed`);
  if (failed > 0) process.exitCode = 1;
}

/** Files to protect, and a repository with one commit. */
async function prepareFolders(folder: string): Promise<void> {
  await mkdir(join(folder, 'files'));
  await writeFile(join(folder, 'files/secrets.env'), 'kept');
  const cwd = join(folder, 'repository');
  await mkdir(cwd);
  await writeFile(join(cwd, 'a.txt'), 'a');
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.com', ...args], { cwd });
  git('init', '--quiet', '--initial-branch=main');
  git('add', '.');
  git('commit', '--quiet', '-m', 'first');
  await writeFile(join(cwd, 'a.txt'), 'not yet committed');
}

/** An agent that may do everything: only the reach of a call can stop it. */
async function setUp(admin: AdminApi, servers: RealServer[]): Promise<RegisteredAgent> {
  for (const { id } of servers) {
    await admin.post('/api/v1/mcp-servers', { server_id: id, transport: 'stdio', local_name: id });
  }
  const permissions = servers.map(({ id }) => `${id}:*`);
  return registerAgent(admin, 'reach', await registerRole(admin, 'all', ...permissions));
}

async function runServer(
  server: RealServer,
  gateway: string,
  agent: RegisteredAgent,
): Promise<void> {
  console.log(`\n${server.id}: ${server.package}`);
  const headers = { authorization: basicOf(agent) };
  const client = await connectSdk(`${gateway}/mcp/v1/${server.id}`, headers);
  try {
    const { tools } = await client.listTools();
    const own = await ownTools(server);
    const names = tools.map(({ name }) => name);
    const missing = own.filter((name) => !names.includes(name));
    seen.tools += own.length;
    seen.missing += missing.length;
    const note = missing.length === 0 ? '' : `, without ${missing.join(', ')}`;
    console.log(`       ${own.length} tools are listed${note}`);
    for (const one of server.cases) {
      if (tools.some(({ name }) => name === one.tool)) await runCase(client, one);
      else check(one.tool, false, 'the server has no such tool');
    }
  } finally {
    await client.close();
  }
}

/** The names that the server itself lists. */
async function ownTools({ command, args, env }: RealServer): Promise<string[]> {
  const client = new Client({ name: 'reach', version: '1.0.0' });
  const environment = { ...getDefaultEnvironment(), ...env };
  await client.connect(
    new StdioClientTransport({ command, args, env: environment, stderr: 'ignore' }),
  );
  try {
    return (await client.listTools()).tools.map(({ name }) => name);
  } finally {
    await client.close();
  }
}

async function runCase(client: Client, { tool, args, expected }: ReachCase): Promise<void> {
  const shown = JSON.stringify(args);
  const what = `${tool} ${shown.length > 100 ? `${shown.slice(0, 100)} …` : shown}`;
  const answer = await client.callTool({ name: tool, arguments: args }).then(
    (result) => ({ code: 0, said: JSON.stringify(result), isError: result.isError === true }),
    (error: { code?: number; message: string }) => ({
      code: error.code ?? 0,
      said: error.message,
      isError: true,
    }),
  );
  if (expected === 'passes') return check(`${what} passes`, !answer.isError, answer.said);
  const isThatRule =
    answer.code === CODES[expected.verdict] && answer.said.includes('Blast radius');
  check(`${what} is ${expected.verdict} (${expected.rule})`, isThatRule, answer.said);
}

/** What passed has arrived, and nothing that did not pass. */
async function checkWhatArrived(
  folder: string,
  { mail, chat, codeHost }: Record<'mail' | 'chat' | 'codeHost', { arrived: string[] }>,
): Promise<void> {
  console.log('\nWhat arrived');
  const same = (what: string, found: unknown, expected: unknown) =>
    check(what, isDeepStrictEqual(found, expected), JSON.stringify(found));
  same('the protected file', await readFile(join(folder, 'files/secrets.env'), 'utf8'), 'kept');
  same('the new file', await readFile(join(folder, 'files/a.txt'), 'utf8'), 'a');
  const cwd = join(folder, 'repository');
  same('work not committed', await readFile(join(cwd, 'a.txt'), 'utf8'), 'not yet committed');
  const branches = execFileSync('git', ['branch', '--format=%(refname:short)'], { cwd });
  same('the branches', branches.toString().trim(), 'main');
  same('the mails', mail.arrived, ['a mail to 2']);
  same('the messages', chat.arrived, ['a message to C1']);
  same('the code host', codeHost.arrived, [
    'POST /api/v4/projects/7/repository/branches',
    'DELETE /api/v4/projects/7/repository/branches/feature%2Fa',
  ]);
}

/** Each rule that stopped a call has raised an alert. */
async function checkAlerts(admin: AdminApi, servers: RealServer[]): Promise<void> {
  console.log('\nAlerts');
  const { alerts: found } = await admin.get<{ alerts: Alert[] }>(
    '/api/v1/monitor/alerts?limit=100',
  );
  const rules = new Set(
    found
      .filter(({ alert_type: type }) => type === 'BLAST_RADIUS_ESCALATION')
      .map(({ details }) => details.rule),
  );
  for (const { cases } of servers) {
    for (const { expected } of cases) {
      if (expected === 'passes' || rules.has(expected.rule)) continue;
      check(`an alert of ${expected.rule}`, false, JSON.stringify(found));
    }
  }
  check(`${rules.size} rules have an alert`, rules.size > 0, 'no alert');
}

await main();
