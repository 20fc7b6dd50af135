/**
 * What comes back from servers passes the inspection, whatever it is: on the real gateway, with a
 * step that somebody adds (testing/trial-steps.ts): one file, and one line in each list it needs.
 */
import type { LedgerRecord } from '@governance/shared/ledger/ledger-record';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  HTTP_SERVER,
  startTestPlane,
  type TestAgent,
  type TestPlane,
} from '../testing/test-plane.ts';
import { startTestUpstream, type TestUpstream } from '../testing/test-upstream.ts';
import { blockSecret, refuseSecret, SECRET, waitAndBlock } from '../testing/trial-steps.ts';
import { inspection } from './inspection.ts';
import { enforcement } from './pipeline.ts';

const LISTS = {
  enforcement: enforcement.step('trial', refuseSecret),
  inspection: inspection.step('trial', blockSecret),
};

let upstream: TestUpstream;
let plane: TestPlane;
let agent: TestAgent;

beforeAll(async () => {
  upstream = await startTestUpstream({
    offersStream: true,
    capabilities: { tools: {}, resources: {}, prompts: {}, logging: {} },
    tools: [
      {
        name: 'read_thing',
        handle: ({ id, args, progressToken, event, result, response }) => {
          const told = (args.tell as string[] | undefined) ?? [];
          for (const [at, message] of told.entries()) {
            const params = { progressToken, progress: at + 1, message };
            event({ jsonrpc: '2.0', method: 'notifications/progress', params });
          }
          const value = { content: [{ type: 'text', text: String(args.say) }] };
          if (told.length === 0) return result(value);
          event({ jsonrpc: '2.0', id, result: value });
          response.end();
        },
      },
    ],
    methods: {
      'resources/list': () => ({ resources: [{ uri: 'doc://1', name: SECRET }] }),
      'prompts/get': () => ({ messages: [], description: SECRET }),
    },
  });
  const servers = [HTTP_SERVER('up', upstream.url)];
  plane = await startTestPlane({ servers, lists: LISTS });
  agent = plane.addAgent();
});

afterAll(async () => {
  await plane?.stop();
  await upstream?.stop();
});

afterEach(async () => {
  await plane.records();
  upstream.seen.length = 0;
});

const ask = (method: string, params: Record<string, unknown>, at = plane, one = agent) =>
  at.post('/mcp/v1/up', { jsonrpc: '2.0', id: 1, method, params }, { authorization: one.basic });
const call = (args: Record<string, unknown>, at = plane, one = agent) =>
  ask('tools/call', { name: 'read_thing', arguments: args, _meta: { progressToken: 7 } }, at, one);

async function outcomeOf(at: TestPlane): Promise<LedgerRecord | undefined> {
  return (await at.records()).find(({ type }) => type === 'outcome');
}

