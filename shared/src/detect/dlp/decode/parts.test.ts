import { afterAll, describe, expect, it } from 'vitest';
import { createDlpScanner } from '../scanner.ts';

const scanner = createDlpScanner();
afterAll(() => scanner.close());

const inText = (text: string): string[] => scanner.scanText(text).map(({ pattern }) => pattern);
const inValue = (value: unknown): string[] =>
  scanner.scanValue(value).map(({ pattern }) => pattern);

describe('parts of one number in sentences', () => {
  it.each([
    ['us_ssn', 'ssn part 1: 219\nssn part 2: 09-9999'],
    ['us_ssn', 'SSN part 1: 219. Part 2 is 09-9999.'],
    ['us_ssn', 'The first part of my ssn is 219, the rest is 09-9999.'],
    ['payment_card', 'The card starts with 4539 1488 and ends with 0343 6467.'],
    ['payment_card', 'Card: first four 4539, last four 6467, the middle is 14880343'],
    ['payment_card', 'Karte: erste Hälfte: 45391488, zweite Hälfte: 03436467'],
    [
      'aws_access_key_id',
      'The first half of the key is AKIAQ7MZ3X. The second half is 9KD2PLWQ4T.',
    ],
    ['date_of_birth', '{"geboren am (first half)": "27.12", "geboren am (rest)": ".1978"}'],
    ['us_ssn', 'ssn_area=219\nssn_group=09\nssn_serial=9999'],
  ])('are found as %s: %s', (pattern, text) => expect(inText(text)).toEqual([pattern]));

  it.each([
    ['counts', 'Mobile sales: first half was 451,234 and the second half 99,812 units'],
    ['years', 'iPhone first half 2023: 451234; second half 2023: 99812 units'],
    ['days', 'Call rates: the first 30 days cost 1200, the remaining 335 cost 14800.'],
    ['chapters', 'Phone manual. Part 1: 12 pages, part 2: 45 pages.'],
    ['rules', 'The password starts with 8 characters and ends with 2 digits'],
  ])('are none in %s', (_, text) => expect(inText(text)).toEqual([]));

  it('hide nothing that stands between them', () => {
    const hidden = Buffer.from('token=ghp_R4tq8ZkWmN2vXpL6cJ9sHdFbGy3TuA1eQo5K').toString('base64');
    expect(inText(`part 1: 451234 ${hidden} part 2: 998127`)).toContain('git_host_token');
  });
});

describe('fields that are parts of a value', () => {
  it.each([
    ['date_of_birth', { birth_year: 1984, birth_month: 3, birth_day: 12 }],
    ['date_of_birth', { birthDay: '12', birthMonth: '03', birthYear: '1984' }],
    ['date_of_birth', { dob: { year: 1984, month: 3, day: 12 } }],
    ['date_of_birth', { birth: { day: 12, month: 'March', year: 1984 } }],
    ['date_of_birth', { geburtsjahr: 1984, geburtsmonat: 3, geburtstag: 12 }],
    ['us_ssn', { ssn: { area: '219', group: '09', serial: '9999' } }],
    [
      'payment_card',
      {
        card_number_1: '4539',
        card_number_2: '1488',
        exp_month: '09',
        card_number_3: '0343',
        card_number_4: '6467',
      },
    ],
    ['secret_assignment', { name: 'api_key', chunks: ['9fK2mX7', 'qLw8Rt3', 'VbZ4nYc'] }],
    ['us_ssn', { name: 'ssn', parts: ['219', '09', '9999'] }],
  ])('are found as %s: %j', (pattern, value) => {
    expect(inValue(value)).toEqual([pattern]);
    expect(inText(JSON.stringify(value))).toEqual([pattern]);
    expect(inText(JSON.stringify({ text: JSON.stringify(value) }))).toEqual([pattern]);
  });

  it.each([
    { published: { year: 1984, month: 3, day: 12 } },
    { birth_year: 1984, grade: 3, age_group: 12 },
    { name: 'token', parts: ['header', 'payload', 'signature'] },
    { name: 'token', parts: ['header1', 'payload2', 'sig3'] },
    { key: 'api_key', segments: ['v1', 'users', '42'] },
    { field: 'password', parts: ['10.0.0.1', 'us-east-1'] },
  ])('are none in %j', (value) => {
    expect(inValue(value)).toEqual([]);
    expect(inText(JSON.stringify(value))).toEqual([]);
  });
});
