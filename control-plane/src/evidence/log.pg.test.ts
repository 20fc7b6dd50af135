/**
 * Concurrent ingests and growth of the log, on two replicas: leaves are numbered without gaps in
 * the order of receipt, and every checkpoint's root, proofs and signature are valid.
 */
import { createPublicKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { isCheckpointSignedBy, parseCheckpoint } from '@governance/shared/evidence/checkpoint';
import { batchLeafHash } from '@governance/shared/evidence/evidence-package';
import {
  createMerkleTree,
  isConsistent,
  rootOfInclusion,
} from '@governance/shared/evidence/merkle-proofs';
import { BatchHeader, isBatchSignedBy } from '@governance/shared/ledger/audit-batch';
import { Secret } from '@governance/shared/settings';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { aDataPlane, aDecision } from '../../../tests/support/a-data-plane.ts';
import { aTenant } from '../../../tests/support/a-tenant.ts';
import { testDatabase } from '../../../tests/support/test-database.ts';
import { createChainBreakRecorder } from '../chain/chain-breaks.ts';
import { createChainVerifier } from '../chain/chain-verification.ts';
import { readEvidenceKeys } from '../chain/evidence-keys.ts';
import { createIngestService } from '../ingest/ingest-service.ts';
import { createViolationAlerts } from '../ingest/violations.ts';
import { systemScope, type TenantScope } from '../platform/database/tenant-scope.ts';
import { createServiceKeys } from '../platform/keys/keys.ts';
import { createMasterKey } from '../platform/keys/master-key.ts';
import { createLogGrowth } from './log-growth.ts';
import { logStore } from './log-store.ts';

vi.setConfig({ testTimeout: 60_000 });

const test = await testDatabase();
const { db, superuser, changes } = test;
const now = () => new Date();
const masterKey = createMasterKey(new Secret(randomBytes(32)));
const serviceKeys = createServiceKeys({ db, masterKey });
const ingest = createIngestService({
  projections: [],
  ingestPool: test.connections.ingestPool,
  changes,
  breaks: createChainBreakRecorder({ db, now }),
  violations: createViolationAlerts({ db, now }),
  markForked: async () => expect.unreachable(),
});
const aReplica = () => createLogGrowth({ db, serviceKeys, checkpointMs: 1_000, now });
const replicas = [aReplica(), aReplica()] as const;

interface Leaf {
  index: number;
  hash: string;
  header: BatchHeader;
  signature: string;
}

async function readLeaves({ tenantId }: TenantScope): Promise<Leaf[]> {
  const { rows } = await superuser.query<{ i: string; header: string; signature: string }>(
    `SELECT leaf_index AS i, header, signature FROM ledger_batches WHERE tenant_id = $1
     ORDER BY leaf_index`,
    [tenantId],
  );
  return rows.map(({ i, header: text, signature }) => {
    const header = BatchHeader.parse(JSON.parse(text));
    return { index: Number(i), hash: batchLeafHash({ header, signature }), header, signature };
  });
}

async function readCheckpoints({ tenantId }: TenantScope) {
  const { rows } = await superuser.query<{ size: string; root: string; note: string }>(
    'SELECT size, root, note FROM log_checkpoints WHERE tenant_id = $1 ORDER BY size',
    [tenantId],
  );
  return rows.map((row) => ({ ...row, size: Number(row.size) }));
}

/**
 * What data planes ship at once while the log grows: batches of these sizes, one list per stream.
 */
const shipments = fc.array(
  fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 6 }),
  { minLength: 1, maxLength: 3 },
);

async function ship(scope: TenantScope, sizes: readonly number[]): Promise<void> {
  const plane = await aDataPlane(test, scope);
  plane.boot();
  let from = 0;
  for (const size of sizes) {
    for (let i = 0; i < size; i++) plane.append(aDecision());
    const batch = plane.batch(from);
    await ingest.ingestBatch(scope.tenantId, plane.deploymentId, batch);
    from = plane.records.length;
  }
}

