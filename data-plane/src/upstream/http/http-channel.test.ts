import { Agent } from 'undici';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startTestUpstream, type TestUpstream } from '../../testing/test-upstream.ts';
import { AnswerBytes } from '../shares/answer-room.ts';
import { FairBytes } from '../shares/fair-bytes.ts';
import { FairShares, shareAccount } from '../shares/fair-shares.ts';
import { HttpChannel } from './http-channel.ts';

let upstream: TestUpstream;
let dispatcher: Agent;
let shares: FairShares;
let account: ReturnType<typeof shareAccount>;
let isHostAllowed: () => boolean;
let channel: HttpChannel;

beforeEach(async () => {
  upstream = await startTestUpstream();
  dispatcher = new Agent();
  shares = new FairShares({ agent: 1, tenant: 1, way: 1, waitMs: 1000 });
  account = shareAccount('tenant', 'agent', upstream.url);
  isHostAllowed = () => true;
  channel = new HttpChannel({
    url: upstream.url,
    dispatchers: { calls: dispatcher, quiet: dispatcher, streams: dispatcher },
    shares: { calls: shares, quiet: shares, streams: shares },
    account,
    findCredential: async () => null,
    openRoom: () =>
      new AnswerBytes(new FairBytes(1024 * 1024, () => false), {
        tenantId: 'tenant',
        key: 'agent',
      }),
    isHostAllowed: () => isHostAllowed(),
    limits: { timeoutMs: 1000, messageBytes: 1024 },
    client: { name: 'test', version: '1' },
  });
});

afterEach(async () => {
  channel.abortAll();
  await dispatcher.destroy();
  await upstream.stop();
});

const fail = () => {
  throw new Error('unreadable');
};
const send = (findBody: () => string | undefined) =>
  channel.sendQuietly('POST', ['content-type', 'application/json'], findBody, 1000);

it('sends nothing where its body cannot be found, and gives its room back', async () => {
  const waiting = send(() => '{}');
  await Promise.all([waiting, send(fail), send(() => undefined)]);
  expect(upstream.seen).toHaveLength(1);
  expect(shares.tryTake(account)).toBe(true);
});

it('sends nothing where its address cannot be checked, and gives its room back', async () => {
  isHostAllowed = fail;
  await send(() => '{}');
  expect(upstream.seen).toEqual([]);
  expect(shares.tryTake(account)).toBe(true);
  // The room was given back once.
  expect(shares.tryTake(account)).toBe(false);
});
