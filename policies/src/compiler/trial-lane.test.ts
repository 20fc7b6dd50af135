import { afterAll, expect, it } from 'vitest';
import { createRegoCompiler, EXPLAIN_TIMEOUT_MS } from './rego-compiler.ts';

const compiler = createRegoCompiler();
afterAll(() => compiler.close());

const policy = (rego: string) => ({ id: 'p', name: 'P', rego });
const counting = (n: number) =>
  policy(
    `package a\n\nallow if {\n\tsome i in numbers.range(1, ${n})\n\tsome j in numbers.range(1, ${n})\n\ti * j == ${n * n}\n}\n`,
  );
const ENDLESS = counting(100_000);
const judge = (rego: string, data: unknown = {}) => compiler.judge([policy(rego)], { x: 1 }, data);

it('judges as a data plane does: within its fuel', async () => {
  expect(await compiler.judge([counting(10)], {}, {})).toMatchObject({
    kind: 'decided',
    outcome: { ok: true, verdict: { decision: 'allow' } },
  });
  expect(await compiler.judge([counting(400)], {}, {})).toMatchObject({
    kind: 'decided',
    outcome: { ok: false, fault: 'out_of_fuel' },
  });
});

it('judges by input and data', async () => {
  const rego = 'package a\nallow if input.x == data.settings.x';
  const decisions = await Promise.all([1, 2].map((x) => judge(rego, { settings: { x } })));
  expect(decisions).toMatchObject([
    { outcome: { verdict: { decision: 'allow' } } },
    { outcome: { verdict: { decision: 'deny' } } },
  ]);
});

it('says what does not compile, and what no data plane would load', async () => {
  expect(await judge('package a\nallow if {')).toMatchObject({
    kind: 'not_compiled',
    diagnostics: [{ row: 2 }],
  });
  const data = { settings: Array.from({ length: 600_000 }, (_, n) => `value ${n}`) };
  expect(await judge('package a\nallow if true', data)).toMatchObject({ kind: 'not_loaded' });
});

it('compiles a set once, also after an explanation was stopped', async () => {
  const rules = Array.from(
    { length: 600 },
    (_, n) => `deny contains "no ${n}" if input.x == "${n}"`,
  );
  const large = { id: 'q', name: 'Q', rego: `package q\n\n${rules.join('\n\n')}\n` };
  const timed = async () => {
    const began = performance.now();
    expect(await compiler.judge([large], {}, {})).toMatchObject({ kind: 'decided' });
    return performance.now() - began;
  };
  await compiler.judge([counting(5)], {}, {});
  const first = await timed();
  await compiler.explain([ENDLESS], {}, {});
  await compiler.judge([counting(5)], {}, {});
  expect(await timed()).toBeLessThan(first / 2);
}, 30_000);

it('stops an explanation after a short while, and what is saved does not wait for it', async () => {
  // The thread for saving has started: on a busy machine that takes longer than an explanation may.
  await compiler.check(policy('package a\nallow if true'), 'other');
  const order: string[] = [];
  const began = performance.now();
  const explained = compiler.explain([ENDLESS], {}, {}, 'auditor').finally(() => order.push('why'));
  await compiler.check(policy('package a\nallow if input.x == 7'), 'other');
  order.push('saved');
  expect(await explained).toMatchObject({
    verdict: { decision: 'deny' },
    stopped: `it took longer than ${EXPLAIN_TIMEOUT_MS / 1_000} s`,
  });
  expect(order).toEqual(['saved', 'why']);
  // With the start of a thread on a busy machine.
  expect(performance.now() - began).toBeLessThan(EXPLAIN_TIMEOUT_MS + 10_000);
}, 30_000);

it('bounds what one requester may have waiting', async () => {
  const asked = Array.from({ length: 12 }, () => compiler.judge([counting(5)], {}, {}, 'storm'));
  const refused = (await Promise.allSettled(asked)).filter(({ status }) => status === 'rejected');
  expect(refused.length).toBeGreaterThanOrEqual(3);
  expect(refused[0]).toMatchObject({ reason: { code: 'UNAVAILABLE' } });
});
