/** The control plane's commands, which the operator of its machine runs beside the service. */
import { existsSync, readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { SERVICE_SETTINGS } from '@governance/shared/service-settings';
import { parseSettings } from '@governance/shared/settings';
import { z } from 'zod';
import { CONTROL_PLANE_SETTINGS } from './config.ts';
import type { LogEpochSigner } from './evidence/begin-log-epoch.ts';
import { createChangeBus } from './platform/database/change-bus.ts';
import { connectDatabase } from './platform/database/database.ts';
import { describeDatabaseFailure } from './platform/database/database-failure.ts';
import { forEachTenant } from './platform/database/each-tenant.ts';
import { migrateDatabase } from './platform/database/migrations.ts';
import {
  type Actor,
  createTenantDatabase,
  SYSTEM_ACTOR,
  type TenantDatabase,
} from './platform/database/tenant-scope.ts';
import { createServiceKeys } from './platform/keys/keys.ts';
import { createMasterKey } from './platform/keys/master-key.ts';
import { acceptClock, readKeptClock } from './platform/keys/standing-clock.ts';
import { findMasterKey, masterKeyPath } from './platform/keys/stored-master-key.ts';
import { startEmbeddedPostgres } from './platform/postgres/embedded-postgres.ts';
import { CREDENTIALS_FILE } from './platform/postgres/postgres-folder.ts';
import { canConnect } from './platform/postgres/postgres-process.ts';
import { type AnnouncedRestore, announceRestore } from './restores/restore-announcement.ts';

export const CONTROL_PLANE_USAGE = `Commands of the control plane:
  announce-restore --reason <text>   records in every tenant's admin chain that the database was restored,
                                     and begins the next epoch of every tenant's log
  accept-clock --reason <text>       lets tokens go by this machine's clock again, after one was far ahead,
                                     and records it in every tenant's admin chain

They act on DATABASE_URL, or on the embedded PostgreSQL in SERVICE_DATA_DIR, with the service running or not.
The first signs, and needs the service's SERVICE_MASTER_KEY, or the file of it in SERVICE_DATA_DIR.`;

export interface CommandOutput {
  log(text: string): void;
  error(text: string): void;
}

const ANNOUNCE = 'announce-restore';
const ACCEPT_CLOCK = 'accept-clock';
const COMMANDS: Readonly<Record<string, Command>> = {
  [ANNOUNCE]: announce,
  [ACCEPT_CLOCK]: accept,
};

type Command = (env: NodeJS.ProcessEnv, reason: string, out: CommandOutput) => Promise<void>;

/** Whether these arguments are a command of the control plane. */
export function isControlPlaneCommand(args: readonly string[]): boolean {
  return args[0] !== undefined && Object.hasOwn(COMMANDS, args[0]);
}

/**
 * Runs a command.
 *
 * @param args after the program's name
 * @returns the process's exit code: 0, 1 on failure, 2 for invalid arguments
 */
export async function runControlPlaneCommand(
  args: string[],
  env: NodeJS.ProcessEnv,
  out: CommandOutput = console,
): Promise<number> {
  try {
    const { positionals, values } = parseArgs({
      args,
      allowPositionals: true,
      options: { reason: { type: 'string' } },
    });
    const reason = (values.reason ?? '').trim().slice(0, 500).toWellFormed().replaceAll('\0', '');
    const [name = '', ...others] = positionals;
    const command = others.length === 0 && Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : null;
    if (!command || reason === '') {
      out.error(reason === '' ? 'say why: --reason <text>' : CONTROL_PLANE_USAGE);
      return 2;
    }
    await command(env, reason, out);
    return 0;
  } catch (error) {
    out.error(messageOf(error));
    return 1;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Runs `work` on the service's database. */
async function onDatabase(
  env: NodeJS.ProcessEnv,
  out: CommandOutput,
  work: (db: TenantDatabase, place: string) => Promise<void>,
): Promise<void> {
  const database = await openDatabase(env, out);
  try {
    const connections = await connectDatabase({
      url: database.url,
      poolSize: 1,
      maxOverflow: 1,
      onConnectionError: (error) => out.error(error.message),
    });
    try {
      const changes = createChangeBus((error) => out.error(String(error)));
      const db = createTenantDatabase({ connections, changes, now: () => new Date() });
      await work(db, database.place);
    } finally {
      await connections.close();
    }
  } finally {
    await database.stop();
  }
}

function announce(env: NodeJS.ProcessEnv, reason: string, out: CommandOutput): Promise<void> {
  return onDatabase(env, out, async (db, place) => {
    const kept = await db.inPlatform(SYSTEM_ACTOR, readKeptClock);
    const now = () => new Date(Math.max(Date.now(), kept.getTime()));
    const signer = await findSigner(db, env, now);
    out.log(`announcing to the database of ${place}:`);
    let failed = 0;
    const restore = { reason, operator: userInfo().username, signer, now };
    const announcing = announceRestore(db, {
      ...restore,
      onAnnounced: (one) => out.log(describe(one)),
      onFailed: (tenantId, error) => {
        failed++;
        out.error(`tenant ${tenantId}: nothing was recorded: ${messageOf(error)}`);
      },
    });
    await announcing.catch((error: unknown) => {
      if (failed === 0) throw error;
      throw new Error(`not announced to ${failed} of the tenants`, { cause: error });
    });
  });
}

/**
 * The clock is set in the transaction of the first record of it: none says what did not happen, and
 * no clock revives tokens unseen. A tenant where nothing can be recorded does not keep all others
 * out. After a crash some tenants may lack the record, until the command runs again.
 */
function accept(env: NodeJS.ProcessEnv, reason: string, out: CommandOutput): Promise<void> {
  return onDatabase(env, out, async (db, place) => {
    const at = new Date();
    const { username } = userInfo();
    const operator: Actor = { id: 'local-operator', username, role: 'system' };
    let set: { before: Date | undefined } | undefined;
    let tenants = 0;
    let failed: unknown;
    await forEachTenant(db, new AbortController().signal, async (tenantId) => {
      tenants++;
      set = await db.inTenant({ tenantId, actor: operator }, async (tx) => {
        const details = { reason, clock: at.toISOString() };
        tx.audit.append({ action: 'clock_accepted', target: `tenant/${tenantId}`, details });
        return set ?? { before: await acceptClock(tx, at) };
      });
    }).catch((error: unknown) => {
      failed = error;
    });
    if (tenants === 0 && !failed) {
      set = { before: await db.inPlatform(operator, (tx) => acceptClock(tx, at)) };
    }
    if (!set) throw new Error(`nothing is changed or recorded: ${messageOf(failed)}`);
    const { before } = set;
    const was = before ? `it was ${before.toISOString()}` : 'none was kept';
    if (before && before > at) {
      out.log(
        'data planes let go of the later time within a minute; those of a version before this one do not: docs/operations/clocks.md',
      );
    }
    out.log(`the database of ${place}: tokens go by ${at.toISOString()} from now on; ${was}`);
    if (failed) {
      throw new Error(`it is not recorded in every tenant's admin chain: ${messageOf(failed)}`);
    }
  });
}

/**
 * The key that signs the log's epochs. Nothing is created here: a key under another master key
 * could not be decrypted by the service.
 *
 * @throws Error before anything is recorded
 */
async function findSigner(
  db: TenantDatabase,
  env: NodeJS.ProcessEnv,
  now: () => Date,
): Promise<LogEpochSigner> {
  const {
    masterKey: given,
    masterKeyPrevious,
    dataDir,
  } = parseSettings(
    {
      masterKey: CONTROL_PLANE_SETTINGS.masterKey,
      masterKeyPrevious: CONTROL_PLANE_SETTINGS.masterKeyPrevious,
      dataDir: SERVICE_SETTINGS.dataDir,
    },
    env,
  );
  const masterKey = given ?? findMasterKey(dataDir);
  if (!masterKey) {
    throw new Error(
      `the next epoch of the log has to be signed with a key of the service: set SERVICE_MASTER_KEY to the service's master key (it is not set, and there is no file ${masterKeyPath(dataDir)})`,
    );
  }
  const keys = createServiceKeys({
    ...{ db, masterKey: createMasterKey(masterKey, masterKeyPrevious), now },
  });
  const known = await keys.listKeys(['checkpoint-signing']);
  if (known.length === 0) {
    throw new Error(
      'no key in the database that signs checkpoints can be decrypted: set SERVICE_MASTER_KEY to the master key of the service; if the service never ran on this database, start it once first',
    );
  }
  const earlier = known.filter(({ revokedAt }) => revokedAt === null);
  return {
    ...(await keys.evidenceKey('checkpoint')),
    earlier: earlier.map(({ publicJwk }) => publicJwk),
  };
}

function describe({ tenantId, restored, lost, logEpoch }: AnnouncedRestore): string {
  const { epoch, restored: place, highest_lost: highest } = logEpoch;
  const known = lost
    ? `the highest that data planes know is ${lost.position}`
    : 'no data plane has reported a higher one yet';
  const size = highest ? `, and a size of ${highest.size} in epoch ${highest.epoch} was lost` : '';
  return (
    `tenant ${tenantId}: restored at ${restored.epoch}/${restored.seq}; ${known}; ` +
    `the log continues as epoch ${epoch} at size ${place.size}${size}`
  );
}

interface OpenDatabase {
  url: string;
  /** Where it is, for the operator: nothing of the URL but host and name. */
  place: string;
  stop(): Promise<void>;
}

/** The configured database, migrated to this version. */
async function openDatabase(env: NodeJS.ProcessEnv, out: CommandOutput): Promise<OpenDatabase> {
  const { databaseUrl, databaseMigrationUrl, dataDir } = parseSettings(
    {
      databaseUrl: CONTROL_PLANE_SETTINGS.databaseUrl,
      databaseMigrationUrl: CONTROL_PLANE_SETTINGS.databaseMigrationUrl,
      dataDir: SERVICE_SETTINGS.dataDir,
    },
    env,
  );
  const stop = async () => undefined;
  if (databaseUrl) {
    const url = databaseUrl.reveal();
    const migrationUrl = databaseMigrationUrl?.reveal();
    await migrateDatabase(migrationUrl ?? url).catch((error: unknown) => {
      const setting = migrationUrl ? 'DATABASE_MIGRATION_URL' : 'DATABASE_URL';
      throw describeDatabaseFailure(error, setting);
    });
    return { url, place: placeOf(url), stop };
  }
  if (!existsSync(join(dataDir, CREDENTIALS_FILE))) {
    throw new Error(
      `${dataDir} holds no database of the service: set SERVICE_DATA_DIR to the folder that does, or DATABASE_URL`,
    );
  }
  const running = readEmbeddedAddress(dataDir);
  if (running && (await canConnect(running))) return { url: running, place: dataDir, stop };
  const log = { info: () => undefined, warn: out.error };
  const embedded = await startEmbeddedPostgres({ dataDir, log });
  try {
    await migrateDatabase(embedded.url);
  } catch (error) {
    await embedded.stop();
    throw error;
  }
  return { url: embedded.url, place: dataDir, stop: () => embedded.stop() };
}

/** An address that names a socket in place of a host may be no URL to Node. */
function placeOf(url: string): string {
  if (!URL.canParse(url)) return 'DATABASE_URL';
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}

const Credentials = z.object({ password: z.string(), port: z.int() });

/** Where the embedded server of this folder was last; undefined where its file cannot be read. */
function readEmbeddedAddress(dataDir: string): string | undefined {
  try {
    const text = readFileSync(join(dataDir, CREDENTIALS_FILE), 'utf8');
    const { password, port } = Credentials.parse(JSON.parse(text));
    return `postgresql://governance:${encodeURIComponent(password)}@127.0.0.1:${port}/governance`;
  } catch {
    return undefined;
  }
}
