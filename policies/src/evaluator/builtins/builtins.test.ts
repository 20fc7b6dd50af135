import { describe, expect, test } from 'vitest';
import { OWN_BUILTINS, wasmBuiltinName } from '../../builtin-names.ts';
import { parseRegoValue } from '../rego-value.ts';
import { type BuiltinCall, BuiltinLimitError, encodeResult, OutOfFuelError } from './builtin.ts';
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
  });
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
