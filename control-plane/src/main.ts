/**
 * The control plane with its database: what service.ts starts, alone or beside a data plane.
 */
import { createHmac, createPrivateKey, type KeyObject } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from '@governance/shared/process/start-error';
import { Secret } from '@governance/shared/settings';
import type { Logger } from 'pino';
import { buildControlPlane, type ControlPlane, type ControlPlaneDeps, FEATURES } from './app.ts';
import type { ControlPlaneConfig } from './config.ts';
import { createChangeBus } from './platform/database/change-bus.ts';
import { type Connections, connectDatabase } from './platform/database/database.ts';
import { describeDatabaseFailure } from './platform/database/database-failure.ts';
import { findNewerMigrations, migrateDatabase } from './platform/database/migrations.ts';
import { createTenantDatabase, SYSTEM_ACTOR } from './platform/database/tenant-scope.ts';
import type { ReadinessCheck } from './platform/http/system-routes.ts';
import {
  findMasterKey,
  masterKeyPath,
  readOrMakeMasterKey,
} from './platform/keys/stored-master-key.ts';
import { readOrMakeSecret, writeSecret } from './platform/local-secrets.ts';
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from './platform/postgres/embedded-postgres.ts';

export { parseControlPlaneConfig } from './config.ts';

const ADMIN_PASSWORD_FILE = 'admin-password';
const TOKEN_KEY_FILE = 'jwt-key.pem';
const WEBHOOK_SECRET_FILE = 'webhook-secret';

export interface RunningControlPlane extends ControlPlane {
  /** For the banner: the password of `admin`, and whether the service generated it. */
  adminPassword: { isGenerated: boolean; password: Secret };
}

type Given = Pick<
  ControlPlaneDeps,
  | 'now'
  | 'applied'
  | 'onTenantCreated'
  | 'findTenantProblem'
  | 'listStdioNames'
  | 'metrics'
  | 'readiness'
  | 'warnings'
  | 'health'
> & { log: Logger };

/**
 * Brings up the database (embedded unless DATABASE_URL is set), its schema, and the services.
 * Register `plugin` on a server, call `start`, listen; `stop` after the server has closed.
 *
 * @throws Error that says what to do when the database does not start
 */
export async function createControlPlane(
  config: ControlPlaneConfig,
  given: Given,
): Promise<RunningControlPlane> {
  const { log } = given;
  const embedded = config.databaseUrl ? undefined : await startEmbedded(config, log);
  let connections: Connections | undefined;
  try {
    connections = await openDatabase(config, embedded, log);
    const adminPassword = findAdminPassword(config);
    const masterKey = await readMasterKey(config, connections, log);
    const webhookSecret = findWebhookSecret(config, masterKey, log);
    const controlPlane = await buildControlPlane(
      {
        ...given,
        ...(embedded && { readiness: [checkEmbedded(embedded), ...(given.readiness ?? [])] }),
        config: { ...config, webhookSecret },
        connections,
        masterKey,
        tokenKey: findKeptTokenKey(config),
        adminPassword: adminPassword.password,
      },
      FEATURES,
    );
    const opened = connections;
    return {
      ...controlPlane,
      adminPassword,
      stop: async () => {
        await controlPlane.stop();
        await opened.close();
        await embedded?.stop();
      },
    };
  } catch (error) {
    await connections?.close();
    await embedded?.stop();
    throw error;
  }
}

function startEmbedded(config: ControlPlaneConfig, log: Logger): Promise<EmbeddedPostgres> {
  return startEmbeddedPostgres({
    dataDir: config.dataDir,
    log: { info: (message) => log.info(message), warn: (message) => log.warn(message) },
  });
}

/** Reports why the embedded server is down; another check tests the connection. */
function checkEmbedded(embedded: EmbeddedPostgres): ReadinessCheck {
  return {
    name: 'embedded database',
    check: async () => {
      const problem = embedded.findProblem();
      if (problem) throw new Error(problem);
    },
  };
}

