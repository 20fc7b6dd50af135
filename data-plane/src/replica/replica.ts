/**
 * The data plane's copy of the facts that enforcement reads: SQLite on disk, least-recently-used
 * caches before it. Read synchronously on the main thread at every call, hence a file of its own:
 * the ledger's thread holds the other one, and its commits would make these reads wait.
 *
 * Fails closed: a fact that does not parse, or whose stored bytes changed, is no fact. An agent is
 * then unknown, a role that is unknown makes its agents unknown (a policy may deny by role), and a
 * kill switch that cannot be read is engaged. Proven by replica.test.ts.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  FACTS,
  type FactKind,
  type FactOf,
  FeedEntry,
  type KillSwitchFact,
  type TokenKeysFact,
} from '@governance/shared/facts';
import { FEED_START, feedDigest } from '@governance/shared/feed-chain';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { Replica, ReplicaAgent } from '../contracts.ts';
import { grantsOf } from '../enforcement/grants.ts';
import { openDurableDatabase, sqliteCode } from '../storage/durable-database.ts';
import { createProgressWaiters } from '../storage/progress-waiters.ts';
import { checkFact, REFUSED, type RefusedFact } from './fact-check.ts';
import { DigestSet, type FeedPlace, factDigest } from './fact-seal.ts';
import { prepareStatements } from './replica-schema.ts';
import { createSnapshotStaging, type SnapshotStaging } from './snapshot-staging.ts';

export const REPLICA_FILE = 'replica.db';

const CACHED_AGENTS = 10_000;

export type { RefusedFact };

export interface ReplicaOptions {
  dataDir: string;
  onRefused: (fact: RefusedFact) => void;
  cachedAgents?: number;
}

export interface LocalReplica extends Replica {
  /** Begins to serve a tenant; its cursor is kept from before, if there was one. */
  addTenant(tenantId: string, deploymentId: string): void;
  /** Forgets a tenant: none of its agents is known from then on. */
  removeTenant(tenantId: string): void;
  /** Where the tenant's feed was read up to. */
  place(tenantId: string): FeedPlace;
  /**
   * Applies consecutive entries in one durable transaction, which also moves cursor and digest.
   *
   * @param statementMs the time of a statement that is verified with them
   */
  apply(tenantId: string, entries: FeedEntry[], cursor: number, statementMs?: number): void;
  /** Keeps the time of a newer verified statement durably. */
  keepStatement(tenantId: string, statementMs: number): void;
  /** Begins a snapshot in place of what is known; what another one staged is thrown away. */
  beginSnapshot(tenantId: string): SnapshotStaging;
  close(): void;
}

/** What an unreadable kill switch counts as. */
const ENGAGED: KillSwitchFact = {
  generation: Number.MAX_SAFE_INTEGER,
  engaged: true,
  reason: 'the kill switch could not be read',
  changed_at: '1970-01-01T00:00:00.000Z',
};

const FeedEntries = z.array(FeedEntry);

/**
 * Opens the replica in a data folder. A damaged file is thrown away and filled again from the
 * feed: it is a copy, and until then every agent is unknown.
 */
