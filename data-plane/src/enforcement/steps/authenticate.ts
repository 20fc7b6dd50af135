import { timingSafeEqual } from 'node:crypto';
import type { CredentialProof } from '@governance/shared/agent-token';
import type { AskForNews, FindDenial, Replica, ReplicaAgent } from '../../contracts.ts';
import {
  type AgentTokenVerifier,
  type ClaimedAgent,
  findClaims,
  type VerifiedToken,
} from '../agent-token.ts';
import type { AgentCall, Caller, Credential, Deny, RawCall, StepResult } from '../calls.ts';
import {
  currentVersion,
  type EligibilityDeps,
  findIneligibility,
  findTenantIneligibility,
} from '../eligibility.ts';
import { extend, proceed } from '../pipeline-builder.ts';

/** How long a replica that is behind a token may take to catch up. */
const FEED_WAIT_MS = 1000;

export interface Identity {
  tenantId: string;
  agent: ReplicaAgent;
  proof: CredentialProof;
  /**
   * Set where this data plane denies all calls, and so cannot catch up with the token: the agent is
   * the one that the token names, and nothing may be done for it, whatever changes later.
   */
  bar?: Deny;
}

export interface AuthenticateDeps {
  replica: Pick<Replica, 'findAgent' | 'findClient' | 'findCredential' | 'cursor' | 'waitFor'>;
  findDenial: FindDenial;
  askForNews: AskForNews;
  tokens: AgentTokenVerifier;
  /** `gatewayAudience` of this gateway. */
  audience: string;
  /** Called for each refusal: none is recorded, since anybody could fill the disk that way. */
  onUnauthenticated(reason: string): void;
}

/**
 * Step 1: who calls. A bearer token of this tenant's issuer, or HTTP Basic with the client id and
 * secret. The agent itself always comes from the replica, so that changes there apply to the next
 * call, whatever a token says.
 */
export function authenticate(
  call: RawCall,
  deps: AuthenticateDeps,
): StepResult<AgentCall> | Promise<StepResult<AgentCall>> {
  const identity = identify(call.caller.credential, call.caller.serverId, deps);
  if (identity instanceof Promise) return identity.then((found) => withIdentity(call, found, deps));
  return withIdentity(call, identity, deps);
}

function withIdentity(
  call: RawCall,
  identity: Identity | Deny,
  deps: AuthenticateDeps,
): StepResult<AgentCall> {
  if ('kind' in identity) return identity;
  const { tenantId, agent, bar } = identity;
  const { caller } = call;
  // A credential identifies exactly one agent: anything else is a fault of the gateway.
  if (tenantId !== caller.tenantId || agent.id !== caller.agent.id) {
    return refuse('another_agent', 'bearer', deps);
  }
  return proceed(extend(call, bar ? { agent, bar } : { agent }));
}

/**
 * Authenticates a credential.
 *
 * @param serverId the one server that is asked for, null for the unified gateway
 * @returns at once, unless the replica has to catch up with the token
 */
export function identify(
  credential: Credential,
  serverId: string | null,
  deps: AuthenticateDeps,
): Identity | Deny | Promise<Identity | Deny> {
  switch (credential.kind) {
    case 'none':
      return refuse('no_credential', 'bearer', deps);
    case 'malformed':
      return refuse('malformed_header', credential.challenge, deps);
    case 'basic':
      return identifyClient(credential.clientId, credential.secretHash, deps);
    case 'bearer':
      return identifyToken(credential.token, credential.tokenHash, serverId, deps);
  }
}

// Compared with for an unknown client, so that its answer takes as long as a known one's.
const NO_HASH = Buffer.alloc(32);

function identifyClient(
  clientId: string,
  secretHash: Buffer,
  deps: AuthenticateDeps,
): Identity | Deny {
  const client = deps.replica.findClient(clientId);
  const stored = client ? Buffer.from(client.secretHash, 'hex') : NO_HASH;
  const isEqual = stored.length === 32 && timingSafeEqual(stored, secretHash);
  if (client === undefined || !isEqual) return refuse('bad_client_secret', 'basic', deps);
  return { tenantId: client.tenantId, agent: client.agent, proof: client.proof };
}

function identifyToken(
  token: string,
  tokenHash: string,
  serverId: string | null,
  deps: AuthenticateDeps,
): Identity | Deny | Promise<Identity | Deny> {
  const verified = deps.tokens.verify(token, tokenHash);
  if (typeof verified !== 'string') return identifyVerified(verified, serverId, deps);
  // The newest tokens may be signed by a key published while this data plane was away. The id may
  // be made up.
  const claimed = verified === 'unknown_key' ? findClaims(token) : undefined;
  const asked = claimed === undefined ? null : askFor(claimed, deps);
  if (asked === null) return refuse(verified, 'bearer', deps);
  return asked.then((news) => {
    const again = deps.tokens.verify(token, tokenHash);
    if (typeof again !== 'string') return identifyVerified(again, serverId, deps);
    if (again !== 'unknown_key' || news === 'current') return refuse(again, 'bearer', deps);
    if (news === 'crowded') {
      return { ...refuse('unknown_key_crowded', 'bearer', deps), message: CROWDED };
    }
    return { ...refuse('unknown_key_not_asked', 'bearer', deps), message: NOT_ASKED };
  });
}

