/**
 * The runner of enforcement steps. It knows one rule: whatever is thrown is a denial that names
 * the step. Proven by pipeline-builder.test.ts (a throwing step never allows, a wrong order does
 * not compile).
 */
import type { Deny, Escalate, StepResult } from './calls.ts';

/** One step: sees the call as far as it is known, and lets it on, denies it or escalates it. */
export type Step<In, Out, Deps> = (
  call: In,
  deps: Deps,
) => StepResult<Out> | Promise<StepResult<Out>>;

/** How a pipeline ended. `call` is the call as the last step got it, or as it left the last one. */
export type Judgement<In, Out> =
  | { readonly verdict: 'allow'; readonly step: string; readonly call: Out }
  | {
      readonly verdict: 'deny';
      readonly step: string;
      readonly call: In & Partial<Out>;
      readonly deny: Deny;
      /** What a step threw, for the log. */
      readonly error?: unknown;
    }
  | {
      readonly verdict: 'escalate';
      readonly step: string;
      readonly call: In & Partial<Out>;
      readonly escalate: Escalate;
    };

export interface Pipeline<In, Out, Deps> {
  /** The pipeline with one more step at its end. A step may add to a call, never take away. */
  step<Next extends Out>(name: string, run: Step<Out, Next, Deps>): Pipeline<In, Next, Deps>;
  /** Runs the steps in order. Never rejects. `passed` is told of each step that let the call on. */
  run(call: In, deps: Deps, passed?: (call: In, step: string) => void): Promise<Judgement<In, Out>>;
  readonly steps: readonly string[];
}

// Inside, steps are kept untyped: `step` above is what holds the order.
interface AnyStep {
  name: string;
  run: Step<unknown, unknown, unknown>;
}

type Passed = (call: unknown, step: string) => void;

/** An empty pipeline for calls of type `In`; steps get `Deps`. */
export function pipeline<In, Deps>(): Pipeline<In, In, Deps> {
  return build<In, In, Deps>([]);
}

function build<In, Out, Deps>(steps: readonly AnyStep[]): Pipeline<In, Out, Deps> {
  return {
    steps: steps.map((step) => step.name),
    step: <Next extends Out>(name: string, run: Step<Out, Next, Deps>) =>
      build<In, Next, Deps>([
        ...steps,
        { name, run: run as unknown as Step<unknown, unknown, unknown> },
      ]),
    run: (call, deps, passed) =>
      runSteps(steps, call, deps, passed as Passed | undefined) as Promise<Judgement<In, Out>>,
  };
}

async function runSteps(
  steps: readonly AnyStep[],
  first: unknown,
  deps: unknown,
  passed: Passed | undefined,
): Promise<Judgement<unknown, unknown>> {
  let call = first;
  let at = 'none';
  for (const { name, run } of steps) {
    at = name;
    let result: StepResult<unknown>;
    try {
      const answer = run(call, deps);
      // A step that answers at once costs no turn of the microtask queue.
      result = answer instanceof Promise ? await answer : answer;
      if (result.kind === 'continue') {
        call = result.call;
        passed?.(call, name);
        continue;
      }
      if (result.kind === 'escalate') {
        return { verdict: 'escalate', step: name, call: call as object, escalate: result };
      }
      if (result.kind === 'deny') {
        return { verdict: 'deny', step: name, call: call as object, deny: result };
      }
      throw new TypeError('a step gave no verdict');
    } catch (error) {
      const deny: Deny = {
        kind: 'deny',
        cause: 'policy',
        message: `the enforcement step ${name} failed`,
        reasons: [],
      };
      return { verdict: 'deny', step: name, call: call as object, deny, error };
    }
  }
  // A pipeline without steps judges nothing, so it allows nothing.
  if (steps.length === 0) {
    const deny: Deny = { kind: 'deny', cause: 'policy', message: 'no steps', reasons: [] };
    return { verdict: 'deny', step: at, call: call as object, deny };
  }
  return { verdict: 'allow', step: at, call };
}
