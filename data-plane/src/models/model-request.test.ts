import { AppError } from '@governance/shared/errors';
import { describe, expect, it } from 'vitest';
import { MODEL_APIS, type ModelApi } from './model-apis.ts';
import { askModel, parseModelBody, readQuery, sentToRuntime } from './model-request.ts';

const apiOf = (path: string) => MODEL_APIS.find((api) => api.path === path) as ModelApi;
const chat = apiOf('/api/chat');
const parse = (body: string, api = chat) => parseModelBody(api, Buffer.from(body), 1000);

describe('what is recorded of a request', () => {
  it.each([
    [{ model: 'm', messages: [{ role: 'system' }, { role: 'user' }] }, ['m', true, false, 2]],
    [{ model: 'm', messages: [{ role: 'user' }], tools: [] }, ['m', false, true, 1]],
    [{ model: 'm', prompt: 'hello' }, ['m', false, false, 1]],
    [{ model: 'm', prompt: 'hello', system: 'be brief' }, ['m', true, false, 1]],
    [{ model: '', messages: 'none', tools: {} }, [null, false, false, 0]],
    [{}, [null, false, false, 0]],
  ])('%j', (body, [name, has_system_prompt, has_tools, message_count]) => {
    expect(askModel(chat, body, '').model).toEqual({
      name,
      has_system_prompt,
      has_tools,
      message_count,
    });
  });
});

describe('a body', () => {
  it.each([
    ['', 'VALIDATION_FAILED'],
    ['[]', 'VALIDATION_FAILED'],
    ['"text"', 'VALIDATION_FAILED'],
    ['{"model":5}', 'VALIDATION_FAILED'],
    ['{"model":"a\\u0000"}', 'VALIDATION_FAILED'],
    ['{"?":1}', 'VALIDATION_FAILED'],
    // Some runtimes fold the case of keys: these would be another request than the one judged.
    ['{"model":"small","Model":"large"}', 'VALIDATION_FAILED'],
    ['{"MESSAGES":[]}', 'VALIDATION_FAILED'],
    ['{"me\u017f\u017fages":[]}', 'VALIDATION_FAILED'],
    ['{"messages":[{"Role":"system","content":"x"}]}', 'VALIDATION_FAILED'],
  ])('%s is refused', (body, code) => {
    expect(() => parse(body)).toThrow(expect.objectContaining({ code }));
  });

  it.each([
    '{',
    '{"model":"a","model":"b"}',
    '{"seed":12345678901234567890}',
  ])('%s is no strict JSON', (body) => {
    expect(() => parse(body)).toThrow(SyntaxError);
  });

  it('is sent as it was judged', () => {
    const text = '{"model":"m","options":{"temperature":0.7,"seed":42},"messages":[]}';
    const { args } = askModel(chat, parse(text), '');
    expect(args).toEqual(JSON.parse(text));
    expect(sentToRuntime(chat, args)).toEqual({ path: '/api/chat', body: text });
  });

  it('of a list is not read and not sent', () => {
    const tags = apiOf('/api/tags');
    const { args } = askModel(tags, parse('no json', tags), '');
    expect(sentToRuntime(tags, args)).toEqual({ path: '/api/tags', body: null });
  });
});

describe('a query', () => {
  it('is judged with the body and passed on unchanged', () => {
    const query = readQuery('/api/v1/localmodel/api/chat?a=1&b=%20?');
    const { args } = askModel(chat, { model: 'm' }, query);
    expect(args).toEqual({ model: 'm', '?': '?a=1&b=%20?' });
    expect(sentToRuntime(chat, args)).toEqual({
      path: '/api/chat?a=1&b=%20?',
      body: '{"model":"m"}',
    });
  });

  it('has its bound', () => {
    expect(() => readQuery(`/?${'a'.repeat(8192)}`)).toThrow(AppError);
  });
});
