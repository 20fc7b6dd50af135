/** The kinds of keys that the service has, and how one is made. */
import { createPublicKey, generateKeyPair, type JsonWebKey, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import type { KeyPurpose } from '@governance/shared/evidence/evidence-keys';
import { calculateJwkThumbprint } from 'jose';

const generate = promisify(generateKeyPair);
const RSA_BITS = 2_048;

/**
 * The algorithm of each purpose: ES256 for bundles, RS256 for tokens that others verify, else
 * EdDSA.
 */
export const ALG = {
  'bundle-signing': 'ES256',
  'feed-signing': 'EdDSA',
  'workflow-token': 'EdDSA',
  'delegation-token': 'EdDSA',
  'token-signing': 'RS256',
  'evidence-signing': 'EdDSA',
  'checkpoint-signing': 'EdDSA',
  'batch-signing': 'EdDSA',
} as const;
export type ServiceKeyPurpose = keyof typeof ALG;
export const SERVICE_KEY_PURPOSES = Object.keys(ALG) as ServiceKeyPurpose[];
/**
 * The purpose of the key that payloads are sealed to. It is in the same table, but signs nothing.
 */
export const PAYLOAD_SEALING = 'payload-sealing';

/** The purpose's name in statements and packages. */
export const STATEMENT_PURPOSE = {
  'bundle-signing': 'bundle',
  'feed-signing': 'feed',
  'workflow-token': 'token',
  'delegation-token': 'token',
  'token-signing': 'token',
  'evidence-signing': 'evidence',
  'checkpoint-signing': 'checkpoint',
  'batch-signing': 'batch',
} as const satisfies Record<ServiceKeyPurpose, KeyPurpose>;

/** A public key as it is published: with its id and its one algorithm. */
export interface PublicJwk {
  kty: string;
  kid: string;
  alg: string;
  use: 'sig';
  [member: string]: unknown;
}

export interface SigningKey<P extends ServiceKeyPurpose = ServiceKeyPurpose> {
  kid: string;
  alg: (typeof ALG)[P];
  key: KeyObject;
  publicJwk: PublicJwk;
}

/** Makes a key for a purpose. */
export async function generateServiceKey(
  purpose: ServiceKeyPurpose,
): Promise<{ privateKey: KeyObject; publicJwk: PublicJwk }> {
  const alg = ALG[purpose];
  const { privateKey, publicKey } = await generateKind(alg);
  return { privateKey, publicJwk: await toPublicJwk(publicKey, alg) };
}

function generateKind(alg: (typeof ALG)[ServiceKeyPurpose]) {
  if (alg === 'ES256') return generate('ec', { namedCurve: 'P-256' });
  if (alg === 'RS256') return generate('rsa', { modulusLength: RSA_BITS });
  return generate('ed25519', undefined);
}

/** @param key private or public */
export async function toPublicJwk(key: KeyObject, alg: string): Promise<PublicJwk> {
  const publicKey = key.type === 'public' ? key : createPublicKey(key);
  const jwk = publicKey.export({ format: 'jwk' }) as JsonWebKey & { kty: string };
  return { ...jwk, kid: await calculateJwkThumbprint(jwk), alg, use: 'sig' };
}
