/** A session with an MCP server over HTTP, of one agent. */
import type { Agent } from 'undici';
import { HttpUpstreamSession } from '../upstream/http/http-session.ts';
import { AnswerBytes } from '../upstream/shares/answer-room.ts';
import type { FairBytes } from '../upstream/shares/fair-bytes.ts';
import { FairShares, shareAccount } from '../upstream/shares/fair-shares.ts';

type Options = ConstructorParameters<typeof HttpUpstreamSession>[0];

/** A share for each connection that a test opens. */
export const wideShares = (): FairShares =>
  new FairShares({ agent: 64, tenant: 256, way: 512, waitMs: 100 });

/**
 * @param given.room where the bytes of answers are counted
 * @param given.calls where calls are sent, if elsewhere than all else
 * @param given.streams of the session's own stream
 */
export function testHttpSession(
  url: string,
  dispatcher: Agent,
  given: Pick<Options, 'findIneligibility' | 'peer'> & {
    room(): FairBytes;
    timeoutMs: number;
    calls?: Agent;
    streams?: FairShares;
  },
): HttpUpstreamSession {
  const { room, timeoutMs, calls = dispatcher, findIneligibility, peer } = given;
  const shares = wideShares();
  return new HttpUpstreamSession({
    url,
    dispatchers: { calls, quiet: dispatcher, streams: dispatcher },
    shares: { calls: shares, quiet: shares, streams: given.streams ?? shares },
    account: shareAccount('tenant', 'agent', url),
    findCredential: async () => null,
    openRoom: () => new AnswerBytes(room(), { tenantId: 'tenant', key: 'agent' }),
    isHostAllowed: () => true,
    limits: { timeoutMs, messageBytes: 64 * 1024 },
    client: { name: 'test', version: '1' },
    findIneligibility,
    peer,
  });
}
