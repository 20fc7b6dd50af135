/**
 * A server as there are some: it accepts calls (202), answers on the session's stream, and knows
 * requests of all sessions by their ids alone; an answer whose id it no longer knows goes to all.
 */
import type { ServerResponse } from 'node:http';
import { uuidv7 } from '@governance/shared/ids';
import { DEFAULT_DLP_SETTINGS } from '@governance/shared/settings/dlp-settings';
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  HTTP_SERVER,
  startTestPlane,
  type TestAgent,
  type TestPlane,
} from '../testing/test-plane.ts';
import { startTestUpstream, type TestUpstream } from '../testing/test-upstream.ts';

const BADGE = 'BADGE-123456';

interface ToolCall {
  id: number;
  params: { arguments: { say: string } };
}

let upstream: TestUpstream;
let plane: TestPlane;
let streams: Map<string, ServerResponse>;
let sessionOf: Map<number, string>;
/** Calls that are accepted before the first is answered. */
let together: number;

beforeEach(async () => {
  streams = new Map();
  sessionOf = new Map();
  together = 1;
  const accepted: ToolCall[] = [];
  upstream = await startTestUpstream({
    tools: [{ name: 'read_echo', annotations: { readOnlyHint: true } }],
  });
  upstream.override(({ httpMethod, headers, message }, response) => {
    const session = String(headers['mcp-session-id']);
    if (httpMethod === 'GET') {
      streams.set(session, response);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(':open\n\n');
      return true;
    }
    if (message?.method === 'ping') return response.writeHead(202).end() !== undefined;
    if (message?.method !== 'tools/call') return false;
    const call = message as unknown as ToolCall;
    sessionOf.set(call.id, session);
    accepted.push(call);
    response.writeHead(202).end();
    if (accepted.length === together) for (const one of accepted.splice(0)) answer(one);
    return true;
  });
  plane = await startTestPlane({ servers: [HTTP_SERVER('up', upstream.url)] });
});
afterEach(async () => {
  await plane.stop();
  await upstream.stop();
});

function answer({ id, params }: ToolCall): void {
  const result = {
    content: [{ type: 'text', text: params.arguments.say.replace('a badge', BADGE) }],
  };
  const session = sessionOf.get(id);
  sessionOf.delete(id);
  const targets = session === undefined ? [...streams.values()] : [streams.get(session)];
  for (const stream of targets)
    stream?.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`);
}

async function say(agent: TestAgent, text: string): Promise<string> {
  const params = { name: 'read_echo', arguments: { say: text } };
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
  const { json } = await plane.post('/mcp/v1/up', message, { authorization: agent.basic });
  return json.result?.content[0].text ?? JSON.stringify(json.error);
}

it('two agents that call at the same time get their own answers', async () => {
  const agents = [plane.addAgent(), plane.addAgent()];
  const said = agents.flatMap((agent, who) =>
    Array.from({ length: 10 }, (_, n) => ({ agent, text: `${who}-${n}` })),
  );
  together = said.length;
  const heard = await Promise.all(said.map(({ agent, text }) => say(agent, text)));
  expect(heard).toEqual(said.map(({ text }) => text));
});

it('what such an answer brings is inspected and recorded as any other', async () => {
  const custom = [
    { id: uuidv7(), name: 'badge', regex: 'BADGE-[0-9]{6}', severity: 'critical' as const },
  ];
  plane.setSettings({ dlp: { ...DEFAULT_DLP_SETTINGS, custom } });
  expect(await say(plane.addAgent(), 'of a badge')).toBe('of [REDACTED:badge]');
  const outcome = (await plane.records()).findLast(({ type }) => type === 'outcome');
  expect(outcome).toMatchObject({ outcome: 'forwarded' });
});
