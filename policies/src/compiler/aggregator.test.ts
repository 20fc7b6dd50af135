/** The united decision, asked of the compiled WebAssembly and of OPA's interpreter alike. */
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import type { PolicySource, PolicyVerdict } from '../contract.ts';
import { loadPolicyEngine } from '../evaluator/policy-engine.ts';
import { createRegoCompiler } from './rego-compiler.ts';

const compiler = createRegoCompiler();
afterAll(() => compiler.close());

const set = (...sources: string[]): PolicySource[] =>
  sources.map((rego, i) => ({ id: `p-${i + 1}`, name: `Policy ${i + 1}`, rego }));

async function decide(policies: PolicySource[], input: unknown = {}): Promise<PolicyVerdict> {
  const compiled = await compiler.compile(policies);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.diagnostics));
  const engine = await loadPolicyEngine(compiled.wasm, {});
  const outcome = engine.evaluateRaw(JSON.stringify(input));
  if (!outcome.ok) throw new Error(outcome.message);
  expect((await compiler.explain(policies, input, {})).verdict).toEqual(outcome.verdict);
  return outcome.verdict;
}

const DEFAULT_DENY = {
  decision: 'deny',
  reasons: [
    { policy_id: '', policy: 'default', rule: 'deny', message: 'no policy allows this call' },
  ],
};

describe('the union', () => {
  const deny = 'package a\ndeny contains "no" if input.deny';
  const escalate = 'package a\nescalate contains "ask" if input.escalate';
  const allow = 'package a\nallow if input.allow';

  test.each([
    [{}, 'deny', 'default'],
    [{ allow: true }, 'allow', 'Policy 3'],
    [{ allow: true, escalate: true }, 'escalate', 'Policy 2'],
    [{ allow: true, escalate: true, deny: true }, 'deny', 'Policy 1'],
    [{ escalate: true }, 'escalate', 'Policy 2'],
    [{ deny: true, allow: true }, 'deny', 'Policy 1'],
  ])('of %j is %s, by %s', async (input, decision, policy) => {
    const verdict = await decide(set(deny, escalate, allow), input);
    expect(verdict.decision).toBe(decision);
    const said = verdict.reasons.filter(({ rule }) => rule === decision);
    expect(said.map((reason) => reason.policy)).toEqual([policy]);
  });

  test('names every reason with its policy and rule, in one order', async () => {
    const two =
      'package a\ndeny contains "b"\ndeny contains "a"\nallow := true\nescalate contains "e"';
    expect(await decide(set(two, two))).toEqual({
      decision: 'deny',
      reasons: [
        ...[1, 2].flatMap((n) => ['a', 'b'].map((message) => ({ n, rule: 'deny', message }))),
        ...[1, 2].map((n) => ({ n, rule: 'escalate', message: 'e' })),
        ...[1, 2].map((n) => ({ n, rule: 'allow', message: 'the rule allow holds' })),
      ].map(({ n, rule, message }) => ({
        policy_id: `p-${n}`,
        policy: `Policy ${n}`,
        ...{ rule, message },
      })),
    });
  });

  test('of no policies, or of policies without decisions, is a denial', async () => {
    expect(await decide([])).toEqual(DEFAULT_DENY);
    expect(await decide(set('package a\nx := 1', 'package b'))).toEqual(DEFAULT_DENY);
  });

  test('carries names as they are', async () => {
    const name = 'A "quoted" \\ näme\n\u0000\u2028 {%s} `x` 你好 😀';
    const { reasons } = await decide([{ id: 'p-1', name, rego: 'package a\nallow := true' }]);
    expect(reasons[0]?.policy).toBe(name.replace(/[\n\0]/g, ' '));
  });
});

