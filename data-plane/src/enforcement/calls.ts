/**
 * What travels through the pipeline. Each type adds what one more step has established, so that a
 * step that needs an agent cannot be put before the one that finds it.
 */
import type { PolicyInput, PolicyReason } from '@governance/policies/contract';
import type { ActiveRules, PlaneDenial, ReplicaAgent } from '../contracts.ts';
import type { Era, UpstreamPeer, UpstreamSession } from '../upstream/upstream.ts';
import type { Credential } from './credentials.ts';

export type Action = PolicyInput['request']['action'];

/** What a client gives when it makes a request again for which it was asked for input (MRTR). */
export interface CallRetry {
  readonly inputResponses?: Record<string, unknown> | undefined;
  readonly requestState?: string | undefined;
}

/** A tool call as it came in. Everything but `id` and `arrivedAt` is caller-controlled. */
export interface RawCall {
  /** Becomes the id of the decision, which is the audit event's. */
  readonly id: string;
  /** Monotonic milliseconds. */
  readonly arrivedAt: number;
  readonly credential: Credential;
  /** The server that a token must be good for: null at the unified gateway. */
  readonly audienceServerId: string | null;
  readonly serverId: string;
  readonly method: string;
  readonly toolName: string;
  readonly args: Record<string, unknown>;
  readonly retry?: CallRetry | undefined;
  /** Tenant and agent as they were proven at the door, for what only they may find again. */
  readonly owner?: string | undefined;
  /** The gateway's own id of the MCP session, not the secret the client holds. */
  readonly sessionId: string | null;
  readonly requesterId: string | null;
  /** The gateway's own id of the HTTP request, for log lines. */
  readonly requestId: string;
  /** The client, where it has sessions with servers of its own. */
  readonly peer?: UpstreamPeer | undefined;
  /** The era of the client, in which a server that speaks both is spoken to. */
  readonly era?: Era | undefined;
  /** Gateways that it passed before this one. */
  readonly hops?: number | undefined;
  /** Who gets the call instead of the server: a client that the server asks something. */
  readonly recipient?: Pick<UpstreamSession, 'request'>;
}

/** A call whose agent is proven. */
export interface AgentCall extends RawCall {
  readonly tenantId: string;
  readonly agent: ReplicaAgent;
  /** Why it is denied in any case, as it stood when the agent was identified. */
  readonly bar?: Deny;
}

/** A call of which it is known what it wants to do, under which rules. */
export interface ClassifiedCall extends AgentCall {
  /** One snapshot for the whole call: the bundle may be swapped meanwhile. */
  readonly rules: ActiveRules | null;
  readonly action: Action;
  readonly target: string;
}

/** A call that policy allowed. */
export interface JudgedCall extends ClassifiedCall {
  readonly rules: ActiveRules;
  readonly reasons: readonly PolicyReason[];
}

export interface Continue<C> {
  readonly kind: 'continue';
  readonly call: C;
}

/**
 * Why a call is denied: `unauthenticated` and `barred` are answered with -32000 and HTTP 401,
 * `policy` and `plane` (this data plane may let nobody of the tenant act) with -32003, `arguments`
 * (larger than a call's may be) with -32602, `loop` (it has passed too many gateways) with -32603.
 */
export type DenyCause = 'unauthenticated' | 'barred' | 'policy' | 'plane' | 'arguments' | 'loop';

export interface Deny {
  readonly kind: 'deny';
  readonly cause: DenyCause;
  /** For the agent: says what is wrong, quotes no secret. */
  readonly message: string;
  readonly reasons: readonly PolicyReason[];
  /** Of cause `plane`: which. */
  readonly planeReason?: PlaneDenial['reason'];
  /** A permission that would cover the call, where the want of one is why. */
  readonly neededPermission?: string;
  /** For the record, where it may say more than the agent is told. */
  readonly detail?: string;
  /** The challenge that an unauthenticated caller is shown. */
  readonly challenge?: 'basic' | 'bearer';
  /** The token is good, and for another path of the gateway: HTTP 403 (RFC 6750 section 3.1). */
  readonly isForAnotherPath?: true;
}

export interface Escalate {
  readonly kind: 'escalate';
  readonly reasons: readonly PolicyReason[];
}

export type StepResult<C> = Continue<C> | Deny | Escalate;

/**
 * Adds to a call what a step has established. A call belongs to its run of the pipeline and grows
 * in place: three copies on its way cost more than most steps do.
 */
export function extend<C extends object, Added extends object>(call: C, added: Added): C & Added {
  return Object.assign(call, added);
}

/** Passes a call on to the next step. */
export function proceed<C>(call: C): Continue<C> {
  return { kind: 'continue', call };
}
