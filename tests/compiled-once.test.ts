import { baselinePack } from '@governance/policies/baseline-pack';
import { createRegoCompiler } from '@governance/policies/compiler/rego-compiler';
import { uuidv7 } from '@governance/shared/ids';
import { afterAll, expect, it } from 'vitest';
import { createTestCompiler } from './support/compiled-once.ts';

const real = createRegoCompiler();
const test = createTestCompiler();
afterAll(() => Promise.all([real.close(), test.close()]));

const withIds = (pack = baselinePack()) =>
  pack.map(({ name, rego_content }) => ({ id: uuidv7(), name, rego: rego_content }));

it.each([
  ['in its order', withIds()],
  ['in another', withIds(baselinePack().toReversed())],
])('the baseline pack %s is what the compiler makes of it', async (_how, policies) => {
  expect(await test.compile(policies)).toEqual(await real.compile(policies));
});

it('what differs from it is compiled', async () => {
  const changed = withIds().map((one) => ({ ...one, rego: `${one.rego}\n# changed` }));
  expect(await test.compile(changed)).toEqual(await real.compile(changed));
});
