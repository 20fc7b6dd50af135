/**
 * A feature of the control plane: one object, made in the feature's folder and listed once in
 * app.ts. Bundles, ingest, the feed and the leader take what they need from the list, so none of
 * them imports a feature. Proven by ../testing/trial-feature/trial-feature.pg.test.ts.
 */
import type { LedgerRecord, Severity } from '@governance/shared/ledger/ledger-record';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { JWK } from 'jose';
import type { PoolClient } from 'pg';
import type { TenantTransaction } from './database/tenant-scope.ts';
import type { LeaderTask } from './replicas/leader.ts';

export interface Feature {
  routes?: readonly FastifyPluginAsyncZod[];
  /** Periodic work that one of the replicas does. */
  tasks?: readonly LeaderTask[];
  /** Members of `settings` in a tenant's data.json, by their name. */
  settings?: Readonly<Record<string, ReadSetting>>;
  projections?: readonly Projection[];
  facts?: Facts;
  /**
   * Ends what an administrator said of a server, in the transaction that deletes it: its id may be
   * given to another server.
   */
  endWithServer?(tx: TenantTransaction, serverId: string, at: Date): Promise<void>;
}

/** @returns JSON; any difference in it makes a new bundle */
export type ReadSetting = (tx: TenantTransaction) => Promise<unknown>;

/** What a feature writes into tenants' feeds without an administrator's change. */
export interface Facts {
  /** A new tenant's rows and facts, in the transaction that creates it. */
  begin?(tx: TenantTransaction): Promise<void> | void;
  /** At each start: publishes what this version or configuration changes for each tenant. */
  publish?(): Promise<void>;
  /** Facts for one data plane alone, in the transaction that registers it or changes its key. */
  addForDataPlane?(tx: TenantTransaction, dataPlane: SealingTarget): Promise<void>;
  /** Removes the facts of revoked and forked data planes, after their revocation is committed. */
  takeBack?(tenantId: string): Promise<void>;
}

/** A registered data plane, as far as sealing needs it. */
export interface SealingTarget {
  deploymentId: string;
  /** Its public X25519 JWK. */
  sealingKey: JWK;
}

/**
 * A feature's rows made from the records that data planes ship. Ingest calls it in the transaction
 * that stores the records: both commit, or neither.
 */
export interface Projection {
  /** The types of record that it reads. */
  types: readonly LedgerRecord['type'][];
  /**
   * Writes rows as the ingest role, which row-level security confines to the tenant. The streams'
   * heads are locked. A record that PostgreSQL refuses here (a data exception, a violated
   * constraint) is quarantined; any other error rolls the batch back, and its data plane sends it
   * again.
   *
   * @param records new in the ledger, in the order of their batches; never empty
   * @returns records left out because their stream has reached a limit
   */
  store(
    client: PoolClient,
    tenantId: string,
    records: readonly ProjectedRecord[],
  ): Promise<readonly Overflow[]>;
}

export interface ProjectedRecord {
  record: LedgerRecord;
  /**
   * The agent that the record names; null where it names none, or one that the tenant never had.
   */
  agentId: string | null;
}

/** Records of a stream that are in the ledger and were not projected, and the alert about it. */
export interface Overflow {
  /** The stream's id, in lower case. */
  stream: string;
  /** 1 or more. */
  records: number;
  /** Names the limit in the alert's details and its key; snake_case. */
  kind: string;
  alertType: string;
  severity: Severity;
  title: string;
}
