/** The answers and records of a data plane that denies all calls, on the real gateway. */
import { uuidv7 } from '@governance/shared/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PlaneDenial } from '../../contracts.ts';
import {
  HTTP_SERVER,
  startTestPlane,
  type TestAgent,
  type TestPlane,
} from '../../testing/test-plane.ts';
import { startTestUpstream, type TestUpstream } from '../../testing/test-upstream.ts';

let plane: TestPlane;
let upstream: TestUpstream;
let agent: TestAgent;
let denial: PlaneDenial | null = null;
/** Answers in the place of `denial`, once. */
let onAsked: (() => PlaneDenial) | null = null;

beforeAll(async () => {
  upstream = await startTestUpstream();
  plane = await startTestPlane({
    servers: [HTTP_SERVER('files', upstream.url)],
    findDenial: () => {
      const answer = onAsked;
      onAsked = null;
      return answer ? answer() : denial;
    },
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
const post = (message: unknown, authorization = agent.bearer()) =>
  plane.post('/mcp/v1/files', message, { authorization });
const PLANE_REASONS = ['offline_max_age', 'tenant_revoked', 'stream_forked'] as const;
const because = (reason: PlaneDenial['reason']) => ({ reason, message: 'because of the test' });

describe('a data plane that denies all calls', () => {
  it.each(PLANE_REASONS)('denies every call with its reason and records it: %s', async (reason) => {
    denial = because(reason);
    const { status, json } = await post(CALL);
    expect(status).toBe(200);
    expect(json.error).toMatchObject({
      code: -32003,
      message: 'Denied by policy: because of the test',
      data: { reason, reasons: [] },
    });
    const list = await post({ jsonrpc: '2.0', id: 2, method: 'tools/list' });
    expect(list).toMatchObject({ status: 200, json: { error: { code: -32003 } } });
    const stream = await fetch(`${plane.url}/mcp/v1/files`, {
      headers: { accept: 'text/event-stream', authorization: agent.bearer() },
    });
    expect(stream.status).toBe(403);
    expect(await stream.json()).toMatchObject({ error: { code: -32003, data: { reason } } });
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

  it.each(
    PLANE_REASONS,
  )('answers every request with a good credential so, and no other: %s', async (reason) => {
    denial = because(reason);
    const initialize = {
      method: 'initialize',
      params: {
        protocolVersion: '2025-06-18',
        capabilities: {},
        clientInfo: { name: 'test', version: '1' },
      },
    };
    const requests = [initialize, { method: 'tools/list' }, CALL, { method: 'ping' }];
    for (const authorization of [agent.bearer(), agent.basic]) {
      for (const path of ['/mcp/v1/files', '/mcp/v1', '/mcp/v1/no-such-server']) {
        for (const request of requests) {
          const message = { ...request, jsonrpc: '2.0', id: 'its-id' };
          const answer = await plane.post(path, message, { authorization });
          expect(answer, `${path} ${request.method}`).toMatchObject({
            status: 200,
            json: {
              id: 'its-id',
              error: {
                code: -32003,
                message: 'Denied by policy: because of the test',
                data: { reason },
              },
            },
          });
          expect(answer.headers.get('www-authenticate')).toBeNull();
          expect(answer.headers.get('mcp-session-id')).toBeNull();
        }
      }
    }
    const wrong = `Basic ${Buffer.from(`${agent.clientId}:wrong`).toString('base64')}`;
    for (const authorization of ['', 'Bearer x', wrong, agent.bearer({ exp: 1 })]) {
      expect((await post(CALL, authorization)).status, authorization).toBe(401);
    }
    // Each call that names a tool is recorded (at the unified gateway this name is none).
    const decisions = (await plane.records()).filter((record) => record.type === 'decision');
    expect(decisions).toHaveLength(4);
    for (const record of decisions) {
      expect(record).toMatchObject({ agent_id: agent.id, decided_by: 'standing' });
    }
  });

  it('does not reject a client whose token is newer than the local facts', async () => {
    denial = because('tenant_revoked');
    const feed_seq = plane.cursor() + 1_000;
    const { status, json } = await post(CALL, agent.bearer({ feed_seq }));
    // Nothing is waited for that cannot come: such a wait ends with a 401.
    expect(status).toBe(200);
    expect(json.error).toMatchObject({ code: -32003, data: { reason: 'tenant_revoked' } });
    const decisions = (await plane.records()).filter((record) => record.type === 'decision');
    expect(decisions).toMatchObject([
      { id: json.error.data.event_id, agent_id: agent.id, decided_by: 'standing' },
    ]);

    // Of an agent that was made since, only the token is known: nobody to record it for.
    const stranger = agent.bearer({ feed_seq, sub: uuidv7() });
    for (const request of [CALL, { jsonrpc: '2.0', id: 7, method: 'tools/list' }]) {
      expect(await post(request, stranger)).toMatchObject({
        status: 200,
        json: { id: request.id, error: { code: -32003, data: { reason: 'tenant_revoked' } } },
      });
    }
    const news = { jsonrpc: '2.0', method: 'notifications/initialized' };
    expect((await post(news, stranger)).status).toBe(202);
    expect((await post('no JSON', stranger)).status).toBe(400);
    const stream = await fetch(`${plane.url}/mcp/v1/files`, {
      headers: { accept: 'text/event-stream', authorization: stranger },
    });
    expect(stream.status).toBe(403);
    // What is known to be bad stays bad.
    agent.update({ credential_version: 2 });
    expect((await post(CALL, agent.bearer({ feed_seq, credential_version: 1 }))).status).toBe(401);
    agent.update({ credential_version: 1 });
    expect((await plane.records()).filter((record) => record.type === 'decision')).toEqual([]);

    // With nothing denied it is as it was: the replica has to catch up first.
    denial = null;
    expect((await post(CALL, agent.bearer({ feed_seq }))).status).toBe(401);
    expect(upstream.messages('tools/call')).toHaveLength(0);
  });

  it('keeps the denial under which it admitted a caller, even if that ends in the meantime', async () => {
    let asked = 0;
    denial = because('tenant_revoked');
    const token = agent.bearer({ feed_seq: plane.cursor() + 1_000 });
    onAsked = () => {
      // Lifted between the look at the credential and the look at the tool.
      if (++asked === 1) denial = null;
      return because('tenant_revoked');
    };
    const listed = await post({ jsonrpc: '2.0', id: 2, method: 'tools/list' }, token);
    onAsked = null;
    expect(listed.json).toMatchObject({ error: { code: -32003 } });
    expect(denial).toBeNull();
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
