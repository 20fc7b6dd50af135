/**
 * A call: who makes it (`Caller`), what it asks for (`Ask`) and who answers it (`Destination`).
 * Each call type adds what one more step of the pipeline has established, so that a step that needs
 * an agent cannot precede the one that finds it.
 */

import type { PolicyInput, PolicyReason } from '@governance/policies/contract';
import type { DelegationFact } from '@governance/shared/channel/facts';
import type { DlpFinding } from '@governance/shared/detect/findings';
import type { RateLimit, RateTier } from '@governance/shared/settings/rate-limit-settings';
import type { CredentialProof } from '@governance/shared/tokens/agent-token';
import type { ActiveRules, PlaneDenial, ReplicaAgent } from '../../contracts.ts';
import type { Approval } from '../../holds/kept-hold.ts';
import type { Era, UpstreamExchange, UpstreamPeer } from '../../upstream/upstream.ts';
import type { Answer, Refusal } from './answer.ts';
import type { Marks } from './cover-texts.ts';

export type Action = PolicyInput['request']['action'];

declare const agentKey: unique symbol;
/**
 * Identifies an agent of a tenant in maps and seals. Only `agentKeyOf` (eligibility.ts) makes one.
 */
export type AgentKey = string & { readonly [agentKey]: true };

/**
 * The credential in an Authorization header, unverified. Tokens and secrets are not kept beyond the
 * request: look-ups use a hash.
 */
export type Credential =
  | { readonly kind: 'none' }
  /** A header in no accepted form. */
  | { readonly kind: 'malformed'; readonly challenge: 'basic' | 'bearer' }
  | { readonly kind: 'bearer'; readonly token: string; readonly tokenHash: string }
  | { readonly kind: 'basic'; readonly clientId: string; readonly secretHash: Buffer };

/** The sender of a request: the agent was authenticated when the request arrived. */
export interface Caller {
  readonly tenantId: string;
  /** The agent's state at arrival. */
  readonly agent: ReplicaAgent;
  readonly key: AgentKey;
  /** Set at arrival when the agent may not act: the call is denied even if that changes later. */
  readonly ineligibility?: Deny | undefined;
  readonly credential: Credential;
  /** The agent's credential that was used, in its state at arrival. */
  readonly proof: CredentialProof;
  /** The server in the path, for which a token must be valid; null at the unified gateway. */
  readonly serverId: string | null;
  /** The gateway's own id of the MCP session, not the client's secret session id. */
  readonly sessionId: string | null;
  readonly requesterId: string | null;
  /** The request's claims about its workflow; absent: none. Caller-controlled. */
  readonly workflow?: WorkflowHeaders | undefined;
  /** The gateway's own id of the HTTP request, for log lines. */
  readonly requestId: string;
  /** The client, where servers are told of it, or may ask it questions. */
  readonly peer?: UpstreamPeer | undefined;
  /** The client's era; a dual-era server is addressed in it. Absent: legacy. */
  readonly era?: Era | undefined;
  /** The number of gateways that the request passed before this one. */
  readonly hops: number;
  /** Monotonic milliseconds. */
  readonly arrivedAt: number;
}

/** The headers of a workflow as received; null where there is none. */
export interface WorkflowHeaders {
  readonly sessionToken: string | null;
  readonly delegationToken: string | null;
  readonly parentEventId: string | null;
  /** Gives the client the call's event id, which later calls can name as their parent. */
  announceEvent?(eventId: string): void;
  /** The call is judged again: the id announced next replaces the one announced before. */
  announceAgain?(): void;
}

/** What a client adds when it repeats a request after it was asked for input (MRTR). */
export interface CallRetry {
  readonly inputResponses?: Record<string, unknown> | undefined;
  readonly requestState?: string | undefined;
}

/** What is recorded of a call to a language model instead of its content. */
export interface ModelCall {
  /** The model's name; null where the call names none, as a list of models does. */
  readonly name: string | null;
  readonly has_system_prompt: boolean;
  readonly has_tools: boolean;
  readonly message_count: number;
}

/** What is asked for, in the server's own names. Caller-controlled. */
export interface Ask {
  /** Empty where no server is named: a list of the unified gateway, a name that nobody has. */
  readonly serverId: string;
  readonly method: string;
  /** The tool's name, or `nameOfMethod` of a method that calls no tool. */
  readonly name: string;
  readonly args: Record<string, unknown>;
  readonly retry?: CallRetry | undefined;
  /** Whether `args.taskId` is proven to be the server's own id of a task: no text of the agent's. */
  readonly hasProvenTask?: boolean | undefined;
  /** Set only for calls to a language model. Their content is stored nowhere. */
  readonly model?: ModelCall | undefined;
}

/** Who answers a call: a server, a client that is asked, a list, a parked call, a model. */
export interface Destination {
  /** The author of the answer, which inspection depends on. */
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
   * Who sent the newest request for this call: after a wait, that one's credential counts. Null
   * while no request waits; one that comes for the answer is judged then. Absent where a call has
   * one request only.
   */
  readonly sender?: (() => Caller | null) | undefined;
  /**
   * The request's body counts, beyond the request, for a call that outlives it. Returns what ends
   * that.
   */
  keepBody?(): () => void;
  /**
   * Calls back when the client has left; at once if it already has. Absent where no client waits:
   * such a call is not held for a person.
   *
   * @returns the unsubscribe
   */
  onGone?(listener: () => void): () => void;
}

/** A call as it enters the pipeline. */
export interface RawCall {
  /** Also the id of the decision, and so of the audit event. */
  readonly id: string;
  readonly caller: Caller;
  readonly ask: Ask;
  /** Set when a person approved the call while it was held. */
  readonly grant?: HoldGrant | undefined;
}

