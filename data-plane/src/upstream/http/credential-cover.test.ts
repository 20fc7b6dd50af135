import { uuidv7 } from '@governance/shared/ids';
import { createAddressPolicy } from '@governance/shared/outbound/address-policy';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openStdio, startTestUpstream, type TestUpstream } from '../../testing/test-upstream.ts';
import { createUpstreamPool } from '../sessions/pool.ts';
import { createAnswerRoom } from '../shares/answer-room.ts';
import { Cancellation, type UpstreamNotification } from '../upstream.ts';
import { createCredentialCover } from './credential-cover.ts';

const COVERED = '[REDACTED:upstream_credential]';

describe('the cover of a credential', () => {
  const cover = (value: string) => createCredentialCover(['x-key', value], () => undefined);

  it.each([
    ['Bearer sk-0123456789ab', 'the token sk-0123456789ab', `the token ${COVERED}`],
    ['Basic dXNlcjpwYXNzd29yZA==', 'dXNlcjpwYXNzd29yZA==!', `${COVERED}!`],
    ['several words of 0 to 9', 'several words of 0 to 9', COVERED],
    ['a"quote\\and/slash', JSON.stringify('a"quote\\and/slash'), `"${COVERED}"`],
    ['a/path/of/a/key', 'a\\/path\\/of\\/a\\/key, a/path/of/a/key', `${COVERED}, ${COVERED}`],
    ['$&$&$&$&$&$&', 'x $&$&$&$&$&$& y', `x ${COVERED} y`],
  ])('of %s covers it as JSON has it', (value, text, covered) => {
    expect(cover(value)?.(text)).toBe(covered);
    expect(cover(value)?.('nothing of it')).toBe('nothing of it');
  });

  it('leaves short ones, which may be any word', () => {
    expect(cover('Bearer eleven-char')).toBeUndefined();
    expect(createCredentialCover(null, () => undefined)).toBeUndefined();
  });
});

describe('a server that repeats its credential', () => {
  const [tenantId, agentId, deploymentId] = [uuidv7(), uuidv7(), uuidv7()];
  const TOKEN = 'a-secret-of-the-server/0123456789';
  const warn = vi.fn();
  let upstream: TestUpstream;
  let pool: ReturnType<typeof createUpstreamPool>;

  beforeEach(async () => {
    warn.mockClear();
    upstream = await startTestUpstream({
      tools: [
        {
          name: 'read_request',
          handle: ({ event, id, progressToken }) => {
            event({
              jsonrpc: '2.0',
              method: 'notifications/progress',
              params: { progressToken, progress: 1, message: `sent with ${TOKEN}` },
            });
            event({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: TOKEN }] } });
          },
        },
      ],
    });
    const credential = { type: 'bearer', token: TOKEN };
    const place = { tenant_id: tenantId, deployment_id: deploymentId, server_id: 'up' };
    pool = createUpstreamPool({
      room: createAnswerRoom(64 * 1024, () => false),
      limits: { timeoutMs: 2000, messageBytes: 64 * 1024 },
      client: { name: 'test', version: '1' },
      stdio: openStdio(),
      addresses: createAddressPolicy(['*']),
      connections: 8,
      requestsPerAgent: 64,
      requestsPerTenant: 256,
      maxSessions: 10,
      maxProcesses: 2,
      maxOwnProcesses: 8,
      servesSeveral: () => false,
      hasSession: () => false,
      idleMs: 60_000,
      isRegistered: () => true,
      findServer: () => undefined,
      findIneligibility: () => undefined,
      findSealedCredential: () => JSON.stringify({ ...place, credential }),
      findDeploymentId: () => deploymentId,
      openSealed: async (sealed) => sealed,
      onNotification: () => undefined,
      log: { info: () => undefined, warn },
    });
  });
  afterEach(async () => {
    await pool.close();
    await upstream.stop();
  });

  it('gives it to no agent, in a result, in progress or in an error, and the log says so once', async () => {
    const transport = 'streamable-http' as const;
    const server = { server_id: 'up', transport, url: upstream.url, local_name: null };
    const session = pool.getSession({
      tenantId,
      agentId,
      server: { ...server, has_credential: true },
    });
    const notifications: UpstreamNotification[] = [];
    const ask = (name: string) =>
      session.request(
        {
          method: 'tools/call',
          members: `"name":${JSON.stringify(name)},"arguments":{}`,
          wantsProgress: true,
        },
        { cancellation: new Cancellation(), onNotification: (one) => notifications.push(one) },
      );
    const result = await ask('read_request');
    expect(result.value).toEqual({ content: [{ type: 'text', text: COVERED }] });
    expect(notifications).toMatchObject([{ params: { message: `sent with ${COVERED}` } }]);
    upstream.override(({ headers, message }, response) => {
      const error = { code: -1, message: `refused: ${headers.authorization}` };
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id: message?.id, error }));
      return true;
    });
    expect((await ask('read_request')).value).toEqual({
      code: -1,
      message: `refused: Bearer ${COVERED}`,
    });
    expect(warn.mock.calls).toEqual([
      [{ server: 'up' }, 'an MCP server repeats the credential that it was sent: it is covered'],
    ]);
  });
});
