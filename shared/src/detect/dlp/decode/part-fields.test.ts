/** Values whose fields say that they are parts of one, in texts and in documents. */
import { afterAll, describe, expect, it } from 'vitest';
import { createDlpScanner } from '../scanner.ts';

const scanner = createDlpScanner();
afterAll(() => scanner.close());
const inText = (text: string): string[] => scanner.scanText(text).map(({ pattern }) => pattern);
const inValue = (value: unknown): string[] =>
  scanner.scanValue(value).map(({ pattern }) => pattern);

const SPLIT: readonly (readonly [pattern: string, value: object])[] = [
  ['secret_assignment', { id: 7, db_password: { p1: 'Wz8KdduOT6', p2: 'Qi6Gw4Ho7KezVV2E' } }],
  [
    'national_id',
    { id: 8293, pesel: { pesel_head: '033', pesel_mid: '208480', pesel_tail: '60' } },
  ],
  ['date_of_birth', { id: 4, birth_date: { part_a: '19.', part_b: '03.1978' } }],
  ['date_of_birth', { kind: 'DOB', dob_1: '04/11/1', dob_2: '994', status: 'ok' }],
  ['phone_number', { kind: 'phone', first: '+49 157 9', second: '7', third: '098749' }],
  ['record_number', { about: 'patient number', note: 'join', p1: '60-', p2: '98-1', p3: '43' }],
];

describe('a value in declared parts', () => {
  it.each(SPLIT)('is a %s: %j', (pattern, value) => {
    expect(inValue(value)).toContain(pattern);
    expect(inText(JSON.stringify(value))).toContain(pattern);
    expect(inText(JSON.stringify(value, null, 2))).toContain(pattern);
  });

  it.each([
    { name: { first: 'Anna', last: 'Miller' }, range: { first: '100', last: '20000000' } },
    { order_a: '033', order_b: '20848060' },
    { answer_1: 'street 12', answer_2: 'pet 4' },
    { title: 'pages', first: '12', last: '2481' },
  ])('is not made of fields that are no parts of one: %j', (value) => {
    expect(inValue(value)).toEqual([]);
    expect(inText(JSON.stringify(value))).toEqual([]);
  });

  it('cannot be redacted, as any value in several fields', () => {
    const value = { pesel: { pesel_head: '033', pesel_mid: '208480', pesel_tail: '60' } };
    expect(scanner.redactValue(value)).toMatchObject({ value, failed: true });
  });
});
