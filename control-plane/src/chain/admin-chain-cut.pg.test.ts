/** Attacks on the admin chain by whoever owns the database, and what an operator may say of it. */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AdminHeadReport } from '@governance/shared/channel/channels';
import { FEED_START } from '@governance/shared/channel/feed-chain';
import { type SignedAdminHead, signStatement } from '@governance/shared/channel/signed-statement';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { aRegistration } from '../../../tests/support/a-registration.ts';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';
import { runControlPlaneCommand } from '../commands.ts';

// The command that announces a restore has the real clock.
let time = Date.now() - 60 * 60_000;
const SERVICE_MASTER_KEY = randomBytes(32).toString('base64');
const empty = mkdtempSync(join(tmpdir(), 'announce-'));
afterAll(() => rmSync(empty, { recursive: true }));
const { call, aTenantAdmin, controlPlane, test } = await testControlPlane({
  now: () => new Date(time),
  // The log grows at the start alone: who cuts the chain removes it, too.
  env: { SERVICE_CHECKPOINT_SECONDS: '3600', SERVICE_MASTER_KEY },
});
const { superuser } = test;

let token: string;
let planeToken: string;
let tenantId: string;
let deploymentId: string;

beforeEach(async () => {
  const admin = await aTenantAdmin();
  token = admin.token;
  tenantId = admin.scope.tenantId;
  const issued = await call('/api/v1/admin/data-plane-tokens', { token, body: { label: 'site' } });
  const registered = await call('/api/v1/data-planes/register', {
    token: issued.json().token,
    body: aRegistration().provenWith(issued.json().token),
  });
  expect(registered.statusCode, registered.body).toBeLessThan(300);
  deploymentId = registered.json().deployment_id;
  planeToken = registered.json().token.token;
  for (const name of ['one', 'two', 'three']) await aRole(name);
});

const aRole = async (name: string) => {
  const answer = await call('/api/v1/roles', { token, body: { name: `${name}-${time}` } });
  expect(answer.statusCode, answer.body).toBeLessThan(300);
};

/** What a data plane is told with a page of its feed. */
async function readHead(): Promise<SignedAdminHead> {
  const page = await controlPlane.feedReader.readFeed({
    tenantId,
    cursor: 0,
    digest: FEED_START,
    limit: 1,
    waitMs: 0,
    signal: new AbortController().signal,
  });
  if (!page.admin_head) throw new Error('no head was told');
  return page.admin_head;
}

async function beat(report: unknown) {
  const answer = await call(`/api/v1/data-planes/${deploymentId}/heartbeat`, {
    token: planeToken,
    body: {
      deployment_id: deploymentId,
      active_agent_count: 0,
      proxy_rpm_1m: 0,
      escalations_pending: 0,
      opa_bundle_version: 'none',
      uptime_seconds: 1,
      admin_heads: report,
    },
  });
  expect(answer.statusCode, answer.body).toBe(200);
}

const remembering = (...heads: SignedAdminHead[]): AdminHeadReport => ({ heads });

/** Cuts the newest records of the admin chain, with every number that tells of them. */
async function cut(records: number): Promise<void> {
  const { rows } = await superuser.query(
    `DELETE FROM ledger_records WHERE tenant_id = $1 AND seq >
       (SELECT admin_seq - $2 FROM tenant_heads WHERE tenant_id = $1) RETURNING 1`,
    [tenantId, records],
  );
  expect(rows).toHaveLength(records);
  await superuser.query(
    `UPDATE tenant_heads SET admin_seq = admin_seq - $2, admin_head =
       (SELECT hash FROM ledger_records WHERE tenant_id = $1 ORDER BY seq DESC LIMIT 1)
     WHERE tenant_id = $1`,
    [tenantId, records],
  );
  await superuser.query(
    'UPDATE tenant_positions SET position = position - $2, log_size = 0 WHERE tenant_id = $1',
    [tenantId, records],
  );
  // The service may have signed a batch when it started: the log goes, with what is known of it.
  for (const table of [
    'ledger_batches',
    'log_nodes',
    'log_checkpoints',
    'log_anchors',
    'log_epochs',
    'log_heads',
    'verification_marks',
  ]) {
    await superuser.query(`DELETE FROM ${table} WHERE tenant_id = $1`, [tenantId]);
  }
}

const verify = async () => (await call('/api/v1/audit/verify?fresh=true', { token })).json();
const breaksNow = async () =>
  (await call('/api/v1/audit/chain/breaks', { token })).json().breaks as { kind: string }[];
const alertsNow = async () =>
  (await call('/api/v1/monitor/alerts', { token })).json().alerts as { alert_type: string }[];

async function announce(reason = 'the disk of the database died') {
  const lines: string[] = [];
  const env = { DATABASE_URL: test.url, SERVICE_MASTER_KEY };
  const out = {
    log: (line: string) => lines.push(line),
    error: (line: string) => lines.push(line),
  };
  const code = await runControlPlaneCommand(['announce-restore', '--reason', reason], env, out);
  expect(code, lines.join('\n')).toBe(0);
  return lines.find((line) => line.includes(tenantId)) ?? '';
}

