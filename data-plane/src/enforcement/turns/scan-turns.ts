/**
 * Splits the scan of long texts into portions, for which agents take turns, so that one call does
 * not block all others. A step that reads less than a portion ends at once.
 */
import type { Portioned } from '@governance/shared/detect/portions';
import type { Caller, StepResult } from '../call/calls.ts';
import type { Step } from '../call/pipeline-builder.ts';

/** UTF-16 units read in one turn. */
export const PORTION = 131_072;

/**
 * The waiting steps by agent, in the order of their turns. One portion is read in each round of the
 * event loop, so that other work goes on.
 */
const waiting = new Map<string, (() => void)[]>();
let isRunning = false;

/** Makes a pipeline step from a function that works in portions. Agents take turns. */
export function inTurns<In extends { caller: Caller }, Out, Deps>(
  run: (call: In, deps: Deps) => Portioned<StepResult<Out>>,
): Step<In, Out, Deps> {
  return (call, deps) => {
    const work = run(call, deps);
    const first = readPortion(work);
    if (first.done) return first.value;
    return finish(work, call.caller);
  };
}

async function finish<T>(work: Portioned<T>, caller: Caller): Promise<T> {
  for (;;) {
    await turnOf(caller);
    const next = readPortion(work);
    if (next.done) return next.value;
  }
}

function readPortion<T>(work: Portioned<T>): IteratorResult<number, T> {
  let read = 0;
  for (;;) {
    const next = work.next();
    if (next.done) return next;
    read += next.value;
    if (read >= PORTION) return next;
  }
}

/** Waits for a turn of the caller's agent; those of one agent come in their order. */
export function turnOf({ tenantId, agent }: Caller): Promise<void> {
  const who = `${tenantId} ${agent.id}`;
  return new Promise((resolve) => {
    const own = waiting.get(who);
    if (own) own.push(resolve);
    else waiting.set(who, [resolve]);
    if (isRunning) return;
    isRunning = true;
    setImmediate(giveTurn);
  });
}

function giveTurn(): void {
  const [who, own] = waiting.entries().next().value ?? ['', []];
  waiting.delete(who);
  const next = own.shift();
  // Back to the end of the queue, so that no agent waits for all texts of another.
  if (own.length > 0) waiting.set(who, own);
  next?.();
  isRunning = waiting.size > 0;
  if (isRunning) setImmediate(giveTurn);
}
