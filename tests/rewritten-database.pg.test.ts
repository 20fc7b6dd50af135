/**
 * What is seen when somebody has written in PostgreSQL: what both verifiers say of a package that the
 * service makes afterwards, by an anchor from before, and what a data plane that watches the log says.
 * The table of docs/evidence.md ("What a rewritten database looks like") is this file's.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { announceRestore } from '@governance/control-plane/restores/restore-announcement';
import { encodeBatch, NDJSON } from '@governance/shared/channel/channel-routes';
import { runChecks } from '@governance/shared/evidence/checks/run-checks';
import { VOLUME_LIMITS } from '@governance/shared/evidence/evidence-package';
import { judgeLogView, LogView, type SeenCheckpoint } from '@governance/shared/evidence/log-watch';
import { TrustAnchor } from '@governance/shared/evidence/trust-anchor';
import { afterAll, beforeEach, expect, it, vi } from 'vitest';
import {
  findMissingPython,
  opinionOf,
  secondOpinions,
} from '../verifier/testing/second-opinion.ts';
import { aDecision, createWriter, type TestDataPlane } from './support/a-data-plane.ts';
import { aRegistration } from './support/a-registration.ts';
import { STORED_COLUMNS } from './support/stored-columns.ts';
import { testControlPlane } from './support/test-control-plane.ts';

vi.setConfig({ testTimeout: 60_000 });

const time = Date.now();
const { call, aTenantAdmin, test, controlPlane } = await testControlPlane({
  now: () => new Date(time),
  env: { SERVICE_CHECKPOINT_SECONDS: '1' },
});
const { superuser } = test;
const missing = findMissingPython();
const folder = mkdtempSync(join(tmpdir(), 'rewritten-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let token: string;
let tenantId: string;
let plane: { id: string; token: string; writer: TestDataPlane; revision: number };
/** The reader's, from before. */
let anchor: TrustAnchor;
/** What the data plane kept, from before. */
let kept: SeenCheckpoint;
let keptView: LogView;

const sql = async (text: string, values: unknown[] = [tenantId]) =>
  (await superuser.query(text, values)).rows;

/** A registered data plane that has its own key, or one that somebody else made. */
async function aPlane(): Promise<typeof plane> {
  const issued = await call('/api/v1/admin/data-plane-tokens', { token, body: { label: 'x' } });
  const root: string = issued.json().token;
  const keys = aRegistration();
  const body = keys.provenWith(root);
  const answer = await call('/api/v1/data-planes/register', { token: root, body });
  const { deployment_id: id, token: own } = answer.json();
  const writer = createWriter(tenantId, id, keys.signingKey);
  writer.boot();
  const { revision } = await controlPlane.bundles.requestBuild(tenantId);
  return { id, token: own.token, writer, revision };
}

/** Ships what is behind a place of the writer's records; answers the status. */
async function ship(from: number, to?: number): Promise<number> {
  const batch = await call(`/api/v1/data-planes/${plane.id}/audit-batches`, {
    token: plane.token,
    body: encodeBatch(plane.writer.batch(from, to)),
    headers: { 'content-type': NDJSON },
  });
  return batch.statusCode;
}

async function decide(): Promise<void> {
  const from = plane.writer.records.length;
  plane.writer.append(
    aDecision({ bundle_revision: plane.revision, timestamp: new Date(time).toISOString() }),
  );
  expect(await ship(from)).toBe(200);
}

async function view(held = { epoch: 1, size: 0 }): Promise<LogView> {
  const url = `/api/v1/data-planes/${plane.id}/log?epoch=${held.epoch}&size=${held.size}`;
  const answer = await call(url, { token: plane.token });
  expect(answer.statusCode, answer.body).toBe(200);
  return LogView.parse(answer.json());
}

const sizeOf = ({ note }: LogView) => Number(note?.split('\n')[1] ?? 0);

/** Until a checkpoint covers every batch, the admin chain's among them. */
async function grown(): Promise<number> {
  return vi.waitFor(
    async () => {
      const [row] = await sql(
        `SELECT p.log_size AS leaves, l.size, l.admin_seq, h.admin_seq AS last
         FROM tenant_positions p JOIN tenant_heads h USING (tenant_id)
         LEFT JOIN log_heads l USING (tenant_id) WHERE tenant_id = $1`,
      );
      const size = sizeOf(await view());
      expect([row.size, row.admin_seq, String(size)]).toEqual([row.leaves, row.last, row.leaves]);
      return size;
    },
    { timeout: 20_000, interval: 100 },
  );
}

const LAST_HOUR = {
  from: new Date(time - 3_600_000).toISOString(),
  to: new Date(time + 3_600_000).toISOString(),
};

