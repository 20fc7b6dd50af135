/**
 * `npm run foreign:witness`: a service whose log is cosigned by litewitness (filippo.io/torchwood),
 * and its packages, verified with an anchor that names that witness. Needs Go and OpenSSH; without
 * them it says so and exits with 0. Exits with 1 if a check fails.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { noteKeyHash } from '@governance/shared/evidence/checkpoint';
import { runChecks } from '@governance/shared/evidence/checks/run-checks';
import { readEd25519Key } from '@governance/shared/evidence/ed25519';
import { VOLUME_LIMITS } from '@governance/shared/evidence/evidence-package';
import { EMPTY_ROOT } from '@governance/shared/evidence/merkle-proofs';
import { TrustAnchor } from '@governance/shared/evidence/trust-anchor';
import { projectRoot } from '@governance/shared/process/assets';
import Database from 'better-sqlite3';
import { type AdminApi, adminApi } from '../../tests/support/admin-api.ts';
import { freePort, startService } from '../../tests/support/service-process.ts';

const LITEWITNESS = 'filippo.io/torchwood/cmd/litewitness@v0.9.0';
const cache = join(projectRoot, '.tmp/foreign');

interface Litewitness {
  vkey: string;
  url: string;
  /** Registers a log, as `witnessctl add-log` and `add-key` do. */
  addLog(anchor: TrustAnchor): void;
}

function findMissing(): string | undefined {
  const commands = [
    ['go', 'version'],
    ['ssh-keygen', '-?'],
    ['ssh-agent', '-?'],
    ['ssh-add', '-?'],
  ];
  return commands.find(([name = '', arg = '']) => spawnSync(name, [arg]).error)?.[0];
}

/** An OpenSSH agent holds its key. */
async function startWitness(folder: string, processes: ChildProcess[]): Promise<Litewitness> {
  const program = join(cache, 'litewitness');
  if (!existsSync(program)) {
    mkdirSync(cache, { recursive: true });
    const env = { ...process.env, GOBIN: cache };
    execFileSync('go', ['install', LITEWITNESS], { env, stdio: 'inherit' });
  }
  const [key, socket, db] = [join(folder, 'key'), join(folder, 'agent'), join(folder, 'w.db')];
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
  processes.push(spawn('ssh-agent', ['-D', '-a', socket], { stdio: 'ignore' }));
  for (let n = 0; n < 200 && !existsSync(socket); n++) await delay(50);
  execFileSync('ssh-add', ['-q', key], { env: { ...process.env, SSH_AUTH_SOCK: socket } });
  const [, fingerprint = ''] = execFileSync('ssh-keygen', ['-lf', key], { encoding: 'utf8' }).split(
    ' ',
  );
  const listen = `127.0.0.1:${await freePort()}`;
  const where = ['-db', db, '-ssh-agent', socket, '-listen', listen];
  const child = spawn(program, [...where, '-key', fingerprint, '-name', 'witness.example/lite']);
  processes.push(child);
  let said = '';
  const vkey = await new Promise<string>((resolve, reject) => {
    child.once('exit', () => reject(new Error(`litewitness ended: ${said}`)));
    child.stderr.on('data', (bytes: Buffer) => {
      said = `${said}${bytes.toString()}`.slice(-4_000);
      const [, found] =
        /vkey="?(witness\.example\/lite\+[0-9a-f]{8}\+[A-Za-z0-9+/=]+)/.exec(said) ?? [];
      if (found) resolve(found);
    });
  });
  return {
    vkey,
    url: `http://${listen}`,
    addLog: ({ log: { origin }, keys }) => {
      const logs = new Database(db);
      const root = Buffer.from(EMPTY_ROOT, 'hex').toString('base64');
      logs
        .prepare('INSERT INTO log (origin, tree_size, tree_hash) VALUES (?, 0, ?)')
        .run(origin, root);
      for (const { jwk } of keys.filter(({ purpose }) => purpose === 'checkpoint')) {
        const key = readEd25519Key(jwk);
        const typed = Buffer.concat([Buffer.from([1]), Buffer.from(String(jwk.x), 'base64url')]);
        const name = `${origin}+${noteKeyHash(origin, key).toString('hex')}`;
        const insert = logs.prepare('INSERT INTO key (origin, key) VALUES (?, ?)');
        insert.run(origin, `${name}+${typed.toString('base64')}`);
      }
      logs.close();
    },
  };
}

async function exportNow(admin: AdminApi, url: string): Promise<Buffer> {
  const [from, to] = [-1, 1].map((hours) => new Date(Date.now() + hours * 3_600_000).toISOString());
  const { id } = await admin.post<{ id: string }>('/api/v1/evidence/packages', { from, to });
  const path = `/api/v1/evidence/packages/${id}`;
  for (;;) {
    const { status, failure } = await admin.get<{ status: string; failure: string | null }>(path);
    if (status === 'failed') throw new Error(`no package was made: ${failure}`);
    if (status === 'ready') break;
    await delay(200);
  }
  const headers = { authorization: `Bearer ${admin.token}` };
  return Buffer.from(await (await fetch(`${url}${path}/download`, { headers })).arrayBuffer());
}

async function main(): Promise<void> {
  const missing = findMissing();
  if (missing !== undefined) {
    console.log(`litewitness: skipped, ${missing} was not found`);
    return;
  }
  const folder = await mkdtemp(join(tmpdir(), 'governance-witness-'));
  // When run as root, PostgreSQL's own user needs access.
  await chmod(folder, 0o711);
  const processes: ChildProcess[] = [];
  try {
    const witness = await startWitness(folder, processes);
    const service = await startService({
      dataDir: join(folder, 'data'),
      env: { SERVICE_EVIDENCE_WITNESS_URLS: `${witness.vkey} ${witness.url}` },
    });
    try {
      const admin = await adminApi(service.url, 'admin', service.adminPassword);
      const verify = async (what: string, expected: string) => {
        const name = `role ${Date.now()}`;
        await admin.post('/api/v1/roles', { name, description: '', permissions: [] });
        const anchor = TrustAnchor.parse(await admin.get('/api/v1/evidence/trust-anchor'));
        const packed = await exportNow(admin, service.url);
        const trust = { anchor, issuers: [] };
        const report = await runChecks(Readable.from([packed]), trust, VOLUME_LIMITS);
        const quorum = report.checks.find((check) => check.name === 'witness.quorum')?.status;
        const { witnesses } = await admin.get<{
          witnesses: { size: number; failure: string | null }[];
        }>('/api/v1/evidence/witnesses');
        const { size, failure } = witnesses[0] ?? {};
        console.log(
          `${what}: ${report.verdict}, witness.quorum ${quorum}; ` +
            `cosigned ${size}, failure: ${failure}`,
        );
        if (quorum !== expected) process.exitCode = 1;
        return anchor;
      };
      witness.addLog(await verify('a log that it does not know', 'fail'));
      await verify('its first checkpoint', 'pass');
      await verify('one that continues it', 'pass');
    } finally {
      await service.stop();
    }
  } finally {
    for (const child of processes) {
      child.kill('SIGTERM');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    }
    await rm(folder, { recursive: true, force: true });
  }
}

await main();