/** How a policy may write a rule, and the messages that then stand in the verdict. */
const FORMS: [rule: 'deny' | 'escalate' | 'allow', rego: string, messages: string[]][] = [
  ['deny', 'deny contains "x"', ['x']],
  ['deny', 'deny contains m if some m in ["x", "y"]', ['x', 'y']],
  ['deny', 'deny contains m if some m in input.none', []],
  ['deny', 'deny contains {"tags": ["b", "a"], "code": 7}', ['code=7, tags.0=b, tags.1=a']],
  ['deny', 'deny contains {"tags": {"b", "a"}}', ['tags.a=a, tags.b=b']],
  ['deny', 'deny contains {"tags": {{"x": {"y"}}}}', ['tags.*.x.y=y']],
  ['deny', 'deny contains {1: "x", true: [null], "z": {}}', ['true.0=null, 1=x']],
  [
    'deny',
    'deny contains [1e2, 12345678901234567890, -0.5]',
    ['0=1e2, 1=12345678901234567890, 2=-0.5'],
  ],
  ['deny', 'deny contains ["é😀\\n<&>\\""]', ['0=é😀\n<&>"']],
  ['deny', 'deny contains {}', ['the rule deny holds']],
  ['deny', 'deny contains {"k": [{}, set()]}', ['the rule deny holds']],
  ['deny', 'deny contains 1.5', ['1.5']],
  ['deny', 'deny contains null', ['null']],
  ['deny', 'deny contains ""', ['the rule deny holds']],
  ['deny', 'deny contains false', ['false']],
  ['deny', 'deny := true', ['the rule deny holds']],
  ['deny', 'deny := false', []],
  ['deny', 'deny if 1 == 2', []],
  ['deny', 'default deny := false\ndeny if 1 == 1', ['the rule deny holds']],
  ['deny', 'deny := "x"', ['x']],
  ['deny', 'deny := null', ['null']],
  ['deny', 'deny := 0', ['0']],
  ['deny', 'deny := {"x", "y"}', ['x', 'y']],
  ['deny', 'deny := set()', []],
  ['deny', 'deny := []', []],
  ['deny', 'deny := {}', []],
  ['deny', 'deny := ["x", ["y"]]', ['0=y', 'x']],
  ['deny', 'deny := {"k": "x"}', ['x']],
  ['deny', 'deny := [false]', ['false']],
  ['deny', 'deny := x if { 1 == 2; x := 1 } else := "z"', ['z']],
  ['escalate', 'escalate contains "x"', ['x']],
  ['escalate', 'escalate := true', ['the rule escalate holds']],
  ['escalate', 'escalate := "x"', ['x']],
  ['escalate', 'escalate := false', []],
  ['allow', 'allow := true', ['the rule allow holds']],
  ['allow', 'allow if 1 == 1', ['the rule allow holds']],
  ['allow', 'allow := false', []],
  ['allow', 'default allow := false', []],
  ['allow', 'allow := "true"', []],
  ['allow', 'allow := 1', []],
  ['allow', 'allow := {"x"}', []],
  ['allow', 'allow := null', []],
  ['allow', 'allow contains "x"', ['x']],
  ['allow', 'allow contains m if some m in input.none', []],
];
const V0_FORMS: typeof FORMS = [
  ['deny', 'deny[m] { m := "x" }', ['x']],
  ['deny', 'deny["x"] { true }', ['x']],
  ['deny', 'deny[m] { m := {"y": 1} }', ['y=1']],
  ['deny', 'deny { true }', ['the rule deny holds']],
  ['deny', 'deny = m { m := "x" }', ['x']],
  ['escalate', 'escalate[m] { m := "x" }', ['x']],
  ['escalate', 'escalate { true }', ['the rule escalate holds']],
  ['allow', 'allow = true', ['the rule allow holds']],
  ['allow', 'allow { true }', ['the rule allow holds']],
  ['allow', 'default allow = false', []],
  ['allow', 'allow[m] { m := "x" }', ['x']],
];

function expected(rule: string, messages: string[]) {
  if (messages.length === 0) return DEFAULT_DENY;
  const reasons = messages.map((message) => ({
    policy_id: 'p-1',
    policy: 'Policy 1',
    rule,
    message,
  }));
  return { decision: rule, reasons };
}

test.each([...FORMS, ...V0_FORMS])('%s: %s', async (rule, rego, messages) => {
  expect(await decide(set(`package a\n\n${rego}\n`))).toEqual(expected(rule, messages));
});

test.each([
  ['deny(x) := x', 3],
  ['deny[m] if m := "x"', 3],
  ['deny.reason := "x"', 3],
  ['allow["read"] := true', 3],
  ['x := 1\nescalate(_) if true', 4],
  ['deny[k] = v { k := "a"; v := 1 }', 3],
])('refuses the shape %j, which would be ignored', async (rego, row) => {
  const { diagnostics } = await compiler.check(set(`package a\n\n${rego}\n`)[0] as PolicySource);
  expect(diagnostics[0]).toMatchObject({ code: 'governance_decision_rule', row, col: 1 });
});

test('any mixture of policies decides as the contract says', async () => {
  const form = fc.constantFrom(...FORMS);
  const policies = fc.array(fc.array(form, { minLength: 1, maxLength: 3 }), { maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(policies, async (chosen) => {
      // A rule is written once a policy: of two forms the first counts.
      const written = chosen.map((forms) =>
        forms.filter(([rule], i) => forms.findIndex(([other]) => other === rule) === i),
      );
      const sources = written.map(
        (forms) => `package a\n\n${forms.map(([, rego]) => rego).join('\n\n')}\n`,
      );
      const { decision, reasons } = await decide(set(...sources));
      const all = written.flatMap((forms, i) =>
        forms.flatMap(([rule, , messages]) => messages.map((m) => `${rule} p-${i + 1} ${m}`)),
      );
      const ruling = ['deny', 'escalate', 'allow'].find((rule) =>
        all.some((reason) => reason.startsWith(rule)),
      );
      expect(decision).toBe(ruling ?? 'deny');
      const told = reasons.map((r) => `${r.rule} ${r.policy_id} ${r.message}`).sort();
      expect(told).toEqual(
        ruling === undefined ? ['deny  no policy allows this call'] : all.sort(),
      );
    }),
    { numRuns: 30 },
  );
});
