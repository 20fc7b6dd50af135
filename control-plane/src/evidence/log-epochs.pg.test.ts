/**
 * Log epochs that begin while the log grows on two replicas, and what they say about what was lost.
 */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import {
  isCheckpointSignedBy,
  logOrigin,
  parseCheckpoint,
  signCheckpoint,
} from '@governance/shared/evidence/checkpoint';
import { isStatementSignedBy } from '@governance/shared/evidence/evidence-keys';
import { EMPTY_ROOT, isConsistent } from '@governance/shared/evidence/merkle-proofs';
import { uuidv7 } from '@governance/shared/ids';
import { Secret } from '@governance/shared/settings';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { aDataPlane, aDecision } from '../../../tests/support/a-data-plane.ts';
import { aTenant } from '../../../tests/support/a-tenant.ts';
import { testDatabase } from '../../../tests/support/test-database.ts';
import { createChainBreakRecorder } from '../chain/chain-breaks.ts';
import { createIngestService } from '../ingest/ingest-service.ts';
import { createViolationAlerts } from '../ingest/violations.ts';
import { systemScope, type TenantScope } from '../platform/database/tenant-scope.ts';
import { createServiceKeys } from '../platform/keys/keys.ts';
import { createMasterKey } from '../platform/keys/master-key.ts';
import { beginLogEpoch } from './begin-log-epoch.ts';
import { logEpochStore } from './log-epoch-store.ts';
import { createLogGrowth } from './log-growth.ts';
import { logStore } from './log-store.ts';

vi.setConfig({ testTimeout: 60_000 });

const test = await testDatabase();
const { db, superuser, changes } = test;
const now = () => new Date();
const serviceKeys = createServiceKeys({
  db,
  masterKey: createMasterKey(new Secret(randomBytes(32))),
});
const signer = await serviceKeys.evidenceKey('checkpoint');
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

const begin = ({ tenantId }: TenantScope) =>
  db.inTenant(systemScope(tenantId), (tx) => beginLogEpoch(tx, signer, now()));

async function ship(scope: TenantScope, batches: number): Promise<void> {
  const plane = await aDataPlane(test, scope);
  plane.boot();
  for (let i = 0; i < batches; i++) {
    const from = i === 0 ? 0 : plane.records.length;
    plane.append(aDecision());
    await ingest.ingestBatch(scope.tenantId, plane.deploymentId, plane.batch(from));
  }
}

async function readCheckpoints({ tenantId }: TenantScope) {
  const { rows } = await superuser.query<{
    epoch: number;
    size: string;
    root: string;
    note: string;
  }>(
    'SELECT epoch, size, root, note FROM log_checkpoints WHERE tenant_id = $1 ORDER BY epoch, size',
    [tenantId],
  );
  return rows.map((row) => ({ ...row, size: Number(row.size) }));
}

const readEpochs = (scope: TenantScope) => db.inTenant(scope, (tx) => logEpochStore(tx).listAll());

/** A place as a data plane or a witness reports it. */
async function hold(
  scope: TenantScope,
  place: { epoch: number; size: number; root: string },
  key = signer.key,
) {
  const { epoch, size, root } = place;
  const origin = logOrigin(scope.tenantId, epoch);
  const note = signCheckpoint({ origin, size, root, time: now().toISOString() }, key);
  await superuser.query(
    `INSERT INTO log_watches (tenant_id, deployment_id, epoch, size, root, note, seen_at)
     VALUES ($1, $2, $3, $4, $5, $6, now())`,
    [scope.tenantId, uuidv7(), epoch, size, root, note],
  );
}

