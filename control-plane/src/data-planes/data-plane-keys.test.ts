import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { RegistrationRequest } from '@governance/shared/channel/channels';
import { AppError } from '@governance/shared/errors';
import { describe, expect, it } from 'vitest';
import { aRegistration } from '../../../tests/support/a-registration.ts';
import { readKeys, toPublicMembers } from './data-plane-keys.ts';

const jwkOf = (key: KeyObject) => key.export({ format: 'jwk' });
const rsa = (modulusLength: number, publicExponent = 65_537) =>
  jwkOf(generateKeyPairSync('rsa', { modulusLength, publicExponent }).publicKey);
const ed25519 = () => jwkOf(generateKeyPairSync('ed25519').publicKey);
const ZERO_POINT = Buffer.alloc(32).toString('base64url');
/** The neutral element: it "signed" every text. */
const ONE_POINT = Buffer.from(`01${'00'.repeat(31)}`, 'hex').toString('base64url');

function faultOf(overrides: object): unknown[] | undefined {
  try {
    readKeys({ ...aRegistration().request, ...overrides } as RegistrationRequest);
    return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(AppError);
    expect((error as AppError).code).toBe('VALIDATION_FAILED');
    return (error as AppError).errors?.flatMap(({ loc }) => loc);
  }
}

describe('the keys of a registration', () => {
  it('are good as a data plane makes them', () => {
    const { request } = aRegistration();
    const { signing, sealing, token } = readKeys(request);
    expect(toPublicMembers(signing)).toEqual(request.signing_key);
    expect(toPublicMembers(sealing)).toEqual(request.sealing_key);
    expect(toPublicMembers(token)).toEqual(request.token_key);
  });

  it.each([
    ['signing_key', 'too short', { kty: 'OKP', crv: 'Ed25519', x: 'AAAA' }],
    ['signing_key', 'of another curve', { kty: 'OKP', crv: 'Ed448', x: ed25519().x }],
    ['signing_key', 'of small order', { kty: 'OKP', crv: 'Ed25519', x: ONE_POINT }],
    ['sealing_key', 'too long', { kty: 'OKP', crv: 'X25519', x: 'A'.repeat(60) }],
    ['sealing_key', 'the point that nothing can be sealed to', sealing(ZERO_POINT)],
    ['token_key', 'of 1024 bits', rsa(1024)],
    ['token_key', 'of 3072 bits', rsa(3072)],
    ['token_key', 'with the exponent 3', rsa(2048, 3)],
    ['token_key', 'no key', { kty: 'RSA', n: 'AQAB', e: 'AQAB' }],
    ['token_key', 'of another kind', { ...ed25519(), kty: 'RSA' }],
  ])('refuse a %s that is %s', (name, _, key) => {
    expect(faultOf({ [name]: key })).toEqual(['body', 'registration', name]);
  });

  it('are known by their bytes, however those are written', () => {
    const { request } = aRegistration();
    const { x } = request.signing_key;
    // 32 bytes are 42 characters and 4 bits: the last character has two bits that say nothing.
    const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const last = digits.indexOf(x.at(-1) ?? '');
    const other = x.slice(0, -1) + digits[last ^ 1];
    expect(other).not.toBe(x);
    const respelt = { ...request, signing_key: { ...request.signing_key, x: other } };
    expect(toPublicMembers(readKeys(respelt).signing)).toEqual(request.signing_key);
  });
});

function sealing(x: string) {
  return { kty: 'OKP', crv: 'X25519', x };
}
