import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type BundleSignatureAlgorithm,
  BundleSignatureError,
  type BundleVerificationKey,
  hashBundleFile,
  signBundle,
  verifyBundleSignatures,
} from './bundle-signature.ts';

const TENANT = '01890000-0000-7000-8000-000000000001';

function aSigner(alg: BundleSignatureAlgorithm, kid = 'key-1') {
  const pair =
    alg === 'ES256'
      ? generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
      : generateKeyPairSync('rsa', { modulusLength: 2048 });
  return {
    kid,
    alg,
    key: pair.privateKey,
    scope: TENANT,
    public: publicJwk(pair.publicKey, kid, alg),
  };
}

function publicJwk(key: KeyObject, kid: string, alg: string): BundleVerificationKey {
  return { ...key.export({ format: 'jwk' }), kid, alg } as BundleVerificationKey;
}

function someFiles(): Map<string, Buffer> {
  return new Map([
    ['.manifest', Buffer.from('{"revision":"1","roots":["settings"]}')],
    ['data.json', Buffer.from('{"settings":{"tenant_id":"x","limit":1.0}}')],
    ['policy.wasm', Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0])],
    ['policies/a/policy.rego', Buffer.from('package a\n')],
  ]);
}

function faultOf(run: () => void): string {
  try {
    run();
  } catch (error) {
    if (error instanceof BundleSignatureError) return error.code;
    throw error;
  }
  return 'none';
}

describe.each(['ES256', 'RS256'] as const)('a bundle signed with %s', (alg) => {
  const signer = aSigner(alg);
  const other = aSigner(alg);
  const trust = { keys: [signer.public], scope: TENANT };
  const signatures = signBundle(someFiles(), signer);

  it('verifies', () => {
    expect(faultOf(() => verifyBundleSignatures(signatures, someFiles(), trust))).toBe('none');
  });

  it('is refused for every way its files can differ', () => {
    const differ = (change: (files: Map<string, Buffer>) => void) => {
      const files = someFiles();
      change(files);
      return faultOf(() => verifyBundleSignatures(signatures, files, trust));
    };
    expect(differ((f) => f.set('extra.rego', Buffer.from('')))).toBe('file_unsigned');
    expect(differ((f) => f.delete('policy.wasm'))).toBe('file_missing');
    expect(differ((f) => f.set('policy.wasm', Buffer.from('x')))).toBe('digest_mismatch');
    expect(differ((f) => f.set('data.json', Buffer.from('{')))).toBe('digest_mismatch');
    expect(
      differ((f) => f.set('data.json', Buffer.from('{"settings":{"tenant_id":"x","limit":1}}'))),
    ).toBe('digest_mismatch');
    expect(
      differ((f) =>
        f.set('data.json', Buffer.from('{ "settings":{"limit":1.0,"tenant_id":"x"}}\n')),
      ),
    ).toBe('none');
  });

  it('is refused under another key, algorithm or scope', () => {
    const under = (keys: BundleVerificationKey[], scope = TENANT) =>
      faultOf(() => verifyBundleSignatures(signatures, someFiles(), { keys, scope }));
    expect(under([])).toBe('key_unknown');
    expect(under([{ ...signer.public, kid: 'key-2' }])).toBe('key_unknown');
    expect(under([other.public])).toBe('signature_invalid');
    expect(under([{ ...signer.public, alg: alg === 'ES256' ? 'RS256' : 'ES256' }])).toBe(
      'signature_invalid',
    );
    expect(under([{ ...signer.public, alg: 'none' }])).toBe('signature_invalid');
    expect(under([signer.public], 'another-tenant')).toBe('scope_mismatch');
  });

  it('is refused after any one-byte edit of its signature file that changes what it says', () => {
    fc.assert(
      fc.property(
        fc.nat(signatures.length - 1),
        fc.integer({ min: 1, max: 255 }),
        (position, flip) => {
          const edited = Buffer.from(signatures);
          edited[position] = (edited[position] ?? 0) ^ flip;
          const fault = faultOf(() => verifyBundleSignatures(edited, someFiles(), trust));
          // Base64url's spare bits and JSON's white space may change without changing a signed bit.
          if (fault === 'none') {
            expect(tokenParts(edited)).toEqual(tokenParts(signatures));
          }
        },
      ),
      { numRuns: 400 },
    );
  });
});

function tokenParts(signatures: Buffer): Buffer[] {
  const token = JSON.parse(signatures.toString()).signatures[0] as string;
  return token.split('.').map((part) => Buffer.from(part, 'base64url'));
}

