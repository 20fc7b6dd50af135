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
import { FeedEntry } from '@governance/shared/facts';
import { FEED_START, feedDigest } from '@governance/shared/feed-chain';
import { z } from 'zod';
import type { Replica, ReplicaClient } from '../contracts.ts';
import { createProgressWaiters } from '../storage/progress-waiters.ts';
import { checkFact, type RefusedFact, refusedFor } from './fact-check.ts';
import { createFactKinds, type FactFinds } from './fact-kinds.ts';
import { FactReader } from './fact-reader.ts';
import { DigestSet, type FeedPlace, factDigest } from './fact-seal.ts';
import { openReplicaFile, type ReplicaFile } from './replica-file.ts';
import { createSnapshotStaging, type SnapshotStaging } from './snapshot-staging.ts';

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
  /** Begins a snapshot that will replace all facts; drops what an earlier one has staged. */
  beginSnapshot(tenantId: string): SnapshotStaging;
  close(): void;
}

const FeedEntries = z.array(FeedEntry);

interface Served {
  place: FeedPlace;
  /** The digest of all facts of the tenant. */
  sum: DigestSet;
  deploymentId: string;
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
  { onRefused, cachedAgents }: Omit<ReplicaOptions, 'dataDir'>,
): LocalReplica {
  const { db, sql } = file;
  /** The tenants that this process serves. */
  const served = new Map<string, Served>();
  const facts = new FactReader(sql.findFact, onRefused);
  const { kinds, finds } = createFactKinds({
    db,
    facts,
    isServed: (tenantId) => served.has(tenantId),
    findDeploymentId: (tenantId) => served.get(tenantId)?.deploymentId,
    cachedAgents: cachedAgents ?? CACHED_AGENTS,
  });
  const indexes = kinds.flatMap(({ index }) => index ?? []);
  const waiters = createProgressWaiters((tenantId) => served.get(tenantId)?.place.cursor);

  /**
   * Looks up at most two client ids: among agents' first credentials, then among the others. A
   * credential counts as missing while its agent is unknown.
   */
  function findClient(clientId: string): ReplicaClient | undefined {
    const first = finds.findAgentOfClient(clientId);
    if (first) {
      const { tenantId, fact: agent } = first;
      const proof = { credentialId: null, version: agent.credential_version };
      return { tenantId, agent, secretHash: agent.secret_hash, proof };
    }
    const found = finds.findCredentialOfClient(clientId);
    const agent = found && finds.findAgent(found.tenantId, found.fact.agent_id);
    if (!agent) return undefined;
    const { tenantId, fact: credential } = found;
    const proof = { credentialId: credential.id, version: credential.version };
    return { tenantId, agent, secretHash: credential.secret_hash, proof };
  }

  function getServed(tenantId: string): Served {
    const tenant = served.get(tenantId);
    if (!tenant) throw new Error('the tenant is not served here');
    return tenant;
  }

  function apply(
    tenantId: string,
    given: FeedEntry[],
    cursor: number,
    statementMs: number = 0,
  ): void {
    const { place: current, sum: known } = getServed(tenantId);
    const entries = FeedEntries.parse(given).filter((entry) => entry.seq > current.cursor);
    const place = {
      cursor: Math.max(current.cursor, cursor, ...entries.map((entry) => entry.seq)),
      digest: entries.reduce(feedDigest, current.digest),
      statementMs: Math.max(current.statementMs, statementMs),
    };
    if (place.cursor === current.cursor && place.statementMs === current.statementMs) return;
    const sum = known.copy();
    const refused = db
      .transaction(() => {
        const refusals = entries.flatMap((entry) => store(tenantId, entry, sum) ?? []);
        putPlace(tenantId, place, sum);
        return refusals;
      })
      .immediate();
    // Only durable facts may be visible.
    for (const { kind, key } of entries) {
      facts.forget(tenantId, kind, key);
      for (const one of kinds) one.changed?.(tenantId, kind, key);
    }
    moveTo(tenantId, place, sum);
    refused.forEach(onRefused);
  }

  /** @returns the fact if it was refused */
  function store(tenantId: string, entry: FeedEntry, sum: DigestSet): RefusedFact | null {
    const { kind, key, value } = entry;
    const index = indexes.find((one) => one.kind === kind);
    index?.remove(tenantId, key);
    const before = sql.findFact.get(tenantId, kind, key);
    if (before) sum.toggle(before.digest);
    sql.deleteFact.run(tenantId, kind, key);
    if (value === null || value === undefined) return null;
    const checked = checkFact(kind, key, value, index);
    const conflict = checked.reason === null ? index?.put(tenantId, value as never) : null;
    const { text, reason } = conflict ? refusedFor(conflict) : checked;
    const digest = factDigest(tenantId, kind, key, text);
    sql.putFact.run(tenantId, kind, key, text, digest);
    sum.toggle(digest);
    return reason === null ? null : { tenantId, kind, key, reason };
  }

  function putPlace(tenantId: string, place: FeedPlace, sum: DigestSet): void {
    const { cursor, digest, statementMs } = place;
    sql.putTenant.run(tenantId, cursor, digest, statementMs, sum.seal(tenantId, place));
  }

  function moveTo(tenantId: string, place: FeedPlace, sum: DigestSet): void {
    const tenant = served.get(tenantId);
    // Removed while its snapshot arrived.
    if (!tenant) return;
    served.set(tenantId, { ...tenant, place, sum });
    waiters.reached(tenantId, place.cursor);
  }

  function beginSnapshot(tenantId: string): SnapshotStaging {
    getServed(tenantId);
    return createSnapshotStaging(file, indexes, tenantId, (place, sum, refused) => {
      forgetFacts(tenantId);
      moveTo(tenantId, place, sum);
      refused.forEach(onRefused);
    });
  }

  /** A tenant's stored position and digests; undefined where there are none or they are damaged. */
  function readTenant(tenantId: string) {
    const row = sql.findTenant.get(tenantId);
    if (!row) return undefined;
    const sum = new DigestSet();
    for (const { kind, key } of sql.readFacts.iterate(tenantId)) {
      // Looked up as enforcement will: a damaged tree may list a row that no look-up finds.
      const found = sql.findFact.get(tenantId, kind, key);
      if (found) sum.toggle(factDigest(tenantId, kind, key, found.value));
    }
    const { cursor, digest, statement_ms: statementMs } = row;
    const place = { cursor, digest, statementMs };
    if (sum.seal(tenantId, place).equals(row.seal)) return { place, sum };
    onRefused({ tenantId, kind: '*', key: '*', reason: 'the stored facts are damaged' });
    return undefined;
  }

  /** Starts empty: until the feed is read again, all agents of the tenant are unknown. */
  function beginTenant(tenantId: string) {
    const sum = new DigestSet();
    const place = { cursor: 0, digest: FEED_START, statementMs: 0 };
    db.transaction(() => {
      eraseTenant(tenantId);
      putPlace(tenantId, place, sum);
    }).immediate();
    return { place, sum };
  }

  function eraseTenant(tenantId: string): void {
    sql.deleteTenantFacts.run(tenantId);
    for (const index of indexes) index.clear(tenantId);
    sql.clearStaged.run(tenantId);
    sql.deleteTenant.run(tenantId);
  }

  function forgetFacts(tenantId: string): void {
    facts.forgetTenant(tenantId);
    for (const kind of kinds) kind.dropped?.(tenantId);
  }

  function forgetTenant(tenantId: string): void {
    forgetFacts(tenantId);
    served.delete(tenantId);
    waiters.drop(tenantId);
  }

  return {
    ...finds,
    findClient,
    hasTenant: (tenantId) => served.has(tenantId),
    cursor: (tenantId) => served.get(tenantId)?.place.cursor ?? 0,
    place: (tenantId) => ({ ...getServed(tenantId).place }),
    apply,
    keepStatement: (tenantId, statementMs) =>
      apply(tenantId, [], getServed(tenantId).place.cursor, statementMs),
    beginSnapshot,
    waitFor: waiters.wait,
    addTenant: (tenantId, deploymentId) => {
      const kept = served.get(tenantId) ?? readTenant(tenantId) ?? beginTenant(tenantId);
      served.set(tenantId, { ...kept, deploymentId });
    },
    removeTenant: (tenantId) => {
      db.transaction(() => eraseTenant(tenantId)).immediate();
      forgetTenant(tenantId);
    },
    close: () => {
      for (const tenantId of [...served.keys()]) forgetTenant(tenantId);
      db.close();
    },
  };
}
