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
