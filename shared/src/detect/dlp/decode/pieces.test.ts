import { afterAll, describe, expect, it } from 'vitest';
import { createDlpScanner } from '../scanner.ts';

const scanner = createDlpScanner();
afterAll(() => scanner.close());

const patterns = (text: string): string[] => scanner.scanText(text).map(({ pattern }) => pattern);

const list = (...pieces: readonly string[]): string => JSON.stringify(pieces);

describe('pieces under one label', () => {
  it.each([
    [`"ssn": ${list('219', '09', '9998')}`, 'us_ssn'],
    [`Result: {"card": ${list('4539', '1488', '0343', '6467')}}`, 'payment_card'],
    [`{"password": ${list(...'Otter52!kale')}}`, 'secret_assignment'],
    [`telefon = ${list('+49', '151', '2345', '6789')}`, 'phone_number'],
  ])('are found in an array of a text: %s', (text, pattern) => {
    expect(patterns(text)).toContain(pattern);
  });

  it.each([
    [{ ssn: ['219', '09', '9998'] }, 'us_ssn'],
    [{ password: [...'Otter52!kale'] }, 'secret_assignment'],
    [{ phone: ['+49', '151', '2345', '6789'] }, 'phone_number'],
  ])('are found in an array of a value: %j', (value, pattern) => {
    expect(scanner.scanValue(value).map((one) => one.pattern)).toContain(pattern);
  });

  it.each([
    ['Telefon (in Gruppen):\n+49\n151\n2345\n6789', 'phone_number'],
    ['Card number:\n4539\n1488\n0343\n6467\nThanks', 'payment_card'],
    ['card number:\n> 6011 28\n> 46 4119\n>  6534', 'payment_card'],
    ['> Telefon:\n> +49\n> 151\n> 2345\n> 6789', 'phone_number'],
    ['IBAN:\r\n- DE89\r\n- 3704\r\n- 0044\r\n- 0532\r\n- 0130\r\n- 00', 'iban'],
    ['SSN:\n219\n09\n9998', 'us_ssn'],
    ['ssn:\n  - "219"\n  - "09"\n  - "9998"', 'us_ssn'],
    [`password:\n${[...'Otter52!kale'].join('\n')}`, 'secret_assignment'],
  ])('are found one a line: %j', (text, pattern) => {
    expect(patterns(text)).toContain(pattern);
  });

  it.each([
    `rules = {'password': ['required', 'string', 'min:8', 'confirmed']}`,
    `{"password": ${list('required', 'min:8')}}`,
    `{"letters": ${list(...'abcdef1')}}`,
    `{"pin": ${list(...'ABCDEF')}}`,
    `{"ids": ${list('219', '09', '9998')}}`,
    `{"phone_codes": ${list('+48', '+49', '+1')}}`,
    `{"versions": ${list('1.2', '1.3', '2.0')}}`,
    `{"token": ${list(...'012345')}}`,
    'Ports:\n80\n443\n8080\n9090',
    'Phone extensions:\n2201\n2202\n2203',
    'phone:\n1\n2\n3',
    'Order numbers:\n10021\n10022\n10023',
    'Sizes:\n> 6011 28\n> 46 4119\n> 6535',
    'Phone stock:\n10 20\n30 40\n50 60',
    'Years:\n2019\n2020\n2021\n2022',
    'Options:\na\nb\nc\nd\ne\nf',
    'The token types:\nJWT\nPAT\nOTP\nAPI',
  ])('are a list where nothing else is known of them: %j', (text) => {
    expect(patterns(text)).toEqual([]);
  });
});

describe('a key in two halves', () => {
  it.each([
    'first half ghp_h2Kd83LmQz7VbT5x, second half Wc9RpYs4NfJg6AeUqXo1',
    'ghp_h2Kd83LmQz7VbT5x und der Rest: Wc9RpYs4NfJg6AeUqXo1',
  ])('is found: %s', (text) => expect(patterns(text)).toEqual(['git_host_token']));

  it.each([
    'ghp_abc is the first part, the second part is a checksum',
    'sk-learn, second part: sk-image',
    'first half of the AKIA list, second half later',
  ])('is words behind a mark: %s', (text) => expect(patterns(text)).toEqual([]));
});

describe('keys that a line break cuts', () => {
  it.each([
    'token:\nshpat_9c4e1b7d20f3a\n86c5e07b19d4f3a2c8e',
    'npm token npm_h2Kd83LmQz7\n  VbT5xWc9RpYs4NfJg6AeUqXo1',
  ])('are found: %j', (text) => expect(scanner.scanText(text)).not.toEqual([]));

  it.each([
    'Set key-1 and key-2, rotate key-3 in 2024 and key-4 in 2025',
    'shpat_ is the mark of\nan admin token of 2024, shpss_ that of\n a shared secret of 2023',
  ])('are no words behind a mark: %j', (text) => expect(patterns(text)).toEqual([]));
});

describe('characters with wide separators', () => {
  const card = [...'4539148803436467'].join(' . ');

  it.each([
    card,
    `card | ${card} | 2027-03-30`,
    ` 77 | main | ${card} | x`,
  ])('are found, also in a table: %s', (text) => expect(patterns(text)).toContain('payment_card'));

  it.each([
    '| 12 | 34 | 56 | 78 | 90 | 12.5 |',
    '4 . 5 . 6 . 7 and 8 . 9',
  ])('are numbers in a row: %s', (text) => expect(patterns(text)).toEqual([]));
});