describe('a log epoch', () => {
  it('starts as the tree that the one before ended with, whatever grows meanwhile', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 3 }),
        async (streams) => {
          const scope = await aTenant(test);
          const { tenantId } = scope;
          await Promise.all([
            ...streams.map((batches) => ship(scope, batches)),
            begin(scope),
            ...replicas.map(({ grow }) => grow(tenantId)),
            begin(scope),
          ]);
          for (const { grow } of replicas) await grow(tenantId);

          const epochs = await readEpochs(scope);
          // Two announcements, one after the other.
          expect(epochs.map(({ statement }) => statement.epoch)).toEqual([2, 3]);
          const checkpoints = await readCheckpoints(scope);
          const last = checkpoints.at(-1) ?? expect.unreachable();
          expect(last.epoch).toBe(3);
          const { rows } = await superuser.query(
            'SELECT count(*) AS leaves FROM ledger_batches WHERE tenant_id = $1',
            [tenantId],
          );
          expect(last.size).toBe(Number(rows[0].leaves));
          for (const { epoch, note } of checkpoints) {
            const signed = parseCheckpoint(note);
            expect(signed.checkpoint.origin).toBe(logOrigin(tenantId, epoch));
            expect(isCheckpointSignedBy(signed, signer.publicJwk)).toBe(true);
          }
          const places = [...checkpoints, ...epochs.map(({ statement }) => statement.restored)];
          await db.inTenant(scope, async (tx) => {
            for (const { size, root } of places) {
              const path = size === 0 ? [] : await logStore(tx).proveConsistency(size, last.size);
              const proof = { from: size, to: last.size, fromRoot: root, toRoot: last.root, path };
              expect(isConsistent(proof)).toBe(true);
            }
          });
          for (const signed of epochs) {
            const { epoch, restored } = signed.statement;
            expect(isStatementSignedBy(signer.publicJwk, signed)).toBe(true);
            expect(restored.epoch).toBe(epoch - 1);
            // Nothing of the ended epoch was signed beyond the named position.
            const ended = checkpoints.filter((one) => one.epoch === restored.epoch);
            expect(ended.every(({ size }) => size <= restored.size)).toBe(true);
          }
        },
      ),
      { numRuns: 6 },
    );
  });

  it('of an empty log has the empty tree, and no checkpoint yet', async () => {
    const scope = await aTenant(test);
    const { restored, epoch, highest_lost } = await begin(scope);
    expect({ restored, epoch, highest_lost }).toEqual({
      restored: { epoch: 1, size: 0, root: EMPTY_ROOT },
      ...{ epoch: 2, highest_lost: null },
    });
    expect(await readCheckpoints(scope)).toEqual([]);
  });

  it('names the highest place that others hold and the log does not have', async () => {
    const scope = await aTenant(test);
    await ship(scope, 3);
    await replicas[0].grow(scope.tenantId);
    const { size, root } = (await readCheckpoints(scope)).at(-1) ?? expect.unreachable();
    await hold(scope, { epoch: 1, size, root });
    expect((await begin(scope)).highest_lost).toBeNull();

    const other = 'a'.repeat(64);
    const lost = { epoch: 1, size: size + 7, root: other };
    await hold(scope, { epoch: 1, size: 2, root: other });
    await hold(scope, lost);
    expect((await begin(scope)).highest_lost).toEqual(lost);
  });

  it('believes no place whose note was not signed here, or is of another place', async () => {
    const scope = await aTenant(test);
    await ship(scope, 3);
    await replicas[0].grow(scope.tenantId);
    const place = { epoch: 7, size: 90, root: 'a'.repeat(64) };
    await hold(scope, place, generateKeyPairSync('ed25519').privateKey);
    await hold(scope, place);
    await superuser.query(
      'UPDATE log_watches SET epoch = 8 WHERE tenant_id = $1 AND seen_at = (SELECT max(seen_at) FROM log_watches WHERE tenant_id = $1)',
      [scope.tenantId],
    );
    const { epoch, highest_lost } = await begin(scope);
    expect({ epoch, highest_lost }).toEqual({ epoch: 2, highest_lost: null });
  });

  it('takes no number that somebody has seen already: it names another tree', async () => {
    const scope = await aTenant(test);
    await ship(scope, 2);
    await replicas[0].grow(scope.tenantId);
    const { size, root } = (await readCheckpoints(scope)).at(-1) ?? expect.unreachable();
    // A restore lost the announcement of an earlier one.
    await hold(scope, { epoch: 4, size, root });
    const { epoch, restored, highest_lost } = await begin(scope);
    expect(epoch).toBe(5);
    expect(restored).toMatchObject({ epoch: 1, size });
    expect(highest_lost).toEqual({ epoch: 4, size, root });
  });

  it('is not begun where packages could not name it', async () => {
    const scope = await aTenant(test);
    const { epoch } = await begin(scope);
    await superuser.query(
      `INSERT INTO log_epochs SELECT tenant_id, epoch + n, statement, kid, signature, begun_at
       FROM log_epochs, generate_series(1, 999) n WHERE tenant_id = $1`,
      [scope.tenantId],
    );
    await expect(begin(scope)).rejects.toThrow(/too many epochs/);
    const head = await db.inTenant(scope, (tx) => logStore(tx).findHead());
    expect(head.epoch).toBe(epoch);
  });
});
