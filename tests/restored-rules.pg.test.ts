/**
 * A control plane whose database was set back to an older moment, and a data plane that has rules of
 * later: it ends with rules that the control plane knows of.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listeningUrl } from '@governance/shared/http/http-server';
import { afterAll, expect, it } from 'vitest';
import { aConnectedCore } from './support/a-connected-core.ts';
import { testControlPlane } from './support/test-control-plane.ts';

const { app, call, aTenantAdmin, controlPlane, test } = await testControlPlane();
const dataDir = mkdtempSync(join(tmpdir(), 'restored-rules-'));
const ends: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const end of ends.reverse()) await end();
  rmSync(dataDir, { recursive: true });
});

it('has its rules again above those that a data plane has', { timeout: 60_000 }, async () => {
  await app.listen({ port: 0, host: '127.0.0.1' });
  const cpUrl = listeningUrl(app, { host: '127.0.0.1', port: 0 });
  const {
    scope: { tenantId },
    token: admin,
  } = await aTenantAdmin();
  const issued = await call('/api/v1/admin/data-plane-tokens', {
    token: admin,
    body: { label: 'x' },
  });
  const server = (server_id: string) =>
    call('/api/v1/mcp-servers', {
      token: admin,
      body: { server_id, transport: 'stdio', local_name: server_id },
    });
  const start = async () => {
    const { core, stop } = await aConnectedCore({ dataDir, cpUrl, token: issued.json().token });
    return { stop, revision: () => core.rules.findActiveRules(tenantId)?.revision ?? 0 };
  };

  await server('one');
  const { revision: kept } = await controlPlane.bundles.requestBuild(tenantId);
  const { rows } = await test.superuser.query(
    'SELECT feed_seq, feed_digest FROM tenant_heads WHERE tenant_id = $1',
    [tenantId],
  );
  await server('two');
  const { revision: lost } = await controlPlane.bundles.requestBuild(tenantId);
  expect(lost).toBeGreaterThan(kept);
  const before = await start();
  await expect.poll(before.revision, { timeout: 10_000 }).toBe(lost);
  await before.stop();

  const [{ feed_seq, feed_digest }] = rows;
  for (const [statement, ...values] of [
    ['DELETE FROM bundles WHERE tenant_id = $1 AND revision > $2', kept],
    ['DELETE FROM feed_entries WHERE tenant_id = $1 AND seq > $2', feed_seq],
    [
      'UPDATE tenant_heads SET feed_seq = $2, feed_digest = $3, bundle_revision = $4 WHERE tenant_id = $1',
      feed_seq,
      feed_digest,
      kept,
    ],
    [`DELETE FROM mcp_servers WHERE tenant_id = $1 AND server_id = 'two'`],
  ]) {
    await test.superuser.query(String(statement), [tenantId, ...values]);
  }
  controlPlane.changes.publish({ tenantId, feedSeq: Number(feed_seq) });

  const after = await start();
  ends.push(after.stop);
  await expect.poll(after.revision, { timeout: 20_000 }).toBeGreaterThan(lost);
});
