/**
 * The connections to PostgreSQL. The application's pool runs as governance_app, which owns nothing
 * and is subject to row-level security; the ingest pool as governance_ingest. The role is a start
 * option of the connection, so that one connection string is enough, and it is checked at the
 * start. Nothing but tenant-scope.ts and lookups.ts uses the client made here.
 */

import { StartError } from '@governance/shared/process/start-error';
import { ConfigurationError } from '@governance/shared/settings';
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { PrismaClient } from '../generated/client.ts';
import { namingDamage } from './damaged-rows.ts';

// A request that waits longer is an incident, and a transaction left open blocks its tenant's row.
const STATEMENT_TIMEOUT_MS = 30_000;
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 60_000;
const TRANSACTION_TIMEOUT_MS = 60_000;
const POOL_WAIT_MS = 10_000;

// Sessions outside the pools hold locks and listen. When their process vanishes or hangs,
// PostgreSQL should end them soon, so that another replica takes over.
const SESSION_OPTIONS =
  '-c idle_session_timeout=15000 -c tcp_keepalives_idle=5 -c tcp_keepalives_interval=2 -c tcp_keepalives_count=3';
const SESSION_QUERY_TIMEOUT_MS = 3_000;

type DatabaseRole = 'governance_app' | 'governance_ingest';

export interface DatabaseOptions {
  /** DATABASE_URL: the login must be a member of governance_app. */
  url: string;
  /** DATABASE_INGEST_URL; the same as `url` unless given. */
  ingestUrl?: string | undefined;
  /** SERVICE_DB_POOL_SIZE: with `maxOverflow` added, the most connections of each pool. */
  poolSize: number;
  /** SERVICE_DB_MAX_OVERFLOW: only the sum counts. */
  maxOverflow: number;
  /** Called for connections that broke while idle; the pool replaces them. */
  onConnectionError: (error: Error) => void;
}

export interface Connections {
  prisma: PrismaClient;
  /** The application's pool as Prisma uses it; exposed for readiness and metrics. */
  pool: pg.Pool;
  /** For bulk ingest only. */
  ingestPool: pg.Pool;
  /**
   * Opens a session outside the pools, for what a pool's connections cannot do: hold an advisory
   * lock for long, or listen. It must be used at least every 10 s, or PostgreSQL ends it. The
   * caller ends it.
   *
   * @param name shown in pg_stat_activity
   */
  openSession(name: string): Promise<pg.Client>;
  close(): Promise<void>;
}

/**
 * Opens both pools and checks their roles.
 *
 * @throws ConfigurationError when a login cannot take its role
 * @throws Error when the server cannot be reached, or a pool has more rights than intended
 */
export async function connectDatabase(options: DatabaseOptions): Promise<Connections> {
  let isClosing = false;
  // A pool has ended before its connections have: the server may break them off by stopping.
  const onConnectionError = (error: Error) => {
    if (!isClosing) options.onConnectionError(error);
  };
  const watched = { ...options, onConnectionError };
  const pool = createPool(options.url, 'governance_app', watched);
  const ingestPool = createPool(options.ingestUrl ?? options.url, 'governance_ingest', watched);
  const prisma = namingDamage(
    new PrismaClient({
      adapter: new PrismaPg(pool, { onConnectionError }),
      transactionOptions: { maxWait: POOL_WAIT_MS, timeout: TRANSACTION_TIMEOUT_MS },
    }),
  );
  const connections: Connections = {
    prisma,
    pool,
    ingestPool,
    openSession: (name) => openSession(options.url, name),
    close: async () => {
      isClosing = true;
      await prisma.$disconnect();
      await Promise.all([pool.end(), ingestPool.end()]);
    },
  };
  try {
    await checkRole(pool, 'governance_app', 'DATABASE_URL');
    const ingestSetting = options.ingestUrl ? 'DATABASE_INGEST_URL' : 'DATABASE_URL';
    await checkRole(ingestPool, 'governance_ingest', ingestSetting);
    return connections;
  } catch (error) {
    await connections.close();
    throw error;
  }
}

