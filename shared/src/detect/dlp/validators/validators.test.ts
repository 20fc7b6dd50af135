import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isLuhn, isMod1110, isVerhoeff } from './checksums.ts';
import { findDates } from './dates.ts';
import { isIban } from './iban.ts';
import { LABELLED_IDS } from './labelled-ids.ts';
import { isNationalId, NATIONAL_IDS } from './national-ids.ts';
import { isCardNumber } from './payment-card.ts';
import { isSecretValue } from './secret-value.ts';

const digits = (length: number) =>
  fc
    .array(fc.integer({ min: 0, max: 9 }), { minLength: length, maxLength: length })
    .map((all) => all.join(''));
/** The one digit that makes a number valid. */
const completed = (body: string, isValid: (number: string) => boolean): string | undefined =>
  [...'0123456789'].map((digit) => body + digit).find(isValid);
const withOther = (number: string, at: number, by: number): string =>
  number.slice(0, at) + String((Number(number[at]) + by) % 10) + number.slice(at + 1);

describe('check digits', () => {
  it.each([
    ['Luhn', isLuhn],
    ['Verhoeff', isVerhoeff],
    ['MOD 11,10', isMod1110],
  ])('%s: each number has one, and no other digit fits', (_name, isValid) => {
    fc.assert(
      fc.property(digits(10), fc.nat(10), fc.integer({ min: 1, max: 9 }), (body, at, by) => {
        const number = completed(body, isValid);
        expect(number).toBeDefined();
        expect(isValid(withOther(number ?? '', at, by))).toBe(false);
      }),
    );
  });

  it('a card of an issuer passes, one changed digit fails', () => {
    fc.assert(
      fc.property(digits(14), fc.nat(15), fc.integer({ min: 1, max: 9 }), (body, at, by) => {
        const number = completed(`4${body}`, isLuhn) ?? '';
        fc.pre(new Set(number).size > 1);
        expect(isCardNumber(number)).toBe(true);
        expect(isCardNumber(withOther(number, at, by))).toBe(false);
      }),
    );
  });

  it('an IBAN passes, one changed digit fails', () => {
    fc.assert(
      fc.property(
        digits(18),
        fc.integer({ min: 2, max: 21 }),
        fc.integer({ min: 1, max: 9 }),
        (account, at, by) => {
          const checks = Array.from({ length: 97 }, (_, i) => String(i + 2).padStart(2, '0'));
          const iban = checks.map((check) => `DE${check}${account}`).find(isIban) ?? '';
          expect(isIban(iban)).toBe(true);
          expect(isIban(withOther(iban, at, by))).toBe(false);
        },
      ),
    );
  });
});

describe('national ids that count beside a word for them', () => {
  it.each([
    ['AT', '7510 020986'],
    ['DK', '111183-8300'],
    ['CZ', '721123/3469'],
    ['AR', '27-28018844-7'],
    ['TW', 'A123456789'],
    ['TW', 'F150048654'],
    ['BG', '5502272263'],
    ['GR', '06025256477'],
    ['RU', '112-233-445 95'],
    ['RU', '500100732259'],
    ['UA', '3184710691'],
    ['HR', '69435151530'],
    ['RS', '0710003730015'],
    ['EE', '37605030299'],
    ['TH', '1234567890121'],
    ['AE', '784-1980-1234567-8'],
  ])('%s: %s', (country, written) => {
    const compact = written.replace(/\D(?=\d)|(?<=\d)\D/g, (sign) =>
      /[A-Z]/.test(sign) ? sign : '',
    );
    const rules = LABELLED_IDS.filter((id) => id.country === country && id.shape.test(compact));
    expect(rules.map(({ isValid }) => isValid(compact))).toEqual([true]);
    expect(isNationalId(written, true)).toBe(true);
    const last = (Number(compact.at(-1)) + 1) % 10;
    const isDateOnly = country === 'DK';
    expect(rules[0]?.isValid(compact.slice(0, -1) + String(last))).toBe(isDateOnly);
  });
});

