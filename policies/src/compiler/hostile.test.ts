/**
 * Sources made to hurt: each is refused or stopped, and the compiler works right after. The
 * compiler here has six seconds, not ten, and the one for what never ends by itself still less.
 */
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import type { PolicySource } from '../contract.ts';
import { createRegoCompiler } from './rego-compiler.ts';

const compiler = createRegoCompiler({ timeoutMs: 6_000, memoryPages: 2_048 });
const HASTY_SECONDS = 2.5;
const hasty = createRegoCompiler({
  timeoutMs: HASTY_SECONDS * 1_000,
  explainTimeoutMs: HASTY_SECONDS * 1_000,
  memoryPages: 2_048,
});
afterAll(() => Promise.all([compiler.close(), hasty.close()]));

const policy = (rego: string): PolicySource => ({ id: 'p-1', name: 'P', rego });
const many = (n: number, line: (i: number) => string) =>
  Array.from({ length: n }, (_, i) => line(i));
const STOPPED = /^governance_(compile_timeout|nesting_too_deep|out_of_memory|package_too_deep)$/;
const ENDLESS =
  'count([1 | some a in numbers.range(1, 100000); some b in numbers.range(1, 100000)]) > 0';

let rounds = 0;
let used = compiler;
afterEach(async () => {
  rounds++;
  const result = await used.compile([policy(`package next\nallow if input.round == ${rounds}`)]);
  used = compiler;
  expect(result).toMatchObject({ ok: true });
});

test.each([
  ['brackets', '['.repeat(60_000) + ']'.repeat(60_000)],
  ['open brackets', '['.repeat(120_000)],
  ['parentheses', `${'('.repeat(60_000)}1${')'.repeat(60_000)}`],
  ['objects', `${'{"a":'.repeat(15_000)}1${'}'.repeat(15_000)}`],
  ['comprehensions', `${'[y | y := '.repeat(5_000)}1${']'.repeat(5_000)}`],
  ['template strings', `${'$"{'.repeat(20_000)}1${'}"'.repeat(20_000)}`],
])('nesting: %s', async (_, value) => {
  const { diagnostics } = await compiler.check(policy(`package a\n\nx := ${value}`));
  expect(diagnostics).toMatchObject([{ code: 'governance_nesting_too_deep', row: 3 }]);
});

test('200,000 brackets are refused by size before anything reads them', async () => {
  const { diagnostics } = await compiler.check(policy(`package a\nx := ${'['.repeat(200_000)}`));
  expect(diagnostics).toMatchObject([{ code: 'governance_source_too_large', row: 1, col: 1 }]);
});

test('the size is in bytes', async () => {
  const source = (bytes: number) => `package a\n# ${'é'.repeat((bytes - 12) / 2)}`;
  const size = 128 * 1024;
  expect((await compiler.check(policy(source(size)))).diagnostics).toEqual([]);
  expect((await compiler.check(policy(source(size + 2)))).diagnostics).toMatchObject([
    { code: 'governance_source_too_large' },
  ]);
});

test('10,000 rules', async () => {
  const rego = `package a\n${many(10_000, (i) => `a${i}:=1`).join('\n')}`;
  expect((await compiler.check(policy(rego))).diagnostics).toMatchObject([
    { code: 'governance_too_many_rules', row: 2_002 },
  ]);
});

test('10,000 else branches', async () => {
  const rego = `package a\nx := 1 if input.a${' else := 2 if input.b'.repeat(6_000)}`;
  expect((await compiler.check(policy(rego))).diagnostics).toMatchObject([
    { code: 'governance_too_many_rules' },
  ]);
});

test.each([
  ['a long chain of operators', `package a\nx := 1${'+1'.repeat(60_000)}`],
  ['a long chain of comparisons', `package a\nx if 1${' in [1]'.repeat(15_000)}`],
  ['a package of 60,000 parts', `package a${'.b'.repeat(60_000)}\nallow := true`],
])('%s is stopped', async (_, rego) => {
  const { diagnostics } = await compiler.check(policy(rego));
  expect(diagnostics).toHaveLength(1);
  expect(diagnostics[0]?.code).toMatch(STOPPED);
});

