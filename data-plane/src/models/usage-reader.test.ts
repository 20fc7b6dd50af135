import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AnswerForm, answerForm, UsageReader } from './usage-reader.ts';

const NOTHING = { input_tokens: null, output_tokens: null, finish_reason: null, isError: false };
const READ = { input_tokens: 11, output_tokens: 5, finish_reason: 'stop', isError: false };

function read(form: AnswerForm, text: string | Buffer, cuts: readonly number[] = []) {
  const bytes = Buffer.from(text);
  const reader = new UsageReader(form);
  let from = 0;
  for (const cut of [...cuts].sort((a, b) => a - b)) {
    const to = Math.min(cut, bytes.length);
    reader.push(bytes.subarray(from, to));
    from = Math.max(from, to);
  }
  reader.push(bytes.subarray(from));
  return reader.end();
}

const LINES = [
  { message: { content: 'Grüße 東京 🗼' }, done: false },
  { done: true, done_reason: 'stop', prompt_eval_count: 11, eval_count: 5 },
]
  .map((line) => `${JSON.stringify(line)}\n`)
  .join('');
const EVENTS = [
  ': a comment\n\n',
  ...[
    { choices: [{ delta: { content: 'Grüße 東京 🗼' }, finish_reason: null }] },
    { choices: [{ delta: {}, finish_reason: 'stop' }] },
    { choices: [], usage: { prompt_tokens: 11, completion_tokens: 5 } },
  ].map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`),
  'data: [DONE]\n\n',
].join('');

describe('a stream', () => {
  it.each([
    ['lines', LINES],
    ['events', EVENTS],
  ] as const)('of %s is read the same however it is cut', (form, text) => {
    const most = Buffer.byteLength(text);
    fc.assert(
      fc.property(fc.array(fc.nat(most), { maxLength: 20 }), (cuts) => {
        expect(read(form, text, cuts)).toEqual(READ);
      }),
    );
  });

  it('is read without a line’s end at its end', () => {
    expect(read('lines', LINES.trimEnd())).toEqual(READ);
  });

  it('that ends with an error says so', () => {
    expect(read('lines', `${LINES}{"error":"out of memory"}`)).toEqual({ ...READ, isError: true });
    expect(read('events', 'data: {"error":{"message":"no"}}\n\n').isError).toBe(true);
    expect(read('events', 'event: error\r\ndata: {"message":"no"}\r\n\r\n').isError).toBe(true);
    expect(read('events', 'error: {"message":"no"}\n\n').isError).toBe(true);
    expect(read('events', 'event: errors\ndata: {}\n\n').isError).toBe(false);
  });

  it('is read further after a line that is too long or invalid', () => {
    const long = `{"response":"${'x'.repeat(1_100_000)}","eval_count":9}\n`;
    expect(read('lines', `${long}no json\n[1]\n{"eval_count":\n\n${LINES}`)).toEqual(READ);
  });
});

it('a document is read whole', () => {
  expect(
    read('document', '{\n  "done_reason": "stop", "prompt_eval_count": 11, "eval_count": 5\n}'),
  ).toEqual(READ);
  expect(read('document', `{"a":"${'x'.repeat(1_100_000)}","eval_count":9}`)).toEqual(NOTHING);
});

it.each([
  '{"prompt_eval_count":-1,"eval_count":1.5,"done_reason":7}',
  '{"usage":{"prompt_tokens":"11"},"choices":[null]}',
  '{"usage":[],"choices":{}}',
  'null',
  '',
])('%s says nothing', (text) => {
  expect(read('document', text)).toEqual(NOTHING);
});

it('a reason is bounded, and fit for the record', () => {
  const reason = `\u0000\ud800${'x'.repeat(200)}`;
  const { finish_reason } = read('document', JSON.stringify({ done_reason: reason }));
  expect(finish_reason).toBe(`\ufffd${'x'.repeat(98)}`);
});

it('knows streams by their content type', () => {
  expect(answerForm('application/x-ndjson')).toBe('lines');
  expect(answerForm('Text/Event-Stream; charset=utf-8')).toBe('events');
  expect(answerForm('application/json; charset=utf-8')).toBe('document');
  expect(answerForm('text/html')).toBe('other');
  expect(answerForm(undefined)).toBe('other');
});
