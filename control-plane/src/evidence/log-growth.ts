/**
 * Extends tenants' logs after ingest: the admin chain's new records get signed batches, new leaves
 * get their nodes, and a checkpoint is signed for the new size. Ingest itself only assigns a batch
 * its index. Proven by log.pg.test.ts: in any order, and with several replicas, all checkpoints are
 * consistent with each other.
 */

import type { KeyObject } from 'node:crypto';
import { logOrigin, signCheckpoint } from '@governance/shared/evidence/checkpoint';
import { subtreesCompletedBy } from '@governance/shared/evidence/merkle-proofs';
import { nodeHash } from '@governance/shared/ledger/merkle';
import { DAY_MS, HOUR_MS } from '@governance/shared/time/durations';
import type { StoredCheckpoint } from '../chain/signed-place-rows.ts';
import { forEachTenant } from '../platform/database/each-tenant.ts';
import {
  SYSTEM_ACTOR,
  systemScope,
  type TenantDatabase,
  type TenantTransaction,
} from '../platform/database/tenant-scope.ts';
import type { ServiceKeys } from '../platform/keys/keys.ts';
import type { LeaderTask } from '../platform/replicas/leader.ts';
import { createAdminSigner } from './admin-batches.ts';
import { logStore } from './log-store.ts';
import type { LogNode } from './log-tree-store.ts';

/** Leaves whose nodes one transaction adds. */
const STEP = 1_000;
/** Checkpoints older than this are thinned out to one per hour. */
const DENSE_DAYS = 7;
const THIN_EVERY_MS = HOUR_MS;

export interface LogGrowthDeps {
  db: Pick<TenantDatabase, 'inTenant' | 'inPlatform'>;
  serviceKeys: Pick<ServiceKeys, 'evidenceKey'>;
  /** SERVICE_CHECKPOINT_SECONDS, in milliseconds. */
  checkpointMs: number;
  now: () => Date;
}

export type LogGrowth = ReturnType<typeof createLogGrowth>;

export function createLogGrowth({ db, serviceKeys, checkpointMs, now }: LogGrowthDeps) {
  const admin = createAdminSigner({ db, serviceKeys });

  /** @returns whether more may follow */
  const addNodes = (tenantId: string): Promise<boolean> =>
    db.inTenant(systemScope(tenantId), async (tx) => {
      const store = logStore(tx);
      const { size } = await store.lockHead();
      const leaves = await store.readLeaves(size, STEP);
      if (leaves.length === 0) return false;
      const nodes = nodesOf(await store.readFrontier(size), size, leaves);
      await store.grow(nodes, size + leaves.length);
      return leaves.length === STEP;
    });

  const checkpoint = async (tenantId: string): Promise<void> => {
    const signer = await serviceKeys.evidenceKey('checkpoint');
    await db.inTenant(systemScope(tenantId), (tx) => ensureCheckpoint(tx, signer.key, now()));
  };

  /** Adds a tenant's stored leaves to its log, and signs the new size. */
  async function grow(tenantId: string, signal?: AbortSignal): Promise<void> {
    await admin.signAll(tenantId, signal);
    while (!signal?.aborted && (await addNodes(tenantId)));
    if (!signal?.aborted) await checkpoint(tenantId);
  }

  const growing: LeaderTask = {
    name: 'log_growth',
    everyMs: checkpointMs,
    run: async (signal) => {
      const tenants = await db.inPlatform(
        SYSTEM_ACTOR,
        (tx) => tx.db.$queryRaw<{ id: string }[]>`
          SELECT tenant_id::text AS id FROM find_grown_logs()`,
      );
      const failures: unknown[] = [];
      for (const { id } of tenants) {
        if (signal.aborted) return;
        // One tenant's failure does not stop the others; the task reports it at its end.
        await grow(id, signal).catch((error: unknown) => void failures.push(error));
      }
      if (failures.length > 0) throw failures[0];
    },
  };

  const thinning: LeaderTask = {
    name: 'checkpoint_thinning',
    everyMs: THIN_EVERY_MS,
    run: async (signal) => {
      const before = new Date(now().getTime() - DENSE_DAYS * DAY_MS);
      await forEachTenant(db, signal, (tenantId) =>
        db.inTenant(systemScope(tenantId), (tx) => logStore(tx).thinCheckpoints(before)),
      );
    },
  };

  return { grow, tasks: [growing, thinning] };
}

/**
 * The checkpoint of `wanted` leaves, or of the log's current size; signed now if there is none yet.
 *
 * @returns undefined for an empty log
 */
export async function ensureCheckpoint(
  tx: TenantTransaction,
  key: KeyObject,
  now: Date,
  wanted?: number,
): Promise<StoredCheckpoint | undefined> {
  const store = logStore(tx);
  const { epoch, size: grown } = await store.findHead();
  const size = wanted ?? grown;
  if (size === 0) return undefined;
  const known = await store.findCheckpoint({ epoch, size });
  if (known) return known;
  const root = await store.readRoot(size);
  const origin = logOrigin(tx.scope.tenantId, epoch);
  const note = signCheckpoint({ origin, size, root, time: now.toISOString() }, key);
  const made = { epoch, size, root, note, madeAt: now };
  await store.insertCheckpoint(made);
  return made;
}

/** The nodes that leaves add, from the full subtrees of the previous tree. */
function nodesOf(frontier: readonly LogNode[], size: number, leaves: readonly string[]): LogNode[] {
  const edge = [...frontier];
  const added: LogNode[] = [];
  for (const [n, leaf] of leaves.entries()) {
    let top: LogNode = { level: 0, index: size + n, hash: leaf };
    added.push(top);
    for (const at of subtreesCompletedBy(size + n)) {
      const left = edge.pop();
      if (!left) throw new Error('the log has lost a node');
      top = { ...at, hash: nodeHash(left.hash, top.hash) };
      added.push(top);
    }
    edge.push(top);
  }
  return added;
}
