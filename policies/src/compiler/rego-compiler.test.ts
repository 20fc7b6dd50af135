import { afterAll, expect, test } from 'vitest';
import { createRegoCompiler } from './rego-compiler.ts';

const compiler = createRegoCompiler();
afterAll(() => compiler.close());

test('compiles', async () => {
  const result = await compiler.compile([
    {
      id: 'a',
      name: 'A',
      rego: 'package a\nimport data.governance.lib\nallow if lib.allowed(input.agent, input.request)\n',
    },
  ]);
  expect(result).toMatchObject({ ok: true, entrypoints: ['governance/decision'] });
});
