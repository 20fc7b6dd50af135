/** Globs, addresses, JSON, base64 and numbers as text, for the comparison of single calls. */
import type { Random } from './random.ts';

function joined(random: Random, parts: readonly string[], max: number): string {
  return Array.from({ length: random.integer(0, max) }, () => random.pick(parts)).join('');
}

const GLOB_PARTS = [
  ...['a', 'b', 'ab', '/', '.', '\n', 'é', '😀', '*', '*', '**', '?', '{a,b}', '{a*,}', '{,b?}'],
  ...['[ab]', '[!a]', '[a-c]', '[!a-c]', '[a', '[]', '[!]', '[b-a]', '[]-a]', '[a\\]]', '\\*'],
  ...['{a,{b,**}}', '{', '}', ',', '\\', '[\\', '-', '!', '{}', '{*.a,?}'],
];
const GLOB_TEXT_PARTS = [
  ...[
    'a',
    'b',
    'ab',
    'a',
    'b',
    '/',
    '.',
    '\n',
    '\r\n',
    'é',
    '😀',
    '*',
    '\u0000',
    '\u2028',
    ',',
    ']',
  ],
];

export const glob = (random: Random) => joined(random, GLOB_PARTS, 5);
export const globText = (random: Random) => joined(random, GLOB_TEXT_PARTS, 6);
export const delimiters = (random: Random) =>
  random.pick(['null', '[]', '["/"]', '["/"]', '["/","."]', '["\\n"]', '["ab"]', '[""]', '["😀"]']);

const ADDRESSES = [
  ...['10.0.0.1', '10.255.255.255', '0.0.0.0', '010.0.0.1', '10.0.0', '10.0.0.256', ' 10.0.0.1'],
  ...['::ffff:10.0.0.1', '0:0:0:0:0:ffff:a00:1', '::FFFF:a00:1', '::10.0.0.1', '::', '::1'],
  ...[
    'fe80::1',
    'fe80::1%eth0',
    '1:2:3:4:5:6:7:8',
    '1:2:3:4:5:6:7::',
    '1::2::3',
    ':1',
    '1:',
    ':::',
  ],
  ...['1:2:3:4:5:6:7:8:9', '12345::', 'g::', '::ffff:0:0', '64:ff9b::10.0.0.1', '1.2.3.4::', ''],
  ...['1:2:3:4:5:6:1.2.3.4', '1:2:3:4:5:6:7:1.2.3.4', '::1.2.3', '10.0.0.1\n', '1.2:3', '١.0.0.0'],
];
const PREFIXES = ['/0', '/8', '/08', '/24', '/32', '/33', '/64', '/96', '/104', '/128', '/129'];

export const network = (random: Random) =>
  random.pick(ADDRESSES) + random.pick([...PREFIXES, ...PREFIXES, '', '/', '/x', '/-1', '/8/8']);
export const networkOrAddress = (random: Random) =>
  random.chance(0.5) ? random.pick(ADDRESSES) : network(random);

const JSON_PARTS = [
  ...[
    '1',
    '-',
    '0',
    '05',
    '0x10',
    '1.5',
    '5.',
    '.5',
    '1e3',
    '10.0.0.1',
    '1KB',
    '0b11',
    '+1',
    'NaN',
  ],
  ...['true', 'nul', '"a"', '"\\n"', '"\n"', "'a'", '"\\ud800"', '"\\ud83d\\ude00"', '"é'],
  ...[
    '[',
    ']',
    '{',
    '}',
    ',',
    ':',
    ' ',
    '\n',
    '\u00a0',
    '\ufeff',
    '//',
    '{"a":1,"a":200}',
    '[1,2]',
  ],
];

export const json = (random: Random) => joined(random, JSON_PARTS, random.chance(0.5) ? 1 : 4);

const BASE64_PARTS = [
  ...['c2Vj', 'cmV0', 'cmU', 'cg', 'cmU=', 'cg==', '=', '\n', '\r\n', ' ', '-_', '+/', 'w6k=', 'A'],
  ...['/w==', '_w', '\t', 'é', '====', 'c2Vj\n', '=\n=', '"', '\u0000'],
];

export const base64 = (random: Random) => joined(random, BASE64_PARTS, 4);

const NUMBER_PARTS = [
  ...['1', '0', '5', '10', '_', '.', 'e', 'E', '+', '-', 'e5', 'e-3', '007', '1_000', '1e400', ' '],
  ...['Infinity', 'inf', 'NaN', '0x', '0b1', '٣', '\n', '1e-400', '9223372036854775808', 'x'],
];

export const numberText = (random: Random) =>
  joined(random, NUMBER_PARTS, random.chance(0.4) ? 2 : 4);
