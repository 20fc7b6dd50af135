/**
 * A call: who makes it (`Caller`), what it asks for (`Ask`) and who answers it (`Destination`).
 * In the pipeline it grows: each type adds what one more step has established, so that a step that
 * needs an agent cannot be put before the one that finds it.
 */

import type { PolicyInput, PolicyReason } from '@governance/policies/contract';
import type { CredentialProof } from '@governance/shared/agent-token';
import type { DlpFinding } from '@governance/shared/detect/findings';
import type { DelegationFact } from '@governance/shared/facts';
import type { RateLimit, RateTier } from '@governance/shared/rate-limit-settings';
import type { ActiveRules, PlaneDenial, ReplicaAgent } from '../contracts.ts';
import type { Approval } from '../holds/held-calls.ts';
import type { Era, UpstreamExchange, UpstreamPeer } from '../upstream/upstream.ts';
import type { Answer, Refusal } from './answer.ts';

export type Action = PolicyInput['request']['action'];

declare const agentKey: unique symbol;
/** Names an agent of a tenant in maps and seals. Only `agentKeyOf` (eligibility.ts) makes one. */
export type AgentKey = string & { readonly [agentKey]: true };

/**
 * What an Authorization header claims. Neither a token nor a secret is kept longer than the request:
 * what is looked up is a hash.
 */
export type Credential =
  | { readonly kind: 'none' }
  /** A header in no form that is accepted. */
  | { readonly kind: 'malformed'; readonly challenge: 'basic' | 'bearer' }
  | { readonly kind: 'bearer'; readonly token: string; readonly tokenHash: string }
  | { readonly kind: 'basic'; readonly clientId: string; readonly secretHash: Buffer };

/** Who sent a request: the agent was proven when the request arrived. */
export interface Caller {
  readonly tenantId: string;
  /** As it was at arrival. */
  readonly agent: ReplicaAgent;
  readonly key: AgentKey;
  /** Set at arrival where the agent may not act whatever changes meanwhile. */
  readonly bar?: Deny | undefined;
  readonly credential: Credential;
  /** Which of the agent's credentials it is, as it was at arrival. */
  readonly proof: CredentialProof;
  /** The server of the path, which a token must be good for; null at the unified gateway. */
  readonly serverId: string | null;
  /** The gateway's own id of the MCP session, not the secret that the client holds. */
  readonly sessionId: string | null;
  readonly requesterId: string | null;
  /** What the request says of the workflow that it belongs to; absent: nothing. Caller-controlled. */
  readonly workflow?: WorkflowHeaders | undefined;
  /** The gateway's own id of the HTTP request, for log lines. */
  readonly requestId: string;
  /** The client, where servers may ask it something. */
  readonly peer?: UpstreamPeer | undefined;
  /** The era of the client; a server that speaks both is spoken to in it. Absent: legacy. */
  readonly era?: Era | undefined;
  /** Gateways that the request passed before this one. */
  readonly hops: number;
  /** Monotonic milliseconds. */
  readonly arrivedAt: number;
}

/** The headers of a workflow, as they came; null where there is none. */
export interface WorkflowHeaders {
  readonly sessionToken: string | null;
  readonly delegationToken: string | null;
  readonly parentEventId: string | null;
  /** Tells the client which event the call is, so that it can name it as a parent. */
  tellEvent?(eventId: string): void;
}

/** What a client gives when it makes a request again for which it was asked for input (MRTR). */
export interface CallRetry {
  readonly inputResponses?: Record<string, unknown> | undefined;
  readonly requestState?: string | undefined;
}

/** What is recorded of a call to a language model in the place of what it says. */
export interface ModelCall {
  /** The model's; null where the call names none, as a list of models. */
  readonly name: string | null;
  readonly has_system_prompt: boolean;
  readonly has_tools: boolean;
  readonly message_count: number;
}

/** What is asked for, in the server's own names. Caller-controlled. */
export interface Ask {
  readonly serverId: string;
  readonly method: string;
  /** The tool's name; for a method that calls no tool `nameOfMethod` of it. */
  readonly name: string;
  readonly args: Record<string, unknown>;
  readonly retry?: CallRetry | undefined;
  /** Set for every call to a language model, and for no other. Its content is kept nowhere. */
  readonly model?: ModelCall | undefined;
}

/** Who answers: a server, a client that is asked something, a list, a parked call, a model. */
export interface Destination {
  /** Whose words the answer is: a server's are inspected as such. */
  readonly speaker: 'server' | 'client' | 'gateway' | 'model';
  /**
   * Answers an allowed call. Called once, after the decision is on disk.
   *
   * @throws UpstreamFailure, or a Refusal
   */
  send(call: JudgedCall, exchange: Exchange): Promise<Answer>;
}

/** The client's end of a call while it waits for the answer. */
export interface Exchange extends UpstreamExchange {
  readonly wantsProgress: boolean;
  /**
   * Told when the client has left; at once where it has. Absent where no client waits: such a call
   * is not held for a person.
   *
   * @returns ends the telling
   */
  onGone?(listener: () => void): () => void;
}

