/** Runs of hex and base64 in the forms that programs, databases and mails write. */
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { createDlpScanner } from '../scanner.ts';

const scanner = createDlpScanner();
afterAll(() => scanner.close());

const SECRETS = [
  'AKIAQ7MZ3HTXW5RBNC2V',
  'ghp_16C7e42F292c6912E7710c838347Ae178B4a',
  'postgres://admin:Tr0ub4dor3x@db.corp.internal:5432/prod',
  'aws_secret_access_key = wJalrXUtnFEMI/K7MDENG+bPxRfiCYzQ8kLm3Np1',
];

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const hex = (text: string): string => Buffer.from(text).toString('hex');
const LONG = 'Lorem ipsum '.repeat(10);
const noise = (length: number): Buffer =>
  Buffer.from(Array.from({ length }, (_, i) => (i * 173 + 7) % 256));
/** A line end and what stands around it, after every so many characters. */
const wrapped = (text: string, columns: number, end: string): string =>
  text.replace(new RegExp(`(.{${columns}})(?=.)`, 'g'), `$1${end}`);

const FORMS: Readonly<Record<string, (text: string) => string>> = {
  'hex behind 0x': (text) => `0x${hex(text)}`,
  'hex behind 0X': (text) => `0X${hex(text).toUpperCase()}`,
  'hex above another assignment': (text) => `X=0x${hex(text)}\n DEBUG=0`,
  'base64 above another assignment': (text) => `X=${base64(text)}\nDEBUG=false`,
  'hex of PostgreSQL': (text) => `\\x${hex(text)}`,
  'hex of PostgreSQL in JSON': (text) => `\\\\x${hex(text)}`,
  'hex of gzip': (text) => gzipSync(text).toString('hex'),
  'hex of gzip behind 0x': (text) => `0x${gzipSync(text).toString('hex')}`,
  'hex of gzip of PostgreSQL': (text) => `\\x${gzipSync(text).toString('hex')}`,
  'hex of other bytes too': (text) =>
    Buffer.concat([noise(90), Buffer.from(` ${text} `)]).toString('hex'),
  'hex of strings that a zero ends': (text) => hex(`mode\0${text}\0eu-central-1\0`),
  'base64 of strings that a zero ends': (text) => base64(`mode\0${text}\0eu-central-1\0`),
  'hex with a zero within': (text) => hex(`${text.slice(0, 6)}\0${text.slice(6)}`),
  'hex in lines': (text) => wrapped(hex(`${LONG}${text}`), 32, '\n'),
  'base64 in short lines': (text) => wrapped(base64(text), 16, '\n'),
  'base64 in lines of 20': (text) => wrapped(base64(`the key: ${text}`), 20, '\n'),
  'base64 in lines of 30': (text) => wrapped(base64(`${LONG}${text}`), 30, '\r\n  '),
  'base64 in lines of 76': (text) => wrapped(base64(`${LONG}${text}`), 76, '\r\n'),
  'base64 in a mail that is quoted': (text) => wrapped(base64(`${LONG}${text}`), 60, '\n> '),
  'base64 in a mail that is quoted twice': (text) =>
    wrapped(base64(`${LONG}${text}`), 72, '\n> > '),
  'base64 in a table': (text) => wrapped(base64(`${LONG}${text}`), 60, ' |\n| '),
};

describe.each(Object.entries(FORMS))('%s', (_name, form) => {
  it.each(SECRETS)('hides no %s', (secret) => {
    const found = scanner.scanValue({ text: `As promised: ${form(secret)}\nRegards` });
    expect(found.filter(({ severity }) => severity === 'critical')).toHaveLength(1);
  });
});

it.each([
  'IFJUSQKRIFHTOSZXKZIFQNSMGUZEQNSE',
  'IFJUSQJSINFDGTCJJJGFMVKTJFKTMSZW',
])('base32 without some of its digits is undone: %s', (text) => {
  expect(scanner.scanText(`see ${text} there`)).toMatchObject([
    { pattern: 'aws_access_key_id', disguise: ['base32'] },
  ]);
});

it('a value behind an escape of one character is still read as such', () => {
  expect(scanner.scanText('\\x3378282246310005')).toMatchObject([{ pattern: 'payment_card' }]);
});

/** Values that happen to decode themselves. */
const RUNS: readonly [string, string][] = [
  ['4026450433796199', 'payment_card'],
  ['4735860456689257', 'payment_card'],
  ['DE98370400447349334537', 'iban'],
  ['AKIAQFEEJ5A4EHIZNR4O', 'aws_access_key_id'],
];

describe.each(RUNS)('%s', (value, pattern) => {
  it.each([
    ['base64', base64, ['base64']],
    ['base64 twice', (text: string) => base64(base64(text)), ['base64']],
    ['hex', hex, ['hex']],
    ['hex in base64', (text: string) => base64(hex(text)), ['base64', 'hex']],
  ])('is found in %s, with no disguise but that', (_name, form, disguise) => {
    expect(scanner.scanText(`data: ${form(value)} ok`)).toMatchObject([{ pattern, disguise }]);
  });
});

/** µs of CPU; the least of several, since the collector and the compiler count as well. */
function leastTimeOf(text: string): number {
  const times = Array.from({ length: 4 }, () => {
    const from = process.cpuUsage().user;
    scanner.scanText(text);
    return process.cpuUsage().user - from;
  });
  return Math.min(...times);
}

it('runs in runs take as long as they are many', () => {
  const nested = base64(base64(base64('4026450433796199')));
  const timeOf = (count: number): number => leastTimeOf(`${nested} `.repeat(count));
  expect(timeOf(2_400)).toBeLessThan(40 * Math.max(timeOf(300), 1_000));
});

describe('lines of one length that are not one run', () => {
  it('are read one by one', () => {
    const lines = ['a', 'b', 'c'].map(
      (name) => `${name}xWz${base64(` AKIAQ7MZ3HTXW5RBNC2V,${name}`)}`,
    );
    const digests = Array.from({ length: 9 }, (_, i) =>
      noise(20 + i)
        .toString('hex')
        .slice(8, 40),
    );
    const text = [...digests, ...lines.map((line) => line.slice(4)), ...digests].join('\n');
    expect(scanner.scanText(text)[0]).toMatchObject({ pattern: 'aws_access_key_id' });
    expect(scanner.scanText(digests.join('\n'))).toEqual([]);
  });

  it('take as long as they are many', () => {
    const line = 'FjT9x2LmQz0RbYw7KpVc\n';
    const timeOf = (count: number): number => leastTimeOf(line.repeat(count));
    expect(timeOf(16_000)).toBeLessThan(40 * Math.max(timeOf(2_000), 1_000));
  });
});

it('begins behind the sign that closes a note in brackets', () => {
  const hex = Buffer.from('To: +4917713635246 Text').toString('hex');
  for (const text of [`submit body(hex)=${hex}`, `payload[hex]=${hex}`]) {
    expect(scanner.scanText(text)).toMatchObject([{ pattern: 'phone_number', disguise: ['hex'] }]);
  }
});
