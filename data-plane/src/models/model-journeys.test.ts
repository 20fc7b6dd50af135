/** The real clients of a local model runtime, `ollama` and `openai`, through the service. */
import { connect } from 'node:net';
import { ERRORS } from '@governance/shared/errors';
import type { LedgerRecord } from '@governance/shared/ledger/ledger-record';
import { type ChatResponse, Ollama } from 'ollama';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTestModelRuntime, type TestModelRuntime } from '../testing/test-model-runtime.ts';
import { startTestPlane, type TestAgent, type TestPlane } from '../testing/test-plane.ts';

const SECRET_WORD = 'xyzzy-content';
const messages = [
  { role: 'system', content: `Be brief. ${SECRET_WORD}` },
  { role: 'user', content: `Hello ${SECRET_WORD}` },
] as { role: 'system' | 'user'; content: string }[];

let runtime: TestModelRuntime;
let plane: TestPlane;
let agent: TestAgent;

beforeAll(async () => {
  runtime = await startTestModelRuntime();
  plane = await startTestPlane({ config: { localModelUrl: runtime.url } });
  agent = plane.addAgent(['web:read', 'web:write']);
});
afterAll(async () => {
  await plane.stop();
  await runtime.stop();
});
beforeEach(async () => {
  await plane.records();
  runtime.seen.length = 0;
});

const ollama = () =>
  new Ollama({
    host: `${plane.url}/api/v1/localmodel`,
    headers: { authorization: agent.bearer() },
  });
const openai = () =>
  new OpenAI({
    baseURL: `${plane.url}/api/v1/localmodel/v1`,
    apiKey: agent.token(),
    maxRetries: 0,
  });
const openaiStream = (model: string) =>
  openai().chat.completions.create({ model, messages, stream: true });

/** The records of the one call that was made, once its outcome is there. */
async function recordsOfCall() {
  const records: LedgerRecord[] = [];
  await expect
    .poll(
      async () => {
        records.push(...(await plane.records()));
        return records.some(({ type }) => type === 'outcome');
      },
      { timeout: 10_000 },
    )
    .toBe(true);
  expect(JSON.stringify(records)).not.toContain(SECRET_WORD);
  expect(JSON.stringify(records)).not.toContain('東京');
  // Which answers have one is in answer-started.test.ts.
  const others = records.filter(({ type }) => type !== 'answer_started');
  expect(others.map(({ type }) => type)).toEqual(['decision', 'outcome']);
  const [decision, outcome] = others;
  if (decision?.type !== 'decision' || outcome?.type !== 'outcome') throw new Error('no records');
  return { decision, outcome };
}

/** The part of the records that must not depend on the style. */
async function auditOfCall() {
  const { decision, outcome } = await recordsOfCall();
  const { action, target, method, tool_name, mcp_server, policy_result, model } =
    decision as typeof decision & { model: unknown };
  const { model_usage, result_digest, result_action } = outcome as typeof outcome & {
    model_usage: unknown;
    result_action: unknown;
  };
  return {
    decision: { action, target, method, tool_name, mcp_server, policy_result, model },
    outcome: { outcome: outcome.outcome, model_usage, result_digest, result_action },
  };
}

const AUDIT_OF_CHAT = {
  decision: {
    action: 'POST',
    target: 'small',
    method: 'localmodel/chat',
    tool_name: 'localmodel-api',
    mcp_server: 'localmodel-proxy',
    policy_result: 'allow',
    model: { name: 'small', has_system_prompt: true, has_tools: false, message_count: 2 },
  },
  outcome: {
    outcome: 'forwarded',
    model_usage: { status: 200, input_tokens: 11, output_tokens: 5, finish_reason: 'stop' },
    result_digest: null,
    result_action: 'allowed',
  },
};

const NO_COUNTS = { status: 200, input_tokens: null, output_tokens: null };

describe('a chat', () => {
  it.each([
    [
      'ollama, streamed',
      async () => {
        let text = '';
        for await (const part of await ollama().chat({ model: 'small', messages, stream: true })) {
          text += part.message.content;
        }
        return text;
      },
    ],
    [
      'ollama, in one piece',
      async () => (await ollama().chat({ model: 'small', messages })).message.content,
    ],
    [
      'openai, streamed',
      async () => {
        let text = '';
        const stream = await openai().chat.completions.create({
          model: 'small',
          messages,
          stream: true,
          stream_options: { include_usage: true },
        });
        for await (const part of stream) text += part.choices[0]?.delta.content ?? '';
        return text;
      },
    ],
    [
      'openai, in one piece',
      async () => {
        const answer = await openai().chat.completions.create({ model: 'small', messages });
        return answer.choices[0]?.message.content;
      },
    ],
  ])('%s: passes, and its record is that of every other', async (_how, chat) => {
    expect(await chat()).toBe(runtime.words.join(''));
    expect(await auditOfCall()).toEqual(AUDIT_OF_CHAT);
    const [request] = runtime.seen;
    expect(request?.headers.authorization).toBeUndefined();
    expect(JSON.parse(request?.body ?? '')).toMatchObject({ model: 'small', messages });
  });

  it('has no counts where the runtime gives none', async () => {
    const stream = await openaiStream('small');
    for await (const part of stream) expect(part.id).toBe('chatcmpl-1');
    const { outcome } = await auditOfCall();
    expect(outcome.model_usage).toEqual({ ...NO_COUNTS, finish_reason: 'stop' });
  });

  it('comes word by word, though the model is not at its end', async () => {
    const stream = await ollama().chat({ model: 'held', messages, stream: true });
    const parts = stream[Symbol.asyncIterator]();
    const next = async () => ((await parts.next()).value as ChatResponse).message.content;
    expect(await next()).toBe(runtime.words[0]);
    expect(await next()).toBe(runtime.words[1]);
    // The decision is recorded before the model has finished; the outcome is not.
    const types = (await plane.records()).map(({ type }) => type);
    expect(types).toContain('decision');
    expect(types).not.toContain('outcome');
    runtime.release();
    expect(await next()).toBe(runtime.words[2]);
    for await (const _part of stream);
  });
});

