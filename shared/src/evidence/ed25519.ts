import { createPublicKey, type JsonWebKey, type KeyObject, sign, verify } from 'node:crypto';
import { canonicalize } from '../canonical-json.ts';

/** A public key as packages and anchors carry it. */
export type PublicJwk = { kty: string; [member: string]: unknown };

/**
 * The Ed25519 key of a JWK (RFC 8037).
 *
 * @throws Error when it is none
 */
export function readEd25519Key(jwk: PublicJwk): KeyObject {
  const { kty, crv, x } = jwk;
  // Only these members: a `d` beside them would make it a private key.
  const key = createPublicKey({ key: { kty, crv, x } as JsonWebKey, format: 'jwk' });
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('the key is no Ed25519 key');
  if (isOfSmallOrder(String(x))) throw new Error('the key is of small order');
  return key;
}

/** The y coordinates of the points of small order, little-endian, in each writing (RFC 8032, 5.1.7). */
const SMALL_ORDER = new Set([
  '00'.repeat(32),
  `01${'00'.repeat(31)}`,
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  `ec${'ff'.repeat(30)}7f`,
  `ed${'ff'.repeat(30)}7f`,
  `ee${'ff'.repeat(30)}7f`,
]);

/** One signature of such a key holds for many texts, and anybody can make it. */
function isOfSmallOrder(x: string): boolean {
  const y = Buffer.from(x, 'base64url');
  y[31] = (y[31] ?? 0) & 0x7f;
  return SMALL_ORDER.has(y.toString('hex'));
}

/**
 * Whether bytes were signed by the holder of a key. Never throws.
 *
 * @param signature base64url without padding; any other writing of it is none
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
