/**
 * Every table of the schema, read from the catalog, so that a new one without row-level security
 * fails here. The rows of another tenant are attacked by raw SQL, as the application's role and as
 * the ingest role.
 */
import { uuidv7 } from '@governance/shared/ids';
import type pg from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import { testDatabase } from '../../../../tests/support/test-database.ts';

const test = await testDatabase();
const { superuser } = test;

/** Not a tenant's. Anything else has to have a tenant. */
const PLATFORM_TABLES = [
  '_prisma_migrations',
  'fleet_kill_switch',
  'service_clock',
  'service_key_rotations',
  'service_keys',
];
/** Those that a tenant's transaction reads, and never writes. */
const READ_BY_TENANTS = ['fleet_kill_switch', 'service_key_rotations'];
/** Owned by the ingest role, whose COPY row-level security would refuse. */
const INGEST_TABLES = [
  'ledger_batches',
  'ledger_quarantine',
  'ledger_records',
  'stream_heads',
  'tenant_positions',
];

interface Column {
  name: string;
  type: string;
  required: boolean;
}
interface Table {
  name: string;
  kind: 'r' | 'p';
  isPartition: boolean;
  owner: string;
  secured: boolean;
  forced: boolean;
  tenantColumn: string | null;
  primaryKey: string[];
  columns: Column[];
}

const tables = await readCatalog();
const tenantTables = tables.filter((table) => table.tenantColumn && !table.isPartition);
const [mine, theirs] = [uuidv7(), uuidv7()];

async function readCatalog(): Promise<Table[]> {
  const { rows } = await superuser.query<Table>(`
    SELECT c.relname AS name, c.relkind AS kind, c.relispartition AS "isPartition",
      pg_get_userbyid(c.relowner) AS owner, c.relrowsecurity AS secured,
      c.relforcerowsecurity AS forced,
      (SELECT a.attname FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0
         AND a.attname = CASE c.relname WHEN 'tenants' THEN 'id' ELSE 'tenant_id' END) AS "tenantColumn",
      (SELECT json_agg(a.attname ORDER BY array_position(i.indkey::int2[], a.attnum))
         FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
         WHERE i.indrelid = c.oid AND i.indisprimary) AS "primaryKey",
      (SELECT json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, NULL),
         'required', a.attnotnull AND NOT a.atthasdef) ORDER BY a.attnum)
         FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS columns
    FROM pg_class c
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm')
    ORDER BY c.relname`);
  return rows;
}

/** Tables that others refer to, in the order of their rows. */
const PARENTS = [
  'tenants',
  'agents',
  'roles',
  'policies',
  'workflows',
  'workflow_sessions',
  'evidence_packages',
];

/** A value of the column's type; texts that a CHECK restricts are named. */
function valueFor(table: string, column: Column, tenant: string): unknown {
  const chosen: Record<string, unknown> = {
    'mcp_servers.transport': 'stdio',
    'mcp_servers.local_name': 'local',
    'alerts.severity': 'low',
    'inbound_rules.rule_type': 'block',
    'dlp_patterns.severity': 'low',
    'change_requests.proposed_status': 'draft',
    'change_requests.base_status': 'draft',
    'ledger_quarantine.kind': 'fork',
    'verification_walks.kind': 'new',
    'verification_marks.kind': 'new',
    'event_payloads.part': 'input',
    'escalations.held': 'call',
    'agent_credentials.client_id': `acr_${tenant}`,
    'evidence_packages.from_time': '2026-01-01T00:00:00Z',
    'exceptions.lifts': 'escalation',
    'exceptions.status': 'active',
    'log_epochs.epoch': 2,
    'log_nodes.hash': Buffer.alloc(32),
  };
  const given = chosen[`${table}.${column.name}`];
  if (given !== undefined) return given;
  switch (column.type) {
    case 'uuid':
      return tenant;
    case 'timestamp with time zone':
      return new Date().toISOString();
    case 'smallint':
    case 'integer':
    case 'bigint':
    case 'double precision':
      return 1;
    case 'boolean':
      return false;
    case 'bytea':
      return Buffer.from('x');
    case 'text[]':
      return [];
    case 'jsonb':
      return '{}';
    default:
      return `${tenant}-${column.name}`;
  }
}

/** Nullable columns that a CHECK demands. */
const DEMANDED = new Set(['mcp_servers.local_name', 'exceptions.resource']);