it('generates, with a system prompt of its own', async () => {
  const prompt = `Hello ${SECRET_WORD}`;
  const reply = await ollama().generate({ model: 'small', prompt, system: 'Be brief.' });
  expect(reply.response).toBe(runtime.words.join(''));
  const { decision, outcome } = await auditOfCall();
  expect(decision).toMatchObject({
    method: 'localmodel/generate',
    model: { name: 'small', has_system_prompt: true, has_tools: false, message_count: 1 },
  });
  expect(outcome).toEqual(AUDIT_OF_CHAT.outcome);
});

it('lists models in both styles, for those who may read', async () => {
  agent = plane.addAgent(['web:read']);
  expect((await ollama().list()).models.map(({ name }) => name)).toContain('small');
  const native = await auditOfCall();
  expect((await openai().models.list()).data.map(({ id }) => id)).toContain('small');
  expect(await auditOfCall()).toEqual(native);
  expect(native).toMatchObject({
    decision: { action: 'POST', method: 'localmodel/models', target: 'localmodel-api' },
    outcome: { outcome: 'forwarded', model_usage: { status: 200 } },
  });
  await expect(ollama().chat({ model: 'small', messages })).rejects.toThrow(
    'Denied by policy: Local models: local models need the permission web:write',
  );
  agent = plane.addAgent(['web:read', 'web:write']);
});

describe('what goes wrong', () => {
  it('an unknown model is the runtime’s own 404', async () => {
    await expect(ollama().chat({ model: 'absent', messages })).rejects.toMatchObject({
      status_code: 404,
      error: "model 'absent' not found",
    });
    expect((await auditOfCall()).outcome).toMatchObject({
      outcome: 'tool_error',
      model_usage: { status: 404, input_tokens: null },
    });
    await expect(
      openai().chat.completions.create({ model: 'absent', messages }),
    ).rejects.toMatchObject({ status: 404 });
  });

  it.each([
    ['ollama', () => ollama().chat({ model: 'late-error', messages, stream: true })],
    ['openai', () => openaiStream('late-error')],
  ])('%s: an error at the end of a stream reaches the client, and the record', async (_client, chat) => {
    const { text, error } = await readUntilError(await chat());
    expect(text).toBe(runtime.words.slice(0, 3).join(''));
    expect(error).toMatchObject({ message: 'out of memory' });
    expect((await auditOfCall()).outcome).toEqual({
      ...AUDIT_OF_CHAT.outcome,
      outcome: 'tool_error',
      model_usage: { ...NO_COUNTS, finish_reason: null },
    });
  });

  it('an event named error is recorded as one, though openai hands it over as a part', async () => {
    const parts: unknown[] = [];
    for await (const part of await openaiStream('error-event')) parts.push(part);
    expect(parts).toHaveLength(4);
    expect(parts.at(-1)).toEqual({ message: 'out of memory' });
    expect((await auditOfCall()).outcome).toEqual({
      ...AUDIT_OF_CHAT.outcome,
      outcome: 'tool_error',
      model_usage: { ...NO_COUNTS, finish_reason: null },
    });
  });

  it.each([
    ['ollama', () => ollama().chat({ model: 'broken', messages, stream: true })],
    ['openai', () => openaiStream('broken')],
  ])('%s: a stream that breaks off breaks off for the client', async (_client, chat) => {
    const { text, error } = await readUntilError(await chat());
    expect(text).toBe(runtime.words.slice(0, 3).join(''));
    expect(error).toMatchObject({ name: 'TypeError', message: 'terminated' });
    expect((await auditOfCall()).outcome).toEqual({
      ...AUDIT_OF_CHAT.outcome,
      outcome: 'upstream_error',
      model_usage: { ...NO_COUNTS, finish_reason: null },
    });
  });

  it('a client that leaves ends the request to the runtime', async () => {
    const client = ollama();
    const stream = await client.chat({ model: 'held', messages, stream: true });
    const parts = stream[Symbol.asyncIterator]();
    await parts.next();
    const before = runtime.ended.length;
    client.abort();
    await expect.poll(() => runtime.ended.slice(before), { timeout: 10_000 }).toEqual(['cut']);
    expect((await auditOfCall()).outcome).toMatchObject({ outcome: 'cancelled' });
    runtime.release();
  });

  it('a client that left while its body waited for its turn asks the runtime nothing', async () => {
    // Each of the large bodies waits until the one before it was worked on, and as long again.
    const text = JSON.stringify(Array.from({ length: 9_000 }, () => ['x', 'y']));
    const before = runtime.ended.length;
    const others = Array.from({ length: 6 }, () =>
      post('chat', `{"model":"a","messages":${text}}`),
    );
    const { hostname, port } = new URL(plane.url);
    const last = JSON.stringify({ model: 'held', prompt: 'y'.repeat(100_000) });
    const socket = connect(Number(port), hostname);
    socket.write(
      `POST /api/v1/localmodel/api/generate HTTP/1.1\r\nHost: x\r\nAuthorization: ${agent.bearer()}\r\n`,
    );
    socket.write(`Content-Length: ${last.length}\r\n\r\n`);
    // So that it is not the first.
    await Promise.race(others);
    socket.end(last, () => socket.destroy());
    await Promise.all(others);
    await expect
      .poll(async () => (await plane.records()).filter(({ type }) => type === 'outcome'))
      .toContainEqual(expect.objectContaining({ outcome: 'cancelled' }));
    const left = runtime.seen.filter(({ body }) => JSON.stringify(body).includes('"held"'));
    expect(runtime.ended.slice(before).filter((how) => how === 'cut')).toHaveLength(left.length);
    runtime.release();
  });
});

