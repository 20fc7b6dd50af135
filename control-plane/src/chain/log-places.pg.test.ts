/** Of more signed places than a page has, each is checked. */
import { createPublicKey, generateKeyPairSync, randomUUID } from 'node:crypto';
import { logOrigin, signCheckpoint } from '@governance/shared/evidence/checkpoint';
import type { PublicJwk } from '@governance/shared/evidence/ed25519';
import { createMerkleTree, subtreesOf } from '@governance/shared/evidence/merkle-proofs';
import { beforeAll, expect, it } from 'vitest';
import { testDatabase } from '../../../tests/support/test-database.ts';
import { systemScope } from '../platform/database/tenant-scope.ts';
import { newLogMark } from './log-mark.ts';
import { checkSignedPlaces, type LogBreak } from './log-places.ts';
import { logRows } from './log-rows.ts';

const { db, superuser } = await testDatabase();
const tenantId = randomUUID();
const SIZE = 1_101;
const LEAF = 'a1'.repeat(32);
const AT = Date.UTC(2026, 0, 2);
const { privateKey } = generateKeyPairSync('ed25519');
const jwk = createPublicKey(privateKey).export({ format: 'jwk' }) as PublicJwk;

/** A log of SIZE leaves; each size has a checkpoint and an anchor. */
beforeAll(async () => {
  const tree = createMerkleTree();
  const nodes = new Map<string, [level: number, idx: number, hash: string]>();
  const roots: string[] = [];
  for (let size = 1; size <= SIZE; size++) {
    tree.add(LEAF);
    roots.push(tree.root());
    const edge = tree.frontier();
    for (const [i, { level, index }] of subtreesOf({ start: 0, end: size }).entries()) {
      nodes.set(`${level}/${index}`, [level, index, edge[i] ?? '']);
    }
  }
  const all = [...nodes.values()];
  await superuser.query(
    `INSERT INTO log_nodes (tenant_id, level, idx, hash)
     SELECT $1, l, i, decode(h, 'hex') FROM unnest($2::int[], $3::bigint[], $4::text[]) AS n (l, i, h)`,
    [tenantId, ...[0, 1, 2].map((column) => all.map((node) => node[column]))],
  );
  await superuser.query('INSERT INTO log_heads (tenant_id, size) VALUES ($1, $2)', [
    tenantId,
    SIZE,
  ]);
  await superuser.query(
    `INSERT INTO log_anchors (tenant_id, epoch, size, root, issued_at)
     SELECT $1, 1, size, root, $3 FROM unnest($2::text[]) WITH ORDINALITY AS r (root, size)`,
    [tenantId, roots, new Date(AT)],
  );
  const origin = logOrigin(tenantId, 1);
  // Several a moment: the order of their making alone does not tell where a page ends.
  const times = roots.map((_, i) => new Date(AT + Math.floor(i / 150)));
  const notes = roots.map((root, i) =>
    signCheckpoint({ origin, size: i + 1, root, time: `${times[i]?.toISOString()}` }, privateKey),
  );
  await superuser.query(
    `INSERT INTO log_checkpoints (tenant_id, epoch, size, root, note, made_at)
     SELECT $1, 1, size, root, note, at
     FROM unnest($2::text[], $3::text[], $4::timestamptz[]) WITH ORDINALITY AS r (root, note, at, size)`,
    [tenantId, roots, notes, times],
  );
});

/** @returns the breaks as `kind size`, and how often the walk paused */
async function check(isWhole: boolean): Promise<{ found: string[]; steps: number }> {
  const found: LogBreak[] = [];
  let steps = 0;
  const sizes = { size: SIZE, indexes: SIZE, leaves: SIZE, nodes: SIZE, checkpointSize: SIZE };
  await checkSignedPlaces({
    tenantId,
    mark: { ...newLogMark(), size: SIZE, checkedAt: new Date(AT).toISOString() },
    walkedBefore: SIZE,
    end: { epoch: 1, ...sizes, admin: '0/0', adminBatches: '0/0' },
    keys: { batch: [], checkpoint: [{ kid: 'a', jwk }], bundle: [] },
    isWhole,
    now: new Date(AT),
    inLog: (read) => db.inTenant(systemScope(tenantId), (tx) => read(logRows(tx))),
    onBreak: (broken) => void found.push(broken),
    onStep: async () => void steps++,
  });
  return { found: found.map(({ kind, seq }) => `${kind} ${seq}`), steps };
}

async function edit(table: string, size: number): Promise<void> {
  const sql = `UPDATE ${table} SET root = repeat('b', 64) WHERE tenant_id = $1 AND size = $2`;
  expect((await superuser.query(sql, [tenantId, size])).rowCount).toBe(1);
}

it('checks each of them once, and pauses between pages', async () => {
  expect(await check(true)).toEqual({ found: [], steps: 11 });
  expect(await check(false)).toEqual({ found: [], steps: 22 });
});

it('finds those that are read last', async () => {
  for (const size of [1, 150, 600]) await edit('log_anchors', size);
  for (const size of [301, 900, SIZE]) await edit('log_checkpoints', size);
  const anchors = ['log_anchor 600', 'log_anchor 150', 'log_anchor 1'];
  expect((await check(true)).found).toEqual(anchors);
  const late = ['log_checkpoint 301', 'log_checkpoint 900', `log_checkpoint ${SIZE}`];
  expect((await check(false)).found).toEqual([...late, ...anchors]);
});
