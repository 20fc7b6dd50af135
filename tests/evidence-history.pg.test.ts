/**
 * One history with all that may happen to a log: keys follow one another, a witness cosigns, the
 * database is restored from a backup and the restore is announced, a key is revoked. What each
 * package of it says by each anchor of it, by both verifiers, and what a data plane keeps.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runControlPlaneCommand } from '@governance/control-plane/commands';
import { startTestUpstream, type TestUpstream } from '@governance/data-plane/testing/test-upstream';
import type { PublicJwk } from '@governance/shared/evidence/ed25519';
import { TrustAnchor } from '@governance/shared/evidence/trust-anchor';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { runVerifyEvidence } from '../verifier/src/verify-evidence-command.ts';
import { aWitness } from './support/a-witness.ts';
import { type AdminApi, adminApi } from './support/admin-api.ts';
import {
  basicOf,
  issueDataPlaneToken,
  type RegisteredAgent,
  registerAgent,
  registerRole,
  registerServer,
} from './support/admin-setup.ts';
import { createEvidenceReader, exportEvidence } from './support/evidence-reader.ts';
import { connectSdk } from './support/sdk-client.ts';
import { builtService, type ServiceProcess, startService } from './support/service-process.ts';
import { STORED_COLUMNS } from './support/stored-columns.ts';
import { testDatabase } from './support/test-database.ts';

vi.setConfig({ testTimeout: 300_000 });

const SUPER_PASSWORD = 'the super-admin of the history';
const PATIENT = { timeout: 60_000, interval: 200 };
const database = await testDatabase();
const { superuser } = database;
const witness = await aWitness('history');
const reader = createEvidenceReader();
const controlPlaneEnv = {
  SERVICE_DEPLOYMENT_MODE: 'control-plane',
  DATABASE_URL: database.url,
  SERVICE_MASTER_KEY: Buffer.alloc(32, 9).toString('base64'),
  SERVICE_SUPER_ADMIN_PASSWORD: SUPER_PASSWORD,
  SERVICE_KEY_OVERLAP_SECONDS: '1',
  SERVICE_CHECKPOINT_SECONDS: '1',
  SERVICE_EVIDENCE_WITNESS_URLS: witness.setting,
};
let upstream: TestUpstream;
let controlPlane: ServiceProcess;
let dataPlane: ServiceProcess;
let dataPlaneEnv: Record<string, string>;
let admin: AdminApi;
let superAdmin: AdminApi;
let agent: RegisteredAgent;

async function logIn(): Promise<void> {
  admin = await adminApi(controlPlane.url, 'admin', controlPlane.adminPassword);
  superAdmin = await adminApi(controlPlane.url, 'superadmin', SUPER_PASSWORD);
}

beforeAll(async () => {
  upstream = await startTestUpstream({
    tools: [{ name: 'read_thing', annotations: { readOnlyHint: true } }],
  });
  controlPlane = await startService({ env: controlPlaneEnv });
  await logIn();
  await registerServer(admin, upstream.url);
  agent = await registerAgent(admin, 'caller', await registerRole(admin, 'reader', 'up:read'));
  dataPlaneEnv = {
    SERVICE_DEPLOYMENT_MODE: 'data-plane',
    SERVICE_CP_URL: controlPlane.url,
    SERVICE_CP_TOKEN: await issueDataPlaneToken(admin),
  };
  dataPlane = await startService({ env: dataPlaneEnv });
}, 120_000);

afterAll(async () => {
  await dataPlane?.dispose();
  await controlPlane?.dispose();
  await upstream?.stop();
});

const countEvents = async () =>
  (await admin.get<{ total: number }>(`/api/v1/audit/events?agent_id=${agent.id}&limit=1`)).total;

/** A real client's call, which has arrived when this answers. */
async function act(): Promise<void> {
  const before = await countEvents();
  const client = await connectSdk(`${dataPlane.url}/mcp/v1/up`, { authorization: basicOf(agent) });
  expect((await client.callTool({ name: 'read_thing', arguments: {} })).isError).not.toBe(true);
  await client.close();
  await vi.waitFor(async () => expect(await countEvents()).toBeGreaterThan(before), PATIENT);
}

