/**
 * The keys that a data plane registers, checked here, where the data plane gets the error. An
 * invalid key would fail later: at its first batch, or at an administrator's next credential.
 * Proven by data-plane-keys.test.ts.
 */
import {
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  type JsonWebKey,
  type KeyObject,
} from 'node:crypto';
import type { RegistrationRequest } from '@governance/shared/channel/channels';
import { AppError } from '@governance/shared/errors';
import { type PublicJwk, readEd25519Key } from '@governance/shared/evidence/ed25519';

type KeyName = 'signing_key' | 'sealing_key' | 'token_key';

export interface RegisteredKeys {
  /** Ed25519. */
  signing: KeyObject;
  /** X25519. */
  sealing: KeyObject;
  /** RSA, 2048 bits, exponent 65537. */
  token: KeyObject;
}

/**
 * Reads the keys of a registration.
 *
 * @param request caller-controlled
 * @throws AppError VALIDATION_FAILED naming the invalid key
 */
export function readKeys(request: RegistrationRequest): RegisteredKeys {
  const keys = {
    signing: readKey('signing_key', pick(request.signing_key, ['kty', 'crv', 'x'])),
    sealing: readKey('sealing_key', pick(request.sealing_key, ['kty', 'crv', 'x'])),
    token: readKey('token_key', pick(request.token_key, ['kty', 'n', 'e'])),
  };
  requireStrong(keys.signing);
  if (!canAgree(keys.sealing)) throw invalid('sealing_key', 'is not an X25519 public key');
  const { modulusLength, publicExponent } = keys.token.asymmetricKeyDetails ?? {};
  if (modulusLength !== 2048 || publicExponent !== 65_537n) {
    throw invalid('token_key', 'must be an RSA public key of 2048 bits with the exponent 65537');
  }
  return keys;
}

/**
 * A key's public members as they are stored, re-encoded by the library: base64url can write the
 * same bytes in several ways, and a key is identified by its bytes.
 */
export function toPublicMembers(key: KeyObject): Record<string, string> {
  return key.export({ format: 'jwk' }) as Record<string, string>;
}

/** Only the public members, whatever else was sent. */
function pick(jwk: Record<string, unknown>, members: string[]): JsonWebKey {
  return Object.fromEntries(members.map((member) => [member, jwk[member]]));
}

function readKey(name: KeyName, jwk: JsonWebKey): KeyObject {
  try {
    return createPublicKey({ key: jwk, format: 'jwk' });
  } catch (cause) {
    throw invalid(name, `is not a valid ${jwk.crv ?? jwk.kty} public key`, cause);
  }
}

/** What evidence can be verified with: no point of small order, whose signature anybody makes. */
function requireStrong(signing: KeyObject): void {
  try {
    readEd25519Key(signing.export({ format: 'jwk' }) as PublicJwk);
  } catch (cause) {
    throw invalid('signing_key', 'is not an Ed25519 key that can sign', cause);
  }
}

/** Rejects points of low order: nothing can be sealed to one. */
function canAgree(publicKey: KeyObject): boolean {
  try {
    const { privateKey } = generateKeyPairSync('x25519');
    return diffieHellman({ privateKey, publicKey }).some((byte) => byte !== 0);
  } catch {
    return false;
  }
}

function invalid(name: KeyName, msg: string, cause?: unknown): AppError {
  return new AppError('VALIDATION_FAILED', `body.registration.${name}: ${msg}`, {
    errors: [{ loc: ['body', 'registration', name], msg, type: 'custom' }],
    cause,
  });
}
