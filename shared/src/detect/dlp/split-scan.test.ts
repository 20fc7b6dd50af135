/** Values that were disguised, and then split over fields, items or strings. */
import { afterAll, describe, expect, it } from 'vitest';
import { createDlpScanner } from './scanner.ts';

const scanner = createDlpScanner();
afterAll(() => scanner.close());

const SECRETS: readonly [string, string][] = [
  ['aws_access_key_id', 'AKIAQ7MZ3HTXW5RBNC2V'],
  ['git_host_token', 'ghp_16C7e42F292c6912E7710c838347Ae178B4a'],
  ['payment_card', '4111111111111111'],
  ['connection_string', 'postgres://admin:Tr0ub4dor3x@db.corp.internal:5432/prod'],
];
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const hex = (text: string): string => Buffer.from(text).toString('hex');
const fullWidth = (text: string): string =>
  [...text].map((sign) => String.fromCharCode(sign.charCodeAt(0) + 0xfee0)).join('');
const FORMS = { base64, hex, fullWidth, 'base64 of hex': (text: string) => base64(hex(text)) };

describe.each(Object.entries(FORMS))('%s', (_name, form) => {
  it.each(
    SECRETS,
  )('over two fields, three items and two strings hides no %s', (pattern, secret) => {
    const written = form(secret);
    const half = Math.floor(written.length / 2) + 1;
    const [one, other] = [written.slice(0, half), written.slice(half)];
    const values = [
      { a: one, b: other },
      [written.slice(0, 5), written.slice(5, half), other],
      `x = "${one}" + "${other}"`,
    ];
    for (const value of values) {
      const found = scanner.scanValue(value).map((finding) => finding.pattern);
      expect(found).toContain(pattern);
    }
  });
});

it('finds a key of which one half is in full width', () => {
  const value = { a: fullWidth('AKIAQ7MZ'), b: '3HTXW5RBNC2V' };
  expect(scanner.scanValue(value)).toMatchObject([{ pattern: 'aws_access_key_id' }]);
});

it('finds nothing in encoded texts that stand beside each other', () => {
  const texts = ['Lunch at noon', 'in the usual place', 'bring the printed agenda'];
  expect(scanner.scanValue(texts.map(base64))).toEqual([]);
  expect(scanner.scanValue(texts.map(hex))).toEqual([]);
});

describe('an IBAN over two fields', () => {
  it.each([
    [{ a: '{"tool":"pay","iban":"DE8937040', b: '0440532013000"}' }],
    [{ a: 'please pay to DE8937040', b: '0440532013000 by May' }],
  ])('is found at the ends of longer texts: %j', (value) => {
    expect(scanner.scanValue(value).map(({ pattern }) => pattern)).toEqual(['iban']);
  });

  it('is not found without its check digits', () => {
    expect(scanner.scanValue({ a: 'please pay to DE8837040', b: '0440532013000 by May' })).toEqual(
      [],
    );
  });
});

describe('over the texts of an array’s items', () => {
  const places = (value: unknown) =>
    scanner.scanValue(value).map(({ pattern, place }) => [pattern, place]);
  const halves = (secret: string): [string, string] => [secret.slice(0, 12), secret.slice(12)];

  it.each(SECRETS.slice(0, 3))('hides no %s', (pattern, secret) => {
    const [one, other] = halves(secret);
    const content = [one, other].map((text) => ({ type: 'text', text }));
    expect(places({ content })).toEqual([[pattern, '/content/0/text']]);
    const messages = [one, other].map((content) => ({ role: 'user', content }));
    expect(places({ model: 'm', messages })).toEqual([[pattern, '/messages/0/content']]);
  });

  it('joins neither other members, nor items with others between them, nor numbers of a table', () => {
    const [one, other] = halves('4111111111111111');
    expect(places([{ sku: one }, { sku: other }])).toEqual([]);
    expect(places([{ text: one }, { text: 'and so on' }, { text: other }])).toEqual([]);
    expect(
      places([
        { text: one, data: 'x' },
        { text: 'y', data: other },
      ]),
    ).toEqual([]);
    const table = Array.from({ length: 40 }, (_, n) => ({ value: String(41111111 + n * 7919) }));
    expect(places(table)).toEqual([]);
  });
});

it('takes no address of a function for one that begins in the field before it', () => {
  const alone = [
    { name: 'Report', from: 'support@harborline.com', to: 'sales@harborline.com' },
    { id: '01a228ca-4104', name: 'alpha', owner: 'you@example.com', tier: 'low' },
    ['Report', 'info@harborline.com'],
  ];
  for (const value of alone) expect(scanner.scanValue(value)).toEqual([]);
  const split = [
    { local: 'walter.quine', host: '@harborline.com' },
    { a: 'walter.quine@', b: 'harborline.com' },
    ['walter.quine@harborline', '.com'],
    'x = "walter." + "info@harborline.com"',
  ];
  for (const value of split) {
    expect(scanner.scanValue(value)).toMatchObject([{ pattern: 'email_address' }]);
  }
});
