import { createHash, generateKeyPairSync } from 'node:crypto';
import { decodeJwt } from 'jose';
import { expect, it } from 'vitest';
import { uuidv7 } from '../ids.ts';
import { type AgentCredentials, createAgentTokens } from './agent-token-issue.ts';

/** The characters that gateways read of an Authorization header, without its scheme. */
const MAX_READ = 8192 - 'Bearer '.length;
const PUBLIC_URL = `https://${'a'.repeat(63)}.${'b'.repeat(63)}.example:8443`;
const GATEWAY = `${PUBLIC_URL}/mcp/v1`;

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 4096 });
const secretHash = createHash('sha256').update('s').digest('hex');

/** As many names as a token's list takes, all of characters that JSON escapes. */
function fullList(maxBytes: number): string[] {
  const one = '"'.repeat(10);
  const list: string[] = [];
  while (Buffer.byteLength(JSON.stringify([...list, one])) <= maxBytes) list.push(one);
  return list;
}

const agent: AgentCredentials = {
  id: uuidv7(),
  tenantId: uuidv7(),
  status: 'active',
  secretHash,
  proof: { credentialId: uuidv7(), version: 1 },
  riskTier: 'critical',
  roles: fullList(1024),
  permissions: fullList(3072),
  feedSeq: 2 ** 40,
};
const tokens = createAgentTokens({
  key: () => ({ kid: 'k'.repeat(43), privateKey }),
  publicUrl: PUBLIC_URL,
  findClient: async () => ({ secretHash, read: async () => agent }),
  now: () => new Date(),
});
const issueFor = (server: string) =>
  tokens.issue({
    ...{ clientId: 'c', clientSecret: 's', address: '127.0.0.1' },
    resource: `${GATEWAY}/${server}`,
  });

it('gives no token that is longer than gateways read, however long the server’s name is', async () => {
  const longest = 'x'.repeat(63);
  const { token } = await issueFor(longest);
  expect(decodeJwt(token)).toMatchObject({ aud: `${GATEWAY}/${longest}`, roles: agent.roles });
  expect(token.length).toBeLessThanOrEqual(MAX_READ);
  for (const length of [64, 800, 1_900]) {
    const refused = issueFor('x'.repeat(length));
    await expect(refused, `${length}`).rejects.toMatchObject({ code: 'INVALID_TARGET' });
  }
});

it('gives none for a name that no server has', async () => {
  for (const server of ['', '/', 'a/b', 'a b', 'é']) {
    const issued = issueFor(server).then(({ token }) => decodeJwt(token).aud);
    // A slash at the end names the gateway itself.
    if (server === '' || server === '/') expect(await issued).toBe(GATEWAY);
    else await expect(issued, server).rejects.toMatchObject({ code: 'INVALID_TARGET' });
  }
});