describe('signature files', () => {
  const signer = aSigner('ES256');
  const trust = { keys: [signer.public], scope: TENANT };

  it('must be there, well formed and hold exactly one token', () => {
    const [token] = JSON.parse(signBundle(someFiles(), signer).toString()).signatures as string[];
    const with_ = (content: string | undefined) =>
      faultOf(() =>
        verifyBundleSignatures(
          content === undefined ? undefined : Buffer.from(content),
          someFiles(),
          trust,
        ),
      );
    expect(with_(undefined)).toBe('signature_missing');
    expect(with_('')).toBe('signature_malformed');
    expect(with_('{"signatures":[]}')).toBe('signature_stripped');
    const [head, claims] = String(token).split('.');
    expect(with_(JSON.stringify({ signatures: [`${head}.${claims}.`] }))).toBe(
      'signature_stripped',
    );
    expect(with_(JSON.stringify({ signatures: [`${head}.${claims}`] }))).toBe(
      'signature_malformed',
    );
    expect(with_(JSON.stringify({ signatures: [token, token] }))).toBe('signature_malformed');
    expect(with_(JSON.stringify({ signatures: [token], plugin: 'mine' }))).toBe(
      'signature_malformed',
    );
    expect(with_(JSON.stringify({ signatures: [`${token}.`] }))).toBe('signature_malformed');
    expect(with_(JSON.stringify({ signatures: [`${token}==`] }))).toBe('signature_malformed');
    expect(with_(JSON.stringify({ signatures: ['a.b.c'] }))).toBe('signature_malformed');
    // What costs more to read than any bundle's could is not looked at.
    const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, 1]));
    const wide = JSON.stringify({ files: [], scope: TENANT, ...many });
    const widened = [head, Buffer.from(wide).toString('base64url'), 'AAAA'].join('.');
    expect(with_(JSON.stringify({ signatures: [widened] }))).toBe('signature_malformed');
  });

  it('refuses a JSON file that two readers could read differently', () => {
    expect(() => hashBundleFile('data.json', Buffer.from('{"a":1,"a":2}'))).toThrow(SyntaxError);
    expect(() => hashBundleFile('data.json', Buffer.from([0x22, 0xff, 0x22]))).toThrow(TypeError);
  });
});

// Made by `opa sign` 1.22.0 with a claims file of {"keyid":"k1","scope":"tenant-1"}.
describe('a signature that OPA made', () => {
  const files = new Map([
    [
      'data.json',
      Buffer.from(
        'eyAiYiI6IDEuNTAsICJhIjogWzFlMywgLTAsIDEyMzQ1Njc4OTAxMjM0NTY3ODkwLCAwLjFFLTcsIHRydWUsIG51bGwsIFtdXSwgIsOpXHUyMDI4PCY+IjogInhcdTIwMjlcdTAwMDFcdTAwN2ZcYlxmXG5cdC9cXFwiIiwgIlx1ZDgzZFx1ZGUwMCI6IHsieiI6IHt9LCAieSI6ICJcdTAwZmYifSwgIlx1ZTAwMCI6ICJwcml2YXRlIiwgInNldHRpbmdzIjogeyJ0ZW5hbnRfaWQiOiAidCJ9IH0K',
        'base64',
      ),
    ],
    [
      '.manifest',
      Buffer.from(
        '{"revision":"17","roots":["a","b","é\\u2028<&>","settings","\\ud83d\\ude00","\\ue000","p"],"rego_version":1,"metadata":{"n": 1.0}}\n',
      ),
    ],
    ['p/p.rego', Buffer.from('package p\n\nx := 1\n')],
  ]);
  const signatures = Buffer.from(
    JSON.stringify({
      signatures: [
        'eyJhbGciOiJFUzI1NiIsInR5cCI6IkpXVCJ9.eyJmaWxlcyI6W3sibmFtZSI6Ii5tYW5pZmVzdCIsImhhc2giOiJhNDdmOTBhZGEyNTI3ODkyMWI0Nzk2YmRhYTFmZmRkZGE1MjRkYTI4NDI2ZWQ5ZjJhNDZhNzgxZWQ3NWU3Y2U2IiwiYWxnb3JpdGhtIjoiU0hBLTI1NiJ9LHsibmFtZSI6ImRhdGEuanNvbiIsImhhc2giOiI4N2Y1YmNkZGVmODNiNThmODUwNTczMmNjZTM3YjQwMTcyZmFmNDBhZjYwZjQ1NGZhYmVlNWQ0OWEwOGY3Yjg3IiwiYWxnb3JpdGhtIjoiU0hBLTI1NiJ9LHsibmFtZSI6InAvcC5yZWdvIiwiaGFzaCI6IjMzMTQ5MmQwZDdlMmQyNTZjZGQ1ZDlhYTU4MDc3NGZhZTRjMzlmOWFiMDdhNmFhYzMwNWNiOTk1NGYwYzA4YTAiLCJhbGdvcml0aG0iOiJTSEEtMjU2In1dLCJrZXlpZCI6ImsxIiwic2NvcGUiOiJ0ZW5hbnQtMSJ9.DhlApkrZK6RIDLuA6Ni2zRwRlzbYLSH9OSBSCbr9T-EzSJFSWtksqddaKWgKm6hLPCghdw7nP82bEW25cUW5Lw',
      ],
    }),
  );
  const publicKey = createPublicKey(`-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE7lWPGRiYxp8kQU0QgXdTBrUf/zjD
84PbtY7M1/V3hQfOYAvV6633YZJKFcrN73IxbRz8RwxVhrKwkGvdrntCCg==
-----END PUBLIC KEY-----`);

  it('verifies here, with every odd number, escape and key order it covers', () => {
    const trust = { keys: [publicJwk(publicKey, 'k1', 'ES256')], scope: 'tenant-1' };
    expect(faultOf(() => verifyBundleSignatures(signatures, files, trust))).toBe('none');
  });
});
