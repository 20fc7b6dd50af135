/**
 * An agent with several credentials, at the gateway: each lets it in by itself, and what is rotated
 * or revoked ends at once, also for calls that wait and streams that are open.
 */
import { hash } from 'node:crypto';
import type { AgentCredentialFact } from '@governance/shared/channel/facts';
import { uuidv7 } from '@governance/shared/ids';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { HTTP_SERVER, startTestPlane, type TestPlane } from '../../testing/test-plane.ts';
import { startTestUpstream, type TestUpstream } from '../../testing/test-upstream.ts';

const LIST = { jsonrpc: '2.0', id: 1, method: 'resources/list', params: {} };
let upstream: TestUpstream;
let plane: TestPlane;
/** Lets the server answer, once it was asked. */
const asked: { goOn?: (() => void) | undefined } = {};

beforeAll(async () => {
  upstream = await startTestUpstream({
    capabilities: { tools: {}, resources: {} },
    methods: {
      'resources/list': () =>
        new Promise((resolve) => {
          asked.goOn = () => resolve({ resources: [{ uri: 'doc://secret', name: 'secret' }] });
        }),
    },
  });
  plane = await startTestPlane({ servers: [HTTP_SERVER('up', upstream.url)] });
});
afterAll(async () => {
  await plane?.stop();
  await upstream?.stop();
});

const answerNow = () => asked.goOn?.();

const KIND = 'optional.agent_credential';

function aCredential(agentId: string) {
  const id = uuidv7();
  let fact: AgentCredentialFact = {
    ...{ id, agent_id: agentId, client_id: `acr_${id}`, version: 1 },
    secret_hash: hash('sha256', 'the secret', 'hex'),
  };
  plane.apply(KIND, id, fact);
  return {
    id,
    basic: `Basic ${Buffer.from(`${fact.client_id}:the secret`).toString('base64')}`,
    claims: { credential_version: undefined, credential: { id, version: 1 } },
    rotate: () => {
      fact = { ...fact, version: 2, secret_hash: hash('sha256', 'another', 'hex') };
      plane.apply(KIND, id, fact);
    },
    revoke: () => plane.apply(KIND, id, null),
  };
}

async function list(authorization: string, meanwhile: () => void = () => {}) {
  asked.goOn = undefined;
  const answer = plane.post('/mcp/v1/up', LIST, { authorization });
  let isOver = false;
  void answer.finally(() => {
    isOver = true;
  });
  await vi.waitFor(() => expect(isOver || asked.goOn !== undefined).toBe(true));
  meanwhile();
  answerNow();
  return (await answer).status;
}

it.each([
  'basic',
  'bearer',
] as const)('each lets its agent in by %s, and ends alone', async (way) => {
  const agent = plane.addAgent();
  const [one, two] = [aCredential(agent.id), aCredential(agent.id)];
  const by = (credential: typeof one) =>
    way === 'basic' ? credential.basic : agent.bearer(credential.claims);
  const [withOne, withTwo] = [by(one), by(two)];
  for (const authorization of [withOne, withTwo, agent.basic]) {
    expect(await list(authorization)).toBe(200);
  }
  one.rotate();
  expect(await list(withOne)).toBe(401);
  two.revoke();
  expect(await list(withTwo)).toBe(401);
  expect(await list(agent.basic)).toBe(200);
  expect(await list(agent.bearer())).toBe(200);
});

it('the rotation of the first one leaves the others alone', async () => {
  const agent = plane.addAgent();
  const other = aCredential(agent.id);
  const token = agent.bearer(other.claims);
  const first = agent.bearer({ credential_version: 1 });
  agent.update({ credential_version: 2 });
  expect(await list(first)).toBe(401);
  for (const authorization of [other.basic, token]) expect(await list(authorization)).toBe(200);
});

it.each([
  ['rotated', (one: ReturnType<typeof aCredential>) => one.rotate()],
  ['revoked', (one: ReturnType<typeof aCredential>) => one.revoke()],
] as const)('a call that waits is refused when its credential is %s', async (_what, end) => {
  const agent = plane.addAgent();
  const [one, two] = [aCredential(agent.id), aCredential(agent.id)];
  expect(await list(one.basic, () => end(one))).toBe(401);
  expect(await list(two.basic, () => end(one))).toBe(200);
});

it('one of another agent, or of none, admits nobody', async () => {
  const [agent, other] = [plane.addAgent(), plane.addAgent()];
  const theirs = aCredential(other.id);
  expect(await list(agent.bearer(theirs.claims))).toBe(401);
  expect(await list(aCredential(uuidv7()).basic)).toBe(401);
});

it('all end with their agent', async () => {
  const agent = plane.addAgent();
  const one = aCredential(agent.id);
  agent.update({ status: 'suspended' });
  for (const authorization of [one.basic, agent.bearer(one.claims)]) {
    expect(await list(authorization)).toBe(401);
  }
});
