/**
 * `npm run test:durability`: 1,000 calls under strace, then 100 kills under load.
 *
 *   DURABILITY_CALLS (1000), DURABILITY_KILLS (100), DURABILITY_SEED (random, printed)
 */
import { execFileSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { adminApi } from '../../tests/support/admin-api.ts';
import { startService } from '../../tests/support/service-process.ts';
import { killRounds } from './kill-rounds.ts';
import { startMarkedBackend } from './marked-backend.ts';
import { connectTo, makeMarkedCall, openSession, setUpMarkedCalls } from './marked-calls.ts';
import { seededRandom } from './seeded-random.ts';
import { readTraceOrder } from './trace-order.ts';

const calls = Number(process.env.DURABILITY_CALLS ?? 1_000);
const kills = Number(process.env.DURABILITY_KILLS ?? 100);
const seed = Number(process.env.DURABILITY_SEED ?? randomInt(2 ** 31));

async function traceCalls(): Promise<boolean> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'durability-')));
  // When run as root, PostgreSQL's own user needs access, or its files would stay in /var/lib.
  chmodSync(folder, 0o711);
  const trace = join(folder, 'trace');
  const backend = await startMarkedBackend();
  const service = await startService({
    dataDir: join(folder, 'data'),
    wrapper: [
      'strace',
      '-f',
      '-yy',
      '-s',
      '65536',
      '--seccomp-bpf',
      '-o',
      trace,
      '-e',
      'trace=pwrite64,fdatasync,fsync,write,writev,sendto,sendmsg',
    ],
    readyTimeoutMs: 180_000,
  });
  try {
    const admin = await adminApi(service.url, 'admin', service.adminPassword);
    const authorization = await setUpMarkedCalls(admin, backend.port);
    const headers = await openSession(service.url, authorization);
    // Several callers at once, so that groups of records share a sync as they do under load.
    let next = 0;
    let acknowledged = 0;
    await Promise.all(
      Array.from({ length: 4 }, async () => {
        const client = connectTo(service.url);
        while (next < calls) if (await makeMarkedCall(client, headers, next++)) acknowledged += 1;
        await client.close();
      }),
    );
    await service.stop();
    const order = await readTraceOrder(
      trace,
      join(folder, 'data', 'data-plane.db-wal'),
      backend.port,
    );
    console.log(
      `strace: ${acknowledged} calls acknowledged, ${order.calls} seen on their way to the server, ${order.syncs} syncs of the ledger, ${order.violations.length} forwarded before their decision was on disk`,
    );
    return acknowledged === calls && order.calls === calls && order.violations.length === 0;
  } finally {
    await service.stop();
    await backend.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function killUnderLoad(): Promise<boolean> {
  console.log(`kill -9: ${kills} rounds, seed ${seed}`);
  const report = await killRounds({
    rounds: kills,
    callers: 16,
    random: seededRandom(seed),
    progress: (round) => {
      if (round % 10 === 0) console.log(`  round ${round} of ${kills}`);
    },
  });
  console.log(
    `kill -9: ${report.rounds} kills, ${report.acknowledged} calls acknowledged, ${report.forwarded} forwarded, ${report.records} records, ${report.problems.length} problems`,
  );
  for (const problem of report.problems.slice(0, 20)) console.log(`  ${problem}`);
  return report.problems.length === 0;
}

function hasStrace(): boolean {
  try {
    execFileSync('strace', ['-V'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

if (!hasStrace()) {
  console.error('strace was not found; it is needed (Linux; package `strace`)');
  process.exit(1);
}
const traced = await traceCalls();
const survived = await killUnderLoad();
process.exit(traced && survived ? 0 : 1);
