import { createDlpScanner } from '@governance/shared/detect/dlp/scanner';
import { describe, expect, it } from 'vitest';
import { partsOf } from './examine-received.ts';
import { redact } from './redaction.ts';

const scanner = createDlpScanner({
  custom: [
    { id: 'b', name: 'badge', regex: 'BADGE-[0-9]{6}', severity: 'high' },
    { id: 'n', name: 'ticket', regex: 'ticket is [a-z]{8}', severity: 'high' },
  ],
});
const BADGE = 'BADGE-123456';
const MARK = '[REDACTED:badge]';
const base64 = (text: string) => Buffer.from(text).toString('base64');

describe('redact', () => {
  it('takes a value out of content and structuredContent alike', () => {
    const value = {
      content: [{ type: 'text', text: `it is ${BADGE}, yes ${BADGE}` }],
      structuredContent: { badge: BADGE, n: 1.5 },
    };
    expect(redact(value, scanner, undefined)).toEqual({
      content: [{ type: 'text', text: `it is ${MARK}, yes ${MARK}` }],
      structuredContent: { badge: MARK, n: 1.5 },
    });
  });

  it('takes it out where nothing says what it is, too', () => {
    const value = {
      content: [{ type: 'text', text: 'the ticket is abcdefgh' }],
      structuredContent: { said: 'the ticket is abcdefgh indeed', of: { other: 'x' } },
    };
    const redacted = JSON.stringify(redact(value, scanner, undefined));
    expect(redacted).not.toContain('abcdefgh');
  });

  it.each([
    ['7Kq2Zx9', '_meta/x'],
    ['7Kq2Zx9Wv4', '_meta/x'],
    ['7Kq2Zx9', 'tools/0/name'],
    ['7Kq2Zx9Wv4', 'tools/0/name'],
  ])('takes %s out below a name that looks like a place that it never rewrites: %s', (secret, name) => {
    const content = [{ type: 'text', text: `password: ${secret}` }];
    const redacted = redact({ content, [name]: `it is ${secret}` }, scanner, undefined);
    expect(redacted).toMatchObject({ [name]: expect.stringMatching(/^it is \[REDACTED:/) });
  });

  it('takes out everything that was found, however much and under whatever name', () => {
    const odd = createDlpScanner({
      custom: [{ id: 'o', name: 'the ] one', regex: 'word is [a-z]+ [a-z]+', severity: 'high' }],
    });
    const texts = Array.from({ length: 60 }, (_, i) => {
      const letters = String.fromCharCode(97 + (i % 26), 97 + Math.floor(i / 26));
      return `word is ${letters} solid`;
    });
    const value = {
      content: texts.map((text) => ({ type: 'text', text })),
      structuredContent: { said: texts.map((text) => `[REDACTED:x] the ${text} ${text}`) },
    };
    const redacted = JSON.stringify(redact(value, odd, undefined));
    expect(redacted).not.toContain('solid');
    expect(redacted).toContain('[REDACTED:x] the [REDACTED:the ] one] [REDACTED:the ] one]');
    odd.close();
  });

  it.each([
    ['a URI', { uri: 'file:///7Kq2Zx9Wv4' }],
    ['a key', { of: { 'at-7Kq2Zx9Wv4': 1 } }],
  ])('does not leave what it took out in %s', (_, structuredContent) => {
    const content = [{ type: 'text', text: 'password: 7Kq2Zx9Wv4' }];
    expect(JSON.stringify(redact({ content }, scanner, undefined))).not.toContain('7Kq2');
    expect(scanner.scanValue(structuredContent)).toEqual([]);
    expect(redact({ content, structuredContent }, scanner, undefined)).toBeNull();
  });

  it('holds the result against the tool’s schema', () => {
    const value = { content: [], structuredContent: { badge: BADGE } };
    const schema = (badge: object) => ({ type: 'object', properties: { badge } });
    expect(redact(value, scanner, schema({ type: 'string' }))).not.toBeNull();
    expect(redact(value, scanner, schema({ type: 'string', maxLength: 12 }))).toBeNull();
    expect(redact(value, scanner, 'unreadable')).toBeNull();
  });

  it.each([
    ['a URI', { contents: [{ uri: `file:///${BADGE}`, text: 'x' }] }],
    ['the name of a tool', { tools: [{ name: BADGE }] }],
    ['`_meta`', { content: [], _meta: { note: BADGE } }],
    ['a key', { structuredContent: { [BADGE]: 1 } }],
  ])('does not rewrite %s', (_, value) => expect(redact(value, scanner, undefined)).toBeNull());

  it('does not rewrite a message with a number that it could not write again', () => {
    const value = { structuredContent: { badge: BADGE, id: 2 ** 60 } };
    expect(redact(value, scanner, undefined)).toBeNull();
  });
});

describe('partsOf', () => {
  const parts = (value: unknown, opaque: string[] = []) =>
    partsOf(value, JSON.stringify(value), opaque);

  it('leaves opaque members alone, and no others', () => {
    const value = { content: [], requestState: BADGE, nextCursor: BADGE };
    const { open, whole } = parts(value, ['requestState']);
    expect(open).toEqual({ content: [], nextCursor: BADGE });
    expect(whole({ content: [1] })).toEqual({ content: [1], requestState: BADGE });
  });

  it('reads the text in binary members, and puts them back as they were', () => {
    const image = { type: 'image', data: base64('PNG\u0000\u0001'), mimeType: 'image/png' };
    const blob = { uri: 'file:///a', blob: base64(`see ${BADGE}`) };
    const value = { content: [image, { type: 'resource', resource: blob }, 'x'] };
    const { open, decoded, whole } = parts(value);
    expect(decoded).toContain(`see ${BADGE}`);
    expect(JSON.stringify(open)).not.toContain(blob.blob);
    expect(whole(open)).toEqual(value);
  });

  it.each([
    ['a token in the place of base64', BADGE],
    ['what is no base64', `${'x '.repeat(300)}${BADGE}`],
    ['a file with a zero', base64(`\u0000\u0001${BADGE}\u0000`)],
    ['a file that is no UTF-8', Buffer.from(`caf\u00e9 ${BADGE}`, 'latin1').toString('base64')],
    ['UTF-16', Buffer.from(`\ufeffis ${BADGE}`, 'utf16le').toString('base64')],
    ['UTF-16, the other way', Buffer.from(`is ${BADGE}`, 'utf16le').swap16().toString('base64')],
    ['the end of a long file', base64(`${'\u0000'.repeat(3_000_000)}${BADGE}`)],
  ])('reads %s', (_, blob) => {
    const { decoded } = parts({ contents: [{ uri: 'file:///a', blob }] });
    expect(decoded.join('\n')).toContain(BADGE);
  });

  it('hands a value without any on as it is', () => {
    const value = { structuredContent: { data: 'plain', blob: 'plain' } };
    expect(parts(value).open).toBe(value);
  });

  it('does not stumble over a character that its bound cuts', () => {
    const value = { contents: [{ uri: 'a:b', blob: base64('aé€😀'.repeat(400_000)) }] };
    expect(parts(value).decoded).toHaveLength(1);
  });
});
