import { createPublicKey } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RegistrationRequest } from '@governance/shared/channel/channels';
import { uuidv7 } from '@governance/shared/ids';
import { SEALING } from '@governance/shared/mcp/upstream-credential';
import fc from 'fast-check';
import { CompactEncrypt, importJWK } from 'jose';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadIdentity } from './identity.ts';

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'identity-'));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

const about = { region: null, version: '1.0.0', label: 'here' };

async function seal(jwk: object, text: string, header: { alg: string; enc: string } = SEALING) {
  const key = await importJWK({ ...jwk, alg: header.alg });
  return new CompactEncrypt(Buffer.from(text)).setProtectedHeader(header).encrypt(key);
}

describe('the identity', () => {
  it('is made once, kept, and readable by its owner alone', () => {
    const first = loadIdentity(dataDir).registrationRequest(about);
    expect(RegistrationRequest.parse(first)).toEqual(first);
    for (const name of ['signing-key.pem', 'sealing-key.pem', 'token-key.pem']) {
      const file = join(dataDir, 'identity', name);
      expect(statSync(file).mode & 0o777).toBe(0o600);
      chmodSync(file, 0o644);
    }
    expect(loadIdentity(dataDir).registrationRequest(about)).toEqual(first);
    expect(statSync(join(dataDir, 'identity', 'signing-key.pem')).mode & 0o777).toBe(0o600);
  });

  it('announces public keys only', () => {
    const { signing_key, sealing_key, token_key } =
      loadIdentity(dataDir).registrationRequest(about);
    expect(Object.keys(token_key).sort()).toEqual(['e', 'kty', 'n']);
    expect(Buffer.from(token_key.n, 'base64url')).toHaveLength(256);
    expect(Object.keys(signing_key).sort()).toEqual(['crv', 'kty', 'x']);
    expect(Object.keys(sealing_key).sort()).toEqual(['crv', 'kty', 'x']);
    const key = createPublicKey({ key: signing_key, format: 'jwk' });
    expect(key.asymmetricKeyType).toBe('ed25519');
  });

  it('does not start with a key of another kind', () => {
    loadIdentity(dataDir);
    writeFileSync(join(dataDir, 'identity', 'signing-key.pem'), 'no key');
    expect(() => loadIdentity(dataDir)).toThrow();
  });

  it('keeps its id at each tenant, and refuses another one', () => {
    const answer = {
      tenant_id: uuidv7(),
      deployment_id: uuidv7(),
      bundle_keys: [],
      feed_keys: [],
    };
    loadIdentity(dataDir).saveRegistration(answer);
    const identity = loadIdentity(dataDir);
    expect(identity.findRegistration(answer.tenant_id)).toEqual(answer);
    // A copy that somebody made is no registration.
    writeFileSync(join(dataDir, 'identity', 'registrations', 'copy-of-it.json'), '{}');
    expect(identity.listRegistrations()).toEqual([answer]);
    const keys = [{ kty: 'EC', kid: 'k', alg: 'ES256' }];
    identity.saveRegistration({ ...answer, bundle_keys: keys });
    expect(identity.findRegistration(answer.tenant_id)?.bundle_keys).toEqual(keys);
    expect(() => identity.saveRegistration({ ...answer, deployment_id: uuidv7() })).toThrow(
      'another deployment id',
    );
    expect(identity.findRegistration(uuidv7())).toBeUndefined();
    const damaged = uuidv7();
    writeFileSync(join(dataDir, `identity/registrations/${damaged}.json`), '{"tenant_id":');
    expect(() => identity.findRegistration(damaged)).toThrow(`${damaged}.json cannot be read`);
    expect(() => identity.findRegistration('../../etc/passwd')).toThrow(TypeError);
  });
});

describe('sealed texts', () => {
  it('are opened by the one they were sealed to', async () => {
    const identity = loadIdentity(dataDir);
    const { sealing_key } = identity.registrationRequest(about);
    const jwe = await seal(sealing_key, 'sécret');
    expect(await identity.openSealed(jwe)).toBe('sécret');
    expect(identity.openSealedNow(jwe)).toBe('sécret');
    const other = loadIdentity(mkdtempSync(join(dataDir, 'other-')));
    await expect(other.openSealed(jwe)).rejects.toThrow();
    // Its tag may end with any letters, 'AA' too.
    const otherEnd = jwe.at(-2) === 'A' ? 'BA' : 'AA';
    await expect(identity.openSealed(`${jwe.slice(0, -2)}${otherEnd}`)).rejects.toThrow();
    await expect(identity.openSealed('a.b.c')).rejects.toThrow();
  });

  it('are not opened with any of their characters changed', async () => {
    const identity = loadIdentity(dataDir);
    const jwe = await seal(identity.registrationRequest(about).sealing_key, 'x');
    const characters = 'AEIMQUYcgkosw048-_.!';
    fc.assert(
      fc.property(fc.nat(jwe.length - 1), fc.constantFrom(...characters), (at, character) => {
        fc.pre(jwe[at] !== character);
        const changed = `${jwe.slice(0, at)}${character}${jwe.slice(at + 1)}`;
        expect(() => identity.openSealedNow(changed)).toThrow();
      }),
    );
  });

  it('are not opened under another algorithm than the one agreed', async () => {
    const identity = loadIdentity(dataDir);
    const { sealing_key } = identity.registrationRequest(about);
    const wrapped = await seal(sealing_key, 'x', { alg: 'ECDH-ES+A256KW', enc: 'A256GCM' });
    await expect(identity.openSealed(wrapped)).rejects.toThrow();
    const weak = await seal(sealing_key, 'x', { alg: 'ECDH-ES', enc: 'A128CBC-HS256' });
    await expect(identity.openSealed(weak)).rejects.toThrow();
  });
});
