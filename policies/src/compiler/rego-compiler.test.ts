import { afterAll, describe, expect, test } from 'vitest';
import type { PolicySource } from '../contract.ts';
import { createRegoCompiler } from './rego-compiler.ts';

const compiler = createRegoCompiler();
afterAll(() => compiler.close());

const policy = (rego: string, id = 'p-1', name = 'Policy'): PolicySource => ({ id, name, rego });

async function compileOk(...policies: PolicySource[]) {
  const result = await compiler.compile(policies);
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
  return result;
}

describe('compile', () => {
  test('gives policy.wasm, its one entrypoint and whole sources', async () => {
    const rego = `# Who may read.
package authz

import data.governance.lib

allow if lib.allowed(input.agent, input.request)

deny contains sprintf("%s is closed", [door]) if some door in data.authz.closed

closed := {"a"} # comment
`;
    const result = await compileOk(policy(rego));
    expect(Buffer.from(result.wasm.subarray(0, 4)).toString('latin1')).toBe('\0asm');
    expect(result.entrypoints).toEqual(['governance/decision']);
    expect(result.builtins).toEqual(['governance.sprintf']);
    expect(result.modules.map(({ path }) => path)).toEqual([
      'governance/decision.rego',
      'governance/lib/permissions.rego',
      'policies/p-1/policy.rego',
    ]);
    expect(result.modules[2]).toEqual({
      path: 'policies/p-1/policy.rego',
      rego: rego
        .replace('package authz', 'package policies["p-1"].authz')
        .replace('data.authz', 'data.policies["p-1"].authz'),
      rego_version: 1,
    });
  });

  test('takes v0 modules as such', async () => {
    const result = await compileOk(
      policy('package a\n\ndeny[msg] { msg := input.why }\n\nallow = true { input.ok }\n'),
    );
    expect(result.modules.at(-1)?.rego_version).toBe(0);
  });

  test('compiles no policies at all, which then deny by default', async () => {
    const result = await compileOk();
    expect(result.modules.map(({ path }) => path)).toContain('governance/decision.rego');
  });

  test('does not depend on the order, and its digest on everything else', async () => {
    const a = policy('package x\nallow if input.a', 'a');
    const b = policy('package x\nallow if input.b', 'b');
    const one = await compileOk(a, b);
    const other = await compileOk(b, a);
    expect(other).toEqual(one);
    expect(one.digest).toMatch(/^[0-9a-f]{64}$/);
    const digests = new Set([one.digest]);
    for (const set of [[a], [{ ...a, id: 'c' }, b], [{ ...a, name: 'N' }, b]]) {
      digests.add((await compileOk(...set)).digest);
    }
    expect(digests.size).toBe(4);
  });

  test('answers a set that it compiled before from memory', async () => {
    const set = [policy('package remembered\nallow if input.remembered')];
    const first = await compiler.compile(set);
    // The same object: no compiler gives that.
    expect(await compiler.compile(set)).toBe(first);
  });

  test('names every policy that is wrong, with its place', async () => {
    const result = await compiler.compile([
      policy('package a\n\nallow if nothing(1)\n', 'a'),
      policy('package b\n\nallow if data.other.x\n', 'b'),
      policy('package c\n\nallow if {\n', 'c'),
    ]);
    if (result.ok) throw new Error('compiled');
    expect(result.diagnostics.map(({ policy_id, row }) => [policy_id, row])).toEqual([
      ['b', 3],
      ['c', 4],
    ]);
    const later = await compiler.compile([policy('package a\n\nallow if nothing(1)\n', 'a')]);
    expect(later).toMatchObject({
      ok: false,
      diagnostics: [{ code: 'rego_type_error', policy_id: 'a', row: 3, col: 10 }],
    });
  });

  test.each([
    ['..'],
    ['a/b'],
    ['a"b'],
    [''],
    ['x'.repeat(65)],
    ['a b'],
  ])('refuses the id %j', async (id) => {
    expect(await compiler.compile([policy('package a', id)])).toMatchObject({
      ok: false,
      diagnostics: [{ code: 'governance_policy_id' }],
    });
  });

  test('refuses one id for two policies', async () => {
    expect(await compiler.compile([policy('package a'), policy('package b')])).toMatchObject({
      ok: false,
      diagnostics: [{ code: 'governance_policy_id' }],
    });
  });
});