describe('the admin chain', () => {
  it('row "cut the admin chain": is found cut by what a data plane remembers', async () => {
    const known = await readHead();
    await beat(remembering(known));
    expect(await verify()).toMatchObject({ valid: true, breaks_open: 0 });
    await cut(2);
    // With every head and number of the database moved, nothing in it contradicts the cut.
    expect((await verify()).valid).toBe(true);
    await beat(remembering(known));
    const after = await verify();
    expect(after).toMatchObject({ valid: false, breaks_open: 1 });
    expect(after.breaks).toMatchObject([
      { kind: 'admin_head_went_back', seq: known.statement.seq, acknowledged: false },
    ]);
    for (let i = 0; i < 3; i++) await beat(remembering(known));
    expect(await breaksNow()).toHaveLength(1);
    expect((await alertsNow()).filter((one) => one.alert_type === 'CHAIN_BREAK')).toHaveLength(1);
  });

  it('row "cut the admin chain": is found when it has grown again beyond the cut', async () => {
    const known = await readHead();
    await cut(2);
    for (const name of ['four', 'five', 'six', 'seven']) await aRole(name);
    await beat(remembering(await readHead(), known));
    expect(await breaksNow()).toMatchObject([{ kind: 'admin_head_went_back' }]);
  });

  it('row "write the admin chain anew": is found in one place with two hashes', async () => {
    const known = await readHead();
    await cut(2);
    await aRole('other');
    await aRole('another');
    await beat(remembering(known));
    const { breaks } = await verify();
    expect(breaks).toMatchObject([{ kind: 'admin_head_went_back', seq: known.statement.seq }]);
  });

  it('row "cut the admin chain": is found though it was put back, by two signed heads', async () => {
    const known = await readHead();
    time += 10 * 60_000;
    const saved = await superuser.query('SELECT * FROM tenant_heads WHERE tenant_id = $1', [
      tenantId,
    ]);
    const { admin_seq: seq, admin_head: head } = saved.rows[0];
    await superuser.query(
      `UPDATE tenant_heads SET admin_seq = admin_seq - 1, admin_head = repeat('a', 64), feed_seq = feed_seq
       WHERE tenant_id = $1`,
      [tenantId],
    );
    const told = await new Promise<SignedAdminHead>((resolve) => {
      // What is known of a feed is looked at again when it changes.
      test.changes.publish({ tenantId, feedSeq: 1 });
      resolve(readHead());
    });
    await superuser.query(
      'UPDATE tenant_heads SET admin_seq = $2, admin_head = $3 WHERE tenant_id = $1',
      [tenantId, seq, head],
    );
    await beat({ heads: [told], went_back: { known, told } });
    expect((await breaksNow()).map(({ kind }) => kind)).toEqual(['admin_head_went_back']);
  });

  it('row "a lying data plane": is not broken by a head that nobody signed here', async () => {
    const { statement, kid, signature } = await readHead();
    const { privateKey } = generateKeyPairSync('ed25519');
    const forged = { ...statement, seq: statement.seq + 100 };
    const lies = [
      { statement: forged, kid, signature },
      signStatement({ key: privateKey, kid }, forged),
      { statement: { ...statement, hash: 'a'.repeat(64) }, kid, signature },
    ];
    for (const lie of lies) await beat(remembering(lie));
    for (const lie of lies) {
      await beat({ heads: [], went_back: { known: lie, told: { statement, kid, signature } } });
    }
    await beat({ heads: 'none' });
    await beat({ heads: [{ statement: { ...statement, v: 2 }, kid, signature }] });
    expect(await breaksNow()).toEqual([]);
    expect((await verify()).valid).toBe(true);
  });

  it('row "another tenant’s head": breaks nothing', async () => {
    const mine = { token, planeToken, tenantId, deploymentId };
    const other = await aTenantAdmin();
    tenantId = other.scope.tenantId;
    token = other.token;
    await aRole('theirs');
    const theirs = await readHead();
    ({ token, planeToken, tenantId, deploymentId } = mine);
    await beat(remembering(theirs));
    expect(await breaksNow()).toEqual([]);
  });
});