/** The next key is told to the witness before it signs. */
async function rotate(purpose: string, order?: object): Promise<void> {
  const made = await superAdmin.post<{ valid_from: string; new_kid: string }>(
    `/api/v1/admin/keys/${purpose}/rotate`,
    order,
  );
  if (purpose === 'checkpoint') {
    const { keys } = await superAdmin.get<{ keys: { kid: string; jwk: PublicJwk }[] }>(
      '/api/v1/admin/keys',
    );
    const next = keys.find(({ kid }) => kid === made.new_kid)?.jwk;
    witness.logKey = witness.nextLogKey ?? witness.logKey;
    witness.nextLogKey = next;
  }
  await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(Date.parse(made.valid_from)), PATIENT);
}

interface Checkpoint {
  log_epoch: number;
  size: number;
  root: string;
}

/** Places that the service did not hand out as an anchor's: it has to be told of them. */
const places: number[] = [];

/** An anchor whose place is the log's newest, and not one of the last minute. */
async function anchorNow(): Promise<TrustAnchor> {
  const anchor = TrustAnchor.parse(await admin.get('/api/v1/evidence/trust-anchor'));
  const { checkpoints } = await admin.get<{ checkpoints: Checkpoint[] }>(
    '/api/v1/evidence/checkpoints',
  );
  const [newest] = checkpoints;
  if (!newest) throw new Error('the log has no checkpoint');
  const { log_epoch: epoch, size, root } = newest;
  places.push(size);
  const origin = anchor.log.origin.replace(/\d+$/, String(epoch));
  return { ...anchor, log: { origin, epoch, size, root } };
}

const packageNow = () =>
  exportEvidence(controlPlane.url, admin, {
    from: new Date(Date.now() - 3_600_000).toISOString(),
    to: new Date(Date.now() + 3_600_000).toISOString(),
    anchor_sizes: places,
  });

/** Every row of one moment, as a backup of the database has it while the service runs. */
async function backup(): Promise<() => Promise<void>> {
  const { rows } = await superuser.query<{ name: string; columns: string }>(
    `SELECT c.relname AS name, ${STORED_COLUMNS} AS columns FROM pg_class c
     WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relnamespace = 'public'::regnamespace`,
  );
  const dump = await superuser.connect();
  await dump.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  await dump.query('CREATE SCHEMA kept');
  for (const { name } of rows) {
    await dump.query(`CREATE TABLE kept.${name} AS SELECT * FROM ${name}`);
  }
  await dump.query('COMMIT');
  dump.release();
  return async () => {
    const client = await superuser.connect();
    try {
      await client.query('BEGIN');
      // Neither order nor triggers matter: the rows belong together.
      await client.query('SET LOCAL session_replication_role = replica');
      for (const { name, columns } of rows) {
        await client.query(`DELETE FROM ${name}`);
        await client.query(
          `INSERT INTO ${name} (${columns}) OVERRIDING SYSTEM VALUE SELECT ${columns} FROM kept.${name}`,
        );
      }
      await client.query('COMMIT');
    } finally {
      client.release();
    }
  };
}

async function restart(between: () => Promise<void>): Promise<void> {
  const { dataDir, adminPassword, url } = controlPlane;
  await controlPlane.stop();
  await between();
  const port = Number(new URL(url).port);
  controlPlane = await startService({ env: controlPlaneEnv, dataDir, adminPassword, port });
  await logIn();
}

/** What the data plane itself says of the log; its heartbeat tells it once a minute. */
async function watched() {
  const health = (await (await fetch(`${dataPlane.url}/health`)).json()) as {
    tenants: {
      log_watch: { checkpoint: { epoch: number; size: number }; contradictions: number };
    }[];
  };
  return health.tenants[0]?.log_watch;
}

/** The data plane looks at the log soon after its start, and not before minutes again. */
async function restartDataPlane(): Promise<void> {
  const { dataDir } = dataPlane;
  await dataPlane.stop();
  dataPlane = await startService({ env: dataPlaneEnv, dataDir });
}

