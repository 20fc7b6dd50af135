/**
 * The contracts between the parts of a data plane. Everything is keyed by tenant, since one data
 * plane may serve several.
 */

import type { PolicyEngine } from '@governance/policies/contract';
import type { BundleSettings } from '@governance/shared/bundle/bundle-format';
import type {
  AgentCredentialFact,
  AgentFact,
  DelegationFact,
  ExceptionFact,
  FeedEntry,
  HeldCallFact,
  KillSwitchFact,
  TokenKeysFact,
  WorkflowFact,
  WorkflowSessionFact,
} from '@governance/shared/channel/facts';
import type { UnchainedRecord } from '@governance/shared/ledger/ledger-record';
import type { ToolPinReport } from '@governance/shared/mcp/tool-pins';
import type { CredentialProof } from '@governance/shared/tokens/agent-token';
import type { ResourceScopes } from '@governance/shared/tokens/resource-scopes';
import type { SessionTokenClass } from '@governance/shared/tokens/session-token';

export interface AppendedRecord {
  id: string;
  epoch: number;
  seq: number;
  hash: string;
}

/** A change to the row of a held call, committed together with a record. */
export interface HoldChange {
  /** The escalation's id. */
  readonly id: string;
  readonly tenantId: string;
  /** JSON; null removes the row. */
  readonly value: string | null;
}

export interface Ledger {
  /**
   * Appends one record to a tenant's chain.
   *
   * @param salt a salt of the record's hashes, stored beside the chain so that it can be purged
   * @param holds what is on disk with the record, or not at all
   * @returns once the record is on disk (fdatasync returned)
   * @throws when it could not be made durable, or the disk is over its upper watermark: the call
   *   it belongs to is then denied
   */
  append(
    tenantId: string,
    record: UnchainedRecord,
    salt?: Uint8Array,
    holds?: readonly HoldChange[],
  ): Promise<AppendedRecord>;
  /** Whether new calls may be recorded: `full` and `failed` deny them. */
  condition(): 'ok' | 'warning' | 'full' | 'failed';
}

/** An agent as enforcement sees it: the fact with its roles resolved. */
export interface ReplicaAgent extends AgentFact {
  role_names: string[];
  /** Every permission that its roles name, as tokens list them. It decides nothing: `permits` do. */
  permissions: string[];
  permits: readonly Permit[];
}

/** Permissions of a role, and the scopes that narrow them. */
export interface Permit {
  readonly permissions: string[];
  /** Null: not narrowed. */
  readonly scopes: ResourceScopes | null;
}

/** What a client id identifies. */
export interface ReplicaClient {
  readonly tenantId: string;
  readonly agent: ReplicaAgent;
  /** SHA-256 of the client's secret, hexadecimal. */
  readonly secretHash: string;
  /** What the right secret proves. */
  readonly proof: CredentialProof;
}

/** By what exceptions for a call are looked up. */
export interface ExceptionPlace {
  agentId: string;
  serverId: string;
  toolName: string;
}

export interface Replica {
  findAgent(tenantId: string, agentId: string): ReplicaAgent | undefined;
  /** By the globally unique client id, before a tenant is known. */
  findClient(clientId: string): ReplicaClient | undefined;
  /** A credential beside the agent's first one. */
  findCredential(tenantId: string, credentialId: string): AgentCredentialFact | undefined;
  findKillSwitch(tenantId: string): KillSwitchFact | undefined;
  findTokenKeys(tenantId: string): TokenKeysFact | undefined;
  findUpstreamCredential(tenantId: string, serverId: string): string | undefined;
  /** The tenant's key for hashing identifiers, sealed to this data plane. */
  findIdentifierKey(tenantId: string): string | undefined;
  findSessionTokenKeys(tenantId: string, kind: SessionTokenClass): TokenKeysFact | undefined;
  /** A session that has not ended, whether or not its time is over, and its workflow. */
  findWorkflowSession(
    tenantId: string,
    sessionId: string,
  ): { session: WorkflowSessionFact; workflow: WorkflowFact } | undefined;
  findDelegation(tenantId: string, delegationId: string): DelegationFact | undefined;
  /** Exceptions whose agent, server and tool are a call's, whether or not their time is over. */
  findExceptions(tenantId: string, place: ExceptionPlace): readonly ExceptionFact[];
  /** Whether anything of the tenant waits for a person at any data plane, or did until recently. */
  hasHeldCalls(tenantId: string): boolean;
  /** What is held under a binding at another data plane. */
  findHeldElsewhere(tenantId: string, binding: string): HeldCallFact | undefined;
  /** Calls back when what is held elsewhere has changed. @returns the unsubscribe */
  onHeldCall(listener: () => void): () => void;
  countActiveAgents(tenantId: string): number;
  hasTenant(tenantId: string): boolean;
  /** The seq up to which the tenant's feed was applied, 0 before the first entry. */
  cursor(tenantId: string): number;
  /** Applies entries in one durable transaction and moves the cursor. */
  apply(tenantId: string, entries: FeedEntry[], cursor: number): void;
  /** Whether the cursor reached `seq` within `ms`. */
  waitFor(tenantId: string, seq: number, ms: number): Promise<boolean>;
}

/** The active rules of a tenant, swapped as one value. */
export interface ActiveRules {
  revision: number;
  digest: string;
  settings: BundleSettings;
  engine: PolicyEngine;
}

/**
 * Why this data plane lets nobody of a tenant act, whoever calls:
 * - `offline_max_age`: the newest verified freshness statement is too old
 * - `tenant_revoked`: the control plane revoked this data plane
 * - `stream_forked`: another writer uses this data plane's key
 * - `fact_unknown`: the control plane sent a kind of fact that this version cannot enforce
 * - `facts_not_stored`: newer facts have arrived and cannot be stored, as on a full disk
 * - `local_kill_switch`: the operator of this machine engaged the switch
 */
export interface PlaneDenial {
  reason:
    | 'offline_max_age'
    | 'tenant_revoked'
    | 'stream_forked'
    | 'fact_unknown'
    | 'facts_not_stored'
    | 'local_kill_switch';
  /** What is wrong, in words for the agent. */
  message: string;
}

/** Null where the tenant's agents may act. Asked at every call, and again after each wait. */
export type FindDenial = (tenantId: string) => PlaneDenial | null;

/**
 * What asking the control plane at once came to:
 * - `current`: all that it has is here
 * - `unreachable`: it did not answer, or what it answered was refused
 * - `late`: it did not answer in time
 * - `crowded`: too many wait for the answer already
 */
export type FeedNews = 'current' | 'unreachable' | 'late' | 'crowded';

/** Reads a tenant's feed at once; null where the tenant is not served here. Never rejects. */
export type AskForNews = (tenantId: string, agentId: string | null) => Promise<FeedNews> | null;

export interface RulesProvider {
  /** Null where no valid bundle was ever activated: every call is denied. */
  findActiveRules(tenantId: string): ActiveRules | null;
}

/** Reports to the control plane about pinned tools. */
export interface PinReports {
  /** What the tenant's next heartbeat reports; undefined when there is nothing new. */
  next(tenantId: string): ToolPinReport[] | undefined;
  /** The heartbeat with what `next` gave was received. */
  received(tenantId: string): void;
}
