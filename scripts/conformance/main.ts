/**
 * `npm run conformance`: runs the MCP conformance suite against a fixture server directly and
 * against the same server behind the real gateway, compares check by check, and exits with 1 if
 * they differ. `--revision <date>` runs the checks of one revision only.
 */
import { parseArgs } from 'node:util';
import { adminApi } from '../../tests/support/admin-api.ts';
import {
  freePort,
  type ServiceProcess,
  startService,
} from '../../tests/support/service-process.ts';
import { type Compared, compareChecks, differences } from './compare.ts';
import { startFixtureServer } from './fixture-server.ts';
import { startShim } from './shim.ts';
import { installSuite, runSuite, type SuiteRun } from './suite.ts';

const NEWER = '0.2.0-alpha.12';
const newer = (revision: string, args: string[]): SuiteRun => ({
  title: `suite ${NEWER}, revision ${revision}`,
  version: NEWER,
  needsNode22: true,
  args,
});

const RUNS: Record<string, SuiteRun[]> = {
  '2025-03-26': [newer('2025-03-26', ['--suite', 'all', '--spec-version', '2025-03-26'])],
  '2025-06-18': [newer('2025-06-18', ['--suite', 'all', '--spec-version', '2025-06-18'])],
  '2025-11-25': [
    {
      title: 'suite 0.1.13, all scenarios',
      version: '0.1.13',
      needsNode22: false,
      args: ['--suite', 'all'],
    },
    newer('2025-11-25', ['--requirements', '2025-11-25']),
  ],
  // It includes the scenarios of the tasks extension, which is optional for servers.
  '2026-07-28': [newer('2026-07-28', ['--requirements', '2026-07-28'])],
};

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { revision: { type: 'string' } } });
  const runs = values.revision === undefined ? Object.values(RUNS).flat() : RUNS[values.revision];
  if (runs === undefined) throw new Error(`--revision is one of ${Object.keys(RUNS).join(', ')}`);

  const cleanups: (() => Promise<void>)[] = [];
  const notRun: string[] = [];
  let different = 0;
  try {
    const { alone, through } = await startBoth(cleanups);
    for (const run of runs) {
      const suite = await installSuite(run).catch((error: Error) => {
        // A suite for this Node must run; the other one needs a package that a registry may lack.
        if (!run.needsNode22) throw error;
        notRun.push(`${run.title}: needs Node 22 in a folder of its own; ${error.message}`);
      });
      if (!suite) continue;
      console.log(`\n${run.title}`);
      const rows = compareChecks(
        await runSuite(suite, run.args, alone),
        await runSuite(suite, run.args, through),
      );
      different += show(rows);
    }
  } finally {
    for (const cleanup of cleanups.reverse()) await cleanup();
  }
  console.log('');
  for (const reason of notRun) console.log(`not run: ${reason}`);
  console.log(different === 0 ? 'no difference' : `${different} checks differ`);
  if (different > 0) process.exitCode = 1;
}

/** @returns the server's own URL and its URL through the gateway */
async function startBoth(
  cleanups: (() => Promise<void>)[],
): Promise<{ alone: string; through: string }> {
  const fixture = await startFixtureServer();
  cleanups.push(() => fixture.close());
  const port = await freePort();
  const service = await startService({
    // The suite sends the Origin of the address that it was given: the shim's.
    env: { SERVICE_CORS_ORIGINS_STR: `http://127.0.0.1:${port}` },
  });
  cleanups.push(() => service.dispose());
  const authorization = await registerAgent(service, fixture.url);
  const shim = await startShim(port, `${service.url}/mcp/v1/fixture`, authorization);
  cleanups.push(() => shim.close());
  return { alone: fixture.url, through: shim.url };
}

/** @returns the Authorization of an agent that may do everything on the fixture */
async function registerAgent(service: ServiceProcess, url: string): Promise<string> {
  const admin = await adminApi(service.url, 'admin', service.adminPassword);
  await admin.post('/api/v1/mcp-servers', {
    server_id: 'fixture',
    transport: 'streamable-http',
    url,
  });
  await admin.patch('/api/v1/admin/rate-limits', { enabled: false });
  // The suite's confirm_delete names a file without a folder, which would otherwise wait for an
  // approval.
  await admin.patch('/api/v1/admin/blast-radius', { min_delete_depth: 0 });
  const role = await admin.post<{ id: string }>('/api/v1/roles', {
    name: 'everything-of-the-fixture',
    permissions: ['fixture:*'],
  });
  const agent = await admin.post<{ id: string; client_id: string; client_secret: string }>(
    '/api/v1/agents',
    { name: 'conformance', agent_type: 'assistant', owner: 'conformance@example.com' },
  );
  await admin.post(`/api/v1/agents/${agent.id}/roles`, { role_id: role.id });
  const basic = Buffer.from(`${agent.client_id}:${agent.client_secret}`).toString('base64');
  return `Basic ${basic}`;
}

function show(rows: Compared[]): number {
  const width = Math.max(...rows.map(({ check }) => check.length));
  console.log(`  ${'check'.padEnd(width)}  ${'alone'.padEnd(9)} through the gateway`);
  for (const { check, alone, through } of rows) {
    const mark = alone === through ? '' : '  <- differs';
    console.log(`  ${check.padEnd(width)}  ${alone.padEnd(9)} ${through}${mark}`);
  }
  const count = (side: 'alone' | 'through') =>
    [...new Set(rows.map((row) => row[side]))]
      .sort()
      .map((status) => `${rows.filter((row) => row[side] === status).length} ${status}`)
      .join(', ');
  console.log(`  alone: ${count('alone')}; through the gateway: ${count('through')}`);
  const different = differences(rows);
  for (const { check, alone, through, message } of different) {
    console.log(
      `  differs: ${check}: ${alone} alone, ${through} through the gateway. ${message ?? ''}`,
    );
  }
  return different.length;
}

await main();
