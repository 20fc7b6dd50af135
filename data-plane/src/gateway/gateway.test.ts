import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { HTTP_SERVER, startTestPlane, type TestAgent, type TestPlane } from '../test-plane.ts';
import { startTestUpstream, type TestUpstream } from '../upstream/test-upstream.ts';

let upstream: TestUpstream;
let plane: TestPlane;
let agent: TestAgent;

const call = (name: string, args: unknown = {}, id: unknown = 1, extra = {}) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args, ...extra },
});

beforeAll(async () => {
  upstream = await startTestUpstream({
    tools: [
      { name: 'echo', annotations: { readOnlyHint: true } },
      { name: 'delete_thing' },
      { name: 'fails', handle: ({ result }) => result({ content: [], isError: true }) },
      {
        name: 'streams',
        handle: ({ id, progressToken, event, response }) => {
          if (progressToken !== undefined) {
            const params = { progressToken, progress: 1, total: 2 };
            event({ jsonrpc: '2.0', method: 'notifications/progress', params });
          }
          event({ jsonrpc: '2.0', id: 99, method: 'sampling/createMessage', params: {} });
          event({ jsonrpc: '2.0', id, result: { content: [] } });
          response.end();
        },
      },
    ],
  });
  plane = await startTestPlane({ servers: [HTTP_SERVER('up', upstream.url)] });
  agent = plane.addAgent();
});

afterAll(async () => {
  await plane.stop();
  await upstream.stop();
});

afterEach(async () => {
  upstream.seen.length = 0;
  await plane.records();
});

describe('POST of a tool call', () => {
  it('forwards what a policy allows, and records decision and outcome', async () => {
    const auth = { authorization: agent.basic, 'x-requester-id': 'user-7' };
    const { status, json } = await plane.post(
      '/mcp/v1/up',
      call('echo', { path: '/a' }, 'x-1'),
      auth,
    );
    expect(status).toBe(200);
    expect(json).toEqual({
      jsonrpc: '2.0',
      id: 'x-1',
      result: { content: [{ type: 'text', text: '{"path":"/a"}' }] },
    });
    const [forwarded] = upstream.messages('tools/call');
    expect(forwarded?.message?.params).toEqual({ name: 'echo', arguments: { path: '/a' } });
    expect(forwarded?.headers.authorization).toBeUndefined();
    const records = await plane.records();
    const decision = records.find((record) => record.type === 'decision');
    const outcome = records.find((record) => record.type === 'outcome');
    expect(decision).toMatchObject({
      agent_id: agent.id,
      action: 'read',
      target: '/a',
      tool_name: 'echo',
      mcp_server: 'up',
      policy_result: 'allow',
      decided_by: 'policy',
      requester_id: 'user-7',
      requester_verified: false,
      session_id: null,
      region: 'eu-test',
    });
    expect(outcome).toMatchObject({ event_id: decision?.id, outcome: 'forwarded' });
  });
});
