import { describe, expect, test } from 'vitest';
import { OWN_BUILTINS, wasmBuiltinName } from '../../builtin-names.ts';
import { parseRegoValue } from '../rego-value.ts';
import {
  type BuiltinCall,
  BuiltinLimitError,
  ByteString,
  encodeResult,
  OutOfFuelError,
} from './builtin.ts';
import { OWN_BUILTIN_FUNCTIONS } from './index.ts';
import { estimateInstructions } from './regex-replace.ts';

/** Calls a built-in with arguments as Rego writes them. */
function call(name: (typeof OWN_BUILTINS)[number], ...args: string[]): string | undefined {
  return callWith(name, args, 20_000_000);
}

function callWith(name: (typeof OWN_BUILTINS)[number], args: string[], fuel: number) {
  let left = fuel;
  const seen = new Set<string>();
  const context: BuiltinCall = {
    nowNs: 1_767_225_600_123_000_000n,
    charge(units) {
      left -= units;
      if (left < 0) throw new OutOfFuelError('empty');
    },
    firstUse: (key) => !seen.has(key) && Boolean(seen.add(key)),
  };
  const result = OWN_BUILTIN_FUNCTIONS[wasmBuiltinName(name)](args.map(parseRegoValue), context);
  if (result instanceof ByteString) return `bytes ${result.bytes.toString('hex')}`;
  return result === undefined ? undefined : encodeResult(result);
}

const NS = '1772600767089000000'; // 2026-03-04T05:06:07.089Z, a Wednesday

