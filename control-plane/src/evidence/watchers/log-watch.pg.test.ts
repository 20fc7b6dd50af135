/**
 * What data planes keep of the log, against the database’s owner and against data planes that lie.
 */

import { createHash, generateKeyPairSync } from 'node:crypto';
import type { LogWatchReport } from '@governance/shared/channel/channels';
import { signCheckpoint } from '@governance/shared/evidence/checkpoint';
import { judgeLogView, LogView, type WatchTrust } from '@governance/shared/evidence/log-watch';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { aRegistration } from '../../../../tests/support/a-registration.ts';
import { testControlPlane } from '../../../../tests/support/test-control-plane.ts';

vi.setConfig({ testTimeout: 60_000 });

const time = Date.now();
const { call, aTenantAdmin, test, controlPlane } = await testControlPlane({
  now: () => new Date(time),
  env: { SERVICE_CHECKPOINT_SECONDS: '1' },
});
const { superuser } = test;

interface Plane {
  id: string;
  token: string;
}

let token: string;
let tenantId: string;
let root: string;
let plane: Plane;

beforeEach(async () => {
  const admin = await aTenantAdmin();
  token = admin.token;
  tenantId = admin.scope.tenantId;
  const issued = await call('/api/v1/admin/data-plane-tokens', { token, body: { label: 'site' } });
  root = issued.json().token;
  plane = await aPlane(root);
});

async function aPlane(given: string): Promise<Plane> {
  const registered = await call('/api/v1/data-planes/register', {
    token: given,
    body: aRegistration().provenWith(given),
  });
  const { deployment_id: id, token: own } = registered.json();
  return { id, token: own.token };
}

/** Asks as the data plane does. */
async function view(held = { epoch: 1, size: 0 }, { id, token: own } = plane): Promise<LogView> {
  const url = `/api/v1/data-planes/${id}/log?epoch=${held.epoch}&size=${held.size}`;
  const answer = await call(url, { token: own });
  expect(answer.statusCode, answer.body).toBe(200);
  return LogView.parse(answer.json());
}

/** Does something that is recorded, until the log has it. */
async function grow(): Promise<{ view: LogView; size: number; epoch: number }> {
  const before = sizeOf(await view());
  const body = { name: `role-${before}-${time}`, description: '', permissions: [] };
  expect((await call('/api/v1/roles', { token, body })).statusCode).toBe(201);
  return vi.waitFor(
    async () => {
      const shown = await view();
      if (sizeOf(shown) <= before) throw new Error('the log has not grown');
      return { view: shown, size: sizeOf(shown), epoch: 1 };
    },
    { timeout: 20_000, interval: 100 },
  );
}

const sizeOf = ({ note }: LogView) => Number(note?.split('\n')[1] ?? 0);
const trustOf = ({ keys }: LogView): WatchTrust => ({
  ...{ tenantId, keys, rotations: [], logEpochs: [] },
});

function seen(given: LogView) {
  const found = judgeLogView(null, trustOf(given), given);
  if (found.kind !== 'continues') throw new Error(found.kind);
  return found.seen;
}

async function beat(report: unknown, { id, token: own } = plane) {
  const answer = await call(`/api/v1/data-planes/${id}/heartbeat`, {
    token: own,
    body: {
      ...{ deployment_id: id, active_agent_count: 0, proxy_rpm_1m: 0, escalations_pending: 0 },
      ...{ opa_bundle_version: 'none', uptime_seconds: 1, log_watch: report },
    },
  });
  expect(answer.statusCode, answer.body).toBe(200);
}

const keeping = (...checkpoints: string[]): LogWatchReport => ({ checkpoints, contradictions: 0 });
const watchers = async (given = token) =>
  (await call('/api/v1/evidence/watchers', { token: given })).json().watchers;
const breaks = async () =>
  (await call('/api/v1/audit/chain/breaks', { token })).json().breaks as { kind: string }[];
const alerts = async () =>
  (
    (await call('/api/v1/monitor/alerts', { token })).json().alerts as {
      alert_type: string;
      title: string;
    }[]
  ).filter(({ alert_type }) => alert_type === 'CHAIN_BREAK');

