/**
 * Single calls of our built-ins with generated arguments, for the comparison with OPA's own. Each
 * is JSON text: `["sprintf", "%5d", [1.0]]`. The probe in `PROBE` makes the calls.
 */
import * as odd from './odd-texts.ts';
import { createRandom, type Random } from './random.ts';

/**
 * Answers `{"<index>": [result]}` for each call of `input.calls`; an undefined call has none. Sets
 * are not built by a function, since OPA caches its result for equal arguments: [1] and [1.0].
 * Numbers are compared: OPA's to_number("+5") is a number that JSON cannot write.
 */
export const PROBE = `package probe

results[i] := [sprintf(c[1], c[2])] if { some i, c in input.calls; c[0] == "sprintf" }
results[i] := [sprintf(c[1], [{x | some x in c[2]}, {"set": {x | some x in c[2]}}])] if { some i, c in input.calls; c[0] == "sprintf_set" }
results[i] := [time.clock(c[1])] if { some i, c in input.calls; c[0] == "time.clock" }
results[i] := [time.date(c[1])] if { some i, c in input.calls; c[0] == "time.date" }
results[i] := [time.weekday(c[1])] if { some i, c in input.calls; c[0] == "time.weekday" }
results[i] := [time.parse_rfc3339_ns(c[1])] if { some i, c in input.calls; c[0] == "time.parse_rfc3339_ns" }
results[i] := [time.add_date(c[1], c[2], c[3], c[4])] if { some i, c in input.calls; c[0] == "time.add_date" }
results[i] := [object.subset(c[1], c[2])] if { some i, c in input.calls; c[0] == "object.subset" }
results[i] := [object.subset({x | some x in c[1]}, {x | some x in c[2]}), object.subset(c[1], {x | some x in c[2]})] if { some i, c in input.calls; c[0] == "object.subset_set" }
results[i] := [regex.replace(c[1], c[2], c[3])] if { some i, c in input.calls; c[0] == "regex.replace" }
results[i] := [hex.encode(c[1])] if { some i, c in input.calls; c[0] == "hex.encode" }
results[i] := [hex.decode(c[1])] if { some i, c in input.calls; c[0] == "hex.decode" }
results[i] := [crypto.sha256(c[1])] if { some i, c in input.calls; c[0] == "crypto.sha256" }
results[i] := [semver.compare(c[1], c[2])] if { some i, c in input.calls; c[0] == "semver.compare" }
results[i] := [semver.is_valid(c[1])] if { some i, c in input.calls; c[0] == "semver.is_valid" }
results[i] := [units.parse_bytes(c[1])] if { some i, c in input.calls; c[0] == "units.parse_bytes" }
results[i] := [glob.match(c[1], c[2], c[3])] if { some i, c in input.calls; c[0] == "glob.match" }
results[i] := [net.cidr_contains(c[1], c[2])] if { some i, c in input.calls; c[0] == "net.cidr_contains" }
results[i] := [net.cidr_intersects(c[1], c[2])] if { some i, c in input.calls; c[0] == "net.cidr_intersects" }
results[i] := [format_int(c[1], c[2])] if { some i, c in input.calls; c[0] == "format_int" }
results[i] := [json.is_valid(c[1])] if { some i, c in input.calls; c[0] == "json.is_valid" }
results[i] := [json.unmarshal(c[1])] if { some i, c in input.calls; c[0] == "json.unmarshal" }
results[i] := [base64.decode(c[1])] if { some i, c in input.calls; c[0] == "base64.decode" }
results[i] := [base64.is_valid(c[1])] if { some i, c in input.calls; c[0] == "base64.is_valid" }
results[i] := [base64url.decode(c[1])] if { some i, c in input.calls; c[0] == "base64url.decode" }
results[i] := [n == 5, n == 7, n == 1000, n > 10, n < 0.5] if { some i, c in input.calls; c[0] == "to_number"; n := to_number(c[1]) }
`;