/** Columns and values of a row that names only what the table demands. */
function rowFor(table: Table, tenant: string): { columns: string[]; values: unknown[] } {
  const columns = table.columns.filter(
    ({ required, name }) =>
      required || name === table.tenantColumn || DEMANDED.has(`${table.name}.${name}`),
  );
  return {
    columns: columns.map((column) => column.name),
    values: columns.map((column) => valueFor(table.name, column, tenant)),
  };
}

function insertSql(table: Table, tenant: string): { text: string; values: unknown[] } {
  const { columns, values } = rowFor(table, tenant);
  return {
    text: `INSERT INTO ${table.name} (${columns.join(', ')}) VALUES (${values.map((_, i) => `$${i + 1}`).join(', ')})`,
    values,
  };
}

/** As the role, in a transaction of `tenant` (null: of none), rolled back afterwards. */
async function as<T>(
  role: 'governance_app' | 'governance_ingest',
  tenant: string | null,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const pool = role === 'governance_app' ? test.connections.pool : test.connections.ingestPool;
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    if (tenant) await client.query(`SELECT set_config('app.tenant_id', $1, true)`, [tenant]);
    return await work(client);
  } finally {
    await client.query('ROLLBACK');
    client.release();
  }
}

const REFUSED = /row-level security|permission denied/;

/** Rows touched; 0 where the role has no such privilege at all. */
async function touched(query: Promise<pg.QueryResult>): Promise<number> {
  try {
    return (await query).rowCount ?? 0;
  } catch (error) {
    expect(String(error)).toMatch(/permission denied/);
    return 0;
  }
}

beforeAll(async () => {
  // Parents before children; a row of each tenant in every table.
  const order = (table: Table) =>
    PARENTS.indexOf(table.name) === -1 ? PARENTS.length : PARENTS.indexOf(table.name);
  for (const table of [...tenantTables].sort((a, b) => order(a) - order(b))) {
    for (const tenant of [mine, theirs]) await superuser.query(insertSql(table, tenant));
  }
});

describe('the catalog', () => {
  it('gives every table a tenant, or lists it as the platform’s', () => {
    expect(tables.filter((table) => !table.tenantColumn).map((table) => table.name)).toEqual(
      PLATFORM_TABLES,
    );
    expect(tenantTables.length).toBeGreaterThanOrEqual(18);
  });

  it('secures every table, and forces it on the owner except for ingest’s own', () => {
    for (const table of tables.filter(({ name }) => name !== '_prisma_migrations')) {
      expect(table, table.name).toMatchObject({ secured: true });
      const ingests = INGEST_TABLES.includes(table.name) || table.isPartition;
      expect(table.owner === 'governance_ingest', table.name).toBe(ingests);
      expect(table.forced, table.name).toBe(!ingests);
    }
  });

  it('starts every primary key with the tenant', () => {
    for (const table of tenantTables) expect(table.primaryKey[0]).toBe(table.tenantColumn);
  });

  it('lets the application own nothing and exempts neither role', async () => {
    const { rows } = await superuser.query(
      `SELECT rolname FROM pg_roles WHERE rolname LIKE 'governance_%' AND rolname <> 'governance_tests'
         AND (rolsuper OR rolbypassrls OR rolcanlogin OR rolcreaterole OR rolcreatedb)`,
    );
    expect(rows).toEqual([]);
    expect(tables.filter((table) => table.owner === 'governance_app')).toEqual([]);
    const { rows: memberships } = await superuser.query(
      `SELECT 1 FROM pg_auth_members WHERE pg_get_userbyid(member) IN ('governance_app', 'governance_ingest')`,
    );
    expect(memberships).toEqual([]);
  });

  it('keeps the ledger insert-and-select for the application', async () => {
    const { rows } = await superuser.query<{ privilege: string }>(
      `SELECT p AS privilege FROM unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE']) p
       WHERE has_table_privilege('governance_app', 'ledger_records', p)`,
    );
    expect(rows.map((row) => row.privilege)).toEqual(['SELECT', 'INSERT']);
  });

  it('pins the search path of every SECURITY DEFINER function and shuts out PUBLIC', async () => {
    const { rows } = await superuser.query<{ name: string; pinned: boolean; open: boolean }>(`
      SELECT proname AS name, coalesce(array_to_string(proconfig, ','), '') LIKE 'search_path=pg_catalog%' AS pinned,
        EXISTS (SELECT 1 FROM aclexplode(coalesce(proacl, acldefault('f', proowner))) WHERE grantee = 0) AS open
      FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prosecdef ORDER BY proname`);
    expect(rows).toEqual(
      [
        'count_ciphertexts',
        'ensure_ledger_partitions',
        'find_administrator',
        'find_attested_token',
        'find_client',
        'find_client_credential',
        'find_client_secret',
        'find_data_plane_token',
        'find_due_replays',
        'find_ended_exceptions',
        'find_enrollment_token',
        'find_evidence_work',
        'find_expired_sessions',
        'find_grown_logs',
        'find_incomplete_baselines',
        'find_installer_token',
        'find_login',
        'find_overdue_escalations',
      ].map((name) => ({ name, pinned: true, open: false })),
    );
  });
});

