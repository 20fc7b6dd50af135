/**
 * A server decides how long a call waits for its list of tools, or for its session to open. What an
 * administrator changes meanwhile holds for the waiting call too.
 */
import type { ServerResponse } from 'node:http';
import type { LedgerRecord } from '@governance/shared/ledger/ledger-record';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  HTTP_SERVER,
  startTestPlane,
  type TestAgent,
  type TestPlane,
} from '../../testing/test-plane.ts';
import {
  type SeenRequest,
  startTestUpstream,
  type TestUpstream,
} from '../../testing/test-upstream.ts';

let upstream: TestUpstream;
let plane: TestPlane;
let servers = 0;

beforeAll(async () => {
  upstream = await startTestUpstream();
  plane = await startTestPlane();
});

afterAll(async () => {
  await plane.stop();
  await upstream.stop();
});

afterEach(async () => {
  plane.engageKillSwitch(false);
  upstream.seen.length = 0;
  await plane.records();
});

/** Calls a tool of a server that is new to the plane, and holds its answer to one method. */
async function callHeldAt(method: string, agent: TestAgent) {
  const serverId = `held-${++servers}`;
  plane.setServers([HTTP_SERVER(serverId, upstream.url)]);
  const held: { request: SeenRequest; response: ServerResponse }[] = [];
  const release = upstream.override((request, response) => {
    if (request.message?.method !== method) return false;
    held.push({ request, response });
    return true;
  });
  const message = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'echo', arguments: {} },
  };
  const authorization = agent.basic;
  const answer = plane.post(`/mcp/v1/${serverId}`, message, { authorization });
  await vi.waitFor(() => expect(held).toHaveLength(1));
  release();
  return {
    async goOn() {
      for (const { request, response } of held) {
        const { id } = request.message as { id: number };
        const result =
          method === 'initialize'
            ? {
                protocolVersion: '2025-06-18',
                capabilities: { tools: {} },
                serverInfo: { name: 'slow', version: '1' },
              }
            : { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] };
        response.writeHead(200, {
          'content-type': 'application/json',
          'mcp-session-id': upstream.openSession(),
        });
        response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
      }
      return answer;
    },
  };
}

/** The outcome may be written after the answer. */
async function recordsUntilOutcome(): Promise<LedgerRecord[]> {
  const records: LedgerRecord[] = [];
  await vi.waitFor(async () => {
    records.push(...(await plane.records()));
    expect(records.at(-1)?.type).toBe('outcome');
  });
  return records;
}

const CHANGES: [string, (agent: TestAgent) => void][] = [
  ['the agent is suspended', (agent) => agent.update({ status: 'suspended' })],
  ['the kill switch is engaged', () => plane.engageKillSwitch(true)],
  ['its secret is rotated', (agent) => agent.update({ credential_version: 2 })],
];

describe.each(['tools/list', 'initialize'])('a call that waits for %s', (method) => {
  it('goes on when nothing changed', async () => {
    const call = await callHeldAt(method, plane.addAgent());
    expect((await call.goOn()).json.result).toBeDefined();
  });

  it.each(CHANGES)('is not forwarded when %s meanwhile', async (_what, change) => {
    const agent = plane.addAgent();
    const call = await callHeldAt(method, agent);
    change(agent);
    const { status, json } = await call.goOn();
    expect(status).toBe(401);
    expect(json.error.code).toBe(-32000);
    expect(upstream.messages('tools/call')).toEqual([]);
    const records = await plane.records();
    expect(records).toMatchObject([{ type: 'decision', policy_result: 'deny' }]);
  });

  it('is judged by the roles that its agent has then', async () => {
    const agent = plane.addAgent();
    const call = await callHeldAt(method, agent);
    agent.update({ role_ids: [] });
    expect((await call.goOn()).json.error.code).toBe(-32003);
    expect(upstream.messages('tools/call')).toEqual([]);
  });
});

describe('a call that was allowed and waits for a session', () => {
  /** The server's tools are known, so the session is opened after the decision. */
  async function allowedAndHeld(agent: TestAgent) {
    plane.setServers([HTTP_SERVER('known', upstream.url)]);
    const message = (name: string) => ({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name, arguments: {} },
    });
    await plane.post('/mcp/v1/known', message('echo'), {
      authorization: plane.addAgent().basic,
    });
    await recordsUntilOutcome();
    upstream.seen.length = 0;
    const held: { request: SeenRequest; response: ServerResponse }[] = [];
    const release = upstream.override((request, response) => {
      if (request.message?.method !== 'initialize') return false;
      held.push({ request, response });
      return true;
    });
    const { basic } = agent;
    const answer = plane.post('/mcp/v1/known', message('echo'), { authorization: basic });
    await vi.waitFor(() => expect(held).toHaveLength(1));
    release();
    return async () => {
      for (const { request, response } of held) {
        const result = {
          protocolVersion: '2025-06-18',
          capabilities: { tools: {} },
          serverInfo: { name: 'slow', version: '1' },
        };
        response.writeHead(200, {
          'content-type': 'application/json',
          'mcp-session-id': upstream.openSession(),
        });
        response.end(JSON.stringify({ jsonrpc: '2.0', id: request.message?.id, result }));
      }
      return answer;
    };
  }

  it.each(CHANGES)('is blocked before it is sent when %s', async (_what, change) => {
    const agent = plane.addAgent();
    const goOn = await allowedAndHeld(agent);
    change(agent);
    const { status, json } = await goOn();
    expect(status).toBe(401);
    expect(json.error.code).toBe(-32000);
    expect(upstream.messages('tools/call')).toEqual([]);
    expect(await recordsUntilOutcome()).toMatchObject([
      { type: 'decision', policy_result: 'allow' },
      { type: 'outcome', outcome: 'blocked' },
    ]);
  });

  it.each<[string, (agent: TestAgent) => void, Record<string, unknown>]>([
    [
      'its role is removed',
      (agent) => agent.update({ role_ids: [] }),
      { needed_permission: 'known/echo:read' },
    ],
    ['its server is disabled or deleted', () => plane.setServers([]), {}],
  ])('is blocked before it is sent when %s', async (_what, change, data) => {
    const agent = plane.addAgent();
    const goOn = await allowedAndHeld(agent);
    change(agent);
    const { json } = await goOn();
    expect(json.error).toMatchObject({ code: -32003, data });
    expect(upstream.messages('tools/call')).toEqual([]);
    expect(await recordsUntilOutcome()).toMatchObject([
      { type: 'decision', policy_result: 'allow' },
      { type: 'outcome', outcome: 'blocked' },
    ]);
  });

  it('is sent when another server is registered meanwhile', async () => {
    const goOn = await allowedAndHeld(plane.addAgent());
    plane.setServers([HTTP_SERVER('known', upstream.url), HTTP_SERVER('more', upstream.url)]);
    expect((await goOn()).json.result).toBeDefined();
  });
});