const CALLS: Record<string, (random: Random) => string[]> = {
  sprintf: (random) => [text(makeFormat(random)), `[${manyOf(random, operand, 4)}]`],
  sprintf_set: (random) => [text(makeFormat(random)), `[${manyOf(random, operand, 4)}]`],
  'time.clock': (random) => [zonedTime(random)],
  'time.date': (random) => [zonedTime(random)],
  'time.weekday': (random) => [zonedTime(random)],
  'time.parse_rfc3339_ns': (random) => [text(timeText(random))],
  'time.add_date': (random) => [
    zonedTime(random),
    ...[3, 40, 1_000].map((size) => smallInteger(random, size)),
  ],
  'object.subset': (random) => {
    const whole = collection(random, 3);
    return [whole, random.chance(0.5) ? collection(random, 2) : whole];
  },
  'object.subset_set': (random) => [
    `[${manyOf(random, scalar, 5)}]`,
    `[${manyOf(random, scalar, 2)}]`,
  ],
  'regex.replace': (random) => [
    text(random.pick(REGEX_TEXTS)),
    text(random.pick(PATTERNS)),
    text(random.pick(TEMPLATES)),
  ],
  'hex.encode': (random) => [text(random.pick(STRINGS))],
  'hex.decode': (random) => [
    text(random.pick([...STRINGS, '6869', '4A4b', '0', 'c3a9', '6g', '00', 'f09f9880'])),
  ],
  'crypto.sha256': (random) => [text(random.pick(STRINGS))],
  'semver.compare': (random) => [text(version(random)), text(version(random))],
  'semver.is_valid': (random) => [random.chance(0.9) ? text(version(random)) : scalar(random)],
  'units.parse_bytes': (random) => [text(size(random))],
  'glob.match': (random) => [
    text(odd.glob(random)),
    odd.delimiters(random),
    text(odd.globText(random)),
  ],
  'net.cidr_contains': (random) => [text(odd.network(random)), text(odd.networkOrAddress(random))],
  'net.cidr_intersects': (random) => [text(odd.network(random)), text(odd.network(random))],
  format_int: (random) => [random.pick(NUMBERS), random.pick(['2', '8', '10', '16', '10', '3'])],
  'json.is_valid': (random) => [text(odd.json(random))],
  'json.unmarshal': (random) => [text(odd.json(random))],
  'base64.decode': (random) => [text(odd.base64(random))],
  'base64.is_valid': (random) => [text(odd.base64(random))],
  'base64url.decode': (random) => [text(odd.base64(random))],
  to_number: (random) => [random.chance(0.9) ? text(odd.numberText(random)) : scalar(random)],
};

/** Returns `count` calls of each built-in, determined by the seed. */
export function generateCalls(seed: number, count: number): string[] {
  const random = createRandom(seed);
  return Object.entries(CALLS).flatMap(([name, make]) =>
    Array.from({ length: count }, () => `[${[text(name), ...make(random)].join(',')}]`),
  );
}

const text = (value: string) => JSON.stringify(value);

function manyOf(random: Random, make: (random: Random) => string, max: number): string {
  return Array.from({ length: random.integer(0, max) }, () => make(random)).join(',');
}

const STRINGS = [
  '',
  'a',
  'hello',
  'Ünï',
  '日本',
  '😀x',
  'a"b\\c',
  'tab\t\n',
  '\u0000\u0007\u007f',
  '\u200b\u00ad\ufeff',
  'back`tick',
  '%d',
  'e\u0301',
  '\u2028',
  '\u{10ffff}',
  '  ',
  "it's",
];
const NUMBERS = [
  '0',
  '1',
  '-1',
  '7',
  '42',
  '-273',
  '65',
  '8364',
  '128512',
  '55296',
  '1114112',
  '1000000',
  '9007199254740993',
  '9223372036854775807',
  '-9223372036854775808',
  '1.0',
  '1.5',
  '-0.5',
  '2.5',
  '0.1',
  '-0.0',
  '3.14159265358979',
  '1e3',
  '1E+2',
  '2e-7',
  '1e21',
  '123456789.125',
  '0.000001',
  '0.00001234',
  '99.995',
  '1e100',
  '5e-324',
  '1.7976931348623157e308',
  '100.0',
];