/** What a package that the service makes now shows the reader, and the data plane sees. */
async function seen(asked: object = {}) {
  const body = { ...LAST_HOUR, ...asked };
  const answer = await call('/api/v1/evidence/packages', { token, body });
  expect(answer.statusCode, answer.body).toBe(202);
  const path = `/api/v1/evidence/packages/${answer.json().id}`;
  const made = await vi.waitFor(
    async () => {
      const { status } = (await call(path, { token })).json();
      if (status === 'queued' || status === 'running') throw new Error('it is being made');
      return status;
    },
    { timeout: 40_000, interval: 100 },
  );
  const packed = (await call(`${path}/download`, { token })).rawPayload;
  return {
    ...(made === 'ready' ? await opinions(packed) : { verdict: made, fails: [] }),
    watch: await watched(),
    service: await verified(),
  };
}

/** What both verifiers say. */
async function opinions(packed: Buffer) {
  const trust = { anchor, issuers: [] };
  const own = opinionOf(await runChecks(Readable.from([packed]), trust, VOLUME_LIMITS));
  if (missing === undefined) {
    const [path, anchorPath] = [join(folder, 'evidence.tar.gz'), join(folder, 'anchor.json')];
    writeFileSync(path, packed);
    writeFileSync(anchorPath, JSON.stringify(anchor));
    expect(secondOpinions([path], anchorPath)).toEqual([own]);
  }
  const fails = Object.entries(own.checks).flatMap(([name, status]) =>
    status === 'fail' ? [name] : [],
  );
  return { verdict: own.verdict, fails };
}

/** The kinds of breaks that the service itself finds. */
async function verified(): Promise<string[]> {
  const answer = await call('/api/v1/audit/verify?fresh=true', { token });
  const breaks: { kind: string }[] = answer.json().breaks;
  return [...new Set(breaks.map(({ kind }) => kind))].sort();
}

/** The data plane looks again, with what it kept. */
async function watched(): Promise<string> {
  const trust = { tenantId, keys: keptView.keys, rotations: [], logEpochs: keptView.log_epochs };
  const judged = judgeLogView(kept, trust, await view(kept));
  return judged.kind === 'contradicts' ? judged.reason : judged.kind;
}

/** Every row of the tenant, as a backup has it. */
async function backup(): Promise<() => Promise<void>> {
  const tables = await sql(
    `SELECT c.relname AS name, ${STORED_COLUMNS} AS columns FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
     WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relnamespace = 'public'::regnamespace
       AND a.attname = 'tenant_id'`,
    [],
  );
  const schema = `backup_${tenantId.replaceAll('-', '')}`;
  const copy = (name: string) => `${schema}.${name}`;
  await sql(`CREATE SCHEMA ${schema}`, []);
  for (const { name } of tables) {
    await sql(
      `CREATE TABLE ${copy(name)} AS SELECT * FROM ${name} WHERE tenant_id = '${tenantId}'`,
      [],
    );
  }
  return async () => {
    const client = await superuser.connect();
    try {
      await client.query('BEGIN');
      // Neither order nor triggers matter: the rows belong together.
      await client.query('SET LOCAL session_replication_role = replica');
      for (const { name, columns } of tables) {
        await client.query(`DELETE FROM ${name} WHERE tenant_id = $1`, [tenantId]);
        await client.query(`INSERT INTO ${name} (${columns}) SELECT ${columns} FROM ${copy(name)}`);
      }
      await client.query('COMMIT');
    } finally {
      client.release();
    }
  };
}

async function remember(): Promise<void> {
  await grown();
  const asked = await call('/api/v1/evidence/trust-anchor', { token });
  anchor = TrustAnchor.parse(asked.json());
  keptView = await view();
  const judged = judgeLogView(
    null,
    { tenantId, keys: keptView.keys, rotations: [], logEpochs: [] },
    keptView,
  );
  if (judged.kind !== 'continues') throw new Error(judged.kind);
  kept = judged.seen;
  expect(anchor.log.size).toBe(kept.size);
}

const announce = async () => {
  const { kid, key } = await controlPlane.serviceKeys.evidenceKey('checkpoint');
  const now = () => new Date(time);
  await announceRestore(test.db, {
    reason: 'a drill',
    operator: 'tests',
    signer: { kid, key },
    now,
  });
};

beforeEach(async () => {
  const admin = await aTenantAdmin();
  token = admin.token;
  tenantId = admin.scope.tenantId;
  plane = await aPlane();
  expect(await ship(0)).toBe(200);
  await decide();
  await grown();
});

/** The log does not continue the reader's anchor, and the database alone shows nothing of it. */
const LOST = { verdict: 'NOT_VERIFIED', fails: ['log.consistency'], service: [] };

it('nothing was changed: the package is verified, and the log continues', async () => {
  await decide();
  await remember();
  await decide();
  await grown();
  expect(await seen()).toEqual({ verdict: 'VERIFIED', fails: [], watch: 'continues', service: [] });
});

