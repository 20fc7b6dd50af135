import { expect, it } from 'vitest';
import { modernResult } from './results.ts';

const rewritten = (method: string, raw: string) => {
  const text = modernResult(method, raw, JSON.parse(raw));
  const value = JSON.parse(text) as Record<string, unknown>;
  // No member occurs twice, which readers would interpret differently.
  expect(text.match(/"resultType"/g)).toHaveLength(1);
  return value;
};

it.each([
  ['tools/call', '{"content":[]}', 'complete'],
  ['tools/call', '{"resultType":"complete","content":[]}', 'complete'],
  ['tools/call', '{"resultType":"input_required","requestState":"x"}', 'input_required'],
  ['tools/call', '{"resultType":"task","taskId":"x"}', 'task'],
  ['prompts/get', '{"resultType":"input_required","requestState":"x"}', 'input_required'],
  ['tools/call', '{"resultType":42,"content":[]}', 'complete'],
  ['tools/call', '{"content":[],"resultType":null}', 'complete'],
  ['tools/call', '{"resultType":"mine","content":[]}', 'complete'],
  ['prompts/get', '{"resultType":"task","messages":[]}', 'complete'],
  ['prompts/list', '{"resultType":"input_required","prompts":[]}', 'complete'],
  ['completion/complete', '{"resultType":"input_required"}', 'complete'],
  ['tasks/get', '{"resultType":"input_required","taskId":"x"}', 'complete'],
])('%s with %s is of type %s', (method, raw, type) => {
  expect(rewritten(method, raw).resultType).toBe(type);
});

it.each([
  ['{}', 0, 'private'],
  ['{"resultType":7}', 0, 'private'],
  ['{"ttlMs":-1,"cacheScope":"public"}', 0, 'private'],
  ['{"ttlMs":1.5,"cacheScope":null}', 0, 'private'],
  ['{"ttlMs":"5","cacheScope":["public"]}', 0, 'private'],
  ['{"ttlMs":5,"cacheScope":"private"}', 5, 'private'],
])('a list with %s may be cached for %d ms', (raw, ttlMs, cacheScope) => {
  expect(rewritten('tools/list', raw)).toMatchObject({ ttlMs, cacheScope });
});

it('leaves everything else unchanged', () => {
  const raw = '{ "9" : 12345678901234567890, "a":{"resultType" : 1.0} }';
  expect(modernResult('tools/call', raw, JSON.parse(raw))).toBe(
    '{"resultType":"complete", "9" : 12345678901234567890, "a":{"resultType" : 1.0} }',
  );
});
