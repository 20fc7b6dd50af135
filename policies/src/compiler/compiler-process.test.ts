import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createRegoCompiler } from './rego-compiler.ts';

const policy = (n: number) => ({ id: 'p', name: 'P', rego: `package a\nallow if input.n == ${n}` });

test('starts with the first request and ends when idle', async () => {
  const compiler = createRegoCompiler({ idleMs: 100 });
  expect(compiler.isRunning()).toBe(false);
  expect(await compiler.compile([policy(1)])).toMatchObject({ ok: true });
  expect(compiler.isRunning()).toBe(true);
  await wait(50);
  await compiler.check(policy(2));
  await wait(70);
  expect(compiler.isRunning()).toBe(true);
  await wait(130);
  expect(compiler.isRunning()).toBe(false);
  expect(await compiler.compile([policy(3)])).toMatchObject({ ok: true });
  await compiler.close();
  expect(compiler.isRunning()).toBe(false);
});

test('answers requests one at a time, in order, and refuses more than its queue holds', async () => {
  const compiler = createRegoCompiler({ maxQueue: 3 });
  const order: number[] = [];
  const asked = [1, 2, 3, 4, 5, 6].map((n) =>
    compiler.check(policy(n)).then(
      () => order.push(n),
      (error) => error,
    ),
  );
  const results = await Promise.all(asked);
  // One was being answered while three waited.
  expect(order).toEqual([1, 2, 3, 4]);
  expect(results.slice(4)).toMatchObject([{ code: 'UNAVAILABLE' }, { code: 'UNAVAILABLE' }]);
  expect((await compiler.check(policy(7))).diagnostics).toEqual([]);
  await compiler.close();
});

test('a set that is being compiled is not compiled twice', async () => {
  const compiler = createRegoCompiler({ maxQueue: 1 });
  const results = await Promise.all([1, 1, 1, 1].map((n) => compiler.compile([policy(n)])));
  expect(new Set(results).size).toBe(1);
  await compiler.close();
});

test('close fails what waits and whatever comes later', async () => {
  const compiler = createRegoCompiler();
  const waiting = [compiler.check(policy(1)), compiler.compile([policy(2)])];
  const settled = Promise.allSettled(waiting);
  await compiler.close();
  for (const result of await settled) {
    expect(result).toMatchObject({ status: 'rejected', reason: { code: 'UNAVAILABLE' } });
  }
  await expect(compiler.check(policy(3))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  await compiler.close();
});

test('what was stopped is tried again when asked again', async () => {
  const compiler = createRegoCompiler({ timeoutMs: 1 });
  const first = await compiler.compile([policy(1)]);
  expect(first).toMatchObject({
    ok: false,
    diagnostics: [{ code: 'governance_compile_timeout' }],
  });
  expect(await compiler.compile([policy(1)])).not.toBe(first);
  await compiler.close();
});
