import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { inspection } from '../inspection.ts';
import { enforcement } from '../pipeline.ts';
import type { StepResult } from './calls.ts';
import { pipeline, proceed } from './pipeline-builder.ts';

interface Raw {
  n: number;
}
interface Known extends Raw {
  who: string;
}

const identify = (call: Raw): StepResult<Known> => proceed({ ...call, who: 'agent' });
const check = <C extends Known>(call: C): StepResult<C> => proceed(call);
const deny = (): StepResult<never> => ({
  kind: 'deny',
  cause: 'policy',
  message: 'no',
  reasons: [],
});

describe('a pipeline', () => {
  it('runs its steps in order and allows what the last one passes on', async () => {
    const built = pipeline<Raw, object>().step('identify', identify).step('check', check);
    expect(built.steps).toEqual(['identify', 'check']);
    expect(await built.run({ n: 1 }, {})).toEqual({
      verdict: 'allow',
      step: 'check',
      call: { n: 1, who: 'agent' },
    });
  });

  it('does not compile in a wrong order', () => {
    // @ts-expect-error check needs to know who calls
    pipeline<Raw, object>().step('check', check<Known>);
    // @ts-expect-error a step must not take away what is known
    pipeline<Known, object>().step('forget', (): StepResult<Raw> => proceed({ n: 1 }));
    expect(true).toBe(true);
  });

  it('can be extended without changing what it was', async () => {
    const short = pipeline<Raw, object>().step('identify', identify);
    const long = short.step('deny', deny);
    expect((await short.run({ n: 1 }, {})).verdict).toBe('allow');
    expect(await long.run({ n: 1 }, {})).toMatchObject({ verdict: 'deny', step: 'deny' });
  });

  it('allows nothing without steps', async () => {
    expect((await pipeline<Raw, object>().run({ n: 1 }, {})).verdict).toBe('deny');
  });

  it('makes a denial of a step that hangs', async () => {
    vi.useFakeTimers();
    try {
      const hang = () => new Promise<StepResult<Raw>>(() => undefined);
      const judging = pipeline<Raw, object>().step('hang', hang).run({ n: 1 }, {});
      await vi.advanceTimersByTimeAsync(60_000);
      expect(await judging).toMatchObject({ verdict: 'deny', step: 'hang', error: {} });
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it('goes back to the step that a later one names after a wait, a few times at most', async () => {
    const ran: string[] = [];
    const build = (times: number) =>
      pipeline<Raw, object>()
        .step('first', (call) => {
          ran.push('first');
          return proceed(call);
        })
        .step('classify', (call) => {
          ran.push('classify');
          return proceed(call);
        })
        .step('waits', async (call) => {
          ran.push('waits');
          const isDone = ran.filter((name) => name === 'waits').length > times;
          return isDone ? proceed(call) : { kind: 'again', call: call as never, from: 'classify' };
        });
    expect(await build(1).run({ n: 1 }, {})).toMatchObject({ verdict: 'allow' });
    expect(ran).toEqual(['first', 'classify', 'waits', 'classify', 'waits']);
    ran.length = 0;
    expect(await build(10).run({ n: 1 }, {})).toMatchObject({ verdict: 'deny', step: 'waits' });
    expect(ran.filter((name) => name === 'waits')).toHaveLength(4);
  });

  it('judges a call again from a step, after its judgement', async () => {
    const again = { kind: 'again', call: { n: 2 } as never, from: 'classify' } as const;
    const built = pipeline<Raw, object>()
      .step('first', (): StepResult<Raw> => deny())
      .step('classify', identify)
      .step('check', check);
    expect(await built.runAgain(again, {})).toEqual({
      verdict: 'allow',
      step: 'check',
      call: { n: 2, who: 'agent' },
    });
    const without = pipeline<Raw, object>().step('check', identify);
    expect(await without.runAgain(again, {})).toMatchObject({ verdict: 'deny', error: {} });
  });

  it('does not go forward, nor without a wait', async () => {
    const again = { kind: 'again', call: { n: 1 } as never, from: 'classify' } as const;
    const ahead = pipeline<Raw, object>()
      .step('waits', async () => again)
      .step('classify', (call) => proceed(call));
    expect(await ahead.run({ n: 1 }, {})).toMatchObject({ verdict: 'deny', step: 'waits' });
    const atOnce = pipeline<Raw, object>()
      .step('classify', (call) => proceed(call))
      .step('hurries', () => again);
    expect(await atOnce.run({ n: 1 }, {})).toMatchObject({ verdict: 'deny', step: 'hurries' });
  });

  it('makes a denial that names the step of whatever is thrown', async () => {
    type Fault = (call: Raw) => StepResult<Raw> | Promise<StepResult<Raw>>;
    const faults: Fault[] = [
      () => {
        throw new Error('x');
      },
      () => {
        throw 'a text';
      },
      () => {
        throw undefined;
      },
      () => Promise.reject(new Error('x')),
      () => Promise.reject(),
      () => undefined as never,
      () => null as never,
      () => ({}) as never,
      () => ({ kind: 'allow' }) as never,
      () => Promise.resolve({ kind: 'permit' } as never),
      // biome-ignore lint/suspicious/noThenProperty: exactly that is tested.
      () => ({ then: 1 }) as never,
    ];
    const pass: Fault = (call) => proceed(call);
    const passLater: Fault = async (call) => proceed(call);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(pass, passLater), { maxLength: 5 }),
        fc.constantFrom(...faults),
        fc.array(fc.constantFrom(pass, passLater, ...faults), { maxLength: 5 }),
        async (before, fault, after) => {
          let built = pipeline<Raw, object>();
          for (const [i, step] of before.entries()) built = built.step(`before-${i}`, step);
          built = built.step('broken', fault);
          for (const [i, step] of after.entries()) built = built.step(`after-${i}`, step);
          const judgement = await built.run({ n: 1 }, {});
          expect(judgement).toMatchObject({ verdict: 'deny', step: 'broken' });
          expect(judgement).toHaveProperty('error');
        },
      ),
    );
  });
});

it('has the steps of enforcement in the specified order', () => {
  expect(enforcement.steps).toEqual([
    'authenticate',
    'standing',
    'kill-switch',
    'rate-limit',
    'workflow-session',
    'delegation',
    'causal-depth',
    'hops',
    'arguments',
    'classify',
    'workflow-actions',
    'pinned-tools',
    'dlp',
    'scope-probe',
    'blast-radius',
    'policy',
  ]);
});

it('docs/enforcement-order.md draws the steps of both lists in their order', () => {
  const url = new URL('../../../../docs/enforcement-order.md', import.meta.url);
  const [, drawn = ''] = /\n```\n([\s\S]*?)```/.exec(readFileSync(url, 'utf8')) ?? [];
  const rows = drawn.split('\n').map((row) => /^ +(?:\d\w? +)?([a-z-]+) +\w+ +→/.exec(row)?.[1]);
  const expected = [...enforcement.steps, 'audit', 'send', ...inspection.steps];
  expect(rows.filter((name) => name !== undefined)).toEqual(expected);
});
