import { deflateSync, gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { rot13 } from '../../rot13.ts';
import { createDlpScanner } from '../scanner.ts';

const scanner = createDlpScanner();
afterAll(() => scanner.close());

const KEY = 'AKIAQ7MZ3HTXW5RBNC2V';
const NAMED = 'aws_secret_access_key = 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';
const CARD = '4111111111111111';
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const hex = (text: string): string => Buffer.from(text).toString('hex');
const turned = (text: string): string => [...text].reverse().join('');
const each = (text: string, form: (character: string) => string): string =>
  [...text].map(form).join('');
const code = (character: string): number => character.codePointAt(0) ?? 0;

/** Name, the disguised value, its pattern, the first disguise reported. */
const DISGUISED: readonly [string, string, string, string][] = [
  ['base64', base64(KEY), 'aws_access_key_id', 'base64'],
  ['base64 of base64', base64(base64(KEY)), 'aws_access_key_id', 'base64'],
  [
    'base64 that is wrapped',
    base64(`${'padding '.repeat(10)}${KEY}`).replace(/(.{60})/g, '$1\n'),
    'aws_access_key_id',
    'base64',
  ],
  ['base64 behind a name', `cc=${base64(CARD)}&exp=1`, 'payment_card', 'base64'],
  ['hex', hex(KEY), 'aws_access_key_id', 'hex'],
  ['hex in pairs', hex(KEY).replace(/(..)(?=.)/g, '$1:'), 'aws_access_key_id', 'hex'],
  ['codes', [...KEY].map(code).join(', '), 'aws_access_key_id', 'char_codes'],
  ['escapes of URLs', each(KEY, (character) => `%${hex(character)}`), 'aws_access_key_id', 'url'],
  [
    'escapes of HTML',
    each(KEY, (character) => `&#${code(character)};`),
    'aws_access_key_id',
    'html',
  ],
  [
    'escapes of JSON',
    each(KEY, (character) => `\\u00${hex(character)}`),
    'aws_access_key_id',
    'escape',
  ],
  ['reversed', turned(KEY), 'aws_access_key_id', 'reversed'],
  ['rot13', 'tuc_16P7r42S292p6912R7710p838347Nr178O4n', 'git_host_token', 'rot13'],
  ['rot13 of a name', rot13(NAMED), 'aws_secret_access_key', 'rot13'],
  ['a name reversed', turned(NAMED), 'aws_secret_access_key', 'reversed'],
  ['zero width', [...KEY].join('\u200b'), 'aws_access_key_id', 'invisible'],
  [
    'full width',
    each(KEY, (character) => String.fromCharCode(code(character) + 0xfee0)),
    'aws_access_key_id',
    'full_width',
  ],
  ['Cyrillic letters', KEY.replace('A', 'А').replace('K', 'К'), 'aws_access_key_id', 'homoglyph'],
  [
    'Arabic digits',
    CARD.replace(/\d/g, (digit) => String.fromCharCode(0x660 + Number(digit))),
    'payment_card',
    'other_digits',
  ],
  ['blanks', [...KEY].join(' '), 'aws_access_key_id', 'separators'],
  ['dots', [...KEY].join('.'), 'aws_access_key_id', 'separators'],
  ['uncommon signs', '4111 ~ 1111 ~ 1111 ~ 1111', 'payment_card', 'separators'],
  ['a sign between all characters', [...KEY].join('#'), 'aws_access_key_id', 'separators'],
  ['a sign twice', [...KEY].join('~~'), 'aws_access_key_id', 'separators'],
  ['lines', [...KEY].join('\n'), 'aws_access_key_id', 'separators'],
  ['zeros', [...KEY].join('\u0000'), 'aws_access_key_id', 'separators'],
  ['brackets', each(KEY, (character) => `[${character}]`), 'aws_access_key_id', 'separators'],
  ['groups', KEY.replace(/(....)(?=.)/g, '$1-'), 'aws_access_key_id', 'separators'],
  [
    'base64 in groups',
    base64(`the ${KEY}`).replace(/(.{8})(?=.)/g, '$1 '),
    'aws_access_key_id',
    'separators',
  ],
  ['base64 behind two signs', `xx${base64(KEY)}`, 'aws_access_key_id', 'base64'],
  ['base64 of other bytes too', base64(`\u0000\u0001${KEY}\u0002`), 'aws_access_key_id', 'base64'],
  [
    'base64 in a file',
    Buffer.concat([Buffer.from('89504e47ffd80102', 'hex'), Buffer.from(KEY)]).toString('base64'),
    'aws_access_key_id',
    'base64',
  ],
  [
    'base64 of UTF-16',
    Buffer.from(KEY, 'utf16le').toString('base64'),
    'aws_access_key_id',
    'base64',
  ],
  ['base64 of gzip', gzipSync(KEY).toString('base64'), 'aws_access_key_id', 'base64'],
  ['base64 of zlib', deflateSync(KEY).toString('base64'), 'aws_access_key_id', 'base64'],
  [
    'long entities',
    each(KEY, (character) => `&#${String(code(character)).padStart(9, '0')}`),
    'aws_access_key_id',
    'html',
  ],
  [
    'escapes of style sheets',
    each(KEY, (character) => `\\${hex(character)} `),
    'aws_access_key_id',
    'escape',
  ],
  ['old escapes', each(KEY, (character) => `%u00${hex(character)}`), 'aws_access_key_id', 'escape'],
  [
    'octal',
    each(KEY, (character) => `\\${code(character).toString(8)}`),
    'aws_access_key_id',
    'escape',
  ],
  ['a line that goes on', `${KEY.slice(0, 9)}\\\n${KEY.slice(9)}`, 'aws_access_key_id', 'escape'],
  [
    'letters in squares',
    KEY.replace(/[A-Z]/g, (letter) => String.fromCodePoint(0x1f170 + code(letter) - 65)),
    'aws_access_key_id',
    'homoglyph',
  ],
  ['Cherokee letters', KEY.replace('A', 'Ꭺ').replace('K', 'Ꮶ'), 'aws_access_key_id', 'homoglyph'],
  [
    'concatenation of sentences',
    `"the key is ${KEY.slice(0, 7)}" + "${KEY.slice(7)} for now"`,
    'aws_access_key_id',
    'split',
  ],
  ['concatenation', `"${KEY.slice(0, 7)}" + "${KEY.slice(7)}"`, 'aws_access_key_id', 'split'],
  ['items', JSON.stringify([...KEY]), 'aws_access_key_id', 'separators'],
];

describe('disguises', () => {
  it.each(DISGUISED)('%s', (_name, value, pattern, disguise) => {
    const text = `Please note ${value} for later`;
    const found = scanner.scanText(text).filter((finding) => finding.pattern === pattern);
    expect(found).toHaveLength(1);
    expect(found[0]?.disguise?.[0]).toBe(disguise);
  });

  it('are told with the whole stretch that decodes', () => {
    const encoded = base64(`{"ssn": "219-09-9999"}`);
    const text = `payload ${encoded} end`;
    const [finding] = scanner.scanText(text);
    expect(finding).toMatchObject({ pattern: 'us_ssn', start: 8, length: encoded.length });
  });

  it.each([
    [
      'random bytes',
      base64(
        Buffer.from(Array.from({ length: 96 }, (_, i) => (i * 151 + 89) % 256)).toString('latin1'),
      ),
    ],
    ['a text in base64', base64('Lunch at noon, in the usual place')],
    [
      'Russian prose',
      'Встреча перенесена на вторник, возьмите с собой распечатанную повестку дня.',
    ],
    ['escaped blanks', 'https://shop.io/search?q=red%20shoes%2C%20size%2042'],
  ])('%s hides nothing', (_what, text) => {
    expect(scanner.scanText(text)).toEqual([]);
  });

  it('are undone again where one encoding stands in itself', () => {
    const nest = (depth: number): string => (depth === 0 ? KEY : base64(nest(depth - 1)));
    for (const depth of [3, 9]) {
      expect(scanner.scanText(nest(depth))).toMatchObject([{ disguise: ['base64'] }]);
    }
  });

  it('are undone, or the text is refused, whatever else opens other readings of it', () => {
    const noise = `reverse rot13 ${turned('password')} cnffjbeq ${base64('x'.repeat(30))} %41`;
    const hidden = base64(each(turned(KEY), (character) => `&#${code(character)};`));
    const found = scanner.scanText(`${noise} ${hidden} ${noise}`);
    expect(found.map(({ pattern }) => pattern)).toContain('aws_access_key_id');
  });

  it('do not make a text grow', () => {
    const bomb = base64(base64(base64('%61'.repeat(20_000))));
    expect(scanner.scanText(bomb)).toEqual([]);
    expect(scanner.scanText('\ufdfa'.repeat(20_000))).toEqual([]);
  });
});