describe('check', () => {
  test('reports package, version, format and built-ins with their places', async () => {
    const result = await compiler.check(
      policy(`package   a.b
import data.settings
allow if { data.a.b.x; startswith(input.name,  sprintf("%s", [settings.prefix])) ; count(input.y) > 1}
x := true
`),
    );
    expect(result).toEqual({
      diagnostics: [],
      package: 'a.b',
      rego_version: 1,
      formatted: `package a.b

import data.settings

allow if {
\tdata.a.b.x
\tstartswith(input.name, sprintf("%s", [settings.prefix]))
\tcount(input.y) > 1
}

x := true
`,
      builtins: ['count', 'sprintf', 'startswith'],
      builtin_uses: expect.arrayContaining([
        { name: 'startswith', row: 3, col: 24 },
        { name: 'sprintf', row: 3, col: 48 },
        { name: 'count', row: 3, col: 84 },
      ]),
    });
  });

  test('formats what compiles as v0 as v0', async () => {
    const result = await compiler.check(policy('package a\ndeny[msg]{msg:="no";input.x}'));
    expect(result).toMatchObject({ rego_version: 0, diagnostics: [] });
    expect(result.formatted).toContain('deny[msg] {');
  });

  test('formats what parses and does not compile', async () => {
    const result = await compiler.check(policy('package a\nx:=y'));
    expect(result.formatted).toBe('package a\n\nx := y\n');
    expect(result.diagnostics).toMatchObject([{ code: 'rego_unsafe_var_error', row: 2, col: 4 }]);
  });

  test.each([
    ['', 1, 1, 'rego_parse_error'],
    ['allow if true', 1, 1, 'rego_parse_error'],
    ['package a\n\nx := "unfinished', 3, 6, 'rego_parse_error'],
    ['package a\nimport rego.v1\ndeny[x] { x := 1 }', 3, 1, 'rego_parse_error'],
    ['package a\nx if { y }', 2, 8, 'rego_unsafe_var_error'],
    ['package a\np if q\nq if p', 2, 1, 'rego_recursion_error'],
    ['package a\nx := data.a.y + count(1)\ny := 1', 2, 17, 'rego_type_error'],
    ['package a\nx := 1\nx contains 2', 2, 1, 'rego_type_error'],
    ['package a\ninput := 1', 2, 1, 'rego_compile_error'],
  ])('places what is wrong in %j', async (rego, row, col, code) => {
    const { diagnostics } = await compiler.check(policy(rego));
    expect(diagnostics[0]).toMatchObject({ row, col, code, policy_id: 'p-1' });
  });

  test('mentions v0 to an author who writes v0', async () => {
    const { diagnostics } = await compiler.check(
      policy('package a\n\ndeny[x] { x := 1 }\n\nallow { input.x = }\n'),
    );
    expect(diagnostics[0]).toMatchObject({ row: 5 });
  });

  test('gives no place or name that is not the author’s', async () => {
    const { diagnostics } = await compiler.check(
      policy('package a\nx := 1 if input.y\nx := sprintf(1, 2)'),
    );
    expect(JSON.stringify(diagnostics)).not.toMatch(/policies|governance\./);
  });
});

describe('compileRaw', () => {
  test('compiles modules as given for the entrypoints asked', async () => {
    const result = await compiler.compileRaw(
      [
        { path: 'a.rego', rego: 'package test\np := data.other.q\nr contains hex.encode("x")' },
        { path: 'b.rego', rego: 'package other\nq = 1 { true }' },
      ],
      ['test/p', 'test/r'],
    );
    expect(result).toMatchObject({
      ok: true,
      entrypoints: ['test/p', 'test/r'],
      builtins: ['governance.hex.encode'],
    });
  });

  test('tells what is wrong', async () => {
    expect(
      await compiler.compileRaw(
        [{ path: 'a.rego', rego: 'package test\np := http.send({})' }],
        ['test/p'],
      ),
    ).toMatchObject({ ok: false, diagnostics: [{ code: 'governance_builtin_refused', row: 2 }] });
    expect(
      await compiler.compileRaw([{ path: 'a.rego', rego: 'package test\np := 1' }], ['test/q']),
    ).toMatchObject({ ok: false, diagnostics: [{ message: expect.stringContaining('test/q') }] });
  });
});
