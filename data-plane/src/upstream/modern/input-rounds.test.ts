/** What a modern server asks in its results: of a legacy client through its peer. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  call,
  failureOf,
  openTestPool,
  type SdkServer,
  startSdkServer,
  TENANT,
  testExchange,
  testPeer,
  textOf,
} from '../../testing/test-modern.ts';
import { HTTP_SERVER } from '../../testing/test-plane.ts';
import type { UpstreamPool } from '../sessions/pool.ts';
import type { ServerRequest } from '../upstream.ts';

// As clients before 2025-11-25 declare it.
const ABLE = { elicitation: {}, roots: {} };

let server: SdkServer;
let pool: UpstreamPool;

beforeEach(async () => {
  server = await startSdkServer();
  pool = openTestPool();
});

afterEach(async () => {
  await pool.close();
  await server.stop();
});

const find = (peer?: ReturnType<typeof testPeer>['peer']) =>
  pool.getSession({
    tenantId: TENANT,
    server: HTTP_SERVER('up', server.url),
    agentId: 'agent',
    peer,
  });

const accept = ({ method, params }: ServerRequest) =>
  method === 'roots/list'
    ? { result: { roots: [{ uri: 'file:///a' }] } }
    : { result: { action: 'accept', content: { name: `to ${params.message}` } } };

it('is asked of the client, round by round, and given to the server', async () => {
  const { peer, asked } = testPeer(ABLE, accept);
  const answer = await call(find(peer), 'ask', { n: 1 });
  expect(JSON.parse(textOf(answer))).toEqual({
    state: 'two {"action":"accept","content":{"name":"to Who?"}}',
    responses: {
      place: { action: 'accept', content: { name: 'to Where?' } },
      roots: { roots: [{ uri: 'file:///a' }] },
    },
  });
  expect(answer.value).not.toHaveProperty('resultType');
  expect(asked.map(({ method }) => method)).toEqual([
    'elicitation/create',
    'elicitation/create',
    'roots/list',
  ]);
  expect(new Set(asked.map(({ id }) => id)).size).toBe(3);
  const posts = server.posts('tools/call').map(({ message }) => message);
  expect(posts.map(({ params }) => params.arguments)).toEqual([{ n: 1 }, { n: 1 }, { n: 1 }]);
  expect(new Set(posts.map(({ id }) => id)).size).toBe(3);
  expect(posts[0]?.params._meta).toMatchObject({
    'io.modelcontextprotocol/clientCapabilities': ABLE,
  });
});

it('reaches a modern client as it is, and what that gives reaches the server', async () => {
  const { peer, asked } = testPeer(ABLE, accept);
  const session = pool.getSession({
    tenantId: TENANT,
    server: HTTP_SERVER('up', server.url),
    agentId: 'agent',
    peer,
    era: 'modern',
  });
  const modern = () => testExchange({ takesEveryResult: true });
  const first = await call(session, 'ask', {}, modern());
  expect(first.value).toMatchObject({
    resultType: 'input_required',
    requestState: 'one',
    inputRequests: { name: { method: 'elicitation/create' } },
  });
  const given = { name: { action: 'decline' } };
  const retry = `"inputResponses":${JSON.stringify(given)},"requestState":"one"`;
  const second = await call(session, 'ask', {}, modern(), retry);
  expect(second.value).toMatchObject({ requestState: 'two {"action":"decline"}' });
  expect(asked).toEqual([]);
});

it('ends with an error that says what the client did not give', async () => {
  const denied = testPeer(ABLE, () => ({ error: { code: -32003, message: 'Denied by policy.' } }));
  expect((await call(find(denied.peer), 'ask')).value).toEqual({
    code: -32003,
    message: 'The server asks for elicitation/create, which it is not given: Denied by policy.',
  });
  expect(server.posts('tools/call')).toHaveLength(1);
});

it('withdraws the other questions when one is not answered', async () => {
  const { peer, asked, withdrawn } = testPeer(ABLE, ({ method, params }) => {
    if (method === 'roots/list') return { error: { code: -32601, message: 'No roots.' } };
    return params.message === 'Who?' ? { result: { action: 'cancel' } } : new Promise(() => {});
  });
  const answer = await call(find(peer), 'ask');
  const data = { requiredCapabilities: { roots: {} } };
  expect(answer).toMatchObject({ kind: 'error', value: { code: -32021, data } });
  expect(withdrawn).toEqual([asked.find(({ params }) => params.message === 'Where?')?.id]);
});

it('is refused for a client that can be asked nothing', async () => {
  // The SDK's server does not even ask.
  expect((await call(find(), 'ask')).value).toMatchObject({ code: -32021 });
});

describe('while the client is asked', () => {
  const silent = () => testPeer(ABLE, () => new Promise(() => {}));

  it('the call can be cancelled', async () => {
    const { peer, asked, withdrawn } = silent();
    const exchange = testExchange();
    const session = find(peer);
    const failed = failureOf(call(session, 'ask', {}, exchange));
    await expect.poll(() => asked).toHaveLength(1);
    expect(session.pending).toBe(1);
    exchange.cancellation.cancel();
    expect(await failed).toBe('cancelled');
    expect(withdrawn).toEqual([asked[0]?.id]);
    expect(session.pending).toBe(0);
  });

  it('its time goes on', async () => {
    const hasty = openTestPool({ limits: { timeoutMs: 500, messageBytes: 10_000 } });
    const { peer, withdrawn } = silent();
    const session = hasty.getSession({
      tenantId: TENANT,
      server: HTTP_SERVER('up', server.url),
      agentId: 'agent',
      peer,
    });
    expect(await failureOf(call(session, 'ask'))).toBe('timeout');
    expect(withdrawn).toHaveLength(1);
    await hasty.close();
  });

  it('the agent may lose its rights: then the server gets none of it', async () => {
    let ineligibility: string | undefined;
    const { peer } = testPeer(ABLE, async (request) => {
      ineligibility = 'suspended';
      return accept(request);
    });
    const exchange = testExchange({ findIneligibility: () => ineligibility });
    expect(await failureOf(call(find(peer), 'ask', {}, exchange))).toBe('ineligible');
    expect(server.posts('tools/call')).toHaveLength(1);
  });

  it('the client may go', async () => {
    const { peer } = testPeer(ABLE, () => null);
    expect(await failureOf(call(find(peer), 'ask'))).toBe('unreachable');
  });
});