/** What `npm run data-plane -- log-watch` writes, as `npm run verify -- --kept` reads it. */
async function keptVerdict(anchor: TrustAnchor): Promise<string> {
  const service = pathToFileURL(join(await builtService(), 'service.js')).href;
  const script = `import(${JSON.stringify(service)}).then((m) => m.main(process.env, ['log-watch']))`;
  const { dataDir } = dataPlane;
  const written = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
    env: {
      PATH: process.env.PATH,
      SERVICE_DEPLOYMENT_MODE: 'data-plane',
      SERVICE_DATA_DIR: dataDir,
    },
  });
  const [kept, file] = [join(dataDir, 'kept.json'), join(dataDir, 'anchor.json')];
  writeFileSync(kept, written);
  writeFileSync(file, JSON.stringify(anchor));
  let text = '';
  const write = (part: string) => {
    text += part;
  };
  await runVerifyEvidence(['--kept', kept, '--trust-anchor', file], { write, writeError: write });
  return /^VERDICT: (.+)$/m.exec(text)?.[1] ?? text;
}

it('every package distinguishes rotated keys, a witness, an announced restore and a revocation', async () => {
  const [first] = TrustAnchor.parse(await admin.get('/api/v1/evidence/trust-anchor')).keys.filter(
    ({ purpose }) => purpose === 'checkpoint',
  );
  witness.logKey = first?.jwk as PublicJwk;
  await act();
  const before = { anchor: await anchorNow(), packed: await packageNow() };

  await rotate('checkpoint');
  await Promise.all(['evidence', 'batch', 'bundle', 'feed'].map((purpose) => rotate(purpose)));
  await act();
  const rotated = { anchor: await anchorNow(), packed: await packageNow() };

  const restore = await backup();
  await act();
  await act();
  await admin.post('/api/v1/roles', { name: 'lost', description: '', permissions: [] });
  // A package waits until everything is in the log, and has the witness cosign it.
  await packageNow();
  const lost = { anchor: await anchorNow() };
  expect(lost.anchor.log.size).toBeGreaterThan(rotated.anchor.log.size);
  await restartDataPlane();
  await vi.waitFor(async () => {
    expect((await watched())?.checkpoint.size).toBeGreaterThanOrEqual(lost.anchor.log.size);
  }, PATIENT);
  expect(await keptVerdict(lost.anchor)).toBe('CONSISTENT');

  // Nothing is shipped again before the announcement: the new epoch begins below what was seen.
  const { dataDir } = dataPlane;
  await dataPlane.stop();
  const output: string[] = [];
  await restart(async () => {
    await restore();
    const out = {
      log: (line: string) => output.push(line),
      error: (line: string) => output.push(line),
    };
    const args = ['announce-restore', '--reason', 'a disk'];
    expect(await runControlPlaneCommand(args, controlPlaneEnv, out), output.join()).toBe(0);
  });
  expect(output.join()).toContain('the log continues as epoch 2');
  dataPlane = await startService({ env: dataPlaneEnv, dataDir });
  await act();
  await vi.waitFor(async () => {
    expect(await watched()).toMatchObject({ checkpoint: { epoch: 2 }, contradictions: 1 });
  }, PATIENT);
  expect(await keptVerdict(rotated.anchor)).toBe('CONTRADICTED');

  await rotate('checkpoint');
  await rotate('evidence', { revoke: true, reason: 'a drill' });
  await act();
  const after = { anchor: await anchorNow(), packed: await packageNow() };

  const read = async (packed: Buffer, { anchor }: { anchor: TrustAnchor }) => {
    const { verdict, fails, passes, said: words } = await reader.read(packed, anchor);
    const isCosigned = passes.includes('witness.quorum');
    return { is: [verdict, ...fails].join(' '), isCosigned, words };
  };
  const good = { is: 'VERIFIED', isCosigned: true };
  expect(await read(before.packed, before)).toMatchObject(good);
  expect(await read(rotated.packed, before)).toMatchObject(good);
  expect(await read(rotated.packed, rotated)).toMatchObject(good);
  expect(await read(after.packed, before)).toMatchObject(good);
  expect(await read(after.packed, rotated)).toMatchObject(good);
  expect(await read(after.packed, after)).toMatchObject(good);
  // What the restore lost stays lost, and the report says when it was announced.
  expect(await read(after.packed, lost)).toMatchObject({
    is: 'NOT_VERIFIED log.consistency',
    isCosigned: true,
    words: expect.stringContaining('announced at'),
  });
  // Its epoch has ended; no later package can be led to from it.
  expect(await read(before.packed, after)).toMatchObject({ is: 'INCONCLUSIVE' });
  // The key that signed this manifest is in other hands now.
  expect(await read(rotated.packed, after)).toMatchObject({ is: 'NOT_VERIFIED keys.validity' });
});
