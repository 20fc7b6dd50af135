import { createHmac, generateKeyPairSync } from 'node:crypto';
import type { TokenKeysFact } from '@governance/shared/channel/facts';
import { uuidv7 } from '@governance/shared/ids';
import { beforeEach, describe, expect, it } from 'vitest';
import { signToken } from '../../testing/test-plane.ts';
import { type AgentTokenVerifier, createAgentTokenVerifier } from './agent-token.ts';

const TENANT = uuidv7();
const AGENT = uuidv7();
const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
const others = generateKeyPairSync('rsa', { modulusLength: 2048 });
const small = generateKeyPairSync('rsa', { modulusLength: 1024 });
const publicJwk = (pair: typeof keys, kid: string) => ({
  ...pair.publicKey.export({ format: 'jwk' }),
  kty: 'RSA',
  alg: 'RS256',
  kid,
});

let time = Date.UTC(2026, 0, 1);
let fact: TokenKeysFact | undefined;
let tokens: AgentTokenVerifier;

const claims = (over: Record<string, unknown> = {}) => ({
  iss: 'https://issuer',
  aud: 'https://issuer/mcp/v1',
  sub: AGENT,
  iat: time / 1000,
  exp: time / 1000 + 900,
  jti: uuidv7(),
  tenant_id: TENANT,
  feed_seq: 1,
  credential_version: 1,
  roles: [],
  permissions: [],
  risk_tier: 'low',
  ...over,
});
const signed = (over = {}, header = {}) =>
  signToken(claims(over), { kid: 'k', ...header }, keys.privateKey);
const verify = (token: string) => tokens.verify(token, token);

beforeEach(() => {
  time = Date.UTC(2026, 0, 1);
  fact = { issuer: 'https://issuer', keys: [publicJwk(keys, 'k'), publicJwk(small, 'small')] };
  tokens = createAgentTokenVerifier({
    findTokenKeys: (tenantId) => (tenantId === TENANT ? fact : undefined),
    now: () => time,
    cacheSize: 10,
  });
});

describe('a good token', () => {
  it('says whose it is', () => {
    expect(verify(signed({ aud: ['a', 'b'] }))).toMatchObject({
      tenantId: TENANT,
      agentId: AGENT,
      proof: { credentialId: null, version: 1 },
      feedSeq: 1,
      audiences: ['a', 'b'],
    });
  });

  it('is verified once', () => {
    const token = signed();
    expect(verify(token)).toBe(verify(token));
  });

  it('ends 60 s after its expiry, cached or not', () => {
    const token = signed();
    time += 959_000;
    expect(verify(token)).toMatchObject({ agentId: AGENT });
    time += 1000;
    expect(verify(token)).toBe('expired');
    expect(verify(token)).toBe('expired');
  });

  it('ends with its key', () => {
    const token = signed();
    expect(verify(token)).toMatchObject({ agentId: AGENT });
    fact = { issuer: 'https://issuer', keys: [publicJwk(others, 'k')] };
    expect(verify(token)).toBe('unknown_key');
    fact = { issuer: 'https://issuer', keys: [] };
    expect(verify(token)).toBe('unknown_key');
    fact = undefined;
    expect(verify(token)).toBe('unknown_key');
  });
});

describe('a token is refused', () => {
  it.each<[string, () => string, string]>([
    ['that is none', () => 'x', 'malformed'],
    ['of two parts', () => 'a.b', 'malformed'],
    ['of four parts', () => `${signed()}.x`, 'malformed'],
    ['without a signature', () => signed().replace(/[^.]*$/, ''), 'malformed'],
    ['with padding', () => `${signed()}=`, 'malformed'],
    ['with a sign that base64url has not', () => `${signed()}*`, 'malformed'],
    ['whose header is no JSON', () => `!!.${signed().split('.').slice(1).join('.')}`, 'malformed'],
    ['with alg none', () => signed({}, { alg: 'none' }), 'wrong_type'],
    ['with alg RS512', () => signed({}, { alg: 'RS512' }), 'wrong_type'],
    ['with alg HS256', () => hmacToken(), 'wrong_type'],
    ['of another class', () => signed({}, { typ: 'admin+jwt' }), 'wrong_type'],
    ['without a class', () => signed({}, { typ: undefined }), 'wrong_type'],
    ['with a critical extension', () => signed({}, { crit: ['b64'] }), 'wrong_type'],
    ['without a key id', () => signed({}, { kid: undefined }), 'wrong_type'],
    ['with an unknown key id', () => signed({}, { kid: 'other' }), 'unknown_key'],
    ['of an unknown tenant', () => signed({ tenant_id: uuidv7() }), 'unknown_key'],
    ['with a key that is too small', () => smallToken(), 'unknown_key'],
    ['that brings its own key', () => foreignToken(), 'bad_signature'],
    ['that was changed', () => changedToken(), 'bad_signature'],
    ['of another issuer', () => signed({ iss: 'https://other' }), 'wrong_issuer'],
    ['from the future', () => signed({ iat: time / 1000 + 61 }), 'not_yet_valid'],
    ['that expired', () => signed({ exp: time / 1000 - 60 }), 'expired'],
    ['without an agent', () => signed({ sub: undefined }), 'bad_claims'],
    ['without an expiry', () => signed({ exp: undefined }), 'bad_claims'],
    ['without a credential version', () => signed({ credential_version: undefined }), 'bad_claims'],
    [
      'of two credentials',
      () => signed({ credential: { id: uuidv7(), version: 1 } }),
      'bad_claims',
    ],
    ['without a feed position', () => signed({ feed_seq: undefined }), 'bad_claims'],
  ])('%s', (_what, make, fault) => {
    expect(verify(make())).toBe(fault);
    expect(verify(make())).toBe(fault);
  });
});

function hmacToken(): string {
  const [, body] = signed().split('.');
  const head = Buffer.from('{"alg":"HS256","typ":"agent+jwt","kid":"k"}').toString('base64url');
  // The public key as a secret: the classic confusion of algorithms.
  const pem = keys.publicKey.export({ type: 'spki', format: 'pem' });
  const mac = createHmac('sha256', pem).update(`${head}.${body}`).digest('base64url');
  return `${head}.${body}.${mac}`;
}

function smallToken(): string {
  return signToken(claims(), { kid: 'small' }, small.privateKey);
}

function foreignToken(): string {
  const jwk = others.publicKey.export({ format: 'jwk' });
  return signToken(claims(), { kid: 'k', jwk, jku: 'https://evil/jwks' }, others.privateKey);
}

function changedToken(): string {
  const [head, , mac] = signed().split('.');
  const body = Buffer.from(JSON.stringify(claims({ sub: uuidv7() }))).toString('base64url');
  return `${head}.${body}.${mac}`;
}
