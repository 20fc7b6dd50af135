/**
 * The data plane's copy of the facts that enforcement reads: SQLite on disk, least-recently-used
 * caches before it. Read synchronously on the main thread at every call, hence a file of its own:
 * the ledger has the other one, whose writes would make these reads wait.
 *
 * Fails closed: a fact that does not parse, or whose stored bytes changed, is no fact. An agent is
 * then unknown, a role that is unknown makes its agents unknown (a policy may deny by role), and a
 * kill switch that cannot be read is engaged. Proven by replica.test.ts.
 */
import { join } from 'node:path';
import type { FeedEntry } from '@governance/shared/channel/facts';
import type { Replica } from '../contracts.ts';
import { createClientLookup } from './client-lookup.ts';
import { createEntryStore } from './entry-store.ts';
import type { RefusedFact } from './fact-check.ts';
import { createFactKinds, type FactFinds } from './fact-kinds.ts';
import { FactReader } from './fact-reader.ts';
import type { FeedPlace } from './fact-seal.ts';
import { openReplicaFile, type ReplicaFile } from './replica-file.ts';
import { createServedFacts } from './served-facts.ts';
import { createSnapshotStaging, type SnapshotStaging } from './snapshot-staging.ts';
import { createStoredTenants } from './stored-tenants.ts';

export const REPLICA_FILE = 'replica.db';

const CACHED_AGENTS = 10_000;

export type { RefusedFact };

export interface ReplicaOptions {
  dataDir: string;
  onRefused: (fact: RefusedFact) => void;
  cachedAgents?: number;
}

export interface LocalReplica extends Replica, FactFinds {
  /** Begins to serve a tenant; an earlier cursor is kept. */
  addTenant(tenantId: string, deploymentId: string): void;
  /** Forgets a tenant: its agents are unknown from then on. */
  removeTenant(tenantId: string): void;
  /** The tenant's position in its feed. */
  place(tenantId: string): FeedPlace;
  /**
   * Applies consecutive entries in one durable transaction, which also moves cursor and digest.
   *
   * @param statementMs the time of a statement verified with them
   */
  apply(tenantId: string, entries: FeedEntry[], cursor: number, statementMs?: number): void;
  /** Stores the time of a newer verified statement durably. */
  keepStatement(tenantId: string, statementMs: number): void;
  /** The generation of the control plane's clock that signed that time; 0 before the first. */
  clockGeneration(tenantId: string): number;
  /** Stores a later generation durably, and the newest time, which is then earlier. */
  beginClock(tenantId: string, generation: number, statementMs: number): void;
  /** Begins a snapshot that will replace all facts; drops what an earlier one has staged. */
  beginSnapshot(tenantId: string): SnapshotStaging;
  close(): void;
}

/**
 * Opens the replica in a data folder. A damaged file is discarded and filled again from the feed:
 * it is a copy, and until then every agent is unknown.
 */
export function createReplica(options: ReplicaOptions): LocalReplica {
  const file = openReplicaFile(join(options.dataDir, REPLICA_FILE));
  try {
    return serveReplica(file, options);
  } catch (error) {
    file.db.close();
    throw error;
  }
}

function serveReplica(
  file: ReplicaFile,
  { onRefused, cachedAgents = CACHED_AGENTS }: Omit<ReplicaOptions, 'dataDir'>,
): LocalReplica {
  const served = createServedFacts();
  const { finds, indexes, forget, forgetTenant } = createFactKinds({
    db: file.db,
    facts: new FactReader(file.sql.findFact, onRefused),
    isServed: served.has,
    findDeploymentId: (tenantId) => served.find(tenantId)?.deploymentId,
    cachedAgents,
  });
  const tenants = createStoredTenants(file, indexes, onRefused);
  const storeEntries = createEntryStore(file, indexes);

  function apply(tenantId: string, given: FeedEntry[], cursor: number, statementMs = 0): void {
    const stored = storeEntries(tenantId, served.get(tenantId), given, cursor, statementMs);
    if (!stored) return;
    // Only durable facts may be visible.
    for (const { kind, key } of stored.entries) forget(tenantId, kind, key);
    served.moveTo(tenantId, stored.state);
    stored.refused.forEach(onRefused);
  }

  function beginSnapshot(tenantId: string): SnapshotStaging {
    served.get(tenantId);
    return createSnapshotStaging(file, indexes, tenantId, (state, refused) => {
      forgetTenant(tenantId);
      served.moveTo(tenantId, state);
      refused.forEach(onRefused);
    });
  }

  function endTenant(tenantId: string): void {
    forgetTenant(tenantId);
    served.drop(tenantId);
  }

  return {
    ...finds,
    findClient: createClientLookup(finds),
    hasTenant: served.has,
    cursor: (tenantId) => served.find(tenantId)?.place.cursor ?? 0,
    place: (tenantId) => ({ ...served.get(tenantId).place }),
    apply,
    keepStatement: (tenantId, statementMs) =>
      apply(tenantId, [], served.get(tenantId).place.cursor, statementMs),
    clockGeneration: tenants.clockGeneration,
    beginClock: (tenantId, generation, statementMs) => {
      const before = served.get(tenantId);
      served.moveTo(tenantId, tenants.beginClock(tenantId, before, generation, statementMs));
    },
    beginSnapshot,
    waitFor: served.waitFor,
    addTenant: (tenantId, deploymentId) => {
      const state = served.find(tenantId) ?? tenants.open(tenantId);
      served.put(tenantId, { ...state, deploymentId });
    },
    removeTenant: (tenantId) => {
      tenants.erase(tenantId);
      endTenant(tenantId);
    },
    close: () => {
      served.list().forEach(endTenant);
      file.db.close();
    },
  };
}
