/**
 * Reads the public keys that packages, anchors and bundles carry: Ed25519, EC on P-256, or RSA.
 * Each number has one spelling, so that no two readers take one text for two keys, or for a key and
 * an invalid one. Proven by public-jwk.test.ts.
 */
import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';

/** A public key as packages and anchors carry it. */
export type PublicJwk = { kty: string; [member: string]: unknown };

const SMALLEST_RSA_BITS = 2048;
/** Bytes of a coordinate of Ed25519 or P-256. */
const COORDINATE_BYTES = 32;

/**
 * The key of a JWK (RFC 7518 section 6, RFC 8037).
 *
 * @param jwk of which only the public members are looked at
 * @throws TypeError for another kind of key, or another encoding
 */
export function readPublicJwk({ kty, crv, x, y, n, e }: PublicJwk): KeyObject {
  if (kty === 'OKP' && crv === 'Ed25519') {
    if (lengthOf(x) !== COORDINATE_BYTES) throw new TypeError('the key is no Ed25519 key');
    if (isOfSmallOrder(String(x))) throw new TypeError('the key is of small order');
    return read({ kty, crv, x });
  }
  if (kty === 'EC' && crv === 'P-256') {
    const isWhole = [x, y].every((one) => lengthOf(one) === COORDINATE_BYTES);
    if (!isWhole) throw new TypeError('the key is no point of P-256');
    return read({ kty, crv, x, y });
  }
  if (kty === 'RSA') {
    if (!isPlainNumber(n) || !isPlainNumber(e)) throw new TypeError('the key is no RSA key');
    const key = read({ kty, n, e });
    const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
    if (bits < SMALLEST_RSA_BITS) throw new TypeError('the RSA key is too short');
    return key;
  }
  throw new TypeError('the key is of another kind');
}

function read(members: Record<string, unknown>): KeyObject {
  try {
    return createPublicKey({ key: members as JsonWebKey, format: 'jwk' });
  } catch (cause) {
    throw new TypeError('the key cannot be read', { cause });
  }
}

/** Bytes of a base64url text; undefined where it is not their only spelling. */
function lengthOf(text: unknown): number | undefined {
  if (typeof text !== 'string') return undefined;
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes.length : undefined;
}

/** Without leading zeros (RFC 7518 section 2, Base64urlUInt). */
function isPlainNumber(text: unknown): boolean {
  return (lengthOf(text) ?? 0) > 0 && Buffer.from(String(text), 'base64url')[0] !== 0;
}

/**
 * The y coordinates of the points of small order, little-endian, in each spelling (RFC 8032,
 * 5.1.7).
 */
const SMALL_ORDER = new Set([
  '00'.repeat(32),
  `01${'00'.repeat(31)}`,
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  `ec${'ff'.repeat(30)}7f`,
  `ed${'ff'.repeat(30)}7f`,
  `ee${'ff'.repeat(30)}7f`,
]);

/** One signature of such a key is valid for many texts, and anybody can make it. */
function isOfSmallOrder(x: string): boolean {
  const y = Buffer.from(x, 'base64url');
  y[31] = (y[31] ?? 0) & 0x7f;
  return SMALL_ORDER.has(y.toString('hex'));
}
