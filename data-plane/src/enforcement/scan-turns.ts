/**
 * Reads long texts in turns: what one call says must not stop the calls of all others. A step that
 * reads little ends at once.
 */
import type { Portioned } from '@governance/shared/detect/portions';
import type { Caller, StepResult } from './calls.ts';
import type { Step } from './pipeline-builder.ts';

/** UTF-16 units after which others have their turn. */
const PORTION = 131_072;

/** Whose turn is next. A portion is read in each round of the event loop, so that others go on. */
const waiting = new Map<string, (() => void)[]>();
let isRunning = false;

/** A step out of one that works in portions. Agents have their turns one after another. */
export function inTurns<In extends { caller: Caller }, Out, Deps>(
  run: (call: In, deps: Deps) => Portioned<StepResult<Out>>,
): Step<In, Out, Deps> {
  return (call, deps) => {
    const work = run(call, deps);
    const first = readPortion(work);
    if (first.done) return first.value;
    const { tenantId, agent } = call.caller;
    return finish(work, `${tenantId} ${agent.id}`);
  };
}

async function finish<T>(work: Portioned<T>, who: string): Promise<T> {
  for (;;) {
    await turnOf(who);
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

function turnOf(who: string): Promise<void> {
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
  // Behind the others: none waits for all that another agent has.
  if (own.length > 0) waiting.set(who, own);
  next?.();
  isRunning = waiting.size > 0;
  if (isRunning) setImmediate(giveTurn);
}
