import { timingSafeEqual } from 'node:crypto';
import type { AskForNews, FindDenial, Replica, ReplicaClient } from '../../contracts.ts';
import type { AgentCall, Caller, Credential, Deny, RawCall, StepResult } from '../call/calls.ts';
import { extend, proceed } from '../call/pipeline-builder.ts';
import {
  currentVersion,
  type EligibilityDeps,
  findCallerIneligibility,
  findIneligibility,
  findTenantIneligibility,
} from '../permission/eligibility.ts';
import {
  type AgentTokenVerifier,
  type ClaimedAgent,
  findClaims,
  type VerifiedToken,
} from '../tokens/agent-token.ts';

/** How long a replica that is behind a token may take to catch up. */
const FEED_WAIT_MS = 1000;

export interface Identity extends Pick<ReplicaClient, 'tenantId' | 'agent' | 'proof'> {
  /**
   * Set where this data plane denies all calls of the tenant, and so cannot catch up with the
   * token. The agent is then the one that the token names, and may do nothing, even if that changes
   * later.
   */
  ineligibility?: Deny;
}

export interface AuthenticateDeps {
  replica: Pick<Replica, 'findAgent' | 'findClient' | 'findCredential' | 'cursor' | 'waitFor'>;
  findDenial: FindDenial;
  askForNews: AskForNews;
  tokens: AgentTokenVerifier;
  /** This gateway's own audience (`gatewayAudience`). */
  audience: string;
  /**
   * Called for each refusal. They are not recorded, since anybody could fill the disk with them.
   */
  onUnauthenticated(reason: string, requestId: string): void;
}

/** Where a credential was shown, and by which request. */
type Arrival = Pick<Caller, 'serverId' | 'requestId'>;

/**
 * Step 1: authenticates the caller by a bearer token of the tenant's issuer, or by HTTP Basic with
 * client id and secret. The agent's state always comes from the replica, not from the token, so
 * that changes apply to the next call.
 */
export function authenticate(
  call: RawCall,
  deps: AuthenticateDeps,
): StepResult<AgentCall> | Promise<StepResult<AgentCall>> {
  const identity = identify(call.caller.credential, call.caller, deps);
  if (identity instanceof Promise) return identity.then((found) => withIdentity(call, found, deps));
  return withIdentity(call, identity, deps);
}

function withIdentity(
  call: RawCall,
  identity: Identity | Deny,
  deps: AuthenticateDeps,
): StepResult<AgentCall> {
  if ('kind' in identity) return identity;
  const { tenantId, agent, ineligibility } = identity;
  const { caller } = call;
  // A credential identifies exactly one agent, so another agent means a fault of the gateway.
  if (tenantId !== caller.tenantId || agent.id !== caller.agent.id) {
    return refuse('another_agent', 'bearer', caller, deps);
  }
  return proceed(extend(call, ineligibility ? { agent, ineligibility } : { agent }));
}

/**
 * Authenticates a credential.
 *
 * @param arrival with the server in the path; null for the unified gateway
 * @returns a promise only where the replica has to catch up with the token, or lacks its key
 */
export function identify(
  credential: Credential,
  arrival: Arrival,
  deps: AuthenticateDeps,
): Identity | Deny | Promise<Identity | Deny> {
  switch (credential.kind) {
    case 'none':
      return refuse('no_credential', 'bearer', arrival, deps);
    case 'malformed':
      return refuse('malformed_header', credential.challenge, arrival, deps);
    case 'basic':
      return identifyClient(credential.clientId, credential.secretHash, arrival, deps);
    case 'bearer':
      return identifyToken(credential.token, credential.tokenHash, arrival, deps);
  }
}

// The secret of an unknown client is compared with this, so that the answer takes as long as for a
// known client.
const NO_HASH = Buffer.alloc(32);

function identifyClient(
  clientId: string,
  secretHash: Buffer,
  arrival: Arrival,
  deps: AuthenticateDeps,
): Identity | Deny {
  const client = deps.replica.findClient(clientId);
  const stored = client ? Buffer.from(client.secretHash, 'hex') : NO_HASH;
  const isEqual = stored.length === 32 && timingSafeEqual(stored, secretHash);
  if (client === undefined || !isEqual) return refuse('bad_client_secret', 'basic', arrival, deps);
  return { tenantId: client.tenantId, agent: client.agent, proof: client.proof };
}

function identifyToken(
  token: string,
  tokenHash: string,
  arrival: Arrival,
  deps: AuthenticateDeps,
): Identity | Deny | Promise<Identity | Deny> {
  const verified = deps.tokens.verify(token, tokenHash);
  if (typeof verified !== 'string') return identifyVerified(verified, arrival, deps);
  // A new key may have been published while this data plane was away. What the token names is not
  // verified.
  const claimed = verified === 'unknown_key' ? findClaims(token) : undefined;
  const asked = claimed === undefined ? null : askFor(claimed, deps);
  if (asked === null) return refuse(verified, 'bearer', arrival, deps);
  return asked.then((news) => {
    const again = deps.tokens.verify(token, tokenHash);
    if (typeof again !== 'string') return identifyVerified(again, arrival, deps);
    if (again !== 'unknown_key' || news === 'current')
      return refuse(again, 'bearer', arrival, deps);
    if (news === 'crowded') {
      return { ...refuse('unknown_key_crowded', 'bearer', arrival, deps), message: CROWDED };
    }
    return { ...refuse('unknown_key_not_asked', 'bearer', arrival, deps), message: NOT_ASKED };
  });
}

