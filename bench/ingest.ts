/**
 * `npm run bench:ingest`: how many records a second the control plane ingests, with signature,
 * Merkle root, chain, canonical form and schema checked, compared with a bare COPY of the very same
 * rows into a table with the same columns, indexes and partitions, one commit per batch. Every
 * round measures all variants in turn, on a PostgreSQL with fsync; medians over the rounds are
 * reported.
 *
 * A tenant's batches commit in one order (ADR 5), so one tenant is compared with one connection,
 * and four tenants with four.
 *
 * BENCH_ROUNDS (7), BENCH_BATCHES of 500 records, in each variant of each round (48)
 */
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, release } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { alertProjection } from '@governance/control-plane/alerts/alert-projection';
import { createChainBreakRecorder } from '@governance/control-plane/chain/chain-breaks';
import { ledgerColumns } from '@governance/control-plane/chain/ledger-columns';
import { checkBatch } from '@governance/control-plane/ingest/batch-check';
import { createIngestService } from '@governance/control-plane/ingest/ingest-service';
import {
  copyInto,
  copyStatement,
  encodeCopy,
  type NewLedgerRow,
} from '@governance/control-plane/ingest/ledger-copy';
import { createViolationAlerts } from '@governance/control-plane/ingest/violations';
import { createChangeBus } from '@governance/control-plane/platform/database/change-bus';
import { connectDatabase } from '@governance/control-plane/platform/database/database';
import { migrateDatabase } from '@governance/control-plane/platform/database/migrations';
import { createTenantDatabase } from '@governance/control-plane/platform/database/tenant-scope';
import type { EmbeddedPostgres } from '@governance/control-plane/platform/postgres/embedded-postgres';
import { uuidv7 } from '@governance/shared/ids';
import type { SignedBatch } from '@governance/shared/ledger/audit-batch';
import { parseRecord } from '@governance/shared/ledger/ledger-record';
import type pg from 'pg';
import {
  aDataPlane,
  anOutcome,
  createWriter,
  type TestDataPlane,
} from '../tests/support/a-data-plane.ts';
import { aTenant } from '../tests/support/a-tenant.ts';
import { openSuperuser, withBenchPostgres } from './bench-postgres.ts';
import { fdatasyncP50 } from './fdatasync.ts';
import { median } from './report.ts';
import { aTypicalDecision } from './typical-decision.ts';

const root = join(import.meta.dirname, '..');
const rounds = Number(process.env.BENCH_ROUNDS ?? 7);
const batchesEach = Number(process.env.BENCH_BATCHES ?? 48);
const BATCH = 500;

const WAYS = {
  'ingest, 1 tenant, 8 streams': { kind: 'ingest', tenants: 1, streams: 8 },
  'ingest, 1 tenant, 1 stream': { kind: 'ingest', tenants: 1, streams: 1 },
  'bare COPY, 1 connection': { kind: 'bare', connections: 1 },
  'ingest, 4 tenants, 8 streams': { kind: 'ingest', tenants: 4, streams: 8 },
  'bare COPY, 4 connections': { kind: 'bare', connections: 4 },
} as const;
type WayName = keyof typeof WAYS;

interface Measured {
  recordsPerSecond: number;
  /** User and system time of this process, over all its threads. */
  nodeCpuMicros: number;
}

await withBenchPostgres(run);