test.each([
  [
    '4,000 variables in the wrong order',
    `package a\nx if {${many(4_000, (i) => `y${i} = y${i + 1}+1`).join('\n')}\ny4000 = 1}`,
  ],
  [
    '15,000 declared variables',
    `package a\nx if { some ${many(15_000, (i) => `x${i}`).join(',')}\n1==1}`,
  ],
])('%s are stopped', async (_, rego) => {
  used = hasty;
  const { diagnostics } = await hasty.check(policy(rego));
  expect(diagnostics).toHaveLength(1);
  expect(diagnostics[0]?.code).toMatch(STOPPED);
});

test('bombs of YAML in metadata are refused', async () => {
  const level = (name: string, of: string) =>
    `#   ${name}: &${name} [${`*${of},`.repeat(9).slice(0, -1)}]`;
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'];
  const bomb = names.slice(1).map((name, i) => level(name, names[i] as string));
  const rego = [
    'package a',
    '# METADATA',
    '# custom:',
    '#   a: &a [x]',
    ...bomb,
    'x := rego.metadata.rule()',
  ];
  const { diagnostics } = await compiler.check(policy(rego.join('\n')));
  expect(diagnostics[0]?.code).toMatch(/^(rego_parse_error|governance_compile_timeout)$/);
});

describe('what runs forever', () => {
  test('as 90 nested comprehensions do is stopped', async () => {
    used = hasty;
    const nested = `package a\nx := ${'[y | y := '.repeat(90)}1${']'.repeat(90)}`;
    const { diagnostics } = await hasty.check(policy(nested));
    expect(diagnostics).toHaveLength(1);
    expect(diagnostics[0]?.code).toMatch(/^governance_(compile_timeout|out_of_memory)$/);
  });

  test('in a test is stopped', async () => {
    used = hasty;
    const tests = [policy(`package a_test\ntest_endless if ${ENDLESS}`)];
    const results = await hasty.test([policy('package a\nx := 1')], tests);
    // Which bound it meets first is the machine's affair.
    expect(results).toMatchObject([{ outcome: 'error' }]);
    expect(results[0]?.name).toMatch(/^governance_(compile_timeout|out_of_memory)$/);
  });

  test('in an explanation is stopped, and reported as a denial', async () => {
    used = hasty;
    const { verdict, stopped } = await hasty.explain(
      [policy(`package a\nallow if ${ENDLESS}`)],
      {},
      {},
    );
    expect(verdict.decision).toBe('deny');
    expect(stopped).not.toBeNull();
    expect(verdict.reasons[0]?.message).toMatch(/longer than 2\.5 s|memory/);
  });

  test('is only compiled by compile', async () => {
    expect(await compiler.compile([policy(`package a\nallow if ${ENDLESS}`)])).toMatchObject({
      ok: true,
    });
  });
});

describe('what takes too much memory', () => {
  test.each([
    ['a long range', 'count(numbers.range(1, 20000000)) > 0'],
    [
      'a doubling string',
      `s0 := "xxxxxxxxxxxxxxxx"; ${many(28, (i) => `s${i + 1} := concat("", [s${i}, s${i}]); `).join('')} s28 != ""`,
    ],
  ])('in an explanation is stopped: %s', async (_, body) => {
    const { verdict, trace } = await compiler.explain(
      [policy(`package a\nallow if { ${body} }`)],
      {},
      {},
    );
    expect(verdict.decision).toBe('deny');
    expect(verdict.reasons[0]?.message).toMatch(/too much memory|it took longer/);
    expect(trace).toEqual([]);
  });
});

test('a compilation without memory is stopped, again and again', async () => {
  // Found by crashing: under node:wasi this ended the whole process (see wasi-host.ts).
  const small = createRegoCompiler({ memoryPages: 900 });
  const rego = `package a\nx := [${'1,'.repeat(60_000)}1]`;
  for (let i = 0; i < 5; i++) {
    expect((await small.check(policy(rego))).diagnostics).toMatchObject([
      { code: 'governance_out_of_memory', policy_id: 'p-1' },
    ]);
    expect((await small.check(policy(`package a\nx := ${i}`))).diagnostics).toEqual([]);
  }
  await small.close();
});

test('a trace is cut off at its limit', async () => {
  const rego = 'package a\nallow if { some x in numbers.range(1, 1500); x == 1500 }';
  const { verdict, trace } = await compiler.explain([policy(rego)], {}, {});
  expect(verdict.decision).toBe('allow');
  expect(trace).toHaveLength(2_001);
  expect(trace.at(-1)).toBe('… cut off after 2000 events');
});
