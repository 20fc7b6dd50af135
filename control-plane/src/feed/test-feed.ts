/** What the tests of the feed share: a key that signs statements, and facts. */
import { generateKeyPairSync } from 'node:crypto';
import type { NewFact } from '@governance/shared/facts';
import type { StatementKey } from '@governance/shared/signed-statement';
import type { StatementSigner } from './freshness-statements.ts';

export function aFeedSigner(): { signer: StatementSigner; keys: StatementKey[] } {
  const { privateKey: key, publicKey } = generateKeyPairSync('ed25519');
  const kid = 'feed-key';
  const jwk = { ...publicKey.export({ format: 'jwk' }), kty: 'OKP', kid };
  return { signer: async () => ({ key, kid }), keys: [jwk] };
}

/** The fact of a role whose key goes with its number, and whose name may be given. */
export function roleFact(n: number, name = `role ${n}`): Extract<NewFact, { kind: 'role' }> {
  const id = `0190aaaa-0000-7000-8000-${String(n).padStart(12, '0')}`;
  const value = { id, name, permissions: [], resource_scopes: [] };
  return { kind: 'role', key: id, value };
}
