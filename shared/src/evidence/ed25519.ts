import { type KeyObject, sign, verify } from 'node:crypto';
import { canonicalize } from '../json/canonical-json.ts';
import { type PublicJwk, readPublicJwk } from '../keys/public-jwk.ts';

export type { PublicJwk } from '../keys/public-jwk.ts';

/**
 * The Ed25519 key of a JWK (RFC 8037).
 *
 * @throws TypeError when it is none
 */
export function readEd25519Key(jwk: PublicJwk): KeyObject {
  const key = readPublicJwk(jwk);
  if (key.asymmetricKeyType !== 'ed25519') throw new TypeError('the key is no Ed25519 key');
  return key;
}

/**
 * Whether bytes were signed by the holder of a key. Never throws.
 *
 * @param signature base64url without padding; any other spelling is invalid
 */
export function isSignedBy(jwk: PublicJwk, bytes: Uint8Array, signature: string): boolean {
  try {
    const raw = Buffer.from(signature, 'base64url');
    if (raw.toString('base64url') !== signature) return false;
    return verify(null, bytes, readEd25519Key(jwk), raw);
  } catch {
    return false;
  }
}

/**
 * Signs a value's RFC 8785 bytes.
 *
 * @returns base64url
 * @throws TypeError when the value has no canonical form
 */
export function signValue(key: KeyObject, value: unknown): string {
  return sign(null, Buffer.from(canonicalize(value)), key).toString('base64url');
}