/** An agent's id is nothing that strangers know: who names one does not wait among those. */
function askFor({ tenantId, agentId }: ClaimedAgent, deps: AuthenticateDeps) {
  const isKnown = deps.replica.findAgent(tenantId, agentId) !== undefined;
  return deps.askForNews(tenantId, isKnown ? agentId : null);
}

function identifyVerified(
  verified: VerifiedToken,
  serverId: string | null,
  deps: AuthenticateDeps,
): Identity | Deny | Promise<Identity | Deny> {
  const { tenantId, agentId, proof, feedSeq, issuersAudience, audiences } = verified;
  // A control plane's token is for its tenant's gateways, wherever they are: its own address stands
  // for them (ADR 21). The tenant is the token's, and so are the keys it was checked with.
  const isForUs =
    covers(audiences, deps.audience, serverId) || covers(audiences, issuersAudience, serverId);
  if (!isForUs) {
    // Narrowed to one server, but used elsewhere: the client can ask for another.
    const isNarrower = audiences.some(
      (audience) =>
        audience.startsWith(`${deps.audience}/`) || audience.startsWith(`${issuersAudience}/`),
    );
    if (!isNarrower) return refuse('wrong_audience', 'bearer', deps);
    const denial = refuse('insufficient_scope', 'bearer', deps);
    return { ...denial, isForAnotherPath: true, message: OTHER_PATH };
  }

  const find = (): Identity | Deny => {
    const agent = deps.replica.findAgent(tenantId, agentId);
    if (agent === undefined) return refuse('unknown_agent', 'bearer', deps);
    if (currentVersion(tenantId, agent, proof, deps.replica) !== proof.version) {
      return refuse('credential_rotated', 'bearer', deps);
    }
    return { tenantId, agent, proof };
  };
  if (deps.replica.cursor(tenantId) >= feedSeq) return find();
  const bar = findTenantIneligibility(tenantId, deps);
  if (bar) {
    // No facts arrive any more, so waiting would end with a 401 that makes the client discard a
    // valid token. What is known suffices to say why, and to record it.
    const agent = deps.replica.findAgent(tenantId, agentId);
    if (agent === undefined) return bar;
    const version = currentVersion(tenantId, agent, proof, deps.replica);
    // Revoked, or not known yet.
    if (version === undefined) return bar;
    if (version > proof.version) return refuse('credential_rotated', 'bearer', deps);
    return { tenantId, agent, proof, bar };
  }
  void deps.askForNews(tenantId, agentId);
  return deps.replica
    .waitFor(tenantId, feedSeq, FEED_WAIT_MS)
    .then((isThere) => (isThere ? find() : refuse('replica_behind', 'bearer', deps)));
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
  'Unauthorized: the key of the token is not known here, and the control plane did not answer.';

const CROWDED =
  'Unauthorized: the key of the token is not known here, and too many requests wait for news of it already: try again.';

const OTHER_PATH = 'Unauthorized: the token is for another MCP server of this gateway.';

function refuse(reason: string, challenge: 'basic' | 'bearer', deps: AuthenticateDeps): Deny {
  deps.onUnauthenticated(reason);
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

/** The gateway's checks before, and while, it serves a request. Calls repeat them. */
export function createDoor(deps: AuthenticateDeps & EligibilityDeps) {
  // For a caller that was known: a key that is gone does not come back.
  const silent = { ...deps, askForNews: () => null };
  return {
    /** Authenticates a credential for a path: a server's, or null for the unified one. */
    identify: (credential: Credential, serverId: string | null) =>
      identify(credential, serverId, deps),
    /** Why a caller may not act now, if so. */
    findIneligibility: (caller: Caller) => findIneligibility(caller, deps),
    /** For a stream, which outlives its request: suspended, rotated or expired in the meantime? */
    isStillEligible({ credential, serverId }: Caller): boolean {
      const identity = identify(credential, serverId, silent);
      // Synchronous, since the replica had caught up with the token when the stream began.
      if (identity instanceof Promise || 'kind' in identity) return false;
      return findIneligibility(identity, deps) === undefined;
    },
    /** The present grants of the caller's agent. */
    grantsOf: ({ tenantId, agent }: Pick<Caller, 'tenantId' | 'agent'>) =>
      deps.replica.findAgent(tenantId, agent.id)?.grants ?? [],
  };
}