/** A person's approval of a held call, usable once. */
export interface HoldGrant extends Approval {
  /** Whether this call, judged under the present rules, is the one that was approved. */
  covers(call: JudgedCall): boolean;
  /** For a released result: gives it in place of the server, which has answered already. */
  readonly destination?: Destination;
}

/** A call whose agent is authenticated. */
export interface AgentCall extends RawCall {
  /** The agent's present state, looked up again after each wait. */
  readonly agent: ReplicaAgent;
  /** See `Caller.ineligibility`. */
  readonly ineligibility?: Deny;
  /** The call's place in a workflow session, if any (2d). */
  readonly workflow?: WorkflowPlace;
  /** The delegation under which the call is made, if any (2e). */
  readonly delegation?: DelegationChain;
  /** Findings in the joined pieces of several calls; set once joined, which is done once per call. */
  readonly fragments?: readonly DlpFinding[] | undefined;
  /** Kinds of findings that were counted and raised: when judged again, only new ones are. */
  readonly reported?: ReadonlySet<string> | undefined;
  /** The requester, where a delegation names one. */
  readonly requester?: { readonly id: string; readonly verified: boolean };
}

/** A call's place in a workflow. */
export interface WorkflowPlace {
  readonly sessionId: string;
  readonly workflowId: string;
  readonly maxDepth: number;
  /** The agent's role in the workflow. */
  readonly role: string;
  /** What the agent may do there; null where only a delegation makes it a participant. */
  readonly allowedActions: readonly string[] | null;
  /**
   * What each participating delegator may do there. A delegated call must be within all of these.
   */
  readonly delegatorsActions: readonly (readonly string[])[];
  /** 0 at the beginning of a chain of events. */
  readonly causalDepth: number;
  readonly parentEventId: string | null;
}

/** Delegations from the first to the one that the call was made with. */
export interface DelegationChain {
  readonly links: readonly DelegationLink[];
  /** The last one. */
  readonly last: DelegationFact;
}

export interface DelegationLink {
  readonly delegation: DelegationFact;
  /** Its present state. */
  readonly delegator: ReplicaAgent;
}

/** A call whose action and rules are known. */
export interface ClassifiedCall extends AgentCall {
  /** One snapshot for the whole call, since the bundle may be swapped in the meantime. */
  readonly rules: ActiveRules | null;
  readonly action: Action;
  readonly target: string;
  /** What it does by the operation that it asks for, where its tool does several. */
  readonly operation?: Action | undefined;
  /** Whether an argument that its tool declares asks for a dry run. */
  readonly isDryRun?: boolean;
  /** Reasons that a person has to approve even where policy allows; a policy's denial wins. */
  readonly carried?: readonly PolicyReason[];
}

/** What the scan of a call for sensitive data found. */
export interface CallDlp {
  readonly findings: readonly DlpFinding[];
  /** The strictest action taken on them; null where nothing was found. */
  readonly action: 'blocked' | 'warned' | 'logged' | null;
  /** Texts that no record may quote: see `SentScan`. Absent where nothing was found. */
  readonly matched?: Marks | null;
}

/** A call that was scanned for sensitive data. */
export interface ScannedCall extends ClassifiedCall {
  readonly dlp: CallDlp;
  /** The time that policies saw, in Unix milliseconds; absent before they are asked. */
  readonly judgedAt?: number;
}

/** A call that policy allowed. */
export interface JudgedCall extends ScannedCall {
  readonly rules: ActiveRules;
  readonly reasons: readonly PolicyReason[];
  /** Also set for a call that is still escalated. */
  readonly lifted?: Lifted;
}

/** What exceptions lifted of a verdict. */
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
 * `policy` and `plane` (this data plane denies all calls of the tenant) with -32003, `arguments`
 * (over the limits of a call) with -32602, `loop` (too many gateways passed) with -32603, `rate`
 * (too many calls of the agent) with -32005. Denials with `exceeded` leave no decision
 * (refused-calls.ts), nor do calls whose agent is unknown.
 */
export type DenyCause =
  | 'unauthenticated'
  | 'ineligible'
  | 'policy'
  | 'plane'
  | 'arguments'
  | 'loop'
  | 'rate';

/** The limit that a refused call exceeded. */
export interface ExceededLimit extends RateLimit {
  readonly tier: RateTier;
  /** Seconds, 1 or more. */
  readonly retryAfter: number;
}

export interface Deny {
  readonly kind: 'deny';
  readonly cause: DenyCause;
  /** For the agent: what is wrong, without secrets. */
  readonly message: string;
  readonly reasons: readonly PolicyReason[];
  /** Set where the cause is `plane`. */
  readonly planeReason?: PlaneDenial['reason'];
  /** A permission that would cover the call, if its absence is the reason. */
  readonly neededPermission?: string;
  /**
   * Set where the agent is over its rate limit: with the cause `rate`, or with the cause for which
   * it may not act anyway.
   */
  readonly exceeded?: ExceededLimit;
  /** For the record: may say more than `message`. */
  readonly detail?: string;
  /** The challenge for an unauthenticated caller. */
  readonly challenge?: 'basic' | 'bearer';
  /** Set by an inspection: the answer in place of the blocked part. */
  readonly refusal?: Refusal;
  /** The token is valid for another path of the gateway: HTTP 403 (RFC 6750 section 3.1). */
  readonly isForAnotherPath?: true;
}

export interface Escalate {
  readonly kind: 'escalate';
  readonly reasons: readonly PolicyReason[];
}

/**
 * What earlier steps went by has changed during a step's wait: the call is judged again from the
 * step that classifies it.
 */
export interface Again {
  readonly kind: 'again';
  readonly call: AgentCall;
  readonly from: 'classify';
}

export type StepResult<C> = Continue<C> | Deny | Escalate | Again;