/** A call as it enters the pipeline. */
export interface RawCall {
  /** Becomes the id of the decision, which is the audit event's. */
  readonly id: string;
  readonly caller: Caller;
  readonly ask: Ask;
  /** Set when a person approved the call while it was held. */
  readonly grant?: HoldGrant | undefined;
}

/** A person's approval of a held call, which is used once. */
export interface HoldGrant extends Approval {
  /** Whether a call is the one that was approved, judged under the rules of now. */
  covers(call: JudgedCall): boolean;
  /** Of a released result: it answers in the place of the server, which has answered already. */
  readonly destination?: Destination;
}

/** A call whose agent is proven. */
export interface AgentCall extends RawCall {
  /** As it is now: looked up anew after each wait. */
  readonly agent: ReplicaAgent;
  /** See `Caller.bar`. */
  readonly bar?: Deny;
  /** The workflow session that it belongs to, if any (2d). */
  readonly workflow?: WorkflowPlace;
  /** In whose place it is made, if in anybody's (2e). */
  readonly delegation?: DelegationChain;
  /** For whom it is made, where a delegation says that. */
  readonly requester?: { readonly id: string; readonly verified: boolean };
}

/** Where a call stands in a workflow. */
export interface WorkflowPlace {
  readonly sessionId: string;
  readonly workflowId: string;
  readonly maxDepth: number;
  /** Of the agent in the workflow. */
  readonly role: string;
  /** What the agent may do there; null where a delegation alone makes it a participant. */
  readonly allowedActions: readonly string[] | null;
  /** What each delegator that takes part may do there: a delegated call lies within all of them. */
  readonly delegatorsActions: readonly (readonly string[])[];
  /** 0 at the beginning of a chain of events. */
  readonly causalDepth: number;
  readonly parentEventId: string | null;
}

/** Delegations from the first to the one that the call was made with. */
export interface DelegationChain {
  readonly links: readonly DelegationLink[];
  /** The last one. */
  readonly held: DelegationFact;
}

export interface DelegationLink {
  readonly delegation: DelegationFact;
  /** As it is now. */
  readonly delegator: ReplicaAgent;
}

/** A call of which it is known what it wants to do, under which rules. */
export interface ClassifiedCall extends AgentCall {
  /** One snapshot for the whole call: the bundle may be swapped meanwhile. */
  readonly rules: ActiveRules | null;
  readonly action: Action;
  readonly target: string;
  /** What a person has to approve, whatever policy allows; a denial of policy wins. */
  readonly carried?: readonly PolicyReason[];
}

/** What the scan of a call for sensitive data found. */
export interface CallDlp {
  readonly findings: readonly DlpFinding[];
  /** The strongest of what was done about them; null where nothing was found. */
  readonly action: 'blocked' | 'warned' | 'logged' | null;
}

/** A call that was scanned for sensitive data. */
export interface ScannedCall extends ClassifiedCall {
  readonly dlp: CallDlp;
}

/** A call that policy allowed. */
export interface JudgedCall extends ScannedCall {
  readonly rules: ActiveRules;
  readonly reasons: readonly PolicyReason[];
  /** Of a call that is escalated all the same, too. */
  readonly lifted?: Lifted;
}

/** What exceptions took away of a verdict. */
export interface Lifted {
  /** At least one. */
  readonly exceptionIds: readonly string[];
  readonly reasons: readonly PolicyReason[];
}

export interface Continue<C> {
  readonly kind: 'continue';
  readonly call: C;
}

/**
 * Why a call is denied: `unauthenticated` and `ineligible` are answered with -32000 and HTTP 401,
 * `policy` and `plane` (this data plane may let nobody of the tenant act) with -32003, `arguments`
 * (larger than a call's may be) with -32602, `loop` (it has passed too many gateways) with -32603,
 * `rate` (its agent calls too often) with -32005: it alone leaves no decision (refused-calls.ts).
 */
export type DenyCause =
  | 'unauthenticated'
  | 'ineligible'
  | 'policy'
  | 'plane'
  | 'arguments'
  | 'loop'
  | 'rate';

/** Of a refused call: by which limit. */
export interface ExceededLimit extends RateLimit {
  readonly tier: RateTier;
  /** Seconds, 1 or more. */
  readonly retryAfter: number;
}

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
  /** Of cause `rate`: which limit. */
  readonly exceeded?: ExceededLimit;
  /** For the record, where it may say more than the agent is told. */
  readonly detail?: string;
  /** The challenge that an unauthenticated caller is shown. */
  readonly challenge?: 'basic' | 'bearer';
  /** Of an inspection: what is answered in the place of what was said. */
  readonly refusal?: Refusal;
  /** The token is good, and for another path of the gateway: HTTP 403 (RFC 6750 section 3.1). */
  readonly isForAnotherPath?: true;
}

export interface Escalate {
  readonly kind: 'escalate';
  readonly reasons: readonly PolicyReason[];
}

export type StepResult<C> = Continue<C> | Deny | Escalate;
