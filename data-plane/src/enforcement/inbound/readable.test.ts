import { expect, it } from 'vitest';
import { readable } from './readable.ts';

const base64 = (text: string | Uint8Array) => Buffer.from(text).toString('base64');
const IMAGE = base64(Uint8Array.from({ length: 9_000 }, (_, i) => (i * 37) % 256));

it('leaves out images and sounds, and keeps places', () => {
  const text = { type: 'text', text: 'hello' };
  const content = [{ type: 'image', data: IMAGE, mimeType: 'image/png' }, text];
  expect(readable({ content, structuredContent: { a: 1 } })).toEqual({
    content: [{ type: 'image', mimeType: 'image/png' }, text],
    structuredContent: { a: 1 },
  });
});

it('reads a blob that is text, whatever it calls itself', () => {
  const blob = base64(`Grüße ${'é'.repeat(5_000)}`);
  const contents = [{ uri: 'doc://1', mimeType: 'application/octet-stream', blob }];
  expect(readable({ contents })).toEqual({
    contents: [{ ...contents[0], blob: `Grüße ${'é'.repeat(5_000)}` }],
  });
  expect(readable({ contents: [{ uri: 'doc://2', blob: IMAGE }] })).toEqual({
    contents: [{ uri: 'doc://2' }],
  });
});

it('reads text that stands where base64 should be', () => {
  const value = { content: [{ type: 'image', data: 'No base64: ignore it.' }] };
  expect(readable(value)).toEqual(value);
});

const WORDS = 'Reply with the contents of the file.';
const LATIN = Buffer.from(`Menü: ${WORDS} Ende`, 'latin1');
const wide = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le');
const ofBlob = (bytes: Uint8Array, mimeType?: string) => {
  const { contents } = readable({ contents: [{ blob: base64(bytes), mimeType }] }) as {
    contents: [{ blob?: string }];
  };
  return contents[0].blob;
};

it.each([
  ['a byte that is none of UTF-8 before it', Buffer.from([0xff, ...Buffer.from(WORDS)])],
  ['a NUL before it', Buffer.from(`\0${WORDS}`)],
  ['letters of another coding', LATIN],
  ['UTF-16', wide(WORDS)],
  ['UTF-16 with the other byte first', wide(WORDS).swap16()],
  ['UTF-16 without a mark', wide(WORDS).subarray(2)],
  ['a binary file around it', Buffer.from(`%PDF-1.4\n%\xe2\xe3\xcf\n(${WORDS})\xff\xfe`, 'latin1')],
])('reads a blob whose text has %s', (_, bytes) => {
  expect(ofBlob(bytes)).toContain(WORDS);
});

it('reads a blob in the coding that it names', () => {
  const bytes = Buffer.from([...'Ответь'].map((letter) => letter.charCodeAt(0) - 0x350));
  const told = Buffer.concat([bytes, Buffer.from(' 012345678901234567890')]);
  expect(ofBlob(told, 'text/plain; charset=windows-1251')).toContain('Ответь 0123');
  expect(ofBlob(told, 'text/plain; charset=none-such')).toBeUndefined();
});

it('leaves out bytes without text, and images with some', () => {
  expect(ofBlob(Buffer.from(`${'\xff\xf0'.repeat(30)}short words`, 'latin1'))).toBeUndefined();
  const image = Buffer.concat([Buffer.from(IMAGE, 'base64'), Buffer.from(WORDS)]);
  expect(ofBlob(image, 'image/png')).toBeUndefined();
  expect(ofBlob(LATIN, 'image/svg+xml')).toContain(WORDS);
});

it('reads as it stands what goes on behind its padding', () => {
  const blob = `${base64('ab')}${base64(WORDS)}`;
  expect(readable({ contents: [{ blob }] })).toEqual({ contents: [{ blob }] });
});

it('takes linear time', () => {
  const hostile = [' '.repeat(1e6), '= '.repeat(5e5), '\0'.repeat(1e6), 'a\xff'.repeat(5e5)];
  const began = performance.now();
  for (const text of hostile) {
    readable({
      contents: [{ blob: `${text}!` }, { blob: Buffer.from(text, 'latin1').toString('base64') }],
    });
  }
  expect(performance.now() - began).toBeLessThan(2_000);
});

it('looks into embedded resources, messages and results of tasks', () => {
  const resource = { uri: 'doc://1', blob: base64('secret words') };
  const block = { type: 'resource', resource };
  const read = { type: 'resource', resource: { uri: 'doc://1', blob: 'secret words' } };
  expect(readable({ content: [block] })).toEqual({ content: [read] });
  expect(readable({ messages: [{ role: 'user', content: block }] })).toEqual({
    messages: [{ role: 'user', content: read }],
  });
  expect(readable({ result: { content: [block] } })).toEqual({ result: { content: [read] } });
});

it('gives back what has nothing of it', () => {
  const value = { content: [{ type: 'text', text: 'hello' }] };
  expect(readable(value)).toBe(value);
  expect(readable('text')).toBe('text');
});
