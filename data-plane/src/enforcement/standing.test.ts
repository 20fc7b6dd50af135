/** What a data plane that may let nobody act answers, on the real gateway, and what it records. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PlaneDenial } from '../contracts.ts';
import { HTTP_SERVER, startTestPlane, type TestAgent, type TestPlane } from '../test-plane.ts';
import { startTestUpstream, type TestUpstream } from '../upstream/test-upstream.ts';

let plane: TestPlane;
let upstream: TestUpstream;
let agent: TestAgent;
let denial: PlaneDenial | null = null;

beforeAll(async () => {
  upstream = await startTestUpstream();
  plane = await startTestPlane({
    servers: [HTTP_SERVER('files', upstream.url)],
    findDenial: () => denial,
  });
  agent = plane.addAgent();
});
afterAll(async () => {
  await plane.stop();
  await upstream.stop();
});

const CALL = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'read_file', arguments: {} },
};
const post = (message: unknown) =>
  plane.post('/mcp/v1/files', message, { authorization: agent.bearer() });

describe('a data plane that may let nobody act', () => {
  it.each([
    'offline_max_age',
    'tenant_revoked',
    'stream_forked',
  ] as const)('denies every call with its reason and records it: %s', async (reason) => {
    denial = { reason, message: 'because of the test' };
    const { status, json } = await post(CALL);
    expect(status).toBe(200);
    expect(json.error).toMatchObject({
      code: -32003,
      message: 'Denied: because of the test',
      data: { reason, reasons: [] },
    });
    const list = await post({ jsonrpc: '2.0', id: 2, method: 'tools/list' });
    expect(list).toMatchObject({ status: 200, json: { error: { code: -32003 } } });
    const stream = await fetch(`${plane.url}/mcp/v1/files`, {
      headers: { accept: 'text/event-stream', authorization: agent.bearer() },
    });
    expect(stream.status).toBe(403);
    expect(upstream.seen).toHaveLength(0);
    const decisions = (await plane.records()).filter((record) => record.type === 'decision');
    expect(decisions).toMatchObject([
      {
        id: json.error.data.event_id,
        policy_result: 'deny',
        policy_reason: `${reason}: because of the test`,
        decided_by: 'standing',
      },
    ]);
  });

  it('answers the local kill switch as the tenant’s', async () => {
    denial = { reason: 'local_kill_switch', message: 'because of the test' };
    const { status, json } = await post(CALL);
    expect(status).toBe(401);
    expect(json.error).toMatchObject({ code: -32000 });
    const decisions = (await plane.records()).filter((record) => record.type === 'decision');
    expect(decisions).toMatchObject([{ decided_by: 'standing', policy_result: 'deny' }]);
  });

  it('stops a call that was let in and then had to wait', async () => {
    denial = null;
    // Another agent, whose session with the server has to be opened first.
    const other = plane.addAgent();
    const restore = upstream.override((request) => {
      denial = { reason: 'offline_max_age', message: 'because of the test' };
      return request.message === undefined;
    });
    const { json } = await plane.post('/mcp/v1/files', CALL, { authorization: other.bearer() });
    expect(json.error).toBeDefined();
    expect(upstream.messages('initialize')).toHaveLength(1);
    expect(upstream.messages('tools/call')).toHaveLength(0);
    restore();
    denial = null;
  });
});
