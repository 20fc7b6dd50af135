import { createParser } from 'eventsource-parser';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { heldBytes } from '../../testing/test-memory.ts';
import { EventReader } from './event-reader.ts';

type Told =
  | ['event', string, string | undefined]
  | ['retry', number]
  | ['too large']
  | ['malformed'];

function read(chunks: Buffer[], limit = 1000): Told[] {
  const told: Told[] = [];
  const reader = new EventReader(limit, {
    onEvent: (data, id) => told.push(['event', data, id]),
    onRetry: (ms) => told.push(['retry', ms]),
    onTooLarge: () => told.push(['too large']),
    onMalformed: () => told.push(['malformed']),
  });
  for (const chunk of chunks) reader.push(chunk);
  return told;
}

/** What the reader of the MCP SDKs makes of the same stream. */
function readAsClientsDo(text: string): Told[] {
  const told: Told[] = [];
  const parser = createParser({
    onEvent: ({ data, id }) => told.push(['event', data, id]),
    onRetry: (ms) => told.push(['retry', ms]),
  });
  parser.feed(text);
  return told;
}

function cut(bytes: Buffer, cuts: number[]): Buffer[] {
  const chunks: Buffer[] = [];
  let from = 0;
  for (const length of [...cuts, bytes.length]) {
    chunks.push(bytes.subarray(from, from + length));
    from += length;
  }
  return chunks;
}

describe('EventReader', () => {
  it('reads what the SDKs’ reader reads, wherever the bytes are cut', () => {
    const pieces = fc.constantFrom(
      ...[
        'data',
        'data:',
        'data: ',
        'data:x',
        'data: {"a":"ä€😀"}',
        'id',
        'id: 7',
        'id:',
        'event: a',
      ],
      ...[
        'retry: 20',
        'retry: x',
        ': comment',
        'other: x',
        'dat',
        ' ',
        ':',
        'a:b:c',
        '\n',
        '\r',
        '\r\n',
      ],
      ...['\n', '\n\n', '\r\r', '\r\n\r\n'],
    );
    fc.assert(
      fc.property(fc.array(pieces), fc.array(fc.nat(9)), (parts, cuts) => {
        // The last line end of theirs is open where it is a CR: they wait for what follows it.
        const text = `${parts.join('')}\n\n`;
        expect(read(cut(Buffer.from(text), cuts))).toEqual(readAsClientsDo(text));
      }),
      { numRuns: 2000 },
    );
  });

  it.each([1023, 1024, 1025, 5000])('joins %i lines of data, and keeps few apart', (lines) => {
    const text = Array.from({ length: lines }, (_, n) => `data: ${n % 3 === 0 ? '' : n}\n`).join(
      '',
    );
    const [told, ...more] = read([Buffer.from(`${text}\n`)], 1_000_000);
    expect([told, ...more]).toEqual(readAsClientsDo(`${text}\n`));
    expect(read([Buffer.from(`${text}\ndata: b\n\n`)], 1_000_000)[1]).toEqual([
      'event',
      'b',
      undefined,
    ]);
  });

  it('takes little more memory than it counts for an event of empty lines', () => {
    const reader = new EventReader(4_000_000, {
      onEvent: () => undefined,
      onRetry: () => undefined,
      onTooLarge: () => undefined,
      onMalformed: () => undefined,
    });
    const before = heldBytes();
    for (let n = 0; n < 39; n++) reader.push(Buffer.from('data:\n'.repeat(100_000)));
    expect(reader.waiting).toBe(3_900_000);
    // As an array it took 31 MB and more; what the engine itself holds differs by some MB.
    expect(heldBytes() - before).toBeLessThan(24_000_000);
    expect(reader.waiting).toBe(3_900_000);
  });

  it('tells the type of an event, of that one alone', () => {
    const told: string[] = [];
    const reader = new EventReader(1000, {
      onEvent: (data, _id, type) => told.push(`${type}=${data}`),
      onRetry: () => undefined,
      onTooLarge: () => undefined,
      onMalformed: () => undefined,
    });
    reader.push(Buffer.from('event: a\n\nevent: b\nevent:c\ndata: 1\n\ndata: 2\n\n'));
    expect(told).toEqual(['c=1', '=2']);
  });

  it('leaves out a byte order mark', () => {
    expect(read([Buffer.from('\ufeffdata: x\n\n')])).toEqual([['event', 'x', undefined]]);
  });

  it.each([
    ['a line', `data: ${'x'.repeat(1000)}`],
    ['a comment', `:${'x'.repeat(1000)}`],
    ['data in many lines', 'data: xxxxxxxx\n'.repeat(120)],
    ['data in lines of nothing', 'data\n'.repeat(1100)],
  ])('ends with %s that is too long', (_what, text) => {
    for (const size of [1, 7, 4096]) {
      const chunks = cut(
        Buffer.from(`data: first\n\n${text}\n\ndata: last\n\n`),
        Array(99).fill(size),
      );
      expect(read(chunks)).toEqual([['event', 'first', undefined], ['too large']]);
    }
  });

  it('ends with data that is not UTF-8', () => {
    const bytes = Buffer.concat([Buffer.from('data: a\n\ndata: '), Buffer.of(0xff, 0x0a, 0x0a)]);
    expect(read([bytes, Buffer.from('data: b\n\n')])).toEqual([
      ['event', 'a', undefined],
      ['malformed'],
    ]);
  });
});

it('keeps no more of an id than shows that it cannot be used', () => {
  const ids: (string | undefined)[] = [];
  const unexpected = () => expect.unreachable();
  const reader = new EventReader(100_000, {
    onEvent: (_data, id) => void ids.push(id),
    onRetry: unexpected,
    onTooLarge: unexpected,
    onMalformed: unexpected,
  });
  for (const id of ['x'.repeat(1024), 'x'.repeat(90_000)]) {
    reader.push(Buffer.from(`id: ${id}\ndata: 1\n\n`));
  }
  expect(ids.map((id) => id?.length)).toEqual([1024, 1025]);
});

it.each(['', 'NaN', '-1', '1e3', '0x10', '٣', '1'.repeat(17)])('a retry of %j is none', (text) => {
  const retries: number[] = [];
  const reader = new EventReader(1000, {
    onEvent: () => undefined,
    onRetry: (ms) => void retries.push(ms),
    onTooLarge: () => undefined,
    onMalformed: () => undefined,
  });
  reader.push(Buffer.from(`retry: ${text}\ndata: 1\n\n`));
  expect(retries).toEqual([]);
});
