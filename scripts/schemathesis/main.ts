/**
 * `npm run schemathesis [-- --seed=N --examples=N]`: Schemathesis with all its checks against
 * /docs/json of the built service, on loopback. Exits with 1 for any finding that is not in
 * explained.ts, and for an incomplete run. Without Python it says so, and exits 0.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { adminApi } from '../../tests/support/admin-api.ts';
import { type ServiceProcess, startService } from '../../tests/support/service-process.ts';
import { findExplanation } from './explained.ts';
import { type Finding, readFindings } from './findings.ts';
import { findSchemathesis, kept } from './install.ts';

/** It never ends, so no answer could be checked. */
const LEFT_OUT = '/api/v1/audit/stream';
const SUPER_ADMIN_PASSWORD = 'the super-admin of a throw-away service';
const RUN_TIMEOUT_MS = 30 * 60_000;
/** A run with fewer cases has tested nothing: the document has some fifty operations. */
const LEAST_CASES = 500;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string', default: '9' },
      examples: { type: 'string', default: '15' },
    },
  });
  const program = findSchemathesis();
  if (program === undefined) {
    console.log('Schemathesis needs Python 3 with venv, which was not found: nothing was tested.');
    return;
  }
  const service = await startService({
    env: { SERVICE_SUPER_ADMIN_PASSWORD: SUPER_ADMIN_PASSWORD },
    readyTimeoutMs: 180_000,
  });
  try {
    const report = join(kept, 'report.ndjson');
    const config = await writeConfig(service, Number(values.seed), Number(values.examples));
    console.log(`seed ${values.seed}, at most ${values.examples} examples an operation and phase`);
    await runSchemathesis(program, config, service.url, report);
    const run = await readFindings(report);
    const unexplained = summarize(run.findings);
    console.log(`${run.cases} requests, ${unexplained} findings without an explanation`);
    if (!run.isComplete) console.log(`The run did not finish: ${join(kept, 'log.txt')}`);
    if (unexplained > 0 || !run.isComplete || run.cases < LEAST_CASES) process.exitCode = 1;
  } finally {
    await service.dispose();
  }
}

/** Contains the tokens, for the lifetime of the service. */
async function writeConfig(
  service: ServiceProcess,
  seed: number,
  examples: number,
): Promise<string> {
  const admin = await adminApi(service.url, 'admin', service.adminPassword);
  const platform = await adminApi(service.url, 'superadmin', SUPER_ADMIN_PASSWORD);
  // In a separate tenant, where no request of the run can revoke its token.
  const account = { username: 'planes', password: 'a throw-away password' };
  await platform.post('/api/v1/tenants', { name: 'planes', admin: account });
  const planes = await adminApi(service.url, account.username, account.password);
  const issue = async (api: typeof admin): Promise<{ token: string; tenant_id: string }> =>
    api.post('/api/v1/admin/data-plane-tokens', { label: 'schemathesis' });
  const { token } = await issue(planes);
  const { tenant_id: ownTenant } = await issue(admin);
  const file = join(kept, 'schemathesis.toml');
  const lines = [
    `seed = ${seed}`,
    'continue-on-failure = true',
    'request-timeout = 120',
    `hooks = ${JSON.stringify(join(import.meta.dirname, 'hooks.py'))}`,
    '[generation]',
    `max-examples = ${examples}`,
    'no-shrink = true',
    '[parameters]',
    // Another tenant's is a 403, whatever else the request contains.
    `"header.X-Tenant-Id" = ${JSON.stringify(ownTenant)}`,
    ...Object.entries({
      adminToken: admin.token,
      superAdminToken: platform.token,
      dataPlaneToken: token,
    }).flatMap(([scheme, bearer]) => [
      `[auth.openapi.${scheme}]`,
      `bearer = ${JSON.stringify(bearer)}`,
    ]),
  ];
  await writeFile(file, `${lines.join('\n')}\n`, { mode: 0o600 });
  return file;
}

async function runSchemathesis(
  program: string,
  config: string,
  url: string,
  report: string,
): Promise<void> {
  const args = ['--config-file', config, 'run', `${url}/docs/json`, '--checks', 'all'];
  args.push('--workers', '1', '--exclude-path', LEFT_OUT, '--suppress-health-check', 'all');
  // Creating a tenant builds its bundle, and this machine may be busy: speed is not tested here.
  args.push('--max-response-time', '120');
  args.push('--no-color', '--report', 'ndjson', '--report-ndjson-path', report);
  const child = spawn(program, args, {
    cwd: kept,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: RUN_TIMEOUT_MS,
  });
  const log: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => log.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => log.push(chunk));
  await once(child, 'close');
  await writeFile(join(kept, 'log.txt'), Buffer.concat(log));
}

/** Prints each kind of finding once. @returns the number of kinds without an explanation */
function summarize(findings: readonly Finding[]): number {
  const kinds = new Map<string, { finding: Finding; count: number }>();
  for (const finding of findings) {
    const why = findExplanation(finding);
    const kind = `${finding.operation} ${finding.check} ${finding.status} ${why ?? finding.detail}`;
    const known = kinds.get(kind);
    if (known) known.count++;
    else kinds.set(kind, { finding, count: 1 });
  }
  let unexplained = 0;
  for (const { finding, count } of kinds.values()) {
    const why = findExplanation(finding);
    const { operation, check, status, detail, message } = finding;
    const where = `${operation}: ${check}, ${status ?? 'no answer'}, ${count} times`;
    console.log(
      why === undefined ? `FOUND ${where}\n  ${message}\n  ${detail}` : `${where}: ${why}`,
    );
    if (why === undefined) unexplained++;
  }
  return unexplained;
}

await main();
