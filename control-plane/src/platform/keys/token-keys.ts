/**
 * The RSA keys of agents' and administrators' tokens. Unless the environment provides a pair, they
 * are stored with the service's other keys and rotate like them: the previous public half is
 * accepted until its last token has ended.
 */

import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import type { Secret } from '@governance/shared/settings';
import { HOUR_MS, MINUTE_MS } from '@governance/shared/time/durations';
import { AGENT_TOKEN_ALG } from '@governance/shared/tokens/agent-token';
import { LRUCache } from 'lru-cache';
import { type PublicJwk, toPublicJwk } from './key-kinds.ts';
import type { ServiceKeys } from './keys.ts';

/** The RSA key that signs agent and admin tokens. */
export interface TokenKey {
  kid: string;
  privateKey: KeyObject;
}

export interface TokenKeys {
  /** Whether the environment provides them: the service cannot rotate them then. */
  isConfigured: boolean;
  /** The active signing key. */
  signing(): Promise<TokenKey>;
  /** The keys whose tokens are accepted. */
  verification(): Promise<PublicJwk[]>;
  /** One of those, by its id. */
  find(kid: string): Promise<KeyObject | undefined>;
}

export interface ConfiguredTokenKeys {
  privateKey: Secret<KeyObject>;
  publicKey: Secret<KeyObject>;
  /** Public halves of earlier pairs, or of the next one. */
  others: readonly KeyObject[];
}

/** The longest life of a token (an administrator's), plus a margin for clock differences. */
const TOKEN_LIFE_MS = 8 * HOUR_MS + 5 * MINUTE_MS;
const PARSED_KEYS = 100;

type KeptKeys = Pick<ServiceKeys, 'signingKey' | 'verificationKeys'>;

/** @param configured the environment's keys; those of the database unless given */
export async function createTokenKeys(deps: {
  serviceKeys: KeptKeys;
  configured: ConfiguredTokenKeys | undefined;
  now: () => Date;
}): Promise<TokenKeys> {
  const { configured, serviceKeys, now } = deps;
  return configured ? createConfigured(configured) : createKept(serviceKeys, now);
}

async function createConfigured(given: ConfiguredTokenKeys): Promise<TokenKeys> {
  const privateKey = given.privateKey.reveal();
  const publicKeys = [given.publicKey.reveal(), ...given.others];
  const jwks = await Promise.all(publicKeys.map((key) => toPublicJwk(key, AGENT_TOKEN_ALG)));
  const keys = new Map(jwks.map((jwk, index) => [jwk.kid, { jwk, key: publicKeys[index] }]));
  const kid = jwks[0]?.kid ?? '';
  return {
    isConfigured: true,
    signing: async () => ({ kid, privateKey }),
    verification: async () => [...keys.values()].map(({ jwk }) => jwk),
    find: async (wanted) => keys.get(wanted)?.key,
  };
}

function createKept(serviceKeys: KeptKeys, now: () => Date): TokenKeys {
  const parsed = new LRUCache<string, KeyObject>({ max: PARSED_KEYS });
  const verification = () =>
    serviceKeys.verificationKeys('token-signing', new Date(now().getTime() - TOKEN_LIFE_MS));
  return {
    isConfigured: false,
    signing: async () => {
      const { kid, key } = await serviceKeys.signingKey('token-signing');
      return { kid, privateKey: key };
    },
    verification,
    find: async (kid) => {
      const jwk = (await verification()).find((one) => one.kid === kid);
      if (!jwk) return undefined;
      const known = parsed.get(kid) ?? readPublicKey(jwk);
      parsed.set(kid, known);
      return known;
    },
  };
}

function readPublicKey({ kty, n, e }: PublicJwk & { n?: unknown; e?: unknown }): KeyObject {
  return createPublicKey({ key: { kty, n, e } as JsonWebKey, format: 'jwk' });
}
