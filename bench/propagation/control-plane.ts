/** The control plane as a separate process, and the counters of it and its PostgreSQL. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { z } from 'zod';
import { type AdminApi, adminApi } from '../../tests/support/admin-api.ts';
import { cpuSeconds, residentMiB } from '../../tests/support/process-cpu.ts';
import { type ServiceProcess, startService } from '../../tests/support/service-process.ts';
import { tenth } from './figures.ts';

/** The embedded server writes its credentials there (embedded-postgres.ts). */
const Credentials = z.object({ superuserPassword: z.string(), port: z.int() });

/** Counters since the start of the process or of the database. */
export interface Counters {
  transactions: number;
  /** Rows that queries and index look-ups returned. */
  rowsRead: number;
  /** Scans of the tables behind the channels that read them, by table. */
  scans: Record<string, number>;
  rowsWritten: number;
  bundleBuilds: number;
  cpuSeconds: number;
}

export interface BenchControlPlane {
  service: ServiceProcess;
  admin: AdminApi;
  /** As PostgreSQL has them once its sessions have reported, which they do within a second. */
  counters(): Promise<Counters>;
  residentMiB(): number;
  stop(): Promise<void>;
}

const TABLES = ['bundles', 'data_plane_tokens', 'data_planes', 'feed_entries', 'tenant_heads'];

/** @param build folder of the bundles to run */
export async function startControlPlane(build: string): Promise<BenchControlPlane> {
  const env = { SERVICE_DEPLOYMENT_MODE: 'control-plane' };
  const service = await startService({ build, env });
  // Not left running by a bench that fails.
  process.once('exit', () => service.child.kill());
  const { pid } = service.child as { pid: number };
  const { superuserPassword: password, port } = Credentials.parse(
    JSON.parse(readFileSync(join(service.dataDir, 'postgres.json'), 'utf8')),
  );
  const connection = { host: '127.0.0.1', port, user: 'postgres', password };
  const superuser = new pg.Client({ ...connection, database: 'governance' });
  superuser.on('error', () => {}); // the server may end first
  await superuser.connect();

  const bundleBuilds = async () => {
    const text = await (await fetch(`${service.url}/metrics`)).text();
    const lines = text.matchAll(/^bundle_builds_total\{[^}]*\} (\d+)$/gm);
    return [...lines].reduce((sum, [, count]) => sum + Number(count), 0);
  };

  return {
    service,
    admin: await adminApi(service.url, 'admin', service.adminPassword),
    counters: async () => {
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      const { rows } = await superuser.query<{ xacts: string; read: string; written: string }>(
        `SELECT xact_commit + xact_rollback AS xacts, tup_fetched AS read,
           tup_inserted + tup_updated + tup_deleted AS written
         FROM pg_stat_database WHERE datname = current_database()`,
      );
      const tables = await superuser.query<{ relname: string; scans: string }>(
        `SELECT relname, seq_scan + coalesce(idx_scan, 0) AS scans FROM pg_stat_user_tables
         WHERE relname = ANY($1)`,
        [TABLES],
      );
      const [row] = rows;
      return {
        transactions: Number(row?.xacts),
        rowsRead: Number(row?.read),
        rowsWritten: Number(row?.written),
        scans: Object.fromEntries(
          tables.rows.map(({ relname, scans }) => [relname, Number(scans)]),
        ),
        bundleBuilds: await bundleBuilds(),
        cpuSeconds: cpuSeconds(pid),
      };
    },
    residentMiB: () => tenth(residentMiB(pid)),
    stop: async () => {
      await superuser.end();
      await service.dispose();
    },
  };
}

/** `after` minus `before`, each divided by `by`, to one decimal. */
export function difference(before: Counters, after: Counters, by: number): Counters {
  const per = (name: Exclude<keyof Counters, 'scans'>) =>
    Math.round(((after[name] - before[name]) / by) * 100) / 100;
  return {
    transactions: per('transactions'),
    rowsRead: per('rowsRead'),
    rowsWritten: per('rowsWritten'),
    bundleBuilds: per('bundleBuilds'),
    cpuSeconds: per('cpuSeconds'),
    scans: Object.fromEntries(
      Object.entries(after.scans).map(([table, count]) => [
        table,
        tenth((count - (before.scans[table] ?? 0)) / by),
      ]),
    ),
  };
}