async function run(server: EmbeddedPostgres): Promise<void> {
  await migrateDatabase(server.url);
  const superuser = openSuperuser(server);
  await superuser.query('SELECT ensure_ledger_partitions(1)');
  await makeBareTable(superuser);
  const connections = await connectDatabase({
    url: server.url,
    poolSize: 8,
    maxOverflow: 0,
    // The last connections may still be closing when the server stops; a failed query reports its
    // own error.
    onConnectionError: () => {},
  });
  const statements = timeStatements(connections.ingestPool);
  const changes = createChangeBus((error) => {
    throw error;
  });
  const now = () => new Date();
  const db = createTenantDatabase({ connections, changes, now });
  const breaks = createChainBreakRecorder({ db, now });
  const ingest = createIngestService({
    ingestPool: connections.ingestPool,
    projections: [alertProjection],
    changes,
    breaks,
    violations: createViolationAlerts({ db, now }),
    markForked: async () => {},
  });

  interface Writer {
    tenantId: string;
    plane: TestDataPlane;
  }
  const aWriter = async (tenants: number, streams: number): Promise<Writer[]> => {
    const writers: Writer[] = [];
    for (let t = 0; t < tenants; t++) {
      const scope = await aTenant({ db });
      for (let s = 0; s < streams / tenants; s++) {
        const plane = await aDataPlane({ db }, scope);
        plane.boot();
        await ingest.ingestBatch(scope.tenantId, plane.deploymentId, plane.batch(0));
        writers.push({ tenantId: scope.tenantId, plane });
      }
    }
    return writers;
  };
  const writersOf = new Map<WayName, Writer[]>();
  for (const [name, way] of Object.entries(WAYS) as [WayName, (typeof WAYS)[WayName]][]) {
    const [tenants, streams] = way.kind === 'ingest' ? [way.tenants, way.streams] : [1, 8];
    writersOf.set(name, await aWriter(tenants, streams));
  }

  /** Signed batches, in order within each stream, made before the clock starts. */
  const prepare = (name: WayName) =>
    (writersOf.get(name) as Writer[]).map(({ tenantId, plane }, i, all) => {
      const count = Math.floor(batchesEach / all.length) + (i < batchesEach % all.length ? 1 : 0);
      const batches: SignedBatch[] = [];
      for (let b = 0; b < count; b++) {
        // Shipped records are no longer needed.
        plane.records.splice(0);
        for (let r = 0; r < BATCH / 2; r++) {
          const decision = aTypicalDecision(r);
          plane.append(decision);
          plane.append(
            anOutcome(decision.id, { result_digest: 'c'.repeat(64), result_bytes: 812 }),
          );
        }
        batches.push(plane.batch(0));
      }
      return { tenantId, plane, batches };
    });

  let barePosition = 1;
  const measure = async (name: WayName): Promise<Measured> => {
    const way = WAYS[name];
    const prepared = prepare(name);
    const total = prepared.reduce((sum, { batches }) => sum + batches.length, 0) * BATCH;
    let work: () => Promise<unknown>;
    if (way.kind === 'ingest') {
      work = () =>
        Promise.all(
          prepared.map(async ({ tenantId, plane, batches }) => {
            for (const batch of batches) {
              await ingest.ingestBatch(tenantId, plane.deploymentId, batch);
            }
          }),
        );
    } else {
      const payloads = prepared.flatMap(({ tenantId, batches }) =>
        batches.map((batch) => {
          const rows = batch.records.map((bytes, i) => toRow(batch, bytes, i));
          const place = { firstPosition: barePosition, receivedAt: Date.now() };
          barePosition += rows.length;
          return encodeCopy(tenantId, rows, place);
        }),
      );
      work = () =>
        Promise.all(
          Array.from({ length: way.connections }, async () => {
            const client = await connections.ingestPool.connect();
            // Each COPY is a transaction of its own.
            for (let next = payloads.pop(); next; next = payloads.pop()) {
              await copyInto(client, copyStatement('bare_records'), next);
            }
            client.release();
          }),
        );
    }
    await superuser.query('CHECKPOINT');
    globalThis.gc?.();
    await sleep(200);
    statements.reset(name);
    const cpu = process.cpuUsage();
    const started = performance.now();
    await work();
    const seconds = (performance.now() - started) / 1_000;
    const { user, system } = process.cpuUsage(cpu);
    return { recordsPerSecond: total / seconds, nodeCpuMicros: (user + system) / total };
  };

  const names = Object.keys(WAYS) as WayName[];
  const results = new Map<WayName, Measured[]>(names.map((name) => [name, []]));
  for (let round = -1; round < rounds; round++) {
    // Each round begins with another variant, so that none always follows the same one.
    for (let i = 0; i < names.length; i++) {
      const name = names[(i + round + 1) % names.length] as WayName;
      const measured = await measure(name);
      if (round >= 0) results.get(name)?.push(measured); // the first round warms
    }
    if (round === -1) statements.clear();
    else process.stderr.write(`round ${round + 1} of ${rounds}\n`);
  }
  const checkMicros = await timeCheck();
  await report(superuser, results, statements.means(rounds * batchesEach * BATCH), checkMicros);
  await connections.close();
  await superuser.end();
}