// tests/opa-differential.test.ts compares thousands of generated calls with OPA's own.
test.each<[(typeof OWN_BUILTINS)[number], string[], string | undefined]>([
  ['sprintf', ['"%s has %d of %v"', '["a", 2, {"x", "b"}]'], '"a has 2 of {\\"b\\", \\"x\\"}"'],
  [
    'sprintf',
    ['"%v"', '[{"k": [1, null, true], 2: set()}]'],
    '"{2: set(), \\"k\\": [1, null, true]}"',
  ],
  ['sprintf', ['"%d"', '"x"'], undefined],
  ['time.now_ns', [], '1767225600123000000'],
  ['time.clock', [NS], '[5,6,7]'],
  ['time.clock', [`[${NS}, "Asia/Kolkata"]`], '[10,36,7]'],
  ['time.clock', [`[${NS}, "asia/kolkata"]`], undefined],
  ['time.clock', ['1e30'], undefined],
  ['time.date', [`[${NS}, "America/Los_Angeles"]`], '[2026,3,3]'],
  ['time.date', ['-1'], '[1969,12,31]'],
  ['time.weekday', [NS], '"Wednesday"'],
  ['time.weekday', ['[]'], undefined],
  ['time.parse_rfc3339_ns', ['"2026-03-04T05:06:07.089Z"'], NS],
  ['time.parse_rfc3339_ns', ['"2026-03-04T06:06:07.0890000009+01:00"'], NS],
  ['time.parse_rfc3339_ns', ['"2026-02-29T00:00:00Z"'], undefined],
  ['time.parse_rfc3339_ns', ['"2300-01-01T00:00:00Z"'], undefined],
  ['time.add_date', [NS, '0', '1', '-4'], '1774933567089000000'],
  ['time.add_date', [`[${NS}, "Europe/Berlin"]`, '0', '1', '0'], '1775275567089000000'],
  ['time.add_date', [NS, '1000000', '0', '0'], undefined],
  ['object.subset', ['{"a": {"b": 1, "c": 2}}', '{"a": {"b": 1}}'], 'true'],
  ['object.subset', ['[1, 2, 3, 4]', '[2, 3]'], 'true'],
  ['object.subset', ['[1, 2, 3, 4]', '[2, 4]'], 'false'],
  ['object.subset', ['[1, 2, 3, 4]', '{4, 2}'], 'true'],
  ['object.subset', ['{1, 2}', '[1]'], undefined],
  ['regex.replace', ['"baac"', '"a*"', '"x"'], '"xbxcx"'],
  ['regex.replace', ['"k: v"', '"(?P<key>\\\\w+): (\\\\w+)"', '"$2=$key$$"'], '"v=k$"'],
  ['regex.replace', ['"a"', '"("', '"x"'], undefined],
  ['hex.encode', ['"hé"'], '"68c3a9"'],
  ['hex.decode', ['"68C3A9"'], '"hé"'],
  ['hex.decode', ['"6"'], undefined],
  ['crypto.sha256', ['"a"'], '"ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"'],
  ['semver.compare', ['"1.0.0-rc.1"', '"v1.0.0"'], '-1'],
  ['semver.compare', ['"1.0.0-alpha.beta"', '"1.0.0-alpha.1"'], '1'],
  ['semver.compare', ['"1.0"', '"1.0.0"'], undefined],
  ['semver.is_valid', ['"1.0.0+b.01"'], 'true'],
  ['semver.is_valid', ['1'], 'false'],
  ['units.parse_bytes', ['"1.5KiB"'], '1536'],
  ['units.parse_bytes', ['"10 MB"'], undefined],
  ['net.cidr_contains', ['"10.0.0.0/8"', '"::ffff:10.0.0.1"'], 'true'],
  ['net.cidr_contains', ['"10.0.0.0/8"', '"0:0:0:0:0:FFFF:a00:1"'], 'true'],
  ['net.cidr_contains', ['"::ffff:10.0.0.0/104"', '"10.1.2.3"'], 'true'],
  ['net.cidr_contains', ['"10.0.0.0/8"', '"10.1.0.0/16"'], 'true'],
  ['net.cidr_contains', ['"10.0.0.0/8"', '"10.0.0.0/7"'], 'false'],
  ['net.cidr_contains', ['"::/0"', '"10.0.0.1"'], 'false'],
  ['net.cidr_contains', ['"fe80::/10"', '"fe80::1%eth0"'], undefined],
  ['net.cidr_contains', ['"10.0.0.0/8"', '"010.0.0.1"'], undefined],
  ['net.cidr_contains', ['"10.0.0.0"', '"10.0.0.1"'], undefined],
  ['net.cidr_overlap', ['"10.0.0.0/8"', '"::ffff:a00:1"'], 'true'],
  ['net.cidr_intersects', ['"10.1.0.0/16"', '"::ffff:10.0.0.0/104"'], 'true'],
  ['net.cidr_intersects', ['"10.0.0.0/8"', '"11.0.0.0/8"'], 'false'],
  ['json.is_valid', ['"{\\"a\\": [1e400]} "'], 'true'],
  ['json.is_valid', ['1'], 'false'],
  ['json.unmarshal', ['"[9007199254740993, \\"\\\\ud800\\"]"'], '[9007199254740993, "\\ufffd"]'],
  ['json.unmarshal', ['"\\"\\\\ud83d\\\\ude00\\""'], '"\\ud83d\\ude00"'],
  ['json.unmarshal', ['"{} {}"'], undefined],
  ['base64.decode', ['"c2Vj\\r\\ncmV0\\n"'], '"secret"'],
  ['base64.decode', ['"c2Vj cmV0"'], undefined],
  ['base64.decode', ['"c2VjcmU"'], undefined],
  ['base64.decode', ['"YP8="'], 'bytes 60ff'],
  ['base64.is_valid', ['"c2VjcmU=\\n"'], 'true'],
  ['base64.is_valid', ['"c2V=jcmU"'], 'false'],
  ['base64url.decode', ['"w6nDqcO_"'], '"ééÿ"'],
  ['base64url.decode', ['"c2VjcmU"'], '"secre"'],
  ['base64url.decode', ['"c2VjcmV0\\n"'], undefined],
  ['base64url.decode', ['"w6nDqcO/"'], undefined],
  ['to_number', ['"+1_000.50"'], '1000.50'],
  ['to_number', ['"-05.e3"'], '-5e3'],
  ['to_number', ['"_5"'], undefined],
  ['to_number', ['" 5"'], undefined],
  ['to_number', ['"0x10"'], undefined],
  ['to_number', ['"NaN"'], undefined],
  ['to_number', ['null'], '0'],
  ['to_number', ['5.0'], '5.0'],
  ['format_int', ['2147483648', '10'], '"2147483648"'],
  ['format_int', ['-9223372036854775809', '16'], '"-8000000000000001"'],
  ['format_int', ['-15.9', '2'], '"-1111"'],
  ['format_int', ['1e30', '10'], '"1000000000000000000024696061952"'],
  ['format_int', ['1', '3'], undefined],
])('%s(%j)', (name, args, expected) => {
  expect(call(name, ...args)).toBe(expected);
});

