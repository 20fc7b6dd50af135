/**
 * Agents' tokens from the data plane itself, so that agents keep working when the control plane is
 * away: credentials from the replica, this data plane's own key, and itself as issuer and audience.
 */
import { createPublicKey, type KeyObject } from 'node:crypto';
import { effectiveAgentStatus, type TokenKeysFact } from '@governance/shared/channel/facts';
import { AppError } from '@governance/shared/errors';
import { AGENT_TOKEN_ALG } from '@governance/shared/tokens/agent-token';
import {
  type AgentCredentials,
  type AgentTokens,
  createAgentTokens,
} from '@governance/shared/tokens/agent-token-issue';
import { calculateJwkThumbprint } from 'jose';
import type { FindDenial, PlaneDenial, Replica } from '../contracts.ts';
import type { EarlierTokenKey } from '../identity/own-key-rotation.ts';

export type OwnTokenKey = Awaited<ReturnType<typeof ownTokenKey>>;

/**
 * @param privateKey RSA, 2048 bits or more
 * @param earlier the keys that it replaced
 */
export async function ownTokenKey(
  privateKey: KeyObject,
  earlier: readonly EarlierTokenKey[] = [],
  now: () => number = Date.now,
) {
  const publicJwk = await toPublicTokenKey(createPublicKey(privateKey));
  const known = await Promise.all(
    earlier.map(async ({ key, until }) => ({ jwk: await toPublicTokenKey(key), until })),
  );
  const last = Math.max(0, ...earlier.map(({ until }) => until));
  const alone = [publicJwk];
  return {
    kid: publicJwk.kid,
    privateKey,
    publicJwk,
    /** The public keys whose tokens are valid now: this one, and those it replaced recently. */
    listAccepted: () => {
      const at = now();
      // Asked at each call, and nearly always long after a rotation.
      if (at >= last) return alone;
      return [publicJwk, ...known.filter(({ until }) => at < until).map(({ jwk }) => jwk)];
    },
  };
}

async function toPublicTokenKey(key: KeyObject) {
  const jwk = key.export({ format: 'jwk' });
  const kid = await calculateJwkThumbprint(jwk as { kty: string });
  return { ...jwk, kty: 'RSA', kid, alg: AGENT_TOKEN_ALG, use: 'sig' as const };
}

/** The keys in the form the verifier of agents' tokens takes, read at each call. */
export function asTokenKeys(key: OwnTokenKey, publicUrl: string): TokenKeysFact {
  return {
    issuer: publicUrl,
    get keys() {
      return key.listAccepted();
    },
  };
}

interface LocalTokensDeps {
  key: OwnTokenKey;
  publicUrl: string;
  replica: Pick<Replica, 'findClient' | 'findKillSwitch' | 'cursor'>;
  findDenial: FindDenial;
}

export function createLocalTokens(deps: LocalTokensDeps): AgentTokens {
  return createAgentTokens({
    key: () => deps.key,
    publicUrl: deps.publicUrl,
    findClient: async (clientId) => {
      const client = deps.replica.findClient(clientId);
      const read = async () => findCredentials(clientId, deps);
      return client && { secretHash: client.secretHash, read };
    },
    now: () => new Date(),
  });
}

/** This plane may act for the tenant no more, so its key vouches for nobody. */
const ENDED: ReadonlySet<PlaneDenial['reason']> = new Set(['tenant_revoked', 'stream_forked']);

/** @throws AppError AGENT_SUSPENDED, with the reason, where this plane was revoked or forked */
function findCredentials(
  clientId: string,
  { replica, findDenial }: LocalTokensDeps,
): AgentCredentials | undefined {
  const client = replica.findClient(clientId);
  if (client === undefined) return undefined;
  const { tenantId, agent, secretHash, proof } = client;
  const denial = findDenial(tenantId);
  if (denial !== null && ENDED.has(denial.reason)) {
    throw new AppError('AGENT_SUSPENDED', denial.message);
  }
  const isIneligible = denial?.reason === 'local_kill_switch';
  const status = effectiveAgentStatus(agent, replica.findKillSwitch(tenantId) ?? null);
  return {
    id: agent.id,
    tenantId,
    // As under the tenant's kill switch. A plane that is offline or too old for a fact denies the
    // calls, and the agent is told why by them.
    status: isIneligible && status === 'active' ? 'suspended' : status,
    secretHash,
    proof,
    riskTier: agent.risk_tier,
    roles: agent.role_names,
    permissions: agent.permissions,
    feedSeq: replica.cursor(tenantId),
  };
}
