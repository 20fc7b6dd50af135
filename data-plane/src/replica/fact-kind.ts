import type { Database } from 'better-sqlite3';
import type { FactReader } from './fact-reader.ts';

/** Dependencies of a kind of fact. */
export interface FactKindContext {
  db: Database;
  facts: FactReader;
  /** Whether this process serves a tenant. */
  isServed(tenantId: string): boolean;
  /** This data plane's id at a tenant; undefined where it is not served. */
  findDeploymentId(tenantId: string): string | undefined;
  /** Agents that are kept in memory, at most. */
  cachedAgents: number;
}

/** What the replica does with a kind of fact in addition to storing it. */
export interface KindOfFact {
  /** The look-ups that it provides to enforcement. */
  finds: object;
  /** Rows for look-ups by other members than the fact's key. */
  index?: FactIndex<never>;
  /** A fact of any kind has changed, durably. */
  changed?(tenantId: string, kind: string, key: string): void;
  /** All facts of a tenant have changed, or the tenant is no longer served. */
  dropped?(tenantId: string): void;
}

/** Updated in the transaction that changes the facts. */
export interface FactIndex<Fact> {
  kind: string;
  /** Whether the fact belongs under its key. */
  checkKey(fact: Fact, key: string): boolean;
  /** @returns why the fact has to be refused; null where it was entered */
  put(tenantId: string, fact: Fact): string | null;
  remove(tenantId: string, key: string): void;
  clear(tenantId: string): void;
  /** Enters the staged facts, once `clear` has run, and reports those to be refused. */
  fill(tenantId: string): { key: string; digest: Buffer; reason: string }[];
}
