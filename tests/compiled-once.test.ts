import { createHash } from 'node:crypto';
import { baselinePack } from '@governance/policies/baseline-pack';
import { createRegoCompiler } from '@governance/policies/compiler/rego-compiler';
import type { CompileResult, PolicySource, RegoCompiler } from '@governance/policies/contract';
import { uuidv7 } from '@governance/shared/ids';
import { afterAll, expect, it } from 'vitest';
import { createTestCompiler } from './support/compiled-once.ts';

const real = createRegoCompiler();
const test = createTestCompiler();
afterAll(() => Promise.all([real.close(), test.close()]));

const withIds = (pack = baselinePack()) =>
  pack.map(({ name, rego_content }) => ({ id: uuidv7(), name, rego: rego_content }));

/** What a compiler makes; megabytes are compared by their hash. */
async function by(compiler: RegoCompiler, policies: PolicySource[]): Promise<unknown> {
  const result: CompileResult = await compiler.compile(policies);
  if (!result.ok) return result;
  return { ...result, wasm: createHash('sha256').update(result.wasm).digest('hex') };
}

it.each([
  ['the baseline pack', withIds()],
  ['it in another order', withIds(baselinePack().toReversed())],
  ['one policy', withIds().slice(0, 1)],
  ['none', []],
  ['a changed one', withIds().map((one) => ({ ...one, rego: `${one.rego}\n# changed` }))],
  ['more than ten', Array.from({ length: 4 }, () => withIds()).flat()],
  ['ids of another form', withIds().map((one, i) => ({ ...one, id: `policy-${i}` }))],
  [
    'a policy that names its id',
    withIds().map((one) => ({ ...one, rego: `${one.rego}# ${one.id}` })),
  ],
  [
    'what does not compile',
    withIds().map((one) => ({ ...one, rego: `${one.rego}\nx if nowhere` })),
  ],
])('%s becomes what the compiler makes of it, also a second time', async (_what, policies) => {
  expect(await by(test, policies)).toEqual(await by(real, policies));
  const others = policies.map((one) => ({ ...one, id: uuidv7() }));
  expect(await by(test, others)).toEqual(await by(real, others));
  expect(await by(test, policies)).toEqual(await by(real, policies));
});

it('a set is compiled for the first tenant only', async () => {
  const [policy] = withIds();
  const rego = `${policy?.rego}\n# for this test`;
  const asked = [uuidv7(), uuidv7()].map((id) => ({ id, name: 'one', rego }));
  const cold = createTestCompiler();
  for (const one of asked) await cold.compile([one]);
  await cold.close();
  // Whose compiler is closed can still answer for what was compiled.
  expect(await cold.compile([{ id: uuidv7(), name: 'one', rego }])).toMatchObject({ ok: true });
  await expect(cold.compile([{ id: uuidv7(), name: 'two', rego }])).rejects.toThrow('closed');
});
