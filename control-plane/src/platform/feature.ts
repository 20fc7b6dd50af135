/**
 * A feature of the control plane: one object, made in the feature's folder and listed once in
 * app.ts. Bundles, ingest, the feed and the leader take what they need from the list, so none of
 * them knows a feature. Proven by ../testing/trial-feature/trial-feature.pg.test.ts.
 */
import type { LedgerRecord, Severity } from '@governance/shared/ledger-record';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { JWK } from 'jose';
import type { PoolClient } from 'pg';
import type { LeaderTask } from './leader.ts';
import type { TenantTransaction } from './tenant-scope.ts';

export interface Feature {
  routes?: readonly FastifyPluginAsyncZod[];
  /** Periodic work that one of the replicas does. */
  tasks?: readonly LeaderTask[];
  /** Members of `settings` in a tenant's data.json, by their name. */
  settings?: Readonly<Record<string, ReadSetting>>;
  projections?: readonly Projection[];
  facts?: Facts;
}

/** @returns JSON that differs only where the bundle has to */
export type ReadSetting = (tx: TenantTransaction) => Promise<unknown>;

/** What a feature writes into tenants' feeds when no administrator asked for a change. */
export interface Facts {
  /** What a tenant begins with, in the transaction that makes it: rows, and their facts. */
  begin?(tx: TenantTransaction): Promise<void> | void;
  /** At each start: tells every tenant what this version or configuration says differently. */
  publish?(): Promise<void>;
  /** Facts for one data plane alone, in the transaction that registers it or changes its key. */
  addForDataPlane?(tx: TenantTransaction, dataPlane: SealingTarget): Promise<void>;
  /** Removes the facts of revoked and forked data planes. Runs after their revocation is committed. */
  takeBack?(tenantId: string): Promise<void>;
}

/** A registered data plane as far as sealing goes. */
export interface SealingTarget {
  deploymentId: string;
  /** Its public X25519 JWK. */
  sealingKey: JWK;
}

/**
 * What a feature keeps of the records that data planes ship. Ingest calls it in the transaction that
 * stores the records: both are committed, or neither.
 */
export interface Projection {
  /** The types of record that it reads. */
  types: readonly LedgerRecord['type'][];
  /**
   * Writes rows by the ingest role, which row-level security holds to the tenant. The streams' heads
   * are locked. A record that PostgreSQL refuses here (a data exception, a violated constraint) is
   * quarantined; any other error rolls the batch back, and its data plane sends it again.
   *
   * @param records new in the ledger, in the order of their batches; never empty
   * @returns what was not kept because its stream may have no more
   */
  store(
    client: PoolClient,
    tenantId: string,
    records: readonly ProjectedRecord[],
  ): Promise<readonly Overflow[]>;
}

export interface ProjectedRecord {
  record: LedgerRecord;
  /** The agent that the record names; null where it names none that the tenant ever had. */
  agentId: string | null;
}

/** Records of a stream that are in the ledger and were not projected, and the alert about it. */
export interface Overflow {
  /** In lower case. */
  stream: string;
  /** 1 or more. */
  records: number;
  /** For the alert's details and its key: snake_case. */
  kind: string;
  alertType: string;
  severity: Severity;
  title: string;
}