/** Another root for these leaves, with every hash that depends on it. */
async function rewrite(size: number): Promise<void> {
  const other = createHash('sha256').update(`${tenantId}${time}`).digest();
  const { rowCount } = await superuser.query(
    'UPDATE log_nodes SET hash = $2 WHERE tenant_id = $1 AND level = 0 AND idx < $3',
    [tenantId, other, size],
  );
  expect(rowCount).toBeGreaterThan(0);
  await superuser.query('UPDATE log_nodes SET hash = $2 WHERE tenant_id = $1 AND level > 0', [
    tenantId,
    other,
  ]);
}

describe('the log that a data plane is shown', () => {
  it('continues what it holds, by a proof under the key that it knows', async () => {
    expect(await view()).toMatchObject({ log_epochs: [], consistency: null });
    const first = await grow();
    const known = seen(first.view);
    await grow();
    const shown = await view(known);
    expect(judgeLogView(known, trustOf(first.view), shown)).toMatchObject({ kind: 'continues' });
    const same = await view(seen(shown));
    expect(judgeLogView(seen(shown), trustOf(first.view), same)).toEqual({ kind: 'same' });
  });

  it('has no proof for a size that the log does not have', async () => {
    const { size } = await grow();
    for (const held of [size + 1, Number.MAX_SAFE_INTEGER]) {
      expect((await view({ epoch: 1, size: held })).consistency).toBeNull();
    }
  });

  it('is its tenant’s: a plane reads by its own name, and a root’s token for those it made', async () => {
    const { size } = await grow();
    expect(sizeOf(await view(undefined, { id: plane.id, token: root }))).toBe(size);
    const other = await aTenantAdmin();
    const body = { label: 'other' };
    const issued = await call('/api/v1/admin/data-plane-tokens', { token: other.token, body });
    const theirs = await aPlane(issued.json().token);
    const path = `/api/v1/data-planes/${plane.id}/log`;
    for (const stranger of [theirs.token, issued.json().token]) {
      expect((await call(path, { token: stranger })).statusCode).toBe(404);
    }
    expect((await call(path, { token })).statusCode).toBe(401);
    expect(JSON.stringify(await view(undefined, theirs))).not.toContain(tenantId);
  });
});

describe('what a data plane keeps', () => {
  it('is remembered, the highest of each, and shown to administrators of its tenant', async () => {
    const first = seen((await grow()).view);
    await beat(keeping(first.note));
    const second = seen((await grow()).view);
    await beat(keeping(second.note, first.note));
    await beat(keeping(first.note));
    expect(await watchers()).toMatchObject([
      {
        deployment_id: plane.id,
        ...{ log_epoch: 1, size: second.size, root: second.root, note: second.note },
        ...{ is_in_log: true, contradictions: 0, last_contradiction: null },
      },
    ]);
    expect(await breaks()).toEqual([]);
    const other = await aTenantAdmin();
    expect(await watchers(other.token)).toEqual([]);
  });

  it('row "write the log anew": shows it, once, with an alert, and stays', async () => {
    const held = seen((await grow()).view);
    await beat(keeping(held.note));
    await rewrite(held.size);
    expect(await watchers()).toMatchObject([{ is_in_log: false }]);
    for (let n = 0; n < 3; n++) await beat(keeping(held.note));
    expect(await breaks()).toMatchObject([
      { kind: 'log_went_back', stream: tenantId, epoch: 1, seq: held.size, acknowledged_at: null },
    ]);
    expect(JSON.stringify(await breaks())).toContain(plane.id);
    expect(await alerts()).toMatchObject([
      { title: 'The log of evidence does not continue what was signed of it before' },
    ]);
    const verified = (await call('/api/v1/audit/verify?fresh=true', { token })).json();
    expect(verified.valid).toBe(false);
    // The rewritten tree does not match its leaves either: that is the log's own break.
    const kept = { kind: 'log_went_back', acknowledged: false };
    expect(verified.breaks).toContainEqual(expect.objectContaining(kept));
  });

  it('nodes of the log that were taken out are shown, and no heartbeat fails for it', async () => {
    const held = seen((await grow()).view);
    await superuser.query('DELETE FROM log_nodes WHERE tenant_id = $1 AND idx = 0', [tenantId]);
    await beat(keeping(held.note));
    expect(await breaks()).toMatchObject([{ kind: 'log_went_back', seq: held.size }]);
    expect(await watchers()).toMatchObject([{ is_in_log: false }]);
    expect((await view({ epoch: 1, size: held.size })).consistency ?? []).toEqual([]);
  });

  it('row "cut the log": shows it, also by what was contradicted alone', async () => {
    const first = seen((await grow()).view);
    const held = seen((await grow()).view);
    await superuser.query('DELETE FROM log_nodes WHERE tenant_id = $1', [tenantId]);
    await superuser.query('DELETE FROM log_checkpoints WHERE tenant_id = $1', [tenantId]);
    await superuser.query('UPDATE log_heads SET size = 0 WHERE tenant_id = $1', [tenantId]);
    await superuser.query('UPDATE log_heads SET admin_seq = 1000000 WHERE tenant_id = $1', [
      tenantId,
    ]);
    await superuser.query('UPDATE tenant_positions SET log_size = 0 WHERE tenant_id = $1', [
      tenantId,
    ]);
    const at = new Date(time).toISOString();
    await beat({
      ...{ checkpoints: [], contradictions: 1 },
      contradicted: { reason: 'went_back', at, known: held.note, told: first.note },
    });
    expect(await breaks()).toMatchObject([{ kind: 'log_went_back', seq: held.size }]);
    const shown = [{ contradictions: 1, last_contradiction: { reason: 'went_back', at } }];
    expect(await watchers()).toMatchObject(shown);
    // Earlier versions stored heartbeats whose other members are not readable today.
    await superuser.query(
      `UPDATE data_planes SET last_heartbeat = jsonb_set(last_heartbeat::jsonb,
         '{opa_bundle_version}', to_jsonb(repeat('9', 300)))::text WHERE deployment_id = $1`,
      [plane.id],
    );
    expect(await watchers()).toMatchObject(shown);
  });
});

