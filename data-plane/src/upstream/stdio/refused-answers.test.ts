/** What a process answers that is no MCP fails its call at once, as over HTTP, and no other one. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { AnswerBytes } from '../shares/answer-room.ts';
import { FairBytes } from '../shares/fair-bytes.ts';
import { Cancellation, type UpstreamNotification } from '../upstream.ts';
import { findRefusedAnswers } from './refused-answers.ts';
import { StdioChannel } from './stdio-channel.ts';

/** Longer than a test may take: what ends a call here is no time-out. */
const TIMEOUT_MS = 60_000;

/** Writes the lines of a call's method, and answers `done` rightly. BYTE becomes no UTF-8. */
const CODE = `
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method } = JSON.parse(line);
    if (id === undefined || method === 'hang') return;
    const text = method === 'done' ? '{"jsonrpc":"2.0","id":ID,"result":{}}' : method;
    const sent = text.replaceAll('BEFORE', id - 1).replaceAll('ID', id);
    process.stdout.write(Buffer.from(sent.replaceAll('BYTE', '\\xff') + '\\n', 'latin1'));
  });`;

const warn = vi.fn();
let channel: StdioChannel;

async function openChannel(): Promise<void> {
  warn.mockClear();
  const room = new FairBytes(4 * 1024 * 1024, () => false);
  channel = new StdioChannel({
    name: 'wrong',
    server: { command: process.execPath, args: ['-e', CODE], env: {}, cwd: undefined },
    limits: { timeoutMs: TIMEOUT_MS, messageBytes: 1024 * 1024 },
    takePlace: async () => () => undefined,
    openRoom: () => new AnswerBytes(room, { tenantId: 't', key: 't a' }),
    log: { info: () => undefined, warn },
  });
  await channel.start();
}

afterEach(() => channel.close());

/** How a call ends; its id is the next number. */
function ask(
  method: string,
  onNotification: (one: UpstreamNotification) => void = () => undefined,
) {
  const text = (id: number) => JSON.stringify({ jsonrpc: '2.0', id, method });
  const request = { method, wantsProgress: true, text, timeoutMs: TIMEOUT_MS };
  return channel.send(request, { onNotification, cancellation: new Cancellation() }).then(
    ({ kind }) => kind as string,
    ({ kind, message }) => `${kind}: ${message}`,
  );
}

const DEEP = '['.repeat(200);
const TOO_MANY = `{"jsonrpc":"2.0","id":ID,"result":{"a":[${'0,'.repeat(50_000)}0]}}`;

describe('an answer', () => {
  it.each([
    ['has a duplicate key', '{"jsonrpc":"2.0","id":ID,"result":{"a":1,"a":2}}'],
    ['has its id twice', '{"jsonrpc":"2.0","id":ID,"id":ID,"result":{}}'],
    ['has neither result nor error', '{"jsonrpc":"2.0","id":ID}'],
    ['has both', '{"jsonrpc":"2.0","id":ID,"result":{},"error":{"code":1,"message":""}}'],
    ['has a result that is a text', '{"jsonrpc":"2.0","id":ID,"result":"x"}'],
    ['has an error without a code', '{"id":ID,"error":{},"jsonrpc":"2.0"}'],
    ['has no version', '{"id":ID,"result":{}}'],
    ['is too deep', `{"jsonrpc":"2.0","result":${DEEP}${DEEP.replaceAll('[', ']')},"id":ID}`],
    ['is too deep, and no JSON', `{"jsonrpc":"2.0","id":ID,"result":${DEEP}`],
    ['has a lone surrogate', '{"jsonrpc":"2.0","id":ID,"result":{"a":"\\ud800"}}'],
    ['is not UTF-8', '{"jsonrpc":"2.0","result":{"a":"BYTE"},"id":ID}'],
    ['has a line break in a text', '{"jsonrpc":"2.0","id":ID,"result":{"a":"one\ntwo"}}'],
    ['begins with a mark of UTF-8', '\xef\xbb\xbf{"jsonrpc":"2.0","id":ID,"result":{}}'],
    ['is in a batch', '[{"jsonrpc":"2.0","id":4711},{"jsonrpc":"2.0","id":ID,"result":{}}]'],
    ['shares its line', '{"jsonrpc":"2.0","id":4711,"result":{}} {"jsonrpc":"2.0","id":ID}'],
    ['names the id as a text', '{"jsonrpc":"2.0","id":"ID","result":{}}'],
  ])('fails its call alone where it %s', async (_, line) => {
    await openChannel();
    const other = ask('hang');
    expect(await ask(line)).toMatch(/^malformed: /);
    expect(await ask('done')).toBe('result');
    expect(channel.pending).toBe(1);
    void channel.close();
    expect(await other).toBe('unreachable: the session was closed');
  });

  it('of too many values fails its call alone', async () => {
    await openChannel();
    const other = ask('hang');
    expect(await ask(TOO_MANY)).toMatch(/^too_large: .*_LIMIT_NODES/);
    expect(channel.pending).toBe(1);
    void channel.close();
    await other;
  });

  it.each([
    ['has none', '{"jsonrpc":"2.0","result":"x"}'],
    ['has two', '{"jsonrpc":"2.0","id":1,"id":2,"result":{}}'],
    ['breaks off before it', '{"jsonrpc":"2.0","result":{"a":"one\n"},"id":ID}'],
    ['breaks off within it', '{"jsonrpc":"2.0","result":{},"id":ID'],
  ])('fails all calls where its id cannot be read: it %s', async (_, line) => {
    await openChannel();
    const calls = [ask('hang'), ask(line)];
    for (const failure of await Promise.all(calls)) expect(failure).toMatch(/^malformed: /);
    // The process goes on.
    expect(await ask('done')).toBe('result');
  });
});

