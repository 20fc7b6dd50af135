/**
 * A control plane whose database was set back to an older moment, and a data plane that has nothing
 * new to ship: the next heartbeat lets it ship what is lacking.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listeningUrl } from '@governance/shared/http/http-server';
import { uuidv7 } from '@governance/shared/ids';
import { afterAll, expect, it } from 'vitest';
import { aConnectedCore } from './support/a-connected-core.ts';
import { testControlPlane } from './support/test-control-plane.ts';

const { app, call, aTenantAdmin, controlPlane, test } = await testControlPlane();
const dataDir = mkdtempSync(join(tmpdir(), 'idle-plane-'));
const ends: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const end of ends.reverse()) await end();
  rmSync(dataDir, { recursive: true });
});

it('has all records again without a call', { timeout: 60_000 }, async () => {
  await app.listen({ port: 0, host: '127.0.0.1' });
  const cpUrl = listeningUrl(app, { host: '127.0.0.1', port: 0 });
  const admin = await aTenantAdmin();
  const { tenantId } = admin.scope;
  const issued = await call('/api/v1/admin/data-plane-tokens', {
    token: admin.token,
    body: { label: 'x' },
  });
  const { core, stop } = await aConnectedCore({ dataDir, cpUrl, token: issued.json().token });
  ends.push(stop);
  const stored = async () => {
    const { rows } = await test.superuser.query(
      `SELECT l.stream, l.epoch, l.seq::int AS seq, l.hash FROM ledger_records l
       JOIN data_planes p ON p.tenant_id = l.tenant_id AND p.deployment_id = l.stream
       WHERE l.tenant_id = $1 ORDER BY l.epoch, l.seq`,
      [tenantId],
    );
    return rows as { stream: string; epoch: number; seq: number; hash: string }[];
  };

  /** At once, as a restore is, and to the end of a batch: none is ever stored in part. */
  const setBackTo = async (kept: Awaited<ReturnType<typeof stored>>[number] | undefined) => {
    if (!kept) throw new Error('no record');
    const { stream, seq, hash } = kept;
    const database = await test.superuser.connect();
    try {
      await database.query('BEGIN');
      const { rowCount } = await database.query(
        'DELETE FROM ledger_records WHERE tenant_id = $1 AND stream = $2 AND seq > $3',
        [tenantId, stream, seq],
      );
      expect(rowCount).toBe(3);
      await database.query(
        'DELETE FROM ledger_batches WHERE tenant_id = $1 AND stream = $2 AND last_seq > $3',
        [tenantId, stream, seq],
      );
      await database.query(
        'UPDATE stream_heads SET next_seq = $3, head = $4 WHERE tenant_id = $1 AND stream = $2',
        [tenantId, stream, seq + 1, hash],
      );
      await database.query('COMMIT');
    } finally {
      database.release();
    }
  };

  await expect.poll(stored, { timeout: 15_000 }).toHaveLength(1);
  for (const n of [1, 2, 3]) {
    await core.ledger.append(tenantId, {
      ...{ type: 'alert', id: uuidv7(), timestamp: new Date().toISOString() },
      ...{ bundle_revision: null, agent_id: null, dedupe_key: null, details: {} },
      ...{ alert_type: 'LEDGER_DISK_LOW', severity: 'low', title: `alert ${n}` },
    });
  }
  await expect.poll(stored, { timeout: 15_000 }).toHaveLength(4);
  const before = await stored();

  await setBackTo(before[0]);
  // New rules are reported by a heartbeat within seconds; the next regular one is a minute away.
  const server = { server_id: 'one', transport: 'stdio', local_name: 'one' };
  await call('/api/v1/mcp-servers', { token: admin.token, body: server });
  await controlPlane.bundles.requestBuild(tenantId);

  await expect
    .poll(async () => (await stored()).map(({ seq, hash }) => [seq, hash]), { timeout: 20_000 })
    .toEqual(before.map(({ seq, hash }) => [seq, hash]));
});