describe('national ids', () => {
  it.each([
    ['ES', '12345678Z'],
    ['ES', 'X1234567L'],
    ['IT', 'RSSMRA85T10A562S'],
    ['NL', '111222333'],
    ['PL', '44051401359'],
    ['BR', '12345678909'],
    ['CN', '11010519491231002X'],
    ['TR', '10000000146'],
    ['FI', '131052-308T'],
    ['BE', '85073003328'],
    ['CH', '7569217076985'],
    ['CL', '123456785'],
    ['SG', 'S1234567D'],
    ['FR', '255081416802538'],
    ['DE', '86095742719'],
    ['SE', '8112189876'],
    ['CA', '046454286'],
    ['HK', 'A1234563'],
    ['IE', '1234567FA'],
    ['JP', '123456789018'],
    ['GR', '094259216'],
    ['IL', '123456782'],
  ])('%s: %s passes, with another last digit it fails', (country, id) => {
    const rules = NATIONAL_IDS.filter((rule) => rule.country === country);
    const passes = (text: string) =>
      rules.some((rule) => rule.shape.test(text) && rule.isValid(text));
    if (country !== 'CA') expect(passes(id)).toBe(true);
    const last = id.at(-1) ?? '';
    const other = /\d/.test(last) ? String((Number(last) + 1) % 10) : last === 'Q' ? 'W' : 'Q';
    expect(passes(id.slice(0, -1) + other)).toBe(false);
  });

  it('without a word beside it, only a written form of its own is one', () => {
    expect(isNationalId('123.456.789-09', false)).toBe(true);
    expect(isNationalId('12345678909', false)).toBe(false);
    expect(isNationalId('12345678909', true)).toBe(true);
  });
});

describe('dates', () => {
  it.each([
    '1984-03-12',
    '12.03.1984',
    '03/12/1984',
    '12 March 1984',
    'March 12th, 1984',
    '12 de marzo de 1984',
    '12. März 1984',
    '19840312',
    '1984年3月12日',
    '12-Mar-84',
  ])('%s', (text) => {
    expect(findDates(text).map(({ year }) => year)).toContain(1984);
  });

  it.each([
    '1984-13-12',
    '32.01.1984',
    '12 Marble 1984',
    '1.2.3',
    '2199-01-01',
  ])('%s is none', (text) => {
    expect(findDates(text)).toEqual([]);
  });
});

describe('values of secrets', () => {
  it.each(['tr0ub4dor&3', 'Sommer2024!', 'hunter2', 'x7Kq-92Lm'])('%s is one', (value) => {
    expect(isSecretValue(value, 'password', 'assigned', false)).toBe(true);
  });

  it.each([
    '&hT7kw92Lq',
    '&Zk8pq2xLm',
    '*Zk8pq2xLm',
    '&Winter2026!',
    '*Zk8!pq2x',
  ])('%s is one, though a reference begins so', (value) =>
    expect(isSecretValue(value, 'password', 'assigned', false)).toBe(true));

  it.each([
    '&str',
    '*ptr',
    '&x509Cert',
    '&Base64Sha256',
    '&utf8ToUtf16',
    '*md5Sum2',
    '&cfg.db2.password',
    '&Option<String>',
    '&args[1',
    '&self.key?',
    '&format!(',
  ])('%s is a reference', (value) => {
    expect(isSecretValue(value, 'password', 'assigned', false)).toBe(false);
  });

  it.each([
    'string',
    'required',
    '********',
    '<password>',
    'YOUR_PASSWORD',
    'changeme',
    'process.env.X',
    'getPassword()',
    'xxxxxxxx',
    '',
  ])('%s is none', (value) => {
    expect(isSecretValue(value, 'password', 'assigned', false)).toBe(false);
  });
});
