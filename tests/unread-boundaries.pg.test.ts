/** Exports that begin, or are cut, behind records that the service could not read. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { EvidenceProofs, MAX_BOUNDARIES } from '@governance/shared/evidence/evidence-package';
import type { TrustAnchor } from '@governance/shared/evidence/trust-anchor';
import { uuidv7 } from '@governance/shared/ids';
import { MAX_RECORD_BYTES, type UnchainedRecord } from '@governance/shared/ledger/ledger-record';
import { SERVICE_LIMITS } from '@governance/verifier/verify-package';
import { verifySet } from '@governance/verifier/verify-set';
import { afterAll, expect, it, vi } from 'vitest';
import { findMissingPython, secondOpinionOfSet } from '../verifier/testing/second-opinion.ts';
import { aPolicyAlert } from './support/a-data-plane.ts';
import { aShippingPlane } from './support/a-shipping-plane.ts';
import { createEvidenceExports, memberOf, PACKAGES } from './support/evidence-exports.ts';
import { testControlPlane } from './support/test-control-plane.ts';

vi.setConfig({ testTimeout: 90_000 });

/** What ingest takes (earlier versions took more), and a set's unread records. */
const taken = vi.hoisted(() => ({ bytes: 0, unread: 1_000_000 }));
vi.mock('@governance/shared/evidence/evidence-package', async (original) => {
  const real = await original<typeof import('@governance/shared/evidence/evidence-package')>();
  const SET_LIMITS = {
    ...real.SET_LIMITS,
    get unread() {
      return taken.unread;
    },
  };
  return { ...real, SET_LIMITS };
});
vi.mock('@governance/shared/evidence/large-record', async (original) => {
  const real = await original<typeof import('@governance/shared/evidence/large-record')>();
  return {
    ...real,
    get MAX_SHOWN_BYTES() {
      return Math.max(taken.bytes, real.MAX_SHOWN_BYTES);
    },
  };
});