it('a row edited with its hash: batch.root and the links fail, and the service finds it', async () => {
  await decide();
  await remember();
  await sql(
    `UPDATE ledger_records SET bytes = b.bytes, hash = encode(sha256('\\x00'::bytea || b.bytes), 'hex')
     FROM (SELECT position, convert_to(replace(convert_from(bytes, 'UTF8'), '/welcome.txt', '/welcome.txs'), 'UTF8') AS bytes
       FROM ledger_records WHERE tenant_id = $1 AND type = 'decision' ORDER BY position LIMIT 1) b
     WHERE tenant_id = $1 AND ledger_records.position = b.position`,
  );
  expect(await seen()).toEqual({
    verdict: 'NOT_VERIFIED',
    fails: ['chain.links', 'chain.head', 'batch.root'],
    watch: 'continues',
    service: ['link', 'log_leaf', 'signature'],
  });
});

it('the tail deleted with every number: the data plane sees it at once, the reader after an announcement', async () => {
  const restore = await backup();
  // More than the announcement's own leaves: the log stays shorter than what was remembered.
  for (let lost = 0; lost < 5; lost++) await decide();
  await remember();
  await restore();
  expect(await seen()).toEqual({
    verdict: 'INCONCLUSIVE',
    fails: [],
    watch: 'went_back',
    service: [],
  });
  await announce();
  await grown();
  expect(await seen()).toEqual({ ...LOST, watch: 'epoch_cut' });
});

it('an old backup restored, and other things since: log.consistency fails, announced or not', async () => {
  const restore = await backup();
  await decide();
  await decide();
  await remember();
  await restore();
  const role = { name: 'another', description: '', permissions: [] };
  for (let n = 0; n < 4; n++) {
    const body = { ...role, name: `another ${n}` };
    expect((await call('/api/v1/roles', { token, body })).statusCode).toBe(201);
    await grown();
  }
  expect(await seen()).toEqual({ ...LOST, watch: 'not_consistent' });
  await announce();
  await grown();
  expect(await seen()).toEqual({ ...LOST, watch: 'not_consistent' });
});

it('an old backup restored, and the lost part shipped again: verified, also once it is announced', async () => {
  const restore = await backup();
  const from = plane.writer.records.length;
  await decide();
  await decide();
  await remember();
  await restore();
  expect(await ship(from, from + 1)).toBe(200);
  expect(await ship(from + 1, from + 2)).toBe(200);
  await grown();
  expect(await seen({ anchor_sizes: [anchor.log.size] })).toEqual({
    verdict: 'VERIFIED',
    fails: [],
    watch: 'continues',
    service: [],
  });
  await announce();
  await grown();
  expect(await seen({ anchor_sizes: [anchor.log.size] })).toEqual({
    verdict: 'VERIFIED',
    fails: [],
    watch: 'continues',
    service: [],
  });
});

it('a stream deleted: log.inclusion fails, and the service finds it', async () => {
  await decide();
  await remember();
  await sql('DELETE FROM ledger_records WHERE tenant_id = $1 AND stream = $2', [
    tenantId,
    plane.id,
  ]);
  await sql('DELETE FROM ledger_batches WHERE tenant_id = $1 AND stream = $2', [
    tenantId,
    plane.id,
  ]);
  expect(await seen()).toEqual({
    verdict: 'NOT_VERIFIED',
    fails: ['log.inclusion', 'scope.complete'],
    watch: 'continues',
    service: ['head', 'log_leaf'],
  });
});

it('a registered key swapped: batch.signature fails, and the service finds it', async () => {
  await decide();
  await remember();
  const other = aRegistration().signingKey;
  const { x } = other.export({ format: 'jwk' });
  await sql(
    `UPDATE data_planes SET signing_key = jsonb_set(signing_key::jsonb, '{x}', to_jsonb($3::text))::text WHERE tenant_id = $1 AND deployment_id = $2`,
    [tenantId, plane.id, x],
  );
  expect(await seen()).toEqual({
    verdict: 'NOT_VERIFIED',
    fails: ['batch.signature'],
    watch: 'continues',
    service: ['registration'],
  });
});

it('everything rewritten and signed by the service’s keys: log.consistency fails, and the data plane sees it', async () => {
  await decide();
  await decide();
  await remember();
  // What the data plane recorded is another's, by a key that the service vouches for.
  const { id, token: own } = plane;
  plane = await aPlane();
  for (const table of ['ledger_records', 'ledger_batches', 'stream_heads']) {
    await sql(`DELETE FROM ${table} WHERE tenant_id = $1 AND stream = $2`, [tenantId, id]);
  }
  const log = ['ledger_batches', 'log_nodes', 'log_checkpoints', 'log_anchors', 'log_heads'];
  for (const table of log) await sql(`DELETE FROM ${table} WHERE tenant_id = $1`);
  await sql('UPDATE tenant_positions SET log_size = 0 WHERE tenant_id = $1');
  expect(await ship(0)).toBe(200);
  for (let n = 0; n < 4; n++) await decide();
  await grown();
  plane = { ...plane, id, token: own };
  const { service, ...others } = await seen();
  expect(others).toEqual({
    verdict: 'NOT_VERIFIED',
    fails: ['log.consistency'],
    watch: 'not_consistent',
  });
  // A checkpoint that the service wrote while the rows were deleted is of the log before.
  expect(['head', 'head,log_checkpoint']).toContain(service.join());
});