/** The ledger's columns, indexes and this month's partition, without records. */
async function makeBareTable(superuser: pg.Pool): Promise<void> {
  await superuser.query(
    'CREATE TABLE bare_records (LIKE ledger_records INCLUDING ALL) PARTITION BY RANGE (received_at)',
  );
  await superuser.query('ALTER TABLE bare_records OWNER TO governance_ingest');
  const { rows } = await superuser.query<{ bounds: string }>(
    `SELECT pg_get_expr(c.relpartbound, c.oid) AS bounds FROM pg_class c
     JOIN pg_inherits i ON i.inhrelid = c.oid WHERE i.inhparent = 'ledger_records'::regclass`,
  );
  for (const [i, { bounds }] of rows.entries()) {
    await superuser.query(`CREATE TABLE bare_records_${i} PARTITION OF bare_records ${bounds}`);
    await superuser.query(`ALTER TABLE bare_records_${i} OWNER TO governance_ingest`);
  }
}

function toRow({ header }: SignedBatch, bytes: Uint8Array, i: number): NewLedgerRow {
  const record = parseRecord(bytes);
  const { stream, epoch, seq, prev_hash: prevHash } = record;
  // The next record contains this one's hash; the last one's hash is the batch's head.
  const hash = i === header.last_seq - header.first_seq ? header.head : prevHash;
  return { stream, epoch, seq, hash, prevHash, bytes, columns: ledgerColumns(record) };
}

/** The checks alone, in microseconds per record, on an otherwise idle event loop. */
async function timeCheck(): Promise<number> {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const [tenantId, stream] = [uuidv7(), uuidv7()];
  const plane = createWriter(tenantId, stream, privateKey);
  plane.boot();
  for (let i = 1; i < BATCH; i += 2) {
    const decision = aTypicalDecision(i);
    plane.append(decision);
    plane.append(anOutcome(decision.id, { result_digest: 'c'.repeat(64), result_bytes: 812 }));
  }
  const batch = plane.batch(0);
  const times: number[] = [];
  for (let n = 0; n < 200; n++) {
    const cpu = process.cpuUsage();
    await checkBatch({ tenantId, stream, key: publicKey }, batch, new Set(['alert']));
    const { user, system } = process.cpuUsage(cpu);
    times.push((user + system) / batch.records.length);
  }
  return median(times.slice(50));
}

/** The time of ingest's statements by kind, as this process sees it. */
function timeStatements(pool: pg.Pool) {
  const sums = new Map<string, number>();
  let way = '';
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...given: unknown[]) => unknown;
    client.query = ((...given: unknown[]) => {
      const [first] = given as [string | { text?: string; callback?: unknown }];
      const text = (typeof first === 'string' ? first : first.text) ?? '';
      const kind = /^(BEGIN|COMMIT|COPY|WITH moves)/.exec(text)?.[1] ?? 'other';
      const started = performance.now();
      const name = `${way}|${kind}`;
      const count = () => sums.set(name, (sums.get(name) ?? 0) + performance.now() - started);
      if (typeof first === 'object' && typeof first.callback === 'function') {
        const done = first.callback as (...answer: unknown[]) => void;
        first.callback = (...answer: unknown[]) => {
          count();
          done(...answer);
        };
        return query(...given);
      }
      const answer = query(...given);
      if (answer instanceof Promise) void answer.then(count, count);
      return answer;
    }) as typeof client.query;
  });
  return {
    reset: (name: WayName) => {
      way = name;
    },
    clear: () => sums.clear(),
    /** Microseconds per record, by variant and kind of statement. */
    means: (records: number) => {
      const means: Record<string, Record<string, number>> = {};
      for (const [name, sum] of sums) {
        const [of, kind] = name.split('|') as [string, string];
        means[of] = { ...means[of], [kind]: round2((sum * 1_000) / records) };
      }
      return means;
    },
  };
}