const folder = mkdtempSync(join(tmpdir(), 'unread-boundaries-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const isAlone = findMissingPython() !== undefined;

const time = Date.now();
const plane = await testControlPlane({
  now: () => new Date(time),
  env: { SERVICE_CHECKPOINT_SECONDS: '1' },
});
const { call, test, aTenantAdmin } = plane;
const scope = {
  from: new Date(time - 3_600_000).toISOString(),
  to: new Date(time + 3_600_000).toISOString(),
};

const { anchorOf, exported, exportedByLeaf } = createEvidenceExports(plane, scope);

const aForbiddenAct = (): UnchainedRecord => ({
  type: 'admin_action',
  id: uuidv7(),
  timestamp: new Date().toISOString(),
  bundle_revision: null,
  actor: { id: 'anna', username: 'anna', role: 'admin', break_glass: false },
  action: 'policy_created',
  target: 'policy',
  details: {},
});

/** A data plane that ships what it writes, read by the service or not. */
async function aWriter(admin: Awaited<ReturnType<typeof aTenantAdmin>>) {
  const { ship, countShipped, ...one } = await aShippingPlane(plane, admin);
  return {
    ...one,
    unread: () => one.writer.appendRaw(({ seq }) => Buffer.from(`\u0000 nothing ${seq}`)),
    /** @param back how many records of before come again */
    ship: (back = 0) => ship(countShipped() - back),
    /** What is there already, from its beginning on. */
    shipAgain: async (to: number) => {
      expect((await one.send(0, to)).json()).toMatchObject({ status: 'already_stored' });
    },
  };
}

/** The findings of both implementations: none, where all is as it should be. */
async function findingsOf(volumes: readonly Buffer[], anchor: TrustAnchor): Promise<unknown[]> {
  const sources = volumes.map((bytes) => Readable.from([bytes]));
  const set = await verifySet(sources, { anchor, issuers: [], limits: SERVICE_LIMITS });
  const checks = [...set.checks, ...set.volumes.flatMap((one) => one.checks)];
  const found: unknown[] = checks.filter(({ status }) => status === 'fail');
  if (set.verdict !== 'VERIFIED') found.push(set.verdict);
  if (isAlone) return found;
  const paths = volumes.map((bytes, n) => {
    const path = join(folder, `${n}.tar.gz`);
    writeFileSync(path, bytes);
    return path;
  });
  writeFileSync(join(folder, 'anchor.json'), JSON.stringify(anchor));
  const second = secondOpinionOfSet(paths, join(folder, 'anchor.json'));
  return second.verdict === 'VERIFIED' ? found : [...found, second];
}

const proofsOf = async (volume: Buffer) =>
  EvidenceProofs.parse(JSON.parse(await memberOf(volume, 'proofs.json')));
const eventsOf = (volume: Buffer) => memberOf(volume, 'events.ndjson');

const now = async (): Promise<string> => {
  // Records have milliseconds: what is written now is before, what comes next is not.
  await new Promise((resolve) => setTimeout(resolve, 5));
  return new Date().toISOString();
};

it('an export cut at any leaf is a complete set, whatever could not be read', async () => {
  const admin = await aTenantAdmin();
  const { token, scope: tenant } = admin;
  const one = await aWriter(admin);
  one.decide();
  one.unread();
  await one.ship();
  one.unread();
  one.unread();
  await one.ship();
  one.unread();
  one.decide();
  await one.ship();
  // Again from the middle of a batch on: the record before is no batch's last one, nor can be read.
  one.decide();
  await one.ship(4);
  // No leaf ends within a repetition: what has nothing new is none.
  await one.shipAgain(5);
  one.decide();
  await one.ship(2);
  // Before the export: the log may grow behind it, and a package leads to no later anchor.
  const anchor = await anchorOf(token);
  const whole = await exported(token, {});
  expect(await findingsOf(whole, anchor)).toEqual([]);
  const { range } = await proofsOf(whole[0] as Buffer);
  const size = range?.end ?? 0;
  expect(size).toBeGreaterThan(5);
  const volumes = await exportedByLeaf(token, tenant.tenantId, size);
  expect(await findingsOf(volumes, anchor)).toEqual([]);
});

it('an export that begins behind unread records shows them up to one that can be read', async () => {
  const admin = await aTenantAdmin();
  const { token } = admin;
  const one = await aWriter(admin);
  one.decide();
  one.unread();
  await one.ship();
  one.unread();
  await one.ship();
  const from = await now();
  one.decide();
  await one.ship();
  const anchor = await anchorOf(token);
  const volumes = await exported(token, { from });
  const { boundaries } = await proofsOf(volumes[0] as Buffer);
  const own = boundaries.filter(({ stream }) => stream === one.deploymentId);
  expect(own.map(({ record }) => Object.keys(JSON.parse(record))[0])).toEqual([
    'action',
    'unread_record',
    'unread_record',
  ]);
  expect(own.every(({ place }) => place !== undefined)).toBe(true);
  expect(await findingsOf(volumes, anchor)).toEqual([]);
});

it('what lies before the time and can be read needs no batch to be shown', async () => {
  const admin = await aTenantAdmin();
  const { token } = admin;
  const one = await aWriter(admin);
  one.unread();
  one.decide();
  await one.ship();
  const from = await now();
  one.unread();
  one.decide();
  await one.ship();
  const anchor = await anchorOf(token);
  const volumes = await exported(token, { from });
  const { boundaries } = await proofsOf(volumes[0] as Buffer);
  const [own] = boundaries.filter(({ stream }) => stream === one.deploymentId);
  expect(own?.place).toBeUndefined();
  expect(await findingsOf(volumes, anchor)).toEqual([]);
});

it('a record that nests deeper than verifiers read is kept unread, also where it was stored as read', async () => {
  const admin = await aTenantAdmin();
  const { token } = admin;
  const one = await aWriter(admin);
  const deep = Array.from({ length: 40 }).reduce<unknown>((inner) => [inner], 1);
  const alert = aPolicyAlert({ details: { deep } });
  one.writer.append(alert);
  one.decide();
  await one.ship();
  const anchor = await anchorOf(token);
  expect(await findingsOf(await exported(token, {}), anchor)).toEqual([]);
  const verify = async () => (await call('/api/v1/audit/verify?fresh=true', { token })).json();
  expect(await verify()).toMatchObject({ valid: true, records_quarantined: 1, records_unread: 0 });
  // As earlier versions stored it.
  const { rowCount } = await test.superuser.query(
    `UPDATE ledger_records SET type = 'alert', id = $2, event_time = $3
     WHERE stream = $1 AND type = 'quarantined'`,
    [one.deploymentId, alert.id, alert.timestamp],
  );
  expect(rowCount).toBe(1);
  expect(await verify()).toMatchObject({
    ...{ valid: true, records_quarantined: 0, records_unread: 1, breaks: [] },
    streams: expect.arrayContaining([
      expect.objectContaining({ stream: one.deploymentId, records_unread: 1, valid: true }),
    ]),
  });
  // Its columns are held against it all the same.
  const rename = (id: string) =>
    test.superuser.query(`UPDATE ledger_records SET id = $2 WHERE stream = $1 AND type = 'alert'`, [
      ...[one.deploymentId, id],
    ]);
  await rename(uuidv7());
  expect(await verify()).toMatchObject({ valid: false });
  await rename(alert.id);
  const volumes = await exported(token, {});
  expect(await findingsOf(volumes, anchor)).toEqual([]);
});

it('a record of a type that no data plane writes is in the export of its time', async () => {
  const admin = await aTenantAdmin();
  const { token } = admin;
  const one = await aWriter(admin);
  one.decide();
  const from = await now();
  const act = aForbiddenAct();
  one.writer.append(act);
  await one.ship();
  one.decide();
  await one.ship();
  const anchor = await anchorOf(token);
  const counted = await exported(token, { from });
  expect(await findingsOf(counted, anchor)).toEqual([]);
  expect(await eventsOf(counted[0] as Buffer)).toContain(act.id);
  // As earlier versions stored it, whose quarantined records had no time.
  const { rowCount } = await test.superuser.query(
    `UPDATE ledger_batches SET last_time = first_time WHERE stream = $1 AND first_time < $2`,
    [one.deploymentId, from],
  );
  expect(rowCount).toBe(1);
  const volumes = await exported(token, { from });
  expect(await findingsOf(volumes, anchor)).toEqual([]);
  expect(await eventsOf(volumes[0] as Buffer)).toContain(act.id);
});

it('a record in quarantine that is too large is not shown as one that can be read', async () => {
  const admin = await aTenantAdmin();
  const one = await aWriter(admin);
  one.writer.append(aPolicyAlert({ details: { text: 'x'.repeat(MAX_RECORD_BYTES) } }));
  await one.ship();
  // Before the export: an anchor of a later log is not comparable with it.
  const anchor = await anchorOf(admin.token);
  expect(await findingsOf(await exported(admin.token, {}), anchor)).toEqual([]);
});

it('a record that is too large for a line, as earlier versions took it, is shown by its hash', async () => {
  const admin = await aTenantAdmin();
  const { token } = admin;
  const one = await aWriter(admin);
  one.decide();
  one.writer.appendRaw(() => Buffer.alloc(1024 * 1024 + 1, 'x'));
  one.decide();
  taken.bytes = 16 * 1024 * 1024;
  await one.ship().finally(() => {
    taken.bytes = 0;
  });
  const from = await now();
  one.unread();
  one.decide();
  await one.ship();
  const anchor = await anchorOf(token);
  const volumes = await exported(token, {});
  expect(await findingsOf(volumes, anchor)).toEqual([]);
  const lines = (await eventsOf(volumes[0] as Buffer)).split('\n');
  const large = lines.filter((line) => line.startsWith('{"large_record":'));
  expect(large.map((line) => JSON.parse(line).large_record.size)).toEqual([1024 * 1024 + 1]);
  // And where it lies before the export.
  one.unread();
  await one.ship();
  expect(await findingsOf(await exported(token, { from }), anchor)).toEqual([]);
});

it.each([
  ['in quarantine', false],
  ['stored as read', true],
])('an export of more unread records than a set may have (%s) says what to do', async (_name, isStored) => {
  const admin = await aTenantAdmin();
  const { token } = admin;
  const one = await aWriter(admin);
  const deep = Array.from({ length: 40 }).reduce<unknown>((inner) => [inner], 1);
  const ask = async () => {
    const { id } = (await call(PACKAGES, { token, body: scope })).json();
    return vi.waitFor(
      async () => {
        const { status, failure } = (await call(`${PACKAGES}/${id}`, { token })).json();
        expect(['ready', 'failed']).toContain(status);
        return failure as string | null;
      },
      { timeout: 60_000, interval: 100 },
    );
  };
  for (let n = 0; n < 3; n++) one.writer.append(aPolicyAlert({ details: { deep } }));
  one.decide();
  await one.ship();
  const type = isStored ? 'alert' : 'quarantined';
  await test.superuser.query(
    `UPDATE ledger_records SET type = $2 WHERE stream = $1 AND type = 'quarantined'`,
    [one.deploymentId, type],
  );
  try {
    taken.unread = MAX_BOUNDARIES + 3;
    expect(await ask()).toBeNull();
    taken.unread = MAX_BOUNDARIES + 2;
    expect(await ask()).toMatch(/^more than 2 records that cannot be read .* ask for less time$/);
  } finally {
    taken.unread = 1_000_000;
  }
});

it.each([
  ['many', 1_200, 1, 400],
  ['large', 20, 2 * MAX_RECORD_BYTES, 10],
])('an export behind too %s unread records says what to do', async (_name, count, size, inBatch) => {
  const admin = await aTenantAdmin();
  const { token } = admin;
  const one = await aWriter(admin);
  for (let i = 0; i < count; i++) {
    one.writer.appendRaw(() => Buffer.alloc(size, 'x'));
    if (i % inBatch === inBatch - 1) await one.ship();
  }
  const from = await now();
  one.decide();
  await one.ship();
  const answer = await call(PACKAGES, { token, body: { ...scope, from } });
  await vi.waitFor(
    async () => {
      const { failure } = (await call(`${PACKAGES}/${answer.json().id}`, { token })).json();
      expect(failure).toMatch(/too many records that cannot be read.*ask for an earlier beginning/);
      expect(failure).toContain(`at data plane ${one.writer.deploymentId}`);
    },
    { timeout: 60_000, interval: 100 },
  );
});
