import { generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type FreshnessStatement,
  SignedFreshness,
  SignedSnapshotEnd,
  type SnapshotEnd,
  StatementError,
  type StatementKey,
  signStatement,
  verifyStatement,
} from './signed-statement.ts';

const TENANT = '0190aaaa-0000-7000-8000-00000000000a';
const OTHER = '0190aaaa-0000-7000-8000-00000000000b';

function aKey(kid: string) {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const jwk: StatementKey = { ...publicKey.export({ format: 'jwk' }), kty: 'OKP', kid };
  return { signer: { key: privateKey, kid }, jwk };
}
const mine = aKey('mine');
const theirs = aKey('theirs');
const trust = { tenantId: TENANT, keys: [theirs.jwk, mine.jwk] };

const aDigest = fc.stringMatching(/^[0-9a-f]{64}$/);
const aTime = fc
  .date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString());
const aFreshness: fc.Arbitrary<FreshnessStatement> = fc.record({
  type: fc.constant('freshness' as const),
  v: fc.constant(1 as const),
  tenant_id: fc.constant(TENANT),
  bundle: fc.option(
    fc.record({ revision: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), digest: aDigest }),
  ),
  feed_seq: fc.nat(),
  feed_digest: aDigest,
  time: aTime,
});
const anEnd: fc.Arbitrary<SnapshotEnd> = fc.record({
  type: fc.constant('snapshot_end' as const),
  v: fc.constant(1 as const),
  tenant_id: fc.constant(TENANT),
  feed_seq: fc.nat(),
  feed_digest: aDigest,
  count: fc.nat(),
  entries_digest: aDigest,
  time: aTime,
});
const STATEMENT: FreshnessStatement = {
  type: 'freshness',
  v: 1,
  tenant_id: TENANT,
  bundle: { revision: 7, digest: 'b'.repeat(64) },
  feed_seq: 3,
  feed_digest: 'a'.repeat(64),
  time: '2026-01-02T03:04:05.678Z',
};

/** Verifies, and says why not. */
function faultOf(signed: Parameters<typeof verifyStatement>[0], by = trust): string {
  try {
    verifyStatement(signed, by);
    return 'none';
  } catch (error) {
    return error instanceof StatementError ? error.code : String(error);
  }
}

describe('a signed statement', () => {
  it('verifies after it has travelled', () => {
    fc.assert(
      fc.property(aFreshness, (statement) => {
        const sent = JSON.stringify(signStatement(mine.signer, statement));
        const signed = SignedFreshness.parse(JSON.parse(sent));
        expect(verifyStatement(signed, trust)).toEqual(statement);
      }),
    );
    fc.assert(
      fc.property(anEnd, (statement) => {
        const sent = JSON.stringify(signStatement(mine.signer, statement));
        const signed = SignedSnapshotEnd.parse(JSON.parse(sent));
        expect(verifyStatement(signed, trust)).toEqual(statement);
      }),
    );
  });

  it('is refused after any change of it', () => {
    fc.assert(
      fc.property(aFreshness, aFreshness, (statement, other) => {
        const signed = signStatement(mine.signer, statement);
        const names = Object.keys(statement) as (keyof FreshnessStatement)[];
        for (const name of names) {
          const changed = { ...statement, [name]: other[name] };
          const isSame = JSON.stringify(changed) === JSON.stringify(statement);
          const fault = faultOf({ ...signed, statement: changed });
          expect(fault, name).toBe(isSame ? 'none' : 'statement_bad_signature');
          const { [name]: _, ...without } = statement;
          expect(faultOf({ ...signed, statement: without as FreshnessStatement })).toBe(
            'statement_bad_signature',
          );
        }
        const more = { ...statement, more: 1 } as FreshnessStatement;
        expect(faultOf({ ...signed, statement: more })).toBe('statement_bad_signature');
      }),
    );
  });

  it('is refused with another signature', () => {
    const signed = signStatement(mine.signer, STATEMENT);
    const bytes = Buffer.from(signed.signature, 'base64url');
    fc.assert(
      fc.property(fc.nat({ max: bytes.length - 1 }), fc.integer({ min: 1, max: 255 }), (at, by) => {
        const changed = Buffer.from(bytes);
        changed[at] = (changed[at] ?? 0) ^ by;
        const signature = changed.toString('base64url');
        expect(faultOf({ ...signed, signature })).toBe('statement_bad_signature');
      }),
    );
    for (const signature of ['x', signed.signature.slice(4), `${signed.signature}AAAA`]) {
      expect(faultOf({ ...signed, signature })).toBe('statement_bad_signature');
    }
  });

  it('is refused without a signature, by its own reason', () => {
    const signed = signStatement(mine.signer, STATEMENT);
    expect(faultOf({ ...signed, signature: '' })).toBe('statement_unsigned');
  });

  it('is refused when a key signed it that may not', () => {
    const stranger = aKey('stranger');
    expect(faultOf(signStatement(stranger.signer, STATEMENT))).toBe('statement_unknown_key');
    // Under the name of one that may.
    const posing = signStatement({ ...stranger.signer, kid: 'mine' }, STATEMENT);
    expect(faultOf(posing)).toBe('statement_bad_signature');
    const swapped = { ...signStatement(mine.signer, STATEMENT), kid: 'theirs' };
    expect(faultOf(swapped)).toBe('statement_bad_signature');
    const none = { tenantId: TENANT, keys: [] };
    expect(faultOf(signStatement(mine.signer, STATEMENT), none)).toBe('statement_unknown_key');
  });

  it('is refused when the key is of another kind, or missing', () => {
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const signed = signStatement(mine.signer, STATEMENT);
    for (const jwk of [
      { ...publicKey.export({ format: 'jwk' }), kty: 'EC', kid: 'mine' },
      { kty: 'OKP', kid: 'mine' },
      { kty: 'oct', kid: 'mine', k: 'AAAA' },
    ]) {
      expect(faultOf(signed, { tenantId: TENANT, keys: [jwk] })).toBe('statement_bad_signature');
    }
  });

  it('is refused for another tenant', () => {
    const signed = signStatement(mine.signer, STATEMENT);
    expect(faultOf(signed, { ...trust, tenantId: OTHER })).toBe('statement_wrong_tenant');
  });

  it('of one kind is not one of the other', () => {
    const freshness = signStatement(mine.signer, STATEMENT);
    expect(SignedSnapshotEnd.safeParse(freshness).success).toBe(false);
    const [end] = fc.sample(anEnd, 1);
    const signedEnd = signStatement(mine.signer, end as SnapshotEnd);
    expect(SignedFreshness.safeParse(signedEnd).success).toBe(false);
    const more = { ...freshness, statement: { ...STATEMENT, more: 1 } };
    expect(SignedFreshness.safeParse(more).success).toBe(false);
  });
});