describe('a data plane that lies', () => {
  it('can say nothing that this service did not sign for its tenant', async () => {
    const held = seen((await grow()).view);
    const { privateKey } = generateKeyPairSync('ed25519');
    const origin = `agent-governance/log/${tenantId}/1`;
    const lie = { origin, size: 900, root: 'a'.repeat(64), time: new Date(time).toISOString() };
    const own = await controlPlane.serviceKeys.evidenceKey('checkpoint');
    const elsewhere = {
      ...lie,
      origin: 'agent-governance/log/0190aaaa-0000-7000-8000-000000000001/1',
    };
    await beat(keeping(signCheckpoint(lie, privateKey), signCheckpoint(elsewhere, own.key)));
    await beat(keeping(held.note.replace(`\n${held.size}\n`, '\n900\n')));
    await beat(keeping('no note at all', ''));
    for (const odd of [7, { checkpoints: 'x' }, { checkpoints: [held.note], contradictions: -1 }]) {
      await beat(odd);
    }
    await beat({ checkpoints: Array(50).fill(held.note), contradictions: 0 });
    await beat(keeping('x'.repeat(3_000)));
    expect(await breaks()).toEqual([]);
    expect(await watchers()).toEqual([]);
  });

  it('with a hundred genuine notes of a log that was rewritten fills no list', async () => {
    const { size } = await grow();
    const origin = `agent-governance/log/${tenantId}/1`;
    const { key } = await controlPlane.serviceKeys.evidenceKey('checkpoint');
    const lost = (n: number) =>
      signCheckpoint(
        { origin, size: size + n, root: 'b'.repeat(64), time: new Date(time).toISOString() },
        key,
      );
    await superuser.query(
      `INSERT INTO chain_breaks (tenant_id, id, stream, epoch, seq, kind)
       SELECT $1, gen_random_uuid(), $1, 1, 1000 + n, 'log_went_back' FROM generate_series(1, 98) n`,
      [tenantId],
    );
    for (let n = 1; n <= 5; n++) await beat(keeping(lost(n)));
    const listed = await call('/api/v1/audit/chain/breaks?limit=1', { token });
    expect(listed.json().total).toBe(100);
    expect(await alerts()).toHaveLength(1);
  });
});
