/**
 * The target of the kill rounds: the service in one process, or the two planes in separate ones.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '@governance/control-plane/platform/postgres/embedded-postgres';
import { type AdminApi, adminApi } from '../../tests/support/admin-api.ts';
import {
  type ServiceProcess,
  type StartOptions,
  startService,
} from '../../tests/support/service-process.ts';

export interface KillSubject {
  /** Where agents call. */
  gatewayUrl(): string;
  admin(): Promise<AdminApi>;
  ledgerFile: string;
  /** kill -9 of the process that enforces. */
  kill(): Promise<void>;
  /** Restarts it on the same folder and port. */
  restart(): Promise<void>;
  /** The process's output since its last start. */
  output(): string;
  dispose(): Promise<void>;
}

/** A process that ends is noticed at once; on a busy machine a start takes minutes. */
const READY_WITHIN_MS = 300_000;

function restartable(first: ServiceProcess, env: Record<string, string> = {}) {
  const settings: StartOptions = {
    dataDir: first.dataDir,
    adminPassword: first.adminPassword,
    port: Number(new URL(first.url).port),
    env,
    readyTimeoutMs: READY_WITHIN_MS,
  };
  let service = first;
  return {
    current: () => service,
    restart: async () => {
      service = await startService(settings);
    },
  };
}

/** Both planes in one process. */
export async function standaloneSubject(): Promise<KillSubject> {
  const process = restartable(await startService({ readyTimeoutMs: READY_WITHIN_MS }));
  const service = process.current;
  return {
    gatewayUrl: () => service().url,
    admin: () => adminApi(service().url, 'admin', service().adminPassword),
    ledgerFile: join(service().dataDir, 'data-plane.db'),
    kill: () => service().kill(),
    restart: process.restart,
    output: () => service().output(),
    dispose: () => service().dispose(),
  };
}

export interface TwoPlanesSubject extends KillSubject {
  /** Stops PostgreSQL as in a crash (`immediate`: nothing is flushed or rolled back in order). */
  crashPostgres(): Promise<void>;
  startPostgres(): Promise<void>;
  stopControlPlane(): Promise<void>;
  /** Restarts it on the same folder and port. */
  startControlPlane(): Promise<void>;
  pids(): { controlPlane: number; dataPlane: number };
}

/** PostgreSQL, a control plane and a data plane, each in its own process. */
export async function twoPlanesSubject(): Promise<TwoPlanesSubject> {
  const folder = mkdtempSync(join(tmpdir(), 'governance-crash-'));
  // When run as root, PostgreSQL's own user needs access.
  chmodSync(folder, 0o711);
  const log = { info: () => {}, warn: (message: string) => console.error(message) };
  const startServer = () => startEmbeddedPostgres({ dataDir: join(folder, 'database'), log });
  let postgres: EmbeddedPostgres = await startServer();
  const controlEnv = { SERVICE_DEPLOYMENT_MODE: 'control-plane', DATABASE_URL: postgres.url };
  const control = restartable(
    await startService({
      dataDir: join(folder, 'control-plane'),
      env: controlEnv,
      readyTimeoutMs: READY_WITHIN_MS,
    }),
    controlEnv,
  );
  const controlPlane = control.current;
  const admin = () => adminApi(controlPlane().url, 'admin', controlPlane().adminPassword);
  const { token } = await (await admin()).post<{ token: string }>(
    '/api/v1/admin/data-plane-tokens',
    { label: 'crash', region: 'here', expires_days: 1 },
  );
  const env = {
    SERVICE_DEPLOYMENT_MODE: 'data-plane',
    SERVICE_CP_URL: controlPlane().url,
    SERVICE_CP_TOKEN: token,
  };
  const plane = restartable(
    await startService({
      dataDir: join(folder, 'data-plane'),
      env,
      readyTimeoutMs: READY_WITHIN_MS,
    }),
    env,
  );
  const service = plane.current;
  return {
    gatewayUrl: () => service().url,
    admin,
    ledgerFile: join(folder, 'data-plane', 'data-plane.db'),
    kill: () => service().kill(),
    restart: plane.restart,
    output: () => `${controlPlane().output()}\n${service().output()}`,
    crashPostgres: async () => {
      process.kill(postgres.pid, 'SIGQUIT');
      await postgres.stop();
    },
    startPostgres: async () => {
      postgres = await startServer();
    },
    stopControlPlane: () => controlPlane().stop(),
    startControlPlane: control.restart,
    pids: () => ({
      controlPlane: controlPlane().child.pid as number,
      dataPlane: service().child.pid as number,
    }),
    dispose: async () => {
      await service().stop();
      await controlPlane().stop();
      await postgres.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