export function createReplica(options: ReplicaOptions): LocalReplica {
  const { db, sql } = openReplica(join(options.dataDir, REPLICA_FILE));
  /** Of the tenants served by this process. */
  const places = new Map<string, FeedPlace>();
  const sums = new Map<string, DigestSet>();
  const deployments = new Map<string, string>();
  const agents = new LRUCache<string, ReplicaAgent>({ max: options.cachedAgents ?? CACHED_AGENTS });
  const clients = new LRUCache<string, { tenantId: string; agentId: string }>({
    max: options.cachedAgents ?? CACHED_AGENTS,
  });
  /** Kill switches, token keys, credentials: bounded by the tenants and their servers. */
  const singles = new Map<string, unknown>();
  const waiters = createProgressWaiters((tenantId) => places.get(tenantId)?.cursor);

  function readFact<K extends FactKind>(tenantId: string, kind: K, key: string) {
    const row = sql.findFact.get(tenantId, kind, key);
    if (!row) return { state: 'absent' as const };
    const refuse = (reason: string) => {
      options.onRefused({ tenantId, kind, key, reason });
      return { state: 'refused' as const };
    };
    if (!row.digest.equals(factDigest(tenantId, kind, key, row.value))) {
      return refuse('the stored fact is damaged');
    }
    if (row.value === REFUSED) return { state: 'refused' as const };
    const parsed = FACTS[kind].safeParse(JSON.parse(row.value));
    if (!parsed.success) return refuse(parsed.error.message);
    return { state: 'known' as const, value: parsed.data as FactOf<K> };
  }

  function findAgent(tenantId: string, agentId: string): ReplicaAgent | undefined {
    const cacheKey = `${tenantId}/${agentId}`;
    const cached = agents.get(cacheKey);
    if (cached) return cached;
    const agent = places.has(tenantId) ? loadAgent(tenantId, agentId) : undefined;
    if (agent) agents.set(cacheKey, agent);
    return agent;
  }

  function loadAgent(tenantId: string, agentId: string): ReplicaAgent | undefined {
    const fact = readFact(tenantId, 'agent', agentId);
    if (fact.state !== 'known' || fact.value.id !== agentId) return undefined;
    const roles: FactOf<'role'>[] = [];
    for (const roleId of fact.value.role_ids) {
      const role = readFact(tenantId, 'role', roleId);
      if (role.state !== 'known') {
        const reason = `its role ${roleId} is ${role.state}`;
        options.onRefused({ tenantId, kind: 'agent', key: agentId, reason });
        return undefined;
      }
      roles.push(role.value);
    }
    const granting = roles.flatMap((role) => [role, ...findScoped(tenantId, role.id)]);
    return {
      ...fact.value,
      role_names: roles.map((role) => role.name),
      permissions: unique(granting.flatMap((role) => role.permissions)),
      grants: grantsOf(granting),
    };
  }

  /** What a role permits within its scopes; a fact that cannot be read permits nothing. */
  function findScoped(tenantId: string, roleId: string): FactOf<'scoped_role'>[] {
    const scoped = readFact(tenantId, 'scoped_role', roleId);
    return scoped.state === 'known' && scoped.value.id === roleId ? [scoped.value] : [];
  }

  function findClient(clientId: string) {
    const cached = clients.get(clientId);
    const known = cached && agentOfClient(cached, clientId);
    if (known) return known;
    const row = sql.findClient.get(clientId);
    if (!row) return undefined;
    const found = { tenantId: row.tenant_id, agentId: row.agent_id };
    clients.set(clientId, found);
    return agentOfClient(found, clientId);
  }

  function agentOfClient(found: { tenantId: string; agentId: string }, clientId: string) {
    const agent = findAgent(found.tenantId, found.agentId);
    return agent?.client_id === clientId ? { tenantId: found.tenantId, agent } : undefined;
  }

  function findSingle<K extends FactKind>(
    tenantId: string,
    kind: K,
    key: string,
    ifRefused: FactOf<K> | undefined,
  ): FactOf<K> | undefined {
    const cacheKey = `${tenantId}/${kind}/${key}`;
    if (singles.has(cacheKey)) return singles.get(cacheKey) as FactOf<K> | undefined;
    const fact = readFact(tenantId, kind, key);
    const value = fact.state === 'known' ? fact.value : undefined;
    const result = fact.state === 'refused' ? ifRefused : value;
    singles.set(cacheKey, result);
    return result;
  }

  const findKillSwitch = (tenantId: string): KillSwitchFact | undefined =>
    findSingle(tenantId, 'kill_switch', 'tenant', ENGAGED);

  function countActiveAgents(tenantId: string): number {
    const killSwitch = findKillSwitch(tenantId);
    const generation = killSwitch?.engaged ? killSwitch.generation : 0;
    return sql.countActive.get(tenantId, generation) ?? 0;
  }

  function servedPlace(tenantId: string): FeedPlace {
    const place = places.get(tenantId);
    if (!place) throw new Error('the tenant is not served here');
    return place;
  }

  function apply(
    tenantId: string,
    given: FeedEntry[],
    cursor: number,
    statementMs: number = 0,
  ): void {
    const current = servedPlace(tenantId);
    const entries = FeedEntries.parse(given).filter((entry) => entry.seq > current.cursor);
    const place = {
      cursor: Math.max(current.cursor, cursor, ...entries.map((entry) => entry.seq)),
      digest: entries.reduce(feedDigest, current.digest),
      statementMs: Math.max(current.statementMs, statementMs),
    };
    if (place.cursor === current.cursor && place.statementMs === current.statementMs) return;
    const sum = sums.get(tenantId)?.copy() ?? new DigestSet();
    const refused = db
      .transaction(() => {
        const refusals = entries.map((entry) => store(tenantId, entry, sum));
        putPlace(tenantId, place, sum);
        return refusals.filter((refusal) => refusal !== null);
      })
      .immediate();
    // Only what is on disk may be seen.
    for (const entry of entries) invalidate(tenantId, entry);
    places.set(tenantId, place);
    sums.set(tenantId, sum);
    waiters.reached(tenantId, place.cursor);
    for (const refusal of refused) options.onRefused(refusal);
  }

  function putPlace(tenantId: string, place: FeedPlace, sum: DigestSet): void {
    const { cursor, digest, statementMs } = place;
    sql.putTenant.run(tenantId, cursor, digest, statementMs, sum.seal(tenantId, place));
  }

  function beginSnapshot(tenantId: string): SnapshotStaging {
    servedPlace(tenantId);
    return createSnapshotStaging({ db, sql }, tenantId, (place, sum, refused) => {
      dropCaches(tenantId);
      places.set(tenantId, place);
      sums.set(tenantId, sum);
      waiters.reached(tenantId, place.cursor);
      for (const refusal of refused) options.onRefused(refusal);
    });
  }

  function store(tenantId: string, entry: FeedEntry, sum: DigestSet): RefusedFact | null {
    const { kind, key, value } = entry;
    if (kind === 'agent') sql.deleteAgent.run(tenantId, key);
    const before = sql.findFact.get(tenantId, kind, key);
    if (before) sum.toggle(before.digest);
    sql.deleteFact.run(tenantId, kind, key);
    if (value === null || value === undefined) return null;
    const { text, reason } = admit(tenantId, kind, key, value);
    const digest = factDigest(tenantId, kind, key, text);
    sql.putFact.run(tenantId, kind, key, text, digest);
    sum.toggle(digest);
    return reason === null ? null : { tenantId, kind, key, reason };
  }

  /** What is stored of a fact; an agent is entered among those looked up. */
  function admit(tenantId: string, kind: string, key: string, value: unknown) {
    const checked = checkFact(kind, key, value);
    const { agent } = checked;
    if (!agent) return checked;
    const owner = sql.findClient.get(agent.client_id);
    if (owner) {
      return { text: REFUSED, reason: `its client id belongs to agent ${owner.agent_id}` };
    }
    const { client_id, status, kill_released_generation } = agent;
    sql.putAgent.run(tenantId, key, client_id, status, kill_released_generation);
    return checked;
  }

  function invalidate(tenantId: string, { kind, key }: FeedEntry): void {
    singles.delete(`${tenantId}/${kind}/${key}`);
    if (kind === 'agent') {
      forgetAgent(`${tenantId}/${key}`);
    } else if (kind === 'role' || kind === 'scoped_role') {
      for (const [cacheKey, agent] of agents.entries()) {
        if (cacheKey.startsWith(`${tenantId}/`) && agent.role_ids.includes(key)) {
          forgetAgent(cacheKey);
        }
      }
    }
  }

  function forgetAgent(cacheKey: string): void {
    const agent = agents.peek(cacheKey);
    if (agent) clients.delete(agent.client_id);
    agents.delete(cacheKey);
  }

  /** What is kept of a tenant; undefined when nothing is, or when it is not what was stored. */
  function readTenant(tenantId: string) {
    const row = sql.findTenant.get(tenantId);
    if (!row) return undefined;
    const sum = new DigestSet();
    for (const { kind, key } of sql.readFacts.iterate(tenantId)) {
      // As enforcement will look for it: a damaged tree may show a row that no look-up finds.
      const found = sql.findFact.get(tenantId, kind, key);
      if (found) sum.toggle(factDigest(tenantId, kind, key, found.value));
    }
    const { cursor, digest, statement_ms: statementMs } = row;
    const place = { cursor, digest, statementMs };
    if (sum.seal(tenantId, place).equals(row.seal)) return { place, sum };
    options.onRefused({ tenantId, kind: '*', key: '*', reason: 'the stored facts are damaged' });
    return undefined;
  }

  /** Begins with nothing: until the feed was read again, no agent of the tenant is known. */
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
    sql.deleteTenantAgents.run(tenantId);
    sql.clearStaged.run(tenantId);
    sql.deleteTenant.run(tenantId);
  }

  function dropCaches(tenantId: string): void {
    for (const cacheKey of agents.keys()) {
      if (cacheKey.startsWith(`${tenantId}/`)) forgetAgent(cacheKey);
    }
    for (const [clientId, found] of clients.entries()) {
      if (found.tenantId === tenantId) clients.delete(clientId);
    }
    for (const cacheKey of singles.keys()) {
      if (cacheKey.startsWith(`${tenantId}/`)) singles.delete(cacheKey);
    }
  }

  function forgetTenant(tenantId: string): void {
    dropCaches(tenantId);
    places.delete(tenantId);
    sums.delete(tenantId);
    deployments.delete(tenantId);
    waiters.drop(tenantId);
  }

  return {
    findAgent,
    findClient,
    findKillSwitch,
    findTokenKeys: (tenantId): TokenKeysFact | undefined =>
      findSingle(tenantId, 'token_keys', 'current', undefined),
    findUpstreamCredential: (tenantId, serverId) => {
      const deploymentId = deployments.get(tenantId);
      if (deploymentId === undefined) return undefined;
      const key = `${deploymentId}/${serverId}`;
      return findSingle(tenantId, 'upstream_credential', key, undefined)?.jwe;
    },
    countActiveAgents,
    hasTenant: (tenantId) => places.has(tenantId),
    cursor: (tenantId) => places.get(tenantId)?.cursor ?? 0,
    place: (tenantId) => ({ ...servedPlace(tenantId) }),
    apply,
    keepStatement: (tenantId, statementMs) =>
      apply(tenantId, [], servedPlace(tenantId).cursor, statementMs),
    beginSnapshot,
    waitFor: waiters.wait,
    addTenant: (tenantId, deploymentId) => {
      deployments.set(tenantId, deploymentId);
      if (places.has(tenantId)) return;
      const { place, sum } = readTenant(tenantId) ?? beginTenant(tenantId);
      places.set(tenantId, place);
      sums.set(tenantId, sum);
    },
    removeTenant: (tenantId) => {
      db.transaction(() => eraseTenant(tenantId)).immediate();
      forgetTenant(tenantId);
    },
    close: () => {
      for (const tenantId of [...places.keys()]) forgetTenant(tenantId);
      db.close();
    },
  };
}

function openReplica(path: string) {
  try {
    return prepare(path);
  } catch (error) {
    if (!DAMAGED.has(sqliteCode(error) ?? '') && !(error instanceof DamagedReplicaError))
      throw error;
    for (const file of [path, `${path}-wal`, `${path}-shm`]) rmSync(file, { force: true });
    return prepare(path);
  }
}

const DAMAGED = new Set(['SQLITE_CORRUPT', 'SQLITE_NOTADB']);

class DamagedReplicaError extends Error {}

function prepare(path: string) {
  const db = openDurableDatabase(path, { exclusive: true });
  try {
    const state = db.pragma('integrity_check(1)', { simple: true });
    if (state !== 'ok') throw new DamagedReplicaError(String(state));
    return { db, sql: prepareStatements(db) };
  } catch (error) {
    db.close();
    throw error;
  }
}

function unique(items: string[]): string[] {
  return [...new Set(items)];
}