describe('a restore from a backup', () => {
  it('row "restore, announced": is explained by the operator, and verified by nothing', async () => {
    const known = await readHead();
    await cut(2);
    await beat(remembering(known));
    time += 60_000;
    const { epoch, seq, hash } = known.statement;
    expect(await announce()).toContain(`${epoch}/${seq}/${hash}`);
    const answer = await verify();
    expect(answer).toMatchObject({ valid: false, breaks_open: 0 });
    const [standing] = answer.breaks;
    expect(standing.explained_by).toMatchObject({ reason: 'the disk of the database died' });
    const { rows } = await superuser.query(
      `SELECT bytes FROM ledger_records WHERE tenant_id = $1 ORDER BY position DESC LIMIT 1`,
      [tenantId],
    );
    expect(JSON.parse(rows[0].bytes)).toMatchObject({
      action: 'control_plane_restored',
      actor: { id: 'local-operator', role: 'system' },
      details: {
        restored: { epoch: 1, seq: expect.any(Number), hash: expect.any(String) },
        lost: { position: `${epoch}/${seq}/${hash}`, signed_at: known.statement.time },
      },
    });
  });

  it('row "restore, announced": explains nothing that is cut after it', async () => {
    time += 60_000;
    expect(await announce()).toContain('no data plane has reported');
    time = Date.now() + 60_000;
    await aRole('after');
    await aRole('and another');
    const known = await readHead();
    await cut(1);
    await beat(remembering(known));
    const answer = await verify();
    expect(answer).toMatchObject({ valid: false, breaks_open: 1 });
    expect(answer.breaks[0].explained_by).toBeUndefined();
  });

  it('row "restore, not announced": stays open until somebody has looked, and invalid after', async () => {
    const known = await readHead();
    await cut(2);
    await beat(remembering(known));
    const [found] = (await breaksNow()) as unknown as { id: string }[];
    await call(`/api/v1/audit/chain/breaks/${found?.id}/acknowledge`, {
      token,
      method: 'POST',
      body: {},
    });
    const answer = await verify();
    expect(answer).toMatchObject({ valid: false, breaks_open: 0 });
    expect(answer.breaks[0]).toMatchObject({ acknowledged: true });
  });

  it('can be announced by no route', () => {
    const paths = controlPlane.routes.map(({ url }) => url).join(' ');
    expect(paths).not.toMatch(/restor|announce/);
  });

  it('is announced with a reason, and not without', async () => {
    const output: string[] = [];
    const out = {
      log: (line: string) => output.push(line),
      error: (line: string) => output.push(line),
    };
    const env = { DATABASE_URL: test.url };
    expect(await runControlPlaneCommand(['announce-restore'], env, out)).toBe(2);
    expect(await runControlPlaneCommand(['announce-restore', '--x'], env, out)).toBe(1);
    expect(output[0]).toMatch(/--reason/);
  });

  it('is announced to the tenants behind one that fails, and both are said', async () => {
    const before = tenantId;
    const { scope } = await aTenantAdmin();
    await superuser.query(
      `CREATE FUNCTION refuse_epoch() RETURNS trigger LANGUAGE plpgsql AS
         $$BEGIN RAISE EXCEPTION 'no epoch'; END$$;
       CREATE TRIGGER refuse_epoch BEFORE INSERT ON log_epochs FOR EACH ROW
         WHEN (NEW.tenant_id = '${before}') EXECUTE FUNCTION refuse_epoch()`,
    );
    const [done, failed]: [string[], string[]] = [[], []];
    const out = {
      log: (line: string) => done.push(line),
      error: (line: string) => failed.push(line),
    };
    const env = { DATABASE_URL: test.url, SERVICE_MASTER_KEY };
    const args = ['announce-restore', '--reason', 'a disk'];
    expect(await runControlPlaneCommand(args, env, out)).toBe(1);
    const { host, pathname } = new URL(test.url);
    expect(done[0]).toBe(`announcing to the database of ${host}${pathname}:`);
    expect(done.join('\n')).toContain(`tenant ${scope.tenantId}: restored at `);
    expect(done.join('\n')).not.toContain(before);
    expect(failed).toEqual([
      expect.stringMatching(`^tenant ${before}: nothing was recorded: (.|\n)*no epoch`),
      'not announced to 1 of the tenants',
    ]);
    await superuser.query('DROP TRIGGER refuse_epoch ON log_epochs');
  });

  it('needs the service’s master key, and records nothing without it', async () => {
    const readEnd = async () =>
      (await superuser.query('SELECT admin_seq FROM tenant_heads WHERE tenant_id = $1', [tenantId]))
        .rows[0].admin_seq;
    const before = await readEnd();
    const run = async (given: NodeJS.ProcessEnv) => {
      const output: string[] = [];
      const out = {
        log: (line: string) => output.push(line),
        error: (line: string) => output.push(line),
      };
      const env = { DATABASE_URL: test.url, SERVICE_DATA_DIR: empty, ...given };
      const args = ['announce-restore', '--reason', 'a disk'];
      expect(await runControlPlaneCommand(args, env, out)).toBe(1);
      return output.join('\n');
    };
    expect(await run({})).toMatch(
      /set SERVICE_MASTER_KEY to the service's master key .* no file .*master-key\)/,
    );
    const other = randomBytes(32).toString('base64');
    expect(await run({ SERVICE_MASTER_KEY: other })).toMatch(
      /no key .* can be decrypted: set SERVICE_MASTER_KEY to the master key of the service/,
    );
    expect(await readEnd()).toBe(before);
  });
});