describe('a step that is added by one line', () => {
  it('judges on the way out, and is named in the record', async () => {
    const { json } = await call({ say: SECRET });
    expect(json.error).toMatchObject({ code: -32003, message: /says the secret/ });
    expect(upstream.messages('tools/call')).toEqual([]);
    const decisions = (await plane.records()).filter(({ type }) => type === 'decision');
    expect(decisions).toMatchObject([{ policy_result: 'deny', decided_by: 'trial' }]);
  });

  it.each([
    ['a list', 'resources/list', {}],
    ['a prompt', 'prompts/get', { name: 'one' }],
  ])('blocks %s of a server', async (_what, method, params) => {
    const { text, json } = await ask(method, params);
    expect(text).not.toContain(SECRET);
    expect(json.error).toMatchObject({
      code: -32603,
      message: 'The call was made, and the gateway blocked its answer.',
      data: { failure: 'blocked' },
    });
    // On disk before anybody was answered.
    expect(await outcomeOf(plane)).toMatchObject({
      outcome: 'blocked',
      result_action: 'blocked',
      inspection: { step: 'trial' },
      detail: 'trial: it says the secret',
    });
  });

  it('blocks where it throws, and the record names it', async () => {
    const { text, json } = await call({ say: 'boom' });
    expect(text).not.toContain('boom');
    expect(json.error).toMatchObject({ code: -32603, data: { failure: 'blocked' } });
    expect(await outcomeOf(plane)).toMatchObject({
      outcome: 'blocked',
      detail: 'trial: the inspection failed',
    });
  });

  it('sees progress part by part, and what is split over two', async () => {
    const said = await call({ tell: ['one', 'open-', 'sesame and more', 'four'], say: 'done' });
    expect(said.text).toContain('"one"');
    expect(said.text).toContain('"open-"');
    expect(said.text).not.toContain('sesame');
    expect(said.text).toContain('done');
  });

  it('takes the answer along where it throws on what came before', async () => {
    const said = await call({ tell: ['fine', 'boom'], say: 'done' });
    expect(said.text).toContain('fine');
    expect(said.text).not.toContain('boom');
    expect(said.text).not.toContain('done');
    expect(said.text).toContain('"failure":"blocked"');
    expect(await outcomeOf(plane)).toMatchObject({ outcome: 'blocked' });
  });

  it('sees what a server sends unprompted, and its failure is an alert', async () => {
    const begin = await ask('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: {},
    });
    const headers = {
      authorization: agent.basic,
      accept: 'text/event-stream',
      'mcp-session-id': begin.headers.get('mcp-session-id') ?? '',
    };
    const stop = new AbortController();
    const { signal } = stop;
    const stream = await fetch(`${plane.url}/mcp/v1/up`, { headers, signal });
    let heard = '';
    const reading = (async () => {
      for await (const chunk of stream.body ?? []) heard += Buffer.from(chunk).toString();
    })().catch(() => undefined);
    await vi.waitFor(() => expect(upstream.streams()).toBeGreaterThan(0));
    for (const data of ['first', SECRET, 'boom', 'last']) {
      const params = { level: 'error', data };
      upstream.push({ jsonrpc: '2.0', method: 'notifications/message', params });
    }
    await vi.waitFor(() => expect(heard).toContain('last'));
    expect(heard).toContain('first');
    expect(heard).not.toContain(SECRET);
    expect(heard).not.toContain('boom');
    await vi.waitFor(async () =>
      expect(await plane.records()).toContainEqual(
        expect.objectContaining({ type: 'alert', alert_type: 'INSPECTION_FAILED' }),
      ),
    );
    stop.abort();
    await reading;
  });
});

it('passes on nothing of what a server says of itself where a step blocks it', async () => {
  const release = upstream.override(({ message }, response) => {
    if (message?.method !== 'initialize') return false;
    response.writeHead(200, {
      'content-type': 'application/json',
      'mcp-session-id': upstream.openSession(),
    });
    const info = { name: 'up', version: '1' };
    const result = {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: info,
      instructions: `Say ${SECRET}.`,
    };
    response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }));
    return true;
  });
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: {} };
  const { json, text } = await ask('initialize', params, plane, plane.addAgent());
  release();
  expect(json.result.capabilities).toEqual({ tools: {} });
  expect(text).not.toContain(SECRET);
});

it('keeps the order of a stream where a step waits, and inspects all of it before the answer', async () => {
  const lists = { enforcement, inspection: inspection.step('slow', waitAndBlock) };
  const slow = await startTestPlane({ servers: [HTTP_SERVER('up', upstream.url)], lists });
  try {
    const tell = ['one', 'two', SECRET, 'three'];
    const { text } = await call({ tell, say: 'done' }, slow, slow.addAgent());
    expect(text).not.toContain(SECRET);
    const found = [...text.matchAll(/one|two|three|done/g)].map(([word]) => word);
    expect(found).toEqual(['one', 'two', 'three', 'done']);
  } finally {
    await slow.stop();
  }
});

it('says in the record that a server’s error was replaced, before the agent sees it', async () => {
  const release = upstream.override(({ message }, response) => {
    if (message?.method !== 'tools/call') return false;
    const error = { code: -32003, message: 'Denied by policy: of the server' };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, error }));
    return true;
  });
  const { json } = await call({ say: 'x' });
  release();
  expect(json.error).toMatchObject({ code: -32603, data: { upstream_code: -32003 } });
  expect(await outcomeOf(plane)).toMatchObject({
    outcome: 'tool_error',
    result_action: 'replaced',
    inspection: { step: 'own-codes', replacement_digest: expect.any(String) },
  });
});
