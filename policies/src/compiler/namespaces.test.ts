import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { createRegoCompiler } from './rego-compiler.ts';

const compiler = createRegoCompiler();
afterAll(() => compiler.close());

const check = (rego: string) => compiler.check({ id: 'p-1', name: 'P', rego });

describe('a policy reads its own package, the library and the settings', () => {
  test.each([
    ['package a\nx := data.a.y\ny := 1'],
    ['package a\nx := data["a"].y\ny := 1'],
    ['package a.b\nimport data.a\nx := a.b.y\ny := 1'],
    ['package a.b\nimport data.a.b as own\nx := own.y\ny := 1'],
    ['package a\nx := data.a[k] if some k in ["y"]\ny := 1'],
    ['package a["b-c"]\nx := data.a["b-c"].y\ny := 1'],
    ['package a\nimport data.governance.lib\nallow if lib.allowed(input.agent, input.request)'],
    ['package a\nallow if data.governance.lib.wildcard_matches("*", "x")'],
    ['package a\nx := data.settings.dlp[_].name'],
    ['package a\nimport data.settings\nx if 1 == 2 with settings.y as 1'],
    ['package a\nx if y with data.a.y as 2\ny := 1'],
    ['package a\nx := $"{data.a.y} of {input.z}"\ny := 1'],
    [
      'package a\nx := {k: v | some k, v in data.a.y}\ny := {"z": data.a.w}\nw := [data.a.v]\nv := 1',
    ],
    ['package a\nx[data.a.y].z := 1\ny := "k"'],
    ['package a\nx if not data.a.y\ny if false'],
    ['package a\nx if every e in data.a.y { e == data.a.z }\ny := [1]\nz := 1'],
    ['package a\nf(q) := data.a.y if q == data.a.y\nelse := data.a.z\ny := 1\nz := 1'],
    ['package a\ndefault x := false\nx if input.data.b.c'],
    ['package a\nx := input["data"].b'],
    ['package policies.other\nx := data.policies.other.y\ny := 1'],
    ['package governance.candidates\nx := data.governance.candidates.y\ny := 1'],
    ['package a\nx = y { y := data.a.z }\nz = 1 { true }'],
  ])('%j', async (rego) => {
    expect((await check(rego)).diagnostics).toEqual([]);
  });

  test.each([
    ['another package', 'package a\n\nx := data.b.y', 3, 6],
    ['another policy', 'package a\nx := data.policies["p-2"].b.y', 2, 6],
    ['its own namespace, spelled out', 'package a\nx := data.policies["p-1"].a.y', 2, 6],
    ['a sibling package', 'package a.b\nx := data.a.c', 2, 6],
    ['everything', 'package a\nx := data', 2, 6],
    ['everything, by a variable', 'package a\nx := data[input.y].z', 2, 6],
    ['a parent, by a variable', 'package a.b\nx := data.a[input.y].z', 2, 6],
    ['the governance package', 'package a\nx := data.governance.decision', 2, 6],
    ['the governance package, by a variable', 'package a\nx := data.governance[input.y]', 2, 6],
    ['an import', 'package a\nimport data.b', 2, 8],
    ['an import of everything', 'package a\nimport data as d\nx := d.b', 2, 8],
    ['a with target', 'package a\nx if y with data.b.c as 1\ny := 1', 2, 13],
    ['a with value', 'package a\nx if y with input as data.b\ny := 1', 2, 22],
    ['the head of a rule', 'package a\nx[data.b.y].z := 1', 2, 3],
    ['the key of a set', 'package a\nx contains data.b.y', 2, 12],
    ['an argument', 'package a\nf(data.b) := 1', 2, 3],
    ['a default', 'package a\nx := 1 if input.y else := data.b', 2, 27],
    ['a comprehension', 'package a\nx := [y | y := data.b[_]]', 2, 16],
    ['a reference in a reference', 'package a\nx := data.a.y[data.b.z]\ny := {}', 2, 15],
    ['a template string', 'package a\nx := $"{data.b}"', 2, 9],
    ['a negation', 'package a\nx if not data.b', 2, 10],
    ['a call', 'package a\nx := data.b.f(1)', 2, 6],
    ['a v0 body', 'package a\nx = y { y := data.b }', 2, 14],
    ['a rule named data', 'package a\ndata.b := 1', 2, 1],
  ])('and not %s', async (_, rego, row, col) => {
    expect((await check(rego)).diagnostics[0]).toMatchObject({
      code: 'governance_foreign_reference',
      row,
      col,
      policy_id: 'p-1',
    });
  });

  test.each([
    ['settings'],
    ['settings.x'],
    ['governance.lib'],
    ['governance.lib.x'],
  ])('the package %s is reserved', async (name) => {
    expect((await check(`package ${name}\nx := 1`)).diagnostics).toMatchObject([
      { code: 'governance_package_reserved', row: 1 },
    ]);
  });

  test('two policies may share a package and its names', async () => {
    const rego = (value: number) =>
      `package same\nallow if data.same.value == input.x\nvalue := ${value}`;
    const policies = [1, 2].map((n) => ({ id: `p-${n}`, name: `P${n}`, rego: rego(n) }));
    expect((await compiler.compile(policies)).ok).toBe(true);
    const { verdict } = await compiler.explain(policies, { x: 2 }, {});
    expect(verdict.reasons).toEqual([
      { policy_id: 'p-2', policy: 'P2', rule: 'allow', message: 'the rule allow holds' },
    ]);
  });

  test('no spelling of a reference leaves the namespace', async () => {
    const name = fc.constantFrom(
      'a',
      'b',
      'policies',
      'p-1',
      'p-2',
      'governance',
      'lib',
      'settings',
    );
    const path = fc.array(name, { minLength: 1, maxLength: 4 });
    const spelled = (parts: string[], brackets: boolean[]) =>
      parts
        .map((part, i) => (brackets[i] || part.includes('-') ? `["${part}"]` : `.${part}`))
        .join('');
    await fc.assert(
      fc.asyncProperty(path, path, fc.array(fc.boolean()), async (home, named, brackets) => {
        fc.pre(!home[0]?.includes('-'));
        const target = [...named, 'zz'];
        const rego = `package ${home[0]}${spelled(home.slice(1), [])}\nx := data${spelled(target, brackets)}\n`;
        const shared = [['settings'], ['governance', 'lib']];
        const starts = (long: string[], short: string[]) =>
          short.every((part, i) => long[i] === part);
        const reserved = shared.some((prefix) => starts(home, prefix));
        const own = starts(target, home) || starts(home, target);
        const { diagnostics } = await check(rego);
        const codes = new Set(diagnostics.map(({ code }) => code));
        if (reserved) expect(codes).toContain('governance_package_reserved');
        else if (own || shared.some((prefix) => starts(target, prefix))) {
          expect(codes).not.toContain('governance_foreign_reference');
        } else expect(codes).toContain('governance_foreign_reference');
      }),
      { numRuns: 150 },
    );
  });
});