describe('beyond its bounds a built-in denies the decision', () => {
  test.each<[(typeof OWN_BUILTINS)[number], string[]]>([
    ['sprintf', ['"%100000d"', '[1]']],
    ['hex.decode', ['"ff"']],
    ['regex.replace', ['"a"', JSON.stringify('a'.repeat(1_001)), '"x"']],
    ['regex.replace', ['"a"', '"((a{0,30}){0,30}){0,30}"', '"x"']],
    ['regex.replace', ['"a"', '"(?P<n>a)(?P<n>b)"', '"x"']],
    ['regex.replace', [JSON.stringify('a'.repeat(2_000)), '"a"', JSON.stringify('$0'.repeat(500))]],
    ['units.parse_bytes', ['"1e9999"']],
    ['units.parse_bytes', [JSON.stringify('1'.repeat(2_000))]],
    ['glob.match', [JSON.stringify('a'.repeat(1_001)), 'null', '"a"']],
    ['to_number', ['"1e400"']],
    ['to_number', ['"0x1p4"']],
    ['format_int', ['1e9999', '10']],
    ['format_int', ['1'.repeat(1_001), '10']],
  ])('%s(%s)', (name, args) => {
    expect(() => call(name, ...args)).toThrow(BuiltinLimitError);
  });

  test('work is paid for', () => {
    const long = JSON.stringify('ab'.repeat(20_000));
    expect(() => callWith('crypto.sha256', [long], 1_000)).toThrow(OutOfFuelError);
    expect(() => callWith('regex.replace', [long, '"(a|b)+c"', '""'], 100_000)).toThrow(
      OutOfFuelError,
    );
    expect(() => callWith('sprintf', [long, '[]'], 1_000)).toThrow(OutOfFuelError);
    expect(() => callWith('glob.match', ['"{a*b,*}*c"', '["/"]', long], 100_000)).toThrow(
      OutOfFuelError,
    );
  });
});

test.each([
  [false, 'x', '{"a"}'],
  [false, 'x', '["ab"]'],
  [true, 'a*', '[]', 'a/b', 'a', 'a\n'],
  [false, 'a*', '[]', 'a.b', 'b'],
  [true, '/etc/**', '["/"]', '/etc/a\n/../passwd', '/etc/', '/etc/x/y'],
  [true, '*secret*', 'null', 'x\nsecret\n', 'secret', '\u2028secret'],
  [true, '?secret', '["/"]', '\nsecret', '😀secret'],
  [false, '?secret', '["/"]', '/secret', 'secret', 'xxsecret'],
  [true, '[!a-c]*', '["/"]', 'd', '\n', '/x'],
  [true, '[abc-]', 'null', 'a', '-'],
  [true, '[]-a]', 'null', ']', '_', 'a'],
  [false, '[]', 'null', ']'],
  [true, '{a*,,b{c,d}?}.x', '["."]', 'a\n.x', '.x', 'bc1.x'],
  [false, '{a*,,b{c,d}?}.x', '["."]', 'a.b.x', 'bc.x'],
  [true, '\\*\\{a,b}', 'null', '*{a,b}'],
  [false, '{a', 'null', 'a', '{a'],
  [false, 'a\\', 'null', 'a', 'a\\'],
  [true, 'a*ant', 'null', 'aant'],
  [false, 'a*ant', 'null', 'ant'],
])('glob.match is %s for %s with %s', (expected, pattern, delimiters, ...texts) => {
  for (const text of texts) {
    const result = call('glob.match', JSON.stringify(pattern), delimiters, JSON.stringify(text));
    expect([text, result === 'true']).toEqual([text, expected]);
  }
});

test('a glob of many stars is linear in the text', () => {
  const pattern = JSON.stringify(`${'*a'.repeat(30)}b`);
  const fuel = 2_000 * 100 * 15;
  expect(callWith('glob.match', [pattern, '["/"]', JSON.stringify('a'.repeat(2_000))], fuel)).toBe(
    'false',
  );
});

test('every built-in of ours has a function, and there are no others', () => {
  expect(Object.keys(OWN_BUILTIN_FUNCTIONS).sort()).toEqual(
    OWN_BUILTINS.map(wasmBuiltinName).sort(),
  );
});

test('the size of a pattern is not estimated below what it compiles to', async () => {
  const { RE2JS } = await import('re2js');
  for (const pattern of [
    'a',
    'abc|def',
    '(a|b)*c',
    '[a-z]{3,8}',
    '(\\d{1,3}\\.){3}\\d{1,3}',
    '((a{2}){3}){4}',
    'x{0,100}',
    '\\pL+',
    '(?i)straße',
    '[^a-z0-9]+',
    '^(?:[a-z]+\\.)*[a-z]{2,}$',
    'a+?b*?c??',
    '(?:(?:ab){2,}c){5}',
    '',
  ]) {
    const size = RE2JS.compile(pattern).programSize();
    expect([pattern, estimateInstructions(pattern) >= size]).toEqual([pattern, true]);
  }
});