function round2(value: number): number {
  return Math.round(value * 100) / 100;
}

async function report(
  superuser: pg.Pool,
  results: Map<WayName, Measured[]>,
  statementMicros: Record<string, Record<string, number>>,
  checkMicros: number,
): Promise<void> {
  const rows = [...results].map(([way, all]) => ({
    way,
    records_per_second: Math.round(median(all.map((each) => each.recordsPerSecond))),
    node_cpu_us_per_record: round2(median(all.map((each) => each.nodeCpuMicros))),
    statement_us_per_record: statementMicros[way],
  }));
  // A ratio per round first, since the variants of a round share its conditions; then the median
  // over the rounds.
  const ratio = (way: WayName, to: WayName) => {
    const bare = results.get(to) as Measured[];
    const of = results.get(way) as Measured[];
    const ratios = of.map(
      (each, i) => each.recordsPerSecond / (bare[i] as Measured).recordsPerSecond,
    );
    return { median: round2(median(ratios)), rounds: ratios.map(round2) };
  };
  const one = 'bare COPY, 1 connection';
  const ratios = {
    'ingest, 1 tenant, 8 streams / bare COPY, 1 connection': ratio(
      'ingest, 1 tenant, 8 streams',
      one,
    ),
    'ingest, 1 tenant, 1 stream / bare COPY, 1 connection': ratio(
      'ingest, 1 tenant, 1 stream',
      one,
    ),
    'ingest, 4 tenants, 8 streams / bare COPY, 4 connections': ratio(
      'ingest, 4 tenants, 8 streams',
      'bare COPY, 4 connections',
    ),
  };
  const version = await superuser.query<{ server_version: string }>('SHOW server_version');
  const setting = {
    rounds,
    batches: batchesEach,
    records_a_batch: BATCH,
    fdatasync_p50_ms: round2(fdatasyncP50()),
    node: process.version,
    postgres: version.rows[0]?.server_version,
    cpu: cpus()[0]?.model ?? '',
    cores: cpus().length,
    kernel: release(),
    load_average_at_end: loadavg().map(round2),
  };
  console.log(
    `${setting.cpu}, ${setting.cores} cores, Node ${setting.node}, PostgreSQL ${setting.postgres}, ${rounds} rounds of ${batchesEach} batches of ${BATCH}, fdatasync p50 ${setting.fdatasync_p50_ms} ms\n`,
  );
  console.log(
    '| way | records/s | CPU µs of Node a record | statements, µs a record |\n|---|---:|---:|---|',
  );
  for (const row of rows) {
    const statements = Object.entries(row.statement_us_per_record ?? {})
      .map(([kind, micros]) => `${kind} ${micros}`)
      .join(', ');
    console.log(
      `| ${row.way} | ${row.records_per_second} | ${row.node_cpu_us_per_record} | ${statements} |`,
    );
  }
  console.log(`\nchecks alone: ${round2(checkMicros)} µs of CPU a record\n`);
  for (const [name, { median: middle, rounds: each }] of Object.entries(ratios)) {
    console.log(`${name}: ${middle} (${each.join(', ')})`);
  }
  const file = join(root, 'bench', 'results', 'ingest.json');
  mkdirSync(join(root, 'bench', 'results'), { recursive: true });
  const document = { setting, rows, check_us_per_record: round2(checkMicros), ratios };
  writeFileSync(file, `${JSON.stringify(document, null, 2)}\n`);
}
