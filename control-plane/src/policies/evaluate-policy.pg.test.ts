import { createRegoCompiler } from '@governance/policies/compiler/rego-compiler';
import { FAULT_REASONS } from '@governance/policies/contract';
import { expect, it } from 'vitest';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';
import { evaluatePolicy, toPolicyInput } from './evaluate-policy.ts';
import { EvaluateBody } from './policy-schemas.ts';

const { call, aTenantAdmin, aColleague } = await testControlPlane();
const URL = '/api/v1/policies';
const BODY = { agent: { id: 'ada' }, request: { tool_name: 'read_file', parameters: { n: 'x' } } };

async function aPolicy(token: string, rego_content: string, more: object = {}) {
  const body = { name: `Policy ${rego_content.length}`, rego_content, ...more };
  const answer = await call(URL, { token, body });
  expect(answer.statusCode, answer.body).toBe(201);
  return answer.json().id as string;
}

const evaluate = (token: string, id: string, more: object = {}) =>
  call(`${URL}/${id}/evaluate`, { token, body: { ...BODY, ...more } });

/** More than a data plane's fuel allows. */
const SLOW = `package slow

allow if {
\tsome i in numbers.range(1, 400)
\tsome j in numbers.range(1, 400)
\ti * j == 160000
}
`;
const TOO_SLOW = {
  decision: 'deny',
  reasons: [{ policy_id: '', policy: 'default', rule: 'deny', message: FAULT_REASONS.out_of_fuel }],
  fault: 'out_of_fuel',
};

it('denies what a data plane denies: a policy that takes too long', async () => {
  const { token, scope } = await aTenantAdmin();
  const id = await aPolicy(token, SLOW);
  const auditor = await aColleague(scope, 'auditor');
  const began = performance.now();
  const answer = await evaluate(auditor.token, id, { trace: true });
  expect(answer.statusCode, answer.body).toBe(200);
  expect(answer.json()).toMatchObject({ ...TOO_SLOW, active_set: TOO_SLOW });
  const { explanation, active_set } = answer.json();
  expect(explanation.slice(0, 2)).toEqual([
    `The call is denied: ${FAULT_REASONS.out_of_fuel}.`,
    'Data planes end this evaluation (out_of_fuel: the policy ran longer than a decision may) and deny the call.',
  ]);
  // Whether OPA's interpreter comes to an end in time depends on the machine.
  expect(explanation[2]).toMatch(/^The rules are not explained: .* 2 s\.$|has other bounds/);
  expect(active_set.explanation[0]).toBe(explanation[0]);
  expect(performance.now() - began).toBeLessThan(20_000);
}, 30_000);

it('leaves out the second explanation where the first was stopped', async () => {
  const { token } = await aTenantAdmin();
  const id = await aPolicy(token, SLOW.replaceAll('400', '40000'));
  const { explanation, active_set } = (await evaluate(token, id)).json();
  expect(explanation[2]).toBe(
    'The rules are not explained: the explanation was stopped, since it took longer than 2 s.',
  );
  expect(active_set.explanation[2]).toBe(
    'The rules are not explained, since those of this policy alone were not.',
  );
}, 30_000);

it('says where OPA’s interpreter decides otherwise than data planes', async () => {
  const { token } = await aTenantAdmin();
  // A data plane fails here, towards a denial; to OPA it is undefined.
  const rego =
    'package numbers_of\n\ndeny contains "big" if to_number("1e400") > 5\n\nallow if true\n';
  const id = await aPolicy(token, rego);
  const answer = (await evaluate(token, id)).json();
  expect(answer).toMatchObject({ decision: 'deny', fault: 'builtin_error' });
  expect(answer.explanation[2]).toMatch(
    /^OPA’s interpreter explains the rules, and has other bounds\. It says: The call is /,
  );
});

it('says of a policy without any of the three rules that it decides nothing', async () => {
  const { token } = await aTenantAdmin();
  const body = { name: 'Mail', rego_content: 'package mail\n\nescalates contains "x" if true\n' };
  const created = (await call(URL, { token, body })).json();
  const warning = 'It has no rule deny, escalate or allow: it decides nothing.';
  expect(created.warnings).toEqual([warning]);
  const { explanation, active_set } = (await evaluate(token, created.id)).json();
  expect(explanation[1]).toBe(`Mail: ${warning}`);
  expect(active_set.explanation[1]).toBe(`Mail: ${warning}`);
  const patch = {
    token,
    method: 'PATCH' as const,
    body: { rego_content: 'package mail\n\ndeny if true\n' },
  };
  expect((await call(`${URL}/${created.id}`, patch)).json().warnings).toEqual([]);
});

it('decides nothing where the evaluation was stopped', async () => {
  const hasty = createRegoCompiler({ timeoutMs: 1 });
  const policies = [{ id: 'p', name: 'P', rego: SLOW }];
  const input = toPolicyInput(EvaluateBody.parse(BODY), new Date());
  const trial = { policyId: 'p', alone: policies, together: policies, input, settings: {} };
  try {
    await expect(
      evaluatePolicy(hasty, { ...trial, turn: '', withTrace: false }),
    ).rejects.toMatchObject({
      code: 'NOT_EVALUATED',
      status: 422,
      detail: 'Nothing was decided: the evaluation was stopped, since it took longer than 0.001 s.',
    });
  } finally {
    await hasty.close();
  }
});

it('does not hold up other tenants’ new policies', async () => {
  const { token, scope } = await aTenantAdmin();
  const other = await aTenantAdmin();
  const id = await aPolicy(token, SLOW.replaceAll('400', '50000'));
  const auditor = await aColleague(scope, 'auditor');
  const ended: string[] = [];
  const trials = [1, 2, 3].map(() =>
    evaluate(auditor.token, id).then(() => ended.push('evaluated')),
  );
  await aPolicy(other.token, 'package quick\n\nallow if input.request.tool_name == "q"\n');
  ended.push('saved');
  await Promise.all(trials);
  expect(ended[0]).toBe('saved');
}, 60_000);
