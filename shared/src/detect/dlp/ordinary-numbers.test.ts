/** Numbers that are not sensitive: by their check digits alone some of them could be cards. */
import { afterAll, describe, expect, it } from 'vitest';
import { createDlpScanner } from './scanner.ts';

const scanner = createDlpScanner();
afterAll(() => scanner.close());

let state = 7;
/** From 0 to below 1, the same in every run. */
const random = (): number => {
  state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
  return state / 2_147_483_648;
};
const digits = (length: number): string =>
  Array.from({ length }, (_, i) => Math.floor(random() * 9 + (i === 0 ? 1 : 0))).join('');
const many = <T>(length: number, make: (i: number) => T): T[] =>
  Array.from({ length }, (_, i) => make(i));

const LISTS: readonly [string, () => unknown][] = [
  ['numbers of four digits', () => ({ ids: many(100, () => Number(digits(4))) })],
  ['numbers of eight digits', () => ({ ids: many(100, () => digits(8)) })],
  ['keys of eight digits', () => Object.fromEntries(many(100, () => [digits(8), 1]))],
  ['fractions', () => ({ weights: many(200, random) })],
  ['coordinates', () => many(60, () => [random() * 180 - 90, random() * 360 - 180])],
  ['prices', () => many(60, () => ({ sku: digits(6), price: random() * 100 }))],
  ['columns', () => many(30, () => many(6, () => digits(4)).join(' | ')).join('\n')],
  ['bytes', () => many(300, () => Math.floor(random() * 256))],
  ['fractions in a text', () => JSON.stringify(many(200, random))],
  [
    'rows of a table',
    () =>
      many(
        30,
        () => `| ${digits(3)} | ${digits(5)} | ${digits(4)} | ${digits(2)}.${digits(2)} |`,
      ).join('\n'),
  ],
  [
    'microseconds',
    () => many(60, () => 1_700_000_000_000_000 + Math.floor(random() * 1e14)).join(','),
  ],
  ['times', () => many(60, () => 1_700_000_000_000 + Math.floor(random() * 1e11))],
];

describe('in ordinary data', () => {
  it.each(LISTS)('%s are nothing sensitive', (_, make) => {
    for (let i = 0; i < 10; i++) expect(scanner.scanValue(make())).toEqual([]);
  });

  // Near to half of them are valid in one of six countries.
  it.each([
    'build run: ',
    'fin=',
    'nik: ',
    'PAN ',
    'pnr ',
    'device id number: ',
    'order id no. ',
  ])('%s with nine digits is no person’s', (label) => {
    for (let i = 0; i < 40; i++) expect(scanner.scanText(label + digits(9))).toEqual([]);
  });

  it('lengths and counts are no escapes of mails', () => {
    const text = 'token_count=2034 password_length=12 key=7f3a9c21-44b1-4e0d-a3c2-9b1f0e7d6a55';
    expect(scanner.scanText(text)).toEqual([]);
  });

  it.each([
    'client_id',
    'customerId',
    'patient_id',
    'AZURE_CLIENT_ID',
  ])('a UUID is no number of a record: %s', (label) => {
    const hex = (length: number) =>
      many(length, () => Math.floor(random() * 16).toString(16)).join('');
    for (let i = 0; i < 60; i++) {
      const uuid = `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`;
      for (const written of [uuid, uuid.toUpperCase()]) {
        const texts = [`${label}=${written}`, JSON.stringify({ [label]: written })];
        expect(texts.flatMap((text) => scanner.scanText(text))).toEqual([]);
      }
    }
  });

  it.each([
    ['in four fields', { a: '4532', b: '0151', c: '1283', d: '0366' }],
    ['in single digits', [...'4532015112830366'].map(Number)],
    ['in a field that says so', { cards: ['4532015112830366', ...many(40, () => digits(4))] }],
    ['with its date and code', 'pay 4532 0151 1283 0366 12/27 123'],
    ['in a row of CSV', 'id,card\n1,4532015112830366,12/27'],
    ['in a statement', "INSERT INTO c VALUES (1,4532015112830366,'x')"],
    ['in an array', '[1,4532015112830366]'],
    ['behind a date', '2024-01-01,4532015112830366'],
    ['behind an amount', '10.00,4532015112830366'],
    ['behind a version', 'v1:4532015112830366'],
    ['before its code', '4532015112830366:123'],
    ['among tests, but not published for them', 'test card 4532 0151 1283 0366'],
    ['where nothing says that it is for tests', 'card 5555 5555 5555 4444'],
    ['turned around', `note ${[...'4532015112830366'].reverse().join('')}`],
  ])('a card is found %s', (_, value) => {
    const found = scanner.scanValue(value).map(({ pattern }) => pattern);
    expect(found).toContain('payment_card');
  });

  it.each([
    ['an amount', '4532015112830366.77'],
    ['a decimal', '0.4532015112830366'],
    ['a decimal in a row', '1,0.4532015112830366,2'],
    ['a row of groups', '12,4532,0151,1283,0366,77'],
    ['a published number for tests', 'in test mode pay with 5555 5555 5555 4444'],
    ['measurements', 'run,tokens_per_s,p50_ms\n1,9199.5,52,907\n2,4321.6,48,881\n3,4411.2,51,912'],
    ['one that is documented', 'the documented 378282246310005 is declined'],
  ])('a card is not found in %s', (_, text) => expect(scanner.scanText(text)).toEqual([]));

  it('a social security number is found in a row of CSV, and not in a longer number', () => {
    expect(scanner.scanText('1,219-09-9999,x')).toMatchObject([{ pattern: 'us_ssn', start: 2 }]);
    expect(scanner.scanText('7-219-09-9999')).toEqual([]);
  });
});
