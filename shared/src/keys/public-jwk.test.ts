import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type PublicJwk, readPublicJwk } from './public-jwk.ts';

type Text = Record<'x' | 'y' | 'n' | 'e', string>;
const jwkOf = (key: ReturnType<typeof generateKeyPairSync>['publicKey']) =>
  key.export({ format: 'jwk' }) as PublicJwk & Text;
const ed25519 = jwkOf(generateKeyPairSync('ed25519').publicKey);
const p256 = jwkOf(generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey);
const rsa = jwkOf(generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey);

it.each([
  ['Ed25519', ed25519, 'ed25519'],
  ['P-256', p256, 'ec'],
  ['RSA', rsa, 'rsa'],
])('a key of %s is read, and written again it is the same', (_kind, jwk, type) => {
  const key = readPublicJwk({ ...jwk, use: 'sig', kid: 'a' });
  expect(key.asymmetricKeyType).toBe(type);
  expect(key.export({ format: 'jwk' })).toEqual(jwk);
});

const bytesOf = (text: string) => Buffer.from(text, 'base64url');
const withZero = (text: string) =>
  Buffer.concat([Buffer.alloc(1), bytesOf(text)]).toString('base64url');

describe('none is', () => {
  it.each<[string, PublicJwk]>([
    ['one with padding', { ...ed25519, x: `${ed25519.x}=` }],
    ['one with a stray character', { ...ed25519, x: `${ed25519.x} ` }],
    ['one with bits to spare', { ...ed25519, x: ed25519.x.replace(/.$/, 'B') }],
    ['one in the other base64', { ...ed25519, x: Buffer.alloc(32, 0xfb).toString('base64') }],
    [
      'one that is too short',
      { ...ed25519, x: bytesOf(ed25519.x).subarray(1).toString('base64url') },
    ],
    ['one that is no text', { ...ed25519, x: 5 }],
    ['a key exchange key', { ...ed25519, crv: 'X25519' }],
    ['a point with a zero in front', { ...p256, x: withZero(p256.x) }],
    ['a point beside the curve', { ...p256, y: p256.x }],
    [
      'a point of another curve',
      jwkOf(generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey),
    ],
    ['a modulus with a zero in front', { ...rsa, n: withZero(rsa.n) }],
    ['an exponent with a zero in front', { ...rsa, e: withZero(rsa.e) }],
    [
      'an RSA key that is too short',
      jwkOf(generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey),
    ],
    ['a shared secret', { kty: 'oct', k: 'AAAA' }],
  ])('%s', (_what, jwk) => {
    expect(() => readPublicJwk(jwk)).toThrow(TypeError);
  });
});

describe('a point of small order is not a key, in any encoding:', () => {
  const p = 2n ** 255n - 19n;
  const eighth = BigInt(
    `0x${Buffer.from('26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05', 'hex').reverse().toString('hex')}`,
  );
  it.each([
    ['0', 0n],
    ['1', 1n],
    ['-1', p - 1n],
    ['of order 8', eighth],
    ['of order 8, the other one', p - eighth],
    ['0, not reduced', p],
    ['1, not reduced', p + 1n],
  ])('y is %s', (_what, y) => {
    for (const sign of [0n, 1n << 255n]) {
      const bytes = Buffer.from((y | sign).toString(16).padStart(64, '0'), 'hex').reverse();
      const jwk = { kty: 'OKP', crv: 'Ed25519', x: bytes.toString('base64url') };
      expect(() => readPublicJwk(jwk)).toThrow('small order');
    }
  });
});
