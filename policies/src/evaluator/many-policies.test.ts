import { expect, test } from 'vitest';
import { aPolicyInput, testCompiler } from '../testing/test-policies.ts';
import { loadPolicyEngine } from './policy-engine.ts';

const { policies } = testCompiler();

test('as many policies as a tenant may have can all agree within the fuel', async () => {
  const rego = `package same
allow if input.request.action == "read"
deny contains sprintf("%s is closed", [input.request.tool_name]) if input.request.action == "delete"`;
  const engine = await loadPolicyEngine(await policies(...Array(300).fill(rego)), {});
  for (const [action, decision] of [
    ['read', 'allow'],
    ['delete', 'deny'],
  ] as const) {
    const outcome = engine.evaluate(aPolicyInput({ action }));
    expect(outcome).toMatchObject({ ok: true, verdict: { decision } });
    expect(outcome.ok && outcome.verdict.reasons.length).toBe(300);
  }
}, 120_000);
