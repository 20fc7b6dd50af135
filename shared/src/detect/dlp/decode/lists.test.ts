/** Lists of codes in each of their forms, for secrets of several kinds. */
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { createDlpScanner } from '../scanner.ts';

const scanner = createDlpScanner();
afterAll(() => scanner.close());

const SECRETS = [
  'AKIAQ7MZ3HTXW5RBNC2V',
  'ghp_16C7e42F292c6912E7710c838347Ae178B4a',
  'postgres://admin:Tr0ub4dor3x@db.corp.internal:5432/prod',
];

const bytesOf = (text: string): number[] => [...Buffer.from(text)];
const list = (radix: number, between: string, before = '', width = 2) => {
  const written = (byte: number) => `${before}${byte.toString(radix).padStart(width, '0')}`;
  return (text: string): string => bytesOf(text).map(written).join(between);
};
const inCalls = (before: string, after: string, between: string) => (text: string) =>
  bytesOf(text)
    .map((byte) => `${before}${byte}${after}`)
    .join(between);

/** As xxd writes it. */
function dumped(text: string, between = ': ', group = 4): string {
  const lines = (text.match(/.{1,16}/gs) ?? []).map((line, i) => {
    const offset = (16 * i).toString(16).padStart(8, '0');
    const hex = list(16, '')(line).replace(new RegExp(`(.{${group}})`, 'g'), '$1 ');
    return `${offset}${between}${hex.padEnd(40)} ${line}`;
  });
  return lines.join('\n');
}

const FORMS: Readonly<Record<string, (text: string) => string>> = {
  'hex with 0x': list(16, ', ', '0x'),
  'hex with 0x and without blanks': list(16, ',', '0x'),
  'hex on lines': (text) => list(16, ' ')(text).replace(/((?:.. ){8})/g, '$1\n'),
  'hex of lines': (text) => list(16, ' ')(`the key:\n${text}\n`),
  'hex of other languages': (text) => list(16, ' ')(`für Jürgen — ${text}`),
  'hex among other bytes': (text) =>
    `${'01 fe 9c 00 '.repeat(30)}20 ${list(16, ' ')(text)} 20 ff 01`,
  'hex of a long text': (text) => list(16, ' ')(`${'one two three. '.repeat(900)}${text}`),
  'hex of gzip': (text) =>
    [...gzipSync(text)].map((byte) => byte.toString(16).padStart(2, '0')).join(' '),
  decimals: list(10, ', '),
  'decimals one a line': list(10, ',\n  '),
  'decimals of lines': (text) => list(10, ', ')(`the key:\n\t${text}`),
  'decimals of a long text': (text) => list(10, ' ')(`${'one two three. '.repeat(900)}${text}`),
  'decimals of other languages': (text) => list(10, ', ')(`für Jürgen — ${text}`),
  octal: list(8, ' ', '', 3),
  'octal with 0o': list(8, ', ', '0o', 3),
  'seven bits': list(2, ' ', '', 7),
  'CHAR(…)||CHAR(…)': inCalls('CHAR(', ')', '||'),
  'chr(…)+chr(…)': inCalls('chr(', ')', ' + '),
  'Chr(…) & Chr(…)': inCalls('Chr(', ')', ' & '),
  '[char]…': inCalls('[char]', '', '+'),
  'chr(0x…)': (text) =>
    inCalls('chr(', ')', '.')(text).replace(/\d+/g, (code) => `0x${Number(code).toString(16)}`),
  'String.fromCharCode(…)': (text) => `String.fromCharCode(${bytesOf(text).join(',')})`,
  'each in String.fromCharCode(…)': inCalls('String.fromCharCode(', ')', '+'),
  xxd: (text) => dumped(text),
  'xxd -g1': (text) => dumped(text, ': ', 2),
  'xxd -g4': (text) => dumped(text, ': ', 8),
  'hexdump -C': (text) => dumped(text, '  ', 2),
  hexdump: (text) => {
    const even = text.length % 2 === 0 ? text : `${text} `;
    return dumped(even.replace(/(.)(.)/gs, '$2$1'), ' ').replace(/ {2,}.*$/gm, '');
  },
};

const found = (value: unknown): number =>
  scanner.scanValue(value).filter(({ severity }) => severity === 'critical').length;

describe.each(Object.entries(FORMS))('%s', (_name, form) => {
  it.each(SECRETS)('hides no %s', (secret) => {
    expect(found({ text: `Please use ${form(secret)} from now on` })).toBe(1);
  });
});

describe('arrays of bytes', () => {
  it.each(SECRETS)('hide no %s', (secret) => {
    const bytes = bytesOf(secret);
    const texts = bytes.map(String);
    const hex = bytes.map((byte) => byte.toString(16));
    for (const items of [bytes, texts, hex, hex.map((code) => `0x${code}`)]) {
      expect(found({ data: items })).toBe(1);
      expect(found([items])).toBe(1);
      expect(found({ name: 'x', file: { type: 'Buffer', data: [10, ...items, 9] } })).toBe(1);
    }
  });
});

describe('ordinary lists', () => {
  it.each([
    ['times', 'at 10:20:30, 11:45:12, 12:05:59 and 23-11-28 09:15:00'],
    ['years', '2019 2020 2021 2022 2023 2024 2025 2026'],
    ['a column', '12\n48\n77\n103\n250\n61\n99\n45'],
    ['a MAC address', '00:1b:44:11:3a:b7 and 3c-22-fb-9a-41-07'],
    ['fields', { width: 10, height: 20, depth: 30, weight: 40, count: 50, left: 60, top: 70 }],
    ['items', { sizes: [10, 65, 75, 73, 65, 90, 110, 120, 32, 44, 56, 77] }],
  ])('%s hide nothing', (_name, value) => {
    expect(scanner.scanValue({ value })).toEqual([]);
  });
});