function scalar(random: Random): string {
  const roll = random.integer(0, 9);
  if (roll < 4) return random.pick(NUMBERS);
  return roll < 8 ? text(random.pick(STRINGS)) : random.pick(['true', 'false', 'null']);
}

function operand(random: Random): string {
  return random.chance(0.85) ? scalar(random) : collection(random, 2);
}

function collection(random: Random, depth: number): string {
  const item = (inner: Random) =>
    depth > 0 && inner.chance(0.3) ? collection(inner, depth - 1) : simple(inner);
  if (random.chance(0.5)) return `[${manyOf(random, item, 4)}]`;
  const keys = [...new Set(random.some(['a', 'b', 'c', 'ü', '"'], 3))];
  return `{${keys.map((key) => `${text(key)}: ${item(random)}`).join(', ')}}`;
}

/** Few values, so that one collection often contains another. */
function simple(random: Random): string {
  return random.pick(['1', '2', '"x"', 'null', 'true', '1.5']);
}

function makeFormat(random: Random): string {
  let format = '';
  for (let i = random.integer(1, 4); i > 0; i--) {
    format += random.pick(['', ' ', 'x', 'ü ', '|']) + directive(random);
  }
  return format + random.pick(['', '', '', '%', '%5', '%!', '%[', '%[]', '%.']);
}

function directive(random: Random): string {
  const verb = random.pick([...'vvvdddsssqxXobOcUeEfFgGtTwzé%']);
  if (random.chance(0.3)) return `%${verb}`;
  const flags = random.some(['-', '+', '#', ' ', '0'], 3).join('');
  const index = random.pick(['', '', '', '', '[1]', '[2]', '[9]', '[0]', '[x]', '[]', '[3']);
  const width = random.pick(['', '', '1', '6', '12', '*', '007']);
  const precision = random.pick(['', '', '', '.', '.0', '.1', '.3', '.20', '.*', '.[1]*']);
  return `%${flags}${index}${width}${precision}${verb}`;
}

const ZONES = [
  '',
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Asia/Kolkata',
  'Australia/Lord_Howe',
  'Pacific/Apia',
  'America/St_Johns',
  'Etc/GMT+5',
  'EST5EDT',
  'europe/berlin',
  '+01:00',
  'Mars/X',
];

const MOMENTS = ['1.5', '1e18', '1.0', '9223372036854775808', '-1', '0', '1e30', '1e9', '-1e18'];

/** From 1980 on, so that no sum is before 1970, where sources of time zone data differ. */
function nanoseconds(random: Random): string {
  const fraction = String(random.integer(0, 999_999_999)).padStart(9, '0');
  return `${random.integer(320_000_000, 4_000_000_000)}${fraction}`;
}

function zonedTime(random: Random): string {
  if (random.chance(0.3)) return random.chance(0.3) ? random.pick(MOMENTS) : nanoseconds(random);
  const list = [nanoseconds(random), text(random.pick(ZONES))];
  if (random.chance(0.1)) list.push(text('RFC3339'));
  return `[${random.chance(0.95) ? list.join(',') : ''}]`;
}

function smallInteger(random: Random, max: number): string {
  return random.chance(0.95)
    ? String(random.integer(-max, max))
    : random.pick(['1.5', '2.0', '"1"']);
}

function timeText(random: Random): string {
  const two = (from: number, to: number) => String(random.integer(from, to)).padStart(2, '0');
  const year = random.pick([
    '1677',
    '1678',
    '1970',
    '2000',
    '2023',
    '2024',
    '2262',
    '2263',
    '0001',
    '99',
  ]);
  const hour = random.chance(0.9) ? two(0, 24) : String(random.integer(0, 9));
  const zone = random.pick([
    'Z',
    'Z',
    '+00:00',
    '-00:00',
    '+05:30',
    '-11:59',
    '+24:00',
    '+25:00',
    '+1:00',
    'z',
    '',
    ' Z',
  ]);
  const fraction = random.pick(['', '', '.1', '.123456789', '.1234567899', ',5', '.', '.x']);
  const separator = random.pick(['T', 'T', 'T', 'T', ' ', 't']);
  return `${year}-${two(1, 13)}-${two(0, 31)}${separator}${hour}:${two(0, 60)}:${two(0, 60)}${fraction}${zone}`;
}