/** Strangers do not know ids of agents: a token that names a known one is not queued with them. */
function askFor({ tenantId, agentId }: ClaimedAgent, deps: AuthenticateDeps) {
  const isKnown = deps.replica.findAgent(tenantId, agentId) !== undefined;
  return deps.askForNews(tenantId, isKnown ? agentId : null);
}

function identifyVerified(
  verified: VerifiedToken,
  arrival: Arrival,
  deps: AuthenticateDeps,
): Identity | Deny | Promise<Identity | Deny> {
  const { tenantId, agentId, proof, feedSeq, issuersAudience, audiences } = verified;
  // A control plane's token is for all gateways of its tenant: the control plane's own address
  // stands for them (ADR 21). The token was verified with the keys of the tenant that it names.
  const { serverId } = arrival;
  const isForUs =
    covers(audiences, deps.audience, serverId) || covers(audiences, issuersAudience, serverId);
  if (!isForUs) {
    // A token for one server that is used at another path: the client can ask for another token.
    const isNarrower = audiences.some(
      (audience) =>
        audience.startsWith(`${deps.audience}/`) || audience.startsWith(`${issuersAudience}/`),
    );
    if (!isNarrower) return refuse('wrong_audience', 'bearer', arrival, deps);
    const denial = refuse('insufficient_scope', 'bearer', arrival, deps);
    return { ...denial, isForAnotherPath: true, message: OTHER_PATH };
  }

  const find = (): Identity | Deny => {
    const agent = deps.replica.findAgent(tenantId, agentId);
    if (agent === undefined) return refuse('unknown_agent', 'bearer', arrival, deps);
    if (currentVersion(tenantId, agent, proof, deps.replica) !== proof.version) {
      return refuse('credential_rotated', 'bearer', arrival, deps);
    }
    return { tenantId, agent, proof };
  };
  if (deps.replica.cursor(tenantId) >= feedSeq) return find();
  const ineligibility = findTenantIneligibility(tenantId, deps);
  if (ineligibility) {
    // No facts arrive any more, so waiting would end with a 401 that makes the client discard a
    // valid token. The known facts suffice to answer with the reason, and to record the denial.
    const agent = deps.replica.findAgent(tenantId, agentId);
    if (agent === undefined) return ineligibility;
    const version = currentVersion(tenantId, agent, proof, deps.replica);
    // The credential was revoked, or is not known yet.
    if (version === undefined) return ineligibility;
    if (version > proof.version) return refuse('credential_rotated', 'bearer', arrival, deps);
    return { tenantId, agent, proof, ineligibility };
  }
  void deps.askForNews(tenantId, agentId);
  return deps.replica
    .waitFor(tenantId, feedSeq, FEED_WAIT_MS)
    .then((isThere) => (isThere ? find() : refuse('replica_behind', 'bearer', arrival, deps)));
}

function covers(audiences: readonly string[], gateway: string, serverId: string | null): boolean {
  if (audiences.includes(gateway)) return true;
  return serverId !== null && audiences.includes(`${gateway}/${encodeURIComponent(serverId)}`);
}

const MESSAGES = {
  basic: 'Unauthorized: the client id or the secret is wrong.',
  bearer: 'Unauthorized: a valid, unexpired agent token is required.',
};

const NOT_ASKED =
  'Unauthorized: the key that signed the token is unknown here, and the control plane did not answer.';

const CROWDED =
  'Unauthorized: the key that signed the token is unknown here, and too many requests wait to learn of it from the control plane. Try again.';

const OTHER_PATH = 'Unauthorized: the token is for another MCP server of this gateway.';

function refuse(
  reason: string,
  challenge: 'basic' | 'bearer',
  { requestId }: Arrival,
  deps: AuthenticateDeps,
): Deny {
  deps.onUnauthenticated(reason, requestId);
  return {
    kind: 'deny',
    cause: 'unauthenticated',
    message: MESSAGES[challenge],
    reasons: [],
    detail: reason,
    challenge,
  };
}

export type Door = ReturnType<typeof createDoor>;

/** The gateway's checks before and while it serves a request. Each call repeats them. */
export function createDoor(deps: AuthenticateDeps & EligibilityDeps) {
  // Asks for no news: the caller was known before, and a removed key does not come back.
  const silent = { ...deps, askForNews: () => null };
  return {
    /** Authenticates a credential for the path of a server, or for the unified one (null). */
    identify: (credential: Credential, arrival: Arrival) => identify(credential, arrival, deps),
    /**
     * Why a caller may not act now; undefined where it may. Decided by the present state of agent
     * and credential, since the request may have waited since it arrived.
     */
    findIneligibility: (caller: Caller): Deny | undefined => findCallerIneligibility(caller, deps),
    /** Whether the caller of an open stream may still act: not if suspended, rotated or expired. */
    isStillEligible(caller: Caller): boolean {
      const identity = identify(caller.credential, caller, silent);
      // Synchronous, since the replica had caught up with the token when the stream began.
      if (identity instanceof Promise || 'kind' in identity) return false;
      return findIneligibility(identity, deps) === undefined;
    },
    /** The present permits of the caller's agent. */
    permitsOf: ({ tenantId, agent }: Pick<Caller, 'tenantId' | 'agent'>) =>
      deps.replica.findAgent(tenantId, agent.id)?.permits ?? [],
  };
}