describe.each(['governance_app', 'governance_ingest'] as const)('%s', (role) => {
  // Ingest owns its tables: there the tenant comes from the statement, not from the policy.
  const held = tenantTables.filter(
    (table) => role === 'governance_app' || !INGEST_TABLES.includes(table.name),
  );

  it.each(held)('neither reads nor writes another tenant’s $name', async (table) => {
    const tenantIs = (tenant: string) => `${table.tenantColumn} = '${tenant}'`;
    expect(
      await as(role, mine, (client) =>
        touched(client.query(`SELECT 1 FROM ${table.name} WHERE NOT ${tenantIs(mine)}`)),
      ),
    ).toBe(0);
    for (const tenant of [mine, null]) {
      for (const sql of [
        `SELECT 1 FROM ${table.name} WHERE ${tenantIs(theirs)}`,
        `SELECT 1 FROM ${table.name} WHERE ${tenantIs(theirs)} FOR UPDATE`,
        `UPDATE ${table.name} SET ${table.tenantColumn} = ${table.tenantColumn} WHERE ${tenantIs(theirs)}`,
        `DELETE FROM ${table.name} WHERE ${tenantIs(theirs)}`,
      ]) {
        expect(await as(role, tenant, (client) => touched(client.query(sql))), sql).toBe(0);
      }
      await expect(
        as(role, tenant, (client) => client.query(insertSql(table, theirs))),
      ).rejects.toThrow(REFUSED);
    }
    // Nor may a row of one's own be given away.
    await expect(
      as(role, mine, async (client) => {
        const moved = await client.query(
          `UPDATE ${table.name} SET ${table.tenantColumn} = '${theirs}' WHERE ${tenantIs(mine)}`,
        );
        if (moved.rowCount === 0) throw new Error('permission denied: nothing to move');
      }),
    ).rejects.toThrow(REFUSED);
  });

  it('reaches no platform table from a tenant’s transaction', async () => {
    await superuser.query(
      `INSERT INTO service_keys (kid, purpose, public_jwk, private_ciphertext)
       VALUES ('k-${role}', 'bundle-signing', '{}', 'x')`,
    );
    for (const table of PLATFORM_TABLES.filter((name) => !READ_BY_TENANTS.includes(name))) {
      expect(
        await as(role, mine, (client) => touched(client.query(`SELECT 1 FROM ${table}`))),
      ).toBe(0);
    }
  });
});

it('a tenant’s transaction does not write what it may read of the platform', async () => {
  const insert = `INSERT INTO fleet_kill_switch
    (generation, engaged, actor_id, actor_username, request_id, changed_at)
    VALUES (1, true, 'a', 'a', 'r', now())`;
  await superuser.query(insert);
  try {
    for (const sql of [
      'UPDATE fleet_kill_switch SET engaged = false',
      'DELETE FROM fleet_kill_switch',
    ]) {
      expect(await as('governance_app', mine, (client) => touched(client.query(sql)))).toBe(0);
    }
  } finally {
    await superuser.query('DELETE FROM fleet_kill_switch');
  }
  await expect(as('governance_app', mine, (client) => client.query(insert))).rejects.toThrow(
    REFUSED,
  );
});

it.each(tenantTables)('the application reads its own $name', async (table) => {
  const rows = await as('governance_app', mine, (client) =>
    client.query(`SELECT 1 FROM ${table.name} WHERE ${table.tenantColumn} = '${mine}'`),
  );
  expect(rows.rowCount).toBe(1);
});

it('no transaction finds a partition by its own name', async () => {
  for (const { name } of tables.filter((table) => table.isPartition)) {
    await expect(
      as('governance_app', mine, (client) => client.query(`SELECT 1 FROM ${name}`)),
    ).rejects.toThrow(/permission denied/);
  }
});

it('a tenant set in one transaction is gone in the next on the same connection', async () => {
  const client = await test.connections.pool.connect();
  try {
    await client.query('BEGIN');
    await client.query(`SELECT set_config('app.tenant_id', $1, true)`, [mine]);
    expect((await client.query('SELECT 1 FROM agents')).rowCount).toBe(1);
    await client.query('COMMIT');
    expect((await client.query('SELECT 1 FROM agents')).rowCount).toBe(0);
  } finally {
    client.release();
  }
});