const REGEX_TEXTS = [
  '',
  'a',
  'baac',
  'aaa',
  'Hello World',
  'foo.bar@example.org',
  'ünï日本',
  '😀a😀',
  'line one\nline two\n',
  '12-34-5678',
  'abcabcabc',
  '  spaces  ',
  'ÀÉ',
  'x\u0000y',
  '/a//b/../c',
];
const PATTERNS = [
  'a',
  'a*',
  'a+?',
  '',
  'b|c',
  '^',
  '$',
  '(?m)^',
  '(?m)$',
  '\\b',
  '\\B',
  '(a)(b)?(c)',
  '(?P<first>\\w)(?P<second>\\w)',
  '(?<n>o)',
  '[^a-c]',
  '\\d{2,}',
  '(?i)hello',
  '(?s).',
  '.',
  '\\pL',
  '\\p{Greek}|é',
  '[[:space:]]+',
  '(a|ab)(c|bcd)?',
  'x*',
  '(?U)a+',
  '\\Qa.c\\E',
  '(',
  '[b-a]',
  'a**',
  '(?=a)',
  '\\1',
  'a{1001}',
  '(?P<n>a)(?P<n>b)',
  '\\x{1F600}',
  '/+',
  '(\\w+)@(\\w+)\\.',
  '\\z',
  '(|a)*',
  '(?-s).+',
  '\\C',
];
/** `${name}` in Go's templates. */
const braced = (name: string) => `\${${name}}`;

const TEMPLATES = [
  ...['', 'X', '$0', '$1', braced('1'), '$1x', `${braced('1')}x`, '$2-$1', '$first', '$second'],
  ...[
    braced('second'),
    '$$',
    '$',
    '$x',
    '${',
    braced(''),
    '${1',
    '$10',
    '$01',
    '\\1',
    '$é',
    '日',
    '$n.',
  ],
];

function version(random: Random): string {
  const number = () =>
    random.pick([
      '0',
      '1',
      '2',
      '10',
      '01',
      '',
      '9223372036854775807',
      '9223372036854775808',
      '-1',
      '+1',
      'x',
      '1',
    ]);
  const part = () =>
    random.pick([
      'alpha',
      'beta',
      '1',
      '11',
      '2',
      '0',
      '007',
      '0a',
      'rc-1',
      '',
      '-',
      'é',
      '99999999999999999999',
      'A',
    ]);
  const parts = () => Array.from({ length: random.integer(1, 3) }, part).join('.');
  const core = random.chance(0.85)
    ? Array.from({ length: 3 }, () =>
        random.chance(0.8) ? random.pick(['0', '1', '2']) : number(),
      )
    : Array.from({ length: random.integer(0, 4) }, number);
  const prerelease = random.chance(0.5) ? `-${parts()}` : '';
  const metadata = random.chance(0.3) ? `+${parts()}` : '';
  return `${random.pick(['', '', '', 'v', 'vv', ' '])}${core.join('.')}${prerelease}${metadata}`;
}

function size(random: Random): string {
  const sign = random.pick(['', '', '', '', '-', '+', '--']);
  const whole = random.pick(['0', '1', '10', '007', '123456789', '18446744073709551617', '', '9.']);
  const fraction = random.pick(['', '', '', '.5', '.25', '.1', '.333333333333333333333', '.']);
  const exponent = random.pick(['', '', '', '', 'e3', 'E2', 'e+1', 'e-2', 'e', 'e-', 'e1234567']);
  const unit = random.pick([
    '',
    'b',
    'k',
    'KB',
    'kib',
    'Ki',
    'M',
    'mb',
    'MiB',
    'g',
    'GiB',
    'tb',
    'Ti',
    'P',
    'pib',
    'e',
    'EB',
    'ei',
    'zb',
    ' kb',
    '"',
    '\u212a',
  ]);
  return sign + whole + fraction + exponent + unit;
}
