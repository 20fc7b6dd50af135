import { expect, it } from 'vitest';
import { createRegoCompiler } from './rego-compiler.ts';

/** Costs nothing to speak of: what is measured is who comes first. */
const policy = (id: string) => ({
  id,
  name: id,
  rego: `package p\n\nallow if input.x == "${id}"\n`,
});

it("serves a tenant between another one's storm, and refuses what goes beyond a tenant's share", async () => {
  const compiler = createRegoCompiler({ maxQueueOfOne: 20 });
  try {
    const order: string[] = [];
    const done = (name: string) => () => void order.push(name);
    const storm = Array.from({ length: 20 }, (_, i) =>
      compiler.check(policy(`s${i}`), 'storm').then(done('storm')),
    );
    const quiet = compiler.check(policy('q'), 'quiet').then(done('quiet'));
    const beyond = Array.from({ length: 5 }, (_, i) => compiler.check(policy(`b${i}`), 'storm'));
    const refused = (await Promise.allSettled(beyond)).filter(
      ({ status }) => status === 'rejected',
    );
    await Promise.all([...storm, quiet]);
    expect(order.indexOf('quiet')).toBeLessThanOrEqual(2);
    // One of the storm was under way and in no queue.
    expect(refused).toHaveLength(4);
  } finally {
    await compiler.close();
  }
});

it('lets others run between two requests of a tenant that were stopped', async () => {
  const compiler = createRegoCompiler({ explainTimeoutMs: 4_000 });
  const costly = {
    id: 'c',
    name: 'c',
    rego: 'package p\n\nimport rego.v1\n\ndeny contains "no" if {\n  some i in numbers.range(1, 3000)\n  some j in numbers.range(1, 3000)\n  i * j == 0\n}\n',
  };
  try {
    const order: string[] = [];
    const done = (name: string) => () => void order.push(name);
    const ask = () => compiler.explain([costly], {} as never, { settings: {} }, 'storm');
    const storm = [ask().then(done('storm')), ask().then(done('storm'))];
    // One after the other, as people work: each would wait for the whole of another stopped one.
    const trial = (id: string) => compiler.explain([policy(id)], {}, {}, 'quiet');
    await trial('q1').then(done('quiet'));
    await trial('q2').then(done('quiet'));
    await Promise.all(storm);
    expect(order).toEqual(['storm', 'quiet', 'quiet', 'storm']);
  } finally {
    await compiler.close();
  }
}, 60_000);
