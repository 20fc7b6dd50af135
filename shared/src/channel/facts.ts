/**
 * The facts that travel down the feed and that enforcement reads from its replica. A fact is the
 * whole present value of (kind, key); null is a tombstone.
 */

import { z } from 'zod';
import { KeyHistory } from '../evidence/key-history.ts';
import { RiskTier } from '../ledger/ledger-record.ts';
import { Id, Sha256Hex, Text, Timestamp } from '../text.ts';
import { BLAST_RADIUS, ExceptionLifts } from './exceptions.ts';

export const AgentStatus = z.enum(['active', 'suspended', 'deprovisioned']);
export type AgentStatus = z.infer<typeof AgentStatus>;

/** key: the agent's id. */
export const AgentFact = z.strictObject({
  id: Id,
  name: Text,
  agent_type: Text,
  owner: Text,
  status: AgentStatus,
  risk_score: z.number().min(0).max(100),
  risk_tier: RiskTier,
  client_id: Text,
  /** SHA-256 of the client secret. */
  secret_hash: Sha256Hex,
  /** Raised by each rotation; a token with another version is refused. */
  credential_version: z.int().positive(),
  /** The newest kill-switch generation this agent was released from. */
  kill_released_generation: z.int().nonnegative(),
  role_ids: z.array(Id),
});
export type AgentFact = z.infer<typeof AgentFact>;

/** Credentials that an agent may have beside its first one. */
export const MAX_AGENT_CREDENTIALS = 20;

/**
 * key: the credential's id. An additional client id and secret of an agent. It only admits, and
 * never restricts: a data plane that does not know it refuses the credential.
 */
export const AgentCredentialFact = z.strictObject({
  id: Id,
  agent_id: Id,
  client_id: Text,
  /** SHA-256 of the client secret. */
  secret_hash: Sha256Hex,
  /** Raised by each rotation. */
  version: z.int().positive(),
});
export type AgentCredentialFact = z.infer<typeof AgentCredentialFact>;

/** key: the role's id. */
export const RoleFact = z.strictObject({
  id: Id,
  name: Text,
  permissions: z.array(Text),
  resource_scopes: z.array(Text),
});
export type RoleFact = z.infer<typeof RoleFact>;

/**
 * key: the role's id. The permissions of a role with `resource_scopes`, within them; its `role`
 * fact then permits nothing. A data plane that does not know this kind of fact does not know the
 * scopes either, so the role permits nothing there.
 */
export const ScopedRoleFact = RoleFact.omit({ name: true });

/** key: `tenant`. */
export const KillSwitchFact = z.strictObject({
  generation: z.int().nonnegative(),
  engaged: z.boolean(),
  reason: Text.nullable(),
  changed_at: Timestamp,
});
export type KillSwitchFact = z.infer<typeof KillSwitchFact>;

/** key: `current`. The public keys that agent tokens may be signed with. */
export const TokenKeysFact = z.strictObject({
  issuer: Text,
  keys: z.array(z.looseObject({ kty: z.string(), kid: z.string(), alg: z.string() })),
});
export type TokenKeysFact = z.infer<typeof TokenKeysFact>;

/** key: `current`. Announces a newer bundle. */
export const BundleFact = z.strictObject({
  revision: z.int().positive(),
  /** SHA-256 of the tar.gz. */
  digest: Sha256Hex,
});

/** key: `<deployment_id>/<server_id>`. A compact JWE (ECDH-ES on X25519) only that plane opens. */
export const UpstreamCredentialFact = z.strictObject({
  server_id: Text,
  deployment_id: Id,
  jwe: z.string(),
});

/**
 * key: the deployment's id. The tenant's key for hashing identifiers, sealed as a credential is.
 * There is one for each data plane while `hash_identifiers` is on. A data plane that does not know
 * this kind of fact would record identifiers in clear, and so denies the tenant's calls.
 */
export const IdentifierKeyFact = z.strictObject({
  deployment_id: Id,
  jwe: z.string(),
});

/** How a held result is handed over: unchanged, or without the passages that were found. */
export const ResultRelease = z.enum(['original', 'sanitized']);
export type ResultRelease = z.infer<typeof ResultRelease>;

/**
 * key: `<deployment_id>/<escalation_id>`. How an escalation ended, for the data plane that holds
 * the call or its result. It permits and never restricts: an unread one leaves the hold to its
 * time-out.
 */
export const EscalationFact = z.strictObject({
  escalation_id: Id,
  deployment_id: Id,
  resolution: z.enum(['approved', 'denied', 'timed_out']),
  resolved_at: Timestamp,
  /** Only set for `approved`: the call may be made once, until then. */
  grant: z.strictObject({ id: Id, expires_at: Timestamp }).nullable(),
  /** Only set for an approved result: how the agent may see it. */
  release: ResultRelease.optional(),
});
export type EscalationFact = z.infer<typeof EscalationFact>;

/**
 * key: the exception's id; an ended one has no fact. It lifts an escalation of its shape, or the
 * denial of one policy for one agent. A null member narrows nothing. It permits and never
 * restricts: a data plane that does not know this kind of fact keeps asking people.
 */