function createPool(url: string, role: DatabaseRole, options: DatabaseOptions): pg.Pool {
  const { connectionString, startOptions } = splitStartOptions(url);
  const pool = new pg.Pool({
    connectionString,
    // The last setting of a name wins, so what the operator gave cannot change the role.
    options: `${startOptions} -c statement_timeout=${STATEMENT_TIMEOUT_MS} -c idle_in_transaction_session_timeout=${IDLE_IN_TRANSACTION_TIMEOUT_MS} -c timezone=UTC -c role=${role}`,
    max: options.poolSize + options.maxOverflow,
    // So many stay open when idle.
    min: Math.min(options.poolSize, 2),
    idleTimeoutMillis: 30_000,
    connectionTimeoutMillis: POOL_WAIT_MS,
    application_name: role,
  });
  pool.on('error', options.onConnectionError);
  // The pool handles errors of idle connections only. An error of a checked-out or closing one
  // would end the process; its next query fails anyway.
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

async function openSession(url: string, name: string): Promise<pg.Client> {
  const { connectionString, startOptions } = splitStartOptions(url);
  const client = new pg.Client({
    connectionString,
    options: `${startOptions} ${SESSION_OPTIONS} -c role=governance_app`,
    connectionTimeoutMillis: POOL_WAIT_MS,
    query_timeout: SESSION_QUERY_TIMEOUT_MS,
    keepAlive: true,
    application_name: name,
  });
  // Without a listener, a connection that breaks before its user listens would end the process.
  client.on('error', () => {});
  await client.connect();
  return client;
}

/** `pg` would let `options` in a connection string replace ours, so both are joined. */
function splitStartOptions(url: string): { connectionString: string; startOptions: string } {
  const parsed = new URL(url);
  const startOptions = parsed.searchParams.get('options') ?? '';
  parsed.searchParams.delete('options');
  return { connectionString: parsed.href, startOptions };
}

/** PostgreSQL's answers to `-c role=…` when the login is no member, or there is no such role. */
const ROLE_REFUSED = new Set(['22023', '42501']);

async function checkRole(pool: pg.Pool, expected: DatabaseRole, setting: string): Promise<void> {
  const { rows } = await pool
    .query<{ name: string; exempt: boolean }>(
      'SELECT rolname AS name, rolsuper OR rolbypassrls AS exempt FROM pg_roles WHERE rolname = current_user',
    )
    .catch((error: unknown) => {
      if (!(error instanceof pg.DatabaseError) || !ROLE_REFUSED.has(error.code ?? '')) throw error;
      const message = `its login is no member of ${expected} (GRANT ${expected} TO its login)`;
      throw new ConfigurationError([{ name: setting, message }]);
    });
  const role = rows[0];
  if (role?.name !== expected || role.exempt) {
    throw new StartError(
      `the database connection runs as ${role?.name ?? 'nobody'}${role?.exempt ? ', which is exempt from row-level security' : ''}; ${expected} was requested (a connection pooler that drops start options?)`,
    );
  }
}

/** For /ready. @throws Error when the database cannot be reached, or takes no writes */
export async function checkWritable(pool: Pick<pg.Pool, 'query'>): Promise<void> {
  const { rows } = await pool.query<{ read_only: string }>(
    `SELECT current_setting('transaction_read_only') AS read_only`,
  );
  if (rows[0]?.read_only !== 'off') {
    throw new Error(
      'the database takes no writes: it is a standby, or default_transaction_read_only is on',
    );
  }
}

// Error codes of the operating system, of PostgreSQL (classes 08, 53, which begins with a full
// disk, and 57P; 57014, the statement timeout; 25P03, a transaction that was idle for too long; 58030,
// a disk that fails; 25006, a standby) and of Prisma.
const AWAY_CODES =
  /^(?:ECONN\w+|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|08\w{3}|57P\d\d|57014|25P03|53\w{3}|58030|25006|P1001|P1002|P1008|P1017|P2024|P2028)$/;
// Prisma wraps what the driver throws and keeps only its text; the pool's errors have no codes.
const AWAY_TEXTS =
  /Can't reach database server|Code: `(?:08\w{3}|57P\d\d|57014|25P03|53\w{3}|58030|25006)`|Connection terminated|connection error and is not queryable|timeout exceeded when trying to connect/;

/** Whether an error means that the database cannot work now, not a wrong query. */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: unknown };
  if (typeof code === 'string' && AWAY_CODES.test(code)) return true;
  return AWAY_TEXTS.test(error.message) || isDatabaseAway(error.cause);
}

/** Whether a statement waited for a lock for as long as it may (lock_timeout). */
export function isLockTimeout(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ((error as { code?: unknown }).code === '55P03') return true;
  // Prisma writes the code into its text; PostgreSQL's own text is in the server's language.
  return error.message.includes('Code: `55P03`') || isLockTimeout(error.cause);
}

/** Whether an error is a unique violation, from Prisma's models or from raw SQL. */
export function isUniqueViolation(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  if (code === 'P2002' || code === '23505') return true;
  const meta = (error as { meta?: { code?: unknown } } | null)?.meta;
  return code === 'P2010' && meta?.code === '23505';
}