describe('a log', () => {
  it('has leaves, roots and proofs that hold, whatever is shipped while it grows', async () => {
    const signer = await serviceKeys.evidenceKey('checkpoint');
    await fc.assert(
      fc.asyncProperty(shipments, async (streams) => {
        const scope = await aTenant(test);
        const { tenantId } = scope;
        await Promise.all([
          ...streams.map((sizes) => ship(scope, sizes)),
          ...replicas.map(({ grow }) => grow(tenantId)),
        ]);
        await replicas[0].grow(tenantId);

        const leaves = await readLeaves(scope);
        expect(leaves.map(({ index }) => index)).toEqual(leaves.map((_, n) => n));
        const checkpoints = await readCheckpoints(scope);
        const last = checkpoints.at(-1);
        expect(last?.size).toBe(leaves.length);
        for (const { size, root, note } of checkpoints) {
          const tree = createMerkleTree();
          for (const { hash } of leaves.slice(0, size)) tree.add(hash);
          expect(tree.root()).toBe(root);
          const signed = parseCheckpoint(note);
          expect(signed.checkpoint).toMatchObject({
            origin: `agent-governance/log/${tenantId}/1`,
            ...{ size, root },
          });
          expect(isCheckpointSignedBy(signed, signer.publicJwk)).toBe(true);
        }
        await db.inTenant(systemScope(tenantId), async (tx) => {
          const store = logStore(tx);
          const to = last ?? expect.unreachable();
          for (const { index, hash } of leaves) {
            const path = await store.proveInclusion(index, to.size);
            const place = { leaf: hash, index, size: to.size, path };
            expect(rootOfInclusion(place)).toBe(to.root);
          }
          for (const from of checkpoints) {
            const path = await store.proveConsistency(from.size, to.size);
            const sizes = { from: from.size, to: to.size, fromRoot: from.root, toRoot: to.root };
            expect(isConsistent({ ...sizes, path })).toBe(true);
          }
        });
      }),
      { numRuns: 6 },
    );
  });

  it('has the admin chain in batches that the service signed, without a gap', async () => {
    const scope = await aTenant(test);
    const { publicJwk } = await serviceKeys.evidenceKey('batch');
    const key = createPublicKey({ key: publicJwk, format: 'jwk' });
    for (let round = 0; round < 3; round++) {
      await db.inTenant(scope, async (tx) => {
        for (let i = 0; i < 300; i++) tx.audit.append({ action: 'tested', target: `round/${i}` });
      });
      await Promise.all(replicas.map(({ grow }) => grow(scope.tenantId)));
    }
    const batches = (await readLeaves(scope)).map(({ header, signature }) => {
      expect(isBatchSignedBy(key, header, signature)).toBe(true);
      return header;
    });
    let seq = 0;
    for (const header of batches) {
      expect(header.first_seq).toBe(seq + 1);
      seq = header.last_seq;
    }
    const { rows } = await superuser.query(
      'SELECT admin_seq, admin_head FROM tenant_heads WHERE tenant_id = $1',
      [scope.tenantId],
    );
    expect(rows).toEqual([{ admin_seq: String(seq), admin_head: batches.at(-1)?.head }]);
    expect(batches.every((b) => b.last_seq - b.first_seq < 500)).toBe(true);
  });

  it('of the admin chain is verified with the chain: a batch that the service did not sign is a break', async () => {
    const scope = await aTenant(test);
    const { tenantId } = scope;
    await db.inTenant(scope, async (tx) => tx.audit.append({ action: 'tested', target: 'x' }));
    await replicas[0].grow(tenantId);
    const evidenceKeys = () => readEvidenceKeys(serviceKeys);
    const breaks = createChainBreakRecorder({ db, now });
    const verifier = createChainVerifier({ db, breaks, ingest, evidenceKeys, now });
    const verify = async () => (await verifier.verify(tenantId, { fresh: true })).verification;
    expect((await verify()).breaks).toEqual([]);
    const forged = sign(null, Buffer.from('x'), generateKeyPairSync('ed25519').privateKey);
    await superuser.query('UPDATE ledger_batches SET signature = $2 WHERE tenant_id = $1', [
      tenantId,
      forged.toString('base64url'),
    ]);
    const { valid, breaks: found } = await verify();
    expect(valid).toBe(false);
    expect(found).toContainEqual(
      expect.objectContaining({ kind: 'signature', check: 'batch.signature' }),
    );
  });

  it('that does not grow gets no further checkpoint', async () => {
    const scope = await aTenant(test);
    await replicas[0].grow(scope.tenantId);
    const before = await readCheckpoints(scope);
    await replicas[1].grow(scope.tenantId);
    expect(await readCheckpoints(scope)).toEqual(before);
    const { rows } = await superuser.query('SELECT 1 FROM find_grown_logs() WHERE tenant_id = $1', [
      scope.tenantId,
    ]);
    expect(rows).toEqual([]);
  });

  it('keeps a checkpoint an hour of what is long ago', async () => {
    const scope = await aTenant(test);
    const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute));
    await db.inTenant(systemScope(scope.tenantId), async (tx) => {
      const store = logStore(tx);
      for (const size of [1, 2, 3, 4]) {
        const madeAt = at(size * 25);
        await store.insertCheckpoint({ epoch: 1, size, root: 'a'.repeat(64), note: '', madeAt });
      }
      await store.thinCheckpoints(at(90));
    });
    // 00:25 and 00:50 are in one hour, 01:15 and 01:40 in the next.
    expect((await readCheckpoints(scope)).map(({ size }) => size)).toEqual([2, 4]);
  });
});