export const ExceptionFact = z
  .strictObject({
    id: Id,
    lifts: ExceptionLifts,
    agent_id: Id.nullable(),
    mcp_server: Text.nullable(),
    tool_name: Text.nullable(),
    /** As in `target:` of a role's scopes; empty: calls without any target. */
    resource: Text.nullable(),
    /** A policy's id, or `BLAST_RADIUS`. */
    policy_id: Text.nullable(),
    expires_at: Timestamp,
  })
  .refine(
    ({ agent_id, mcp_server, tool_name, resource, policy_id }) =>
      [agent_id, mcp_server, tool_name, resource, policy_id].some((target) => target !== null),
    'must be narrowed to something',
  )
  .refine(
    ({ lifts, agent_id, policy_id }) =>
      lifts !== 'deny' || (agent_id !== null && policy_id !== null && policy_id !== BLAST_RADIUS),
    'must name an agent and a policy to lift a denial',
  );
export type ExceptionFact = z.infer<typeof ExceptionFact>;

/**
 * key: the binding. A call, or its result, that waits at one data plane, and how it ended, for the
 * tenant's other data planes: they answer the same call with that state. It permits nothing.
 */
export const HeldCallFact = z.strictObject({
  escalation_id: Id,
  /** The data plane that holds it. */
  deployment_id: Id,
  agent_id: Id,
  held: z.enum(['call', 'result']),
  status: z.enum(['pending', 'approved', 'denied', 'timed_out']),
  timeout_at: Timestamp,
  /** For one that is not pending: until when the end is reported. */
  told_until: Timestamp.nullable(),
});
export type HeldCallFact = z.infer<typeof HeldCallFact>;

/** Agents of a workflow, at most, and actions of one of them. */
export const MAX_PARTICIPANTS = 100;
export const MAX_ALLOWED_ACTIONS = 50;
/** The greatest depth of a chain of events or delegations. */
export const MAX_WORKFLOW_DEPTH = 64;

/** key: the workflow's id. */
export const WorkflowFact = z.strictObject({
  id: Id,
  status: z.enum(['active', 'suspended']),
  owner_agent_id: Id,
  max_depth: z.int().nonnegative().max(MAX_WORKFLOW_DEPTH),
  participants: z
    .array(
      z.strictObject({
        agent_id: Id,
        role: Text,
        allowed_actions: z.array(Text).max(MAX_ALLOWED_ACTIONS),
      }),
    )
    .max(MAX_PARTICIPANTS),
});
export type WorkflowFact = z.infer<typeof WorkflowFact>;

/** key: the session's id. An ended session has no fact. */
export const WorkflowSessionFact = z.strictObject({
  id: Id,
  workflow_id: Id,
  expires_at: Timestamp,
});
export type WorkflowSessionFact = z.infer<typeof WorkflowSessionFact>;

/** key: the delegation's id. One that was revoked, or whose session has ended, has no fact. */
export const DelegationFact = z.strictObject({
  id: Id,
  workflow_session_id: Id,
  parent_delegation_id: Id.nullable(),
  delegator_agent_id: Id,
  delegatee_agent_id: Id,
  depth: z.int().positive().max(MAX_WORKFLOW_DEPTH),
  tools: z.array(Text).min(1).max(200),
  resources: z.array(Text).min(1).max(200),
  /** The requester for whom the delegatee acts. */
  requester: Text,
  expires_at: Timestamp,
});
export type DelegationFact = z.infer<typeof DelegationFact>;

export const FACTS = {
  agent: AgentFact,
  'optional.agent_credential': AgentCredentialFact,
  role: RoleFact,
  scoped_role: ScopedRoleFact,
  kill_switch: KillSwitchFact,
  token_keys: TokenKeysFact,
  bundle: BundleFact,
  upstream_credential: UpstreamCredentialFact,
  identifier_key: IdentifierKeyFact,
  'optional.escalation': EscalationFact,
  'optional.held_call': HeldCallFact,
  'optional.exception': ExceptionFact,
  workflow: WorkflowFact,
  workflow_session: WorkflowSessionFact,
  delegation: DelegationFact,
  /**
   * keys: `workflow`, `delegation`. The keys that sign tokens of those classes: they restrict
   * nothing.
   */
  'optional.session_token_keys': TokenKeysFact,
  /** key: `current`. The keys of bundles and of the feed. */
  'optional.key_history': KeyHistory,
} as const;
export type FactKind = keyof typeof FACTS;
export type FactOf<K extends FactKind> = z.infer<(typeof FACTS)[K]>;

/**
 * Prefix of a kind that a data plane may ignore. An unknown kind is stored for a newer version;
 * unless it is optional, the tenant's calls are denied meanwhile.
 */
export const OPTIONAL_KIND = 'optional.';

/** One entry of a tenant's feed. */
export const FeedEntry = z.strictObject({
  seq: z.int().positive(),
  kind: z.string(),
  key: z.string(),
  value: z.unknown().nullable(),
});
export type FeedEntry = z.infer<typeof FeedEntry>;

/** A fact as a control-plane feature appends it, before it has a sequence number. */
export type NewFact = {
  [K in FactKind]: { kind: K; key: string; value: FactOf<K> | null };
}[FactKind];

/**
 * Whether an agent may act, given the tenant's kill switch: the same for display and enforcement.
 */
export function effectiveAgentStatus(
  agent: Pick<AgentFact, 'status' | 'kill_released_generation'>,
  killSwitch: Pick<KillSwitchFact, 'engaged' | 'generation'> | null,
): AgentStatus {
  if (agent.status !== 'active') return agent.status;
  const caught = killSwitch?.engaged && agent.kill_released_generation < killSwitch.generation;
  return caught ? 'suspended' : 'active';
}
