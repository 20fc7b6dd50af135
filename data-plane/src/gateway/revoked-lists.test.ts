/**
 * A server delays a list, and in the meantime its agent loses its role, is suspended or gets a new
 * secret: the late result is not for that agent.
 */
import type { AgentFact } from '@governance/shared/channel/facts';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { postModern } from '../testing/test-modern-client.ts';
import { HTTP_SERVER, startTestPlane, type TestPlane } from '../testing/test-plane.ts';
import { startTestUpstream, type TestUpstream } from '../testing/test-upstream.ts';

let upstream: TestUpstream;
let plane: TestPlane;
/** Lets the server answer, once it was asked. */
const asked: { goOn?: (() => void) | undefined } = {};

const answer = () => asked.goOn?.();

const held = <T>(value: T) =>
  new Promise<T>((resolve) => {
    asked.goOn = () => resolve(value);
  });

beforeAll(async () => {
  upstream = await startTestUpstream({
    capabilities: { tools: {}, resources: {} },
    methods: {
      'resources/list': () => held({ resources: [{ uri: 'doc://secret', name: 'secret' }] }),
    },
  });
  upstream.override(({ message }, response) => {
    if (message?.method !== 'tools/list') return false;
    const result = { tools: [{ name: 'get_secret', inputSchema: { type: 'object' } }] };
    void held(result).then(() => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }));
    });
    return true;
  });
  plane = await startTestPlane({ servers: [HTTP_SERVER('up', upstream.url)] });
});

afterAll(async () => {
  await plane?.stop();
  await upstream?.stop();
});

async function listAndMeanwhile(method: string, path: string, change: Partial<AgentFact>) {
  const agent = plane.addAgent();
  asked.goOn = undefined;
  const message = { jsonrpc: '2.0', id: 1, method, params: {} };
  const listing = plane.post(path, message, { authorization: agent.basic });
  await vi.waitFor(() => expect(asked.goOn).toBeDefined());
  agent.update(change);
  answer();
  return await listing;
}

describe.each(['/mcp/v1/up', '/mcp/v1'])('at %s', (path) => {
  describe.each(['tools/list', 'resources/list'])('%s', (method) => {
    it('shows nothing to an agent that has lost its role', async () => {
      const { status, text, json } = await listAndMeanwhile(method, path, { role_ids: [] });
      expect(status).toBe(200);
      expect(Object.values(json.result)[0]).toEqual([]);
      expect(text).not.toContain('secret');
    });

    it.each<Partial<AgentFact>>([
      { status: 'suspended' },
      { credential_version: 2 },
    ])('is refused to an agent that became %j', async (change) => {
      const { status, text, json } = await listAndMeanwhile(method, path, change);
      expect([status, json.error.code, json.id]).toEqual([401, -32000, 1]);
      expect(text).not.toContain('get_secret');
    });
  });
});

it('is shown to a modern client whose agent is unchanged', async () => {
  asked.goOn = undefined;
  const { basic: authorization } = plane.addAgent();
  const listing = postModern(plane, 'tools/list', {}, { authorization, path: '/mcp/v1/up' });
  await vi.waitFor(() => expect(asked.goOn).toBeDefined());
  answer();
  expect((await listing).last.result.tools).toHaveLength(1);
});
