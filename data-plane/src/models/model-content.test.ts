/** What is asked of a model is stored nowhere, even where the tenant's policies quote it. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestModelRuntime, type TestModelRuntime } from '../testing/test-model-runtime.ts';
import { startTestPlane, type TestAgent, type TestPlane } from '../testing/test-plane.ts';

let runtime: TestModelRuntime;
let plane: TestPlane;
let agent: TestAgent;

beforeAll(async () => {
  runtime = await startTestModelRuntime();
  plane = await startTestPlane({
    config: { localModelUrl: runtime.url },
    policies: [
      {
        id: '0190bbbb-0000-7000-8000-000000000009',
        name: 'Quote',
        rego: `package quote
deny contains sprintf("not %v", [input.request.parameters]) if input.context.model == "denied"
deny contains upper(input.request.parameters.prompt) if input.context.model == "shouted"
escalate contains input.request.parameters.prompt if input.context.model == "escalated"
allow contains input.request.parameters.prompt if input.context.model == "small"
deny contains to_number(input.request.parameters.prompt) if input.context.model == "failing"
`,
      },
    ],
  });
  agent = plane.addAgent(['web:read', 'web:write']);
});
afterAll(async () => {
  await plane.stop();
  await runtime.stop();
});

it.each([
  ['denied', 'deny', 'Quote: [REDACTED]'],
  ['shouted', 'deny', 'Quote: [REDACTED]'],
  ['escalated', 'escalate', 'Quote: [REDACTED]'],
  ['small', 'allow', 'Quote: [REDACTED]'],
])('%s: the agent may hear the reason, the record has whose it is', async (model, verdict, reason) => {
  await plane.records();
  const prompt = 'the merger with Initech closes friday';
  const headers = { authorization: agent.bearer() };
  const body = { model, prompt, stream: false };
  const { json } = await plane.post('/api/v1/localmodel/api/generate', body, headers);
  if (verdict !== 'allow') expect(json.detail.toLowerCase()).toContain('merger with initech');
  const records = await plane.records();
  const decision = records.find(({ type }) => type === 'decision');
  expect(decision).toMatchObject({ policy_result: verdict, target: model });
  expect(decision).toMatchObject({
    policy_reason: expect.stringContaining(reason),
    protected_fields: ['policy_reason'],
  });
  expect(JSON.stringify(records)).not.toMatch(/merger|initech/i);
});
