import type { Portioned } from '@governance/shared/detect/portions';
import { expect, it } from 'vitest';
import type { Caller, StepResult } from '../call/calls.ts';
import { proceed } from '../call/pipeline-builder.ts';
import { inTurns } from './scan-turns.ts';

interface Scanned {
  caller: Caller;
  text: number;
}
const PORTION = 131_072;
const scannedBy = (agentId: string, text: number): Scanned => ({
  caller: { tenantId: 't', agent: { id: agentId } } as Caller,
  text,
});

/** Notes each portion that it reads. */
const stepOf = (read: string[]) =>
  inTurns(function* scan(call: Scanned): Portioned<StepResult<Scanned>> {
    for (let left = call.text; left > 0; left -= PORTION) {
      read.push(call.caller.agent.id);
      yield Math.min(left, PORTION);
    }
    return proceed(call);
  });

it('reads short texts at once', () => {
  const call = scannedBy('a', PORTION - 1);
  expect(stepOf([])(call, {})).toEqual({ kind: 'continue', call });
});

it('reads long texts in turns of the event loop and of the agents', async () => {
  const read: string[] = [];
  const step = stepOf(read);
  const long = ['a', 'a', 'b'].map((id) => step(scannedBy(id, 6 * PORTION), {}));
  expect(read).toEqual(['a', 'a', 'b']);
  await new Promise((resolve) => setImmediate(resolve));
  // Others had their turn when one portion was read.
  expect(read.length).toBeLessThanOrEqual(4);
  const all = await Promise.all(long);
  expect(all.map((result) => result.kind)).toEqual(['continue', 'continue', 'continue']);
  // Agent b is not behind all that a has.
  expect(read.lastIndexOf('b')).toBeLessThan(read.lastIndexOf('a') - 3);
});

it('gives the turn on where a scan throws', async () => {
  const failing = inTurns(function* scan(): Portioned<StepResult<Scanned>> {
    yield PORTION;
    throw new Error('broken');
  });
  const broken = failing(scannedBy('a', 1), {});
  const whole = stepOf([])(scannedBy('a', 3 * PORTION), {});
  await expect(broken).rejects.toThrow('broken');
  expect(await whole).toMatchObject({ kind: 'continue' });
});
