/** Keys of issuers with separators, in many forms. */
import { afterAll, describe, expect, it } from 'vitest';
import { createDlpScanner } from '../scanner.ts';

const scanner = createDlpScanner();
afterAll(() => scanner.close());

const KEYS = [
  'AKIAQ7MZ3HTXW5RBNC2V',
  'ghp_16C7e42F292c6912E7710c838347Ae178B4a',
  'AIzaSyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY',
  'xoxb-263594206564-2343594206574-FGqddMF8t08v8N7Oq4i57vs1',
  'sk_live_4eC39HqLyjWDarjtT1zdp7dc',
  'sk-proj-AbC1dEf2GhI3jKl4MnO5pQr6StU7vWx8Yz9012AbCdEfGh',
];

const once = (sign: string, at: number) => (key: string) =>
  `${key.slice(0, at)}${sign}${key.slice(at)}`;
const every = (sign: string, count: number) => (key: string) =>
  key.replace(new RegExp(`(.{${count}})(?=.)`, 'g'), `$1${sign}`);

const FORMS: Readonly<Record<string, (key: string) => string>> = {
  'a line end': once('\n', 12),
  'a line end and blanks': once('\r\n  ', 16),
  'a blank': once(' ', 10),
  'a blank behind the mark': once(' ', 8),
  'empty quotes': once("''", 14),
  'empty double quotes': once('""', 9),
  'an emoji': once('😀', 13),
  'an emoji every nine': every('✂', 9),
  'blanks every eight': every(' ', 8),
  'lines of ten': every('\n', 10),
  'low lines': (key) => [...key].join('_'),
};

describe.each(Object.entries(FORMS))('%s', (_name, form) => {
  it.each(KEYS)('in %s', (key) => {
    const found = scanner.scanValue({ text: `Please use ${form(key)} from now on` });
    expect(found.filter(({ severity }) => severity === 'critical')).toHaveLength(1);
  });
});

describe('nothing is broken', () => {
  it.each([
    'The prefix of a token is ghp_ or gho_: 36 characters follow.',
    'Install sk-learn 0.24b1 with pip 23 on node 20.11.2 or later',
    'AKIA is the prefix of long-lived keys, ASIA of temporary ones: 16 characters follow 2 of them.',
  ])('in %s', (text) => {
    expect(scanner.scanText(text)).toEqual([]);
  });
});

it('is found behind the mark of another', () => {
  for (const decoy of ['sk-x1', 'eyJ2', 'xoxb-1', 'ghp_9']) {
    const [found] = scanner.scanText(`${decoy} AKIAQ7MZ 3HTXW5RBNC2V`);
    expect(found).toMatchObject({ severity: 'critical', disguise: ['separators'] });
  }
});