describe('look-ups before a tenant is known', () => {
  it('find exactly one row by what the caller has to know', async () => {
    expect(await test.lookups.findLogin(`${mine}-username`)).toMatchObject({
      tenantId: mine,
      tokenVersion: 1,
    });
    expect(await test.lookups.findClient(`${theirs}-client_id`)).toEqual({
      tenantId: theirs,
      agentId: theirs,
      credentialId: null,
      secretHash: `${theirs}-secret_hash`,
    });
    expect(await test.lookups.findDataPlaneToken(`${mine}-token_hash`)).toMatchObject({
      tenantId: mine,
      revokedAt: null,
    });
    expect(await test.lookups.findLogin('nobody')).toBeUndefined();
  });

  it('are closed to ingest, and their role reads only the named columns', async () => {
    await expect(
      as('governance_ingest', mine, (client) => client.query(`SELECT * FROM find_login('x')`)),
    ).rejects.toThrow(/permission denied/);
    const { rows } = await superuser.query<{ name: string }>(
      `SELECT table_name || '.' || column_name AS name FROM information_schema.column_privileges
       WHERE grantee = 'governance_lookup' ORDER BY 1`,
    );
    const columns = {
      administrators: 'id password_hash role status tenant_id token_version username',
      agent_credentials: 'agent_id client_id id secret_hash tenant_id',
      agent_sessions: 'closed_at expires_at merged_into tenant_id',
      agents: 'client_id id secret_hash tenant_id',
      data_keys: 'provider tenant_id wrapped',
      data_plane_tokens:
        'attestation created_at deployment_id expires_at id issued_until record_id region revoked_at root_id tenant_id token_hash',
      data_protection_policies: 'identifier_key_ciphertext tenant_id',
      enrollment_tokens: 'id tenant_id token_hash',
      escalations: 'binding is_announced is_in_feed resolved_at status tenant_id timeout_at',
      evidence_packages: 'expires_at status tenant_id',
      exceptions: 'expires_at status tenant_id updated_at',
      installer_tokens: 'id tenant_id token_hash',
      log_heads: 'admin_epoch admin_seq size tenant_id',
      mcp_servers: 'credential_ciphertext tenant_id',
      policies: 'name origin rego_package tenant_id',
      policy_replays: 'id lease_until status tenant_id',
      service_keys: 'private_ciphertext',
      tenant_heads: 'admin_epoch admin_seq tenant_id',
      tenant_positions: 'log_size tenant_id',
    };
    expect(rows.map((row) => row.name).sort()).toEqual(
      Object.entries(columns).flatMap(([table, names]) =>
        names.split(' ').map((name) => `${table}.${name}`),
      ),
    );
  });
});

describe('partitions of the ledger', () => {
  it('are made once for each month, also by several replicas at once', async () => {
    const make = () =>
      test.connections.pool.query<{ made: number }>('SELECT ensure_ledger_partitions(2) AS made');
    const results = await Promise.all([make(), make(), make()]);
    const made = results.map((result) => result.rows[0]?.made ?? 0);
    // The default partition already holds this month's rows of the tests above.
    expect(made.reduce((a, b) => a + b)).toBe(2);
    const { rows } = await superuser.query<{ secured: boolean }>(
      `SELECT relrowsecurity AS secured FROM pg_class WHERE relispartition AND relkind = 'r'`,
    );
    expect(rows.every((row) => row.secured)).toBe(true);
    expect(rows).toHaveLength(3);
  });

  it('take a COPY by ingest, which row-level security would refuse', async () => {
    await as('governance_ingest', null, async (client) => {
      await client.query(insertSql(tableNamed('ledger_records'), uuidv7()));
      const { rows } = await client.query(`SELECT row_security_active('ledger_records') AS active`);
      expect(rows).toEqual([{ active: false }]);
    });
  });
});

function tableNamed(name: string): Table {
  const table = tables.find((candidate) => candidate.name === name);
  if (!table) throw new Error(`no table ${name}`);
  return table;
}

it('the role of a pool cannot be changed by the connection string', async () => {
  const { connectDatabase } = await import('./database.ts');
  const url = new URL(test.url);
  url.searchParams.set('options', '-c role=none');
  const connections = await connectDatabase({
    url: url.href,
    poolSize: 1,
    maxOverflow: 0,
    onConnectionError: () => {},
  });
  const { rows } = await connections.pool.query('SELECT current_user AS name');
  await connections.close();
  expect(rows).toEqual([{ name: 'governance_app' }]);
});