describe('what is no path, or not a method of one', () => {
  const ofAnother = (method: string) =>
    new Ollama({
      host: `${plane.url}/api/v1/localmodel`,
      // The client has no call with such a method.
      fetch: (url, init) => fetch(url, { ...init, method }),
    });
  const NOTHING = ERRORS.NOT_FOUND[1];
  const NO_METHOD = ERRORS.METHOD_NOT_ALLOWED[1];

  it.each<[string, number, string, () => Promise<unknown>]>([
    ['delete', 404, NOTHING, () => ollama().delete({ model: 'small' })],
    ['pull', 404, NOTHING, () => ollama().pull({ model: 'small' })],
    ['embed', 404, NOTHING, () => ollama().embed({ model: 'small', input: 'x' })],
    ['PUT of a chat', 405, NO_METHOD, () => ofAnother('PUT').chat({ model: 'small', messages })],
    ['PUT of a list', 405, NO_METHOD, () => ofAnother('PUT').list()],
    [
      'DELETE of a prompt',
      405,
      NO_METHOD,
      () => ofAnother('DELETE').generate({ model: 'small', prompt: 'x' }),
    ],
  ])('ollama shows the words of the service: %s', async (_what, status_code, error, ask) => {
    await expect(ask()).rejects.toMatchObject({ name: 'ResponseError', status_code, error });
    expect(runtime.seen).toHaveLength(0);
  });

  it.each<[string, number, string, () => Promise<unknown>]>([
    ['embeddings', 404, NOTHING, () => openai().embeddings.create({ model: 'small', input: 'x' })],
    ['one model', 404, NOTHING, () => openai().models.retrieve('small')],
    ['DELETE of a model', 404, NOTHING, () => openai().models.delete('small')],
    ['GET of a chat', 405, NO_METHOD, () => openai().chat.completions.list()],
    ['PUT of a chat', 405, NO_METHOD, () => openai().put('/chat/completions', { body: {} })],
    ['DELETE of a list', 405, NO_METHOD, () => openai().delete('/models')],
  ])('openai shows the words of the service: %s', async (_what, status, message, ask) => {
    const code = status === 404 ? 'not_found' : 'method_not_allowed';
    await expect(ask()).rejects.toMatchObject({
      ...{ status, code, type: 'governance', param: null, message: `${status} ${message}` },
      error: { message, type: 'governance', param: null, code },
    });
    expect(runtime.seen).toHaveLength(0);
  });
});

const post = (api: string, body: string) =>
  fetch(`${plane.url}/api/v1/localmodel/api/${api}`, {
    method: 'POST',
    headers: { authorization: agent.bearer() },
    body,
  });

/** Reads a stream that fails: what came of it, and what the client threw. */
async function readUntilError(
  stream: AsyncIterable<ChatResponse | OpenAI.ChatCompletionChunk>,
): Promise<{ text: string; error: unknown }> {
  let text = '';
  try {
    for await (const part of stream) {
      text += 'message' in part ? part.message.content : (part.choices[0]?.delta.content ?? '');
    }
  } catch (error) {
    return { text, error };
  }
  throw new Error(`the stream ended as if it were complete: ${text}`);
}
