import { describe, expect, it } from 'vitest';
import { isSignedBy } from './ed25519.ts';

describe('a key of small order signs nothing', () => {
  it.each([
    ['the neutral element', '01'],
    ['with the sign of zero', '01', 0x80],
    ['in another writing', 'ee', 0x7f],
  ])('%s', (_what, first, last = 0) => {
    const middle = first === 'ee' ? 0xff : 0;
    const x = Buffer.alloc(32, middle);
    x[0] = Number.parseInt(first, 16);
    x[31] = last;
    // R is the neutral element and S is 0: this holds for any text.
    const signature = Buffer.alloc(64);
    signature[0] = 1;
    const jwk = { kty: 'OKP', crv: 'Ed25519', x: x.toString('base64url') };
    expect(isSignedBy(jwk, Buffer.from('any text'), signature.toString('base64url'))).toBe(false);
  });
});