describe('fails no call', () => {
  const PROGRESS = '"method":"notifications/progress","params":{"progressToken":BEFORE';
  it.each([
    ['a progress notification of a duplicate key', `{"jsonrpc":"2.0",${PROGRESS},"a":1,"a":2}}`],
    ['one that is not UTF-8', `{"jsonrpc":"2.0",${PROGRESS},"message":"BYTE"}}`],
    ['one that breaks off', `{"jsonrpc":"2.0",${PROGRESS},"message":"one\ntwo"}}`],
    ['one of too many values', TOO_MANY.replace('"id":ID,"result"', '"method":"x","params"')],
    [
      'a request of the same id',
      '{"jsonrpc":"2.0","id":BEFORE,"method":"x","params":{"a":1,"a":2}}',
    ],
    ['one that breaks off before its method', '{"jsonrpc":"2.0","id":BEFORE,"params":{"a":"one\n'],
    ['an answer to another', '{"jsonrpc":"2.0","id":4711,"result":{"a":1,"a":2}}'],
    ['an answer to nobody', '{"jsonrpc":"2.0","id":null,"result":null}'],
    ['an answer to a text', '{"jsonrpc":"2.0","id":"a,b","result":null}'],
    ['a log in JSON', '{"level":"error","id":BEFORE,"error":"x"}\n{"error":"boom"}\n{"id":BEFORE'],
    ['a log that quotes JSON', 'sent {"jsonrpc":"2.0","id":BEFORE,"result":{"a":1,"a":2}}'],
    ['a log in brackets', '[info] sent {"jsonrpc":"2.0","id":BEFORE,"result":{}}'],
    ['a log in no UTF-8', 'gr\xfc\xdfe'],
    ['brackets', '}]}]{}[][[]]{{[['],
  ])('%s', async (_, line) => {
    await openChannel();
    const received: UpstreamNotification[] = [];
    void ask('hang', (one) => received.push(one));
    void ask(line);
    expect(await ask('done')).toBe('result');
    expect(channel.pending).toBe(2);
    expect(received).toEqual([]);
    expect(warn).toHaveBeenCalledWith(
      expect.objectContaining({ why: expect.any(String) }),
      'a stdio MCP server wrote no JSON-RPC',
    );
  });
});

describe('a refused line is read in one pass', () => {
  const MIB = 1024 * 1024;
  it.each([
    ['ids', '{"id":'],
    ['ids of blanks', `{"id"${' '.repeat(500)}:`],
    ['long ids', `{"id":${'1'.repeat(500)},`],
    ['opened lists', '['],
    ['closed ones', '[]}'],
    ['messages', '{"jsonrpc":"2.0","result":1}'],
    ['quotes', '{"'],
    ['escapes', '{"\\'],
    ['blanks', ' '],
  ])('of %s', (_, part) => {
    const longOf = (bytes: number) => part.repeat(bytes / part.length);
    const took = (text: string) => {
      const begun = performance.now();
      findRefusedAnswers(text, () => undefined);
      return performance.now() - begun;
    };
    took(longOf(MIB));
    expect(took(longOf(4 * MIB))).toBeLessThan(1_000);
    expect(took(`[${longOf(4 * MIB)}`)).toBeLessThan(1_000);
  });
});
