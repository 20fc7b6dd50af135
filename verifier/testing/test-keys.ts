/** Keys made from a seed, so that the same packages result each time. They sign tests only. */
import {
  createECDH,
  createHash,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
} from 'node:crypto';
import type { KeyEntry } from '@governance/shared/evidence/evidence-keys';

export interface TestKey {
  kid: string;
  key: KeyObject;
  jwk: KeyEntry['jwk'];
}

const bytesOf = (seed: string): Buffer => createHash('sha256').update(seed).digest();
/** PKCS #8 of an Ed25519 private key, before its 32 bytes (RFC 8410). */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');

const published = (key: KeyObject) => createPublicKey(key).export({ format: 'jwk' });

export function anEd25519Key(seed: string): TestKey {
  const der = Buffer.concat([PKCS8, bytesOf(seed)]);
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  return { kid: seed, key, jwk: published(key) as KeyEntry['jwk'] };
}

/** ES256: its signatures differ each time. */
export function aBundleKey(seed: string): TestKey {
  const pair = createECDH('prime256v1');
  pair.setPrivateKey(bytesOf(seed));
  const point = pair.getPublicKey();
  const jwk = {
    kty: 'EC',
    crv: 'P-256',
    d: pair.getPrivateKey('base64url'),
    x: point.subarray(1, 33).toString('base64url'),
    y: point.subarray(33).toString('base64url'),
  };
  const key = createPrivateKey({ key: jwk, format: 'jwk' });
  return { kid: seed, key, jwk: { ...published(key), alg: 'ES256' } as KeyEntry['jwk'] };
}

/** A UUID that shows where it comes from. */
export function idOf(seed: string): string {
  const hex = bytesOf(seed).toString('hex');
  return `01890000-${hex.slice(0, 4)}-7${hex.slice(4, 7)}-8${hex.slice(7, 10)}-${hex.slice(10, 22)}`;
}