async function openDatabase(
  config: ControlPlaneConfig,
  embedded: EmbeddedPostgres | undefined,
  log: Logger,
): Promise<Connections> {
  const url = embedded?.url ?? config.databaseUrl?.reveal();
  if (!url) throw new Error('no database');
  const migrationUrl = config.databaseMigrationUrl?.reveal();
  await ofSetting(migrationUrl ? 'DATABASE_MIGRATION_URL' : 'DATABASE_URL', () =>
    bringUpToDate(migrationUrl ?? url, log),
  );
  const ingestUrl = config.databaseIngestUrl?.reveal();
  return ofSetting(ingestUrl ? 'DATABASE_URL or DATABASE_INGEST_URL' : 'DATABASE_URL', () =>
    connectDatabase({
      url,
      ingestUrl,
      poolSize: config.dbPoolSize,
      maxOverflow: config.dbMaxOverflow,
      onConnectionError: (error) => log.warn({ err: error }, 'a database connection broke'),
    }),
  );
}

async function bringUpToDate(migrationUrl: string, log: Logger): Promise<void> {
  const applied = await migrateDatabase(migrationUrl);
  if (applied.length > 0) log.info({ applied }, 'the database schema was brought up to date');
  // No refusal: an older replica may restart while an upgrade is rolled out.
  const newer = await findNewerMigrations(migrationUrl);
  if (newer.length > 0) {
    log.warn(
      { migrations: newer },
      'the database is of a newer version than this service: upgrade this service, or restore the backup of before the upgrade',
    );
  }
}

/** @throws StartError naming the setting, if another value would help */
async function ofSetting<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw describeDatabaseFailure(error, name);
  }
}

/** Production requires a configured one. */
function findAdminPassword(config: ControlPlaneConfig): RunningControlPlane['adminPassword'] {
  if (config.adminPassword) {
    // A password file from an earlier start is no longer valid: remove it, or it would mislead.
    rmSync(join(config.dataDir, ADMIN_PASSWORD_FILE), { force: true });
    return { isGenerated: false, password: config.adminPassword };
  }
  const password = readOrMakeSecret(config.dataDir, ADMIN_PASSWORD_FILE, 15);
  return { isGenerated: true, password: new Secret(password) };
}

/** @throws StartError where the database has keys that a new master key would not open */
async function readMasterKey(
  config: ControlPlaneConfig,
  connections: Connections,
  log: Logger,
): Promise<Secret<Buffer>> {
  if (config.masterKey) return config.masterKey;
  if (!findMasterKey(config.dataDir) && (await hasServiceKeys(connections))) {
    throw new StartError(
      `the master key of this database is missing: put back ${masterKeyPath(config.dataDir)}, or set SERVICE_MASTER_KEY`,
    );
  }
  const key = readOrMakeMasterKey(config.dataDir);
  if (config.env === 'production') {
    const file = masterKeyPath(config.dataDir);
    log.warn({ file }, 'SERVICE_MASTER_KEY is not set: the key in this file is used, keep it safe');
  }
  return key;
}

async function hasServiceKeys(connections: Connections): Promise<boolean> {
  const changes = createChangeBus(() => undefined);
  const db = createTenantDatabase({ connections, changes, now: () => new Date() });
  const found = await db.inPlatform(SYSTEM_ACTOR, (tx) => tx.db.serviceKey.findFirst());
  return found !== null;
}

/**
 * The token key that an earlier version kept in a file. It is moved into the database, so that its
 * tokens stay valid.
 */
function findKeptTokenKey({ dataDir }: ControlPlaneConfig): Secret<KeyObject> | undefined {
  const file = join(dataDir, TOKEN_KEY_FILE);
  return existsSync(file) ? new Secret(createPrivateKey(readFileSync(file))) : undefined;
}

/**
 * Derived from the master key, so it is the same on every replica. The file is for the operator to
 * look it up.
 */
function findWebhookSecret(
  config: ControlPlaneConfig,
  masterKey: Secret<Buffer>,
  log: Logger,
): Secret | undefined {
  if (config.webhookSecret || !config.webhookUrl) return config.webhookSecret;
  const secret = createHmac('sha256', masterKey.reveal())
    .update('alert webhook secret\0')
    .digest('base64url');
  const file = writeSecret(config.dataDir, WEBHOOK_SECRET_FILE, secret);
  log.info(
    { file },
    'SERVICE_WEBHOOK_SECRET is not set: alerts are signed under the one in this file',
  );
  return new Secret(secret);
}
