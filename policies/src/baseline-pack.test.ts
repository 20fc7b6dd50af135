/** The shipped Rego: its own tests by OPA's runner, and the same cases in the WebAssembly that ships. */
import { readdirSync, readFileSync } from 'node:fs';
import { assetPath } from '@governance/shared/process/assets';
import { afterAll, describe, expect, test } from 'vitest';
import { baselinePack } from './baseline-pack.ts';
import { createRegoCompiler } from './compiler/rego-compiler.ts';
import { OWN_BUILTIN_FUNCTIONS } from './evaluator/builtins/index.ts';
import { loadPolicyEngine } from './evaluator/policy-engine.ts';
import { compilePolicyModule, PolicySandbox } from './evaluator/policy-sandbox.ts';

const compiler = createRegoCompiler();
afterAll(() => compiler.close());

const read = (path: string) => readFileSync(assetPath(`policies/rego/${path}`), 'utf8');
const files = ['lib', 'baseline'].flatMap((folder) =>
  readdirSync(assetPath(`policies/rego/${folder}`)).map((name) => `${folder}/${name}`),
);
const modules = files.filter((path) => !path.endsWith('_test.rego'));
const testOf = (path: string) => path.replace(/\.rego$/, '_test.rego');

test('every module has its tests beside it, and the pack is every baseline module', () => {
  expect(files.filter((path) => path.endsWith('_test.rego'))).toEqual(modules.map(testOf));
  const baseline = modules.filter((path) => path.startsWith('baseline/'));
  expect(baseline.map(read).sort()).toEqual(
    baselinePack()
      .map(({ rego_content }) => rego_content)
      .sort(),
  );
});

test.each(files)('%s is written as opa fmt writes it', async (path) => {
  // The library's own package is reserved for it, so only the format is looked at.
  const { formatted } = await compiler.check({ id: 'p', name: path, rego: read(path) });
  expect(formatted).toBe(read(path));
});

describe.each(modules)('%s', (path) => {
  test('passes its tests, by OPA’s runner and in the WebAssembly', async () => {
    const tests = [{ id: 'p', name: 'test', rego: read(testOf(path)) }];
    // The library is always there; a policy is what is under test.
    const policies = path.startsWith('lib/') ? [] : [{ id: 'p', name: 'p', rego: read(path) }];
    const results = await compiler.test(policies, tests);
    expect(results.length).toBeGreaterThan(2);
    expect(results.filter(({ outcome }) => outcome !== 'pass')).toEqual([]);

    const names = results.map(({ name }) => name.replaceAll('.', '/'));
    const sources = new Set(['lib/permissions.rego', path, testOf(path)]);
    const compiled = await compiler.compileRaw(
      [...sources].map((source) => ({ path: source, rego: read(source) })),
      names,
    );
    if (!compiled.ok) throw new Error(JSON.stringify(compiled.diagnostics));
    const sandbox = new PolicySandbox(await compilePolicyModule(compiled.wasm), '{}', {
      builtins: OWN_BUILTIN_FUNCTIONS,
      now: Date.now,
    });
    for (const name of names) {
      expect([name, sandbox.run('{}', name)]).toEqual([
        name,
        { ok: true, text: '[{"result":true}]' },
      ]);
    }
  });
});

describe('the pack together', () => {
  const decide = async (riskTier: string, action: string, permissions: string[]) => {
    const policies = baselinePack().map(({ name, rego_content }, i) => ({
      id: `p-${i}`,
      name,
      rego: rego_content,
    }));
    const compiled = await compiler.compile(policies);
    if (!compiled.ok) throw new Error(JSON.stringify(compiled.diagnostics));
    const engine = await loadPolicyEngine(compiled.wasm, {});
    const outcome = engine.evaluateRaw(
      JSON.stringify({
        agent: { risk_tier: riskTier, permissions },
        request: { action, mcp_server: 'files', tool_name: 'remove_file' },
      }),
    );
    if (!outcome.ok) throw new Error(outcome.message);
    return outcome.verdict;
  };

  test.each([
    ['low', 'read', ['files:read'], 'allow', 'Permissions'],
    ['low', 'delete', ['*:*'], 'allow', 'Permissions'],
    ['low', 'delete', ['files:read'], 'deny', 'default'],
    ['low', 'read', [], 'deny', 'default'],
    ['high', 'read', ['files/*:read'], 'allow', 'Permissions'],
    ['high', 'delete', ['*:*'], 'escalate', 'Destructive calls'],
    ['critical', 'read', ['remove_file:read'], 'allow', 'Permissions'],
    ['critical', 'write', ['*:*'], 'deny', 'Critical risk'],
    ['critical', 'read', [], 'deny', 'default'],
  ])('risk %s, %s, %j: %s by %s', async (tier, action, permissions, decision, policy) => {
    const verdict = await decide(tier, action, permissions);
    expect(verdict.decision).toBe(decision);
    const said = verdict.reasons.filter(({ rule }) => rule === decision);
    expect(said.map((reason) => reason.policy)).toEqual([policy]);
  });
});
