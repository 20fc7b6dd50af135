/**
 * Signatures by any kind of key that the service has: the statement that one key succeeds another
 * is signed with both, and bundles and tokens are not signed with Ed25519. The key determines the
 * algorithm: EdDSA, ES256 or RS256. The first two are proven by shared/src/channel/follow-keys.test.ts.
 */
import { type KeyObject, sign, verify } from 'node:crypto';
import { canonicalize } from '../json/canonical-json.ts';
import { type PublicJwk, readPublicJwk } from '../keys/public-jwk.ts';
import { isSignedBy, signValue } from './ed25519.ts';

/**
 * Signs a value's RFC 8785 bytes.
 *
 * @param key a private key: Ed25519, EC on P-256, or RSA
 * @returns base64url; of ES256 the 64 bytes of RFC 7518, section 3.4
 * @throws TypeError when the value has no canonical form, or the key is of another kind
 */
export function signValueByKind(key: KeyObject, value: unknown): string {
  if (key.asymmetricKeyType === 'ed25519') return signValue(key, value);
  if (!isKnownKind(key)) throw new TypeError('a key of this kind signs no statements');
  const bytes = Buffer.from(canonicalize(value));
  return sign('sha256', bytes, { key, dsaEncoding: 'ieee-p1363' }).toString('base64url');
}

/**
 * Whether bytes were signed by the holder of a key. Never throws.
 *
 * @param jwk a public key: Ed25519, EC on P-256, or RSA with 2048 bits or more
 * @param signature base64url without padding; any other spelling is invalid
 */
export function isSignedByKind(jwk: PublicJwk, bytes: Uint8Array, signature: string): boolean {
  if (jwk.kty === 'OKP') return isSignedBy(jwk, bytes, signature);
  try {
    const raw = Buffer.from(signature, 'base64url');
    if (raw.toString('base64url') !== signature) return false;
    const key = readPublicJwk(jwk);
    return verify('sha256', bytes, { key, dsaEncoding: 'ieee-p1363' }, raw);
  } catch {
    return false;
  }
}

function isKnownKind({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject) {
  return type === 'rsa' || (type === 'ec' && details?.namedCurve === 'prime256v1');
}
