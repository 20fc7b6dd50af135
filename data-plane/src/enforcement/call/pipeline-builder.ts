/**
 * Runs the steps for calls (pipeline.ts) and for what comes back (inspection.ts). Its one rule: a
 * step that throws, or does not end in time, is a denial that names the step. A step that waited may
 * send the call back to an earlier one. Proven by
 * pipeline-builder.test.ts (a throwing step never allows, a wrong order does not compile).
 */
import { inTime } from '@governance/shared/time/in-time';
import type { Again, Continue, Deny, Escalate, StepResult } from './calls.ts';

/** One step: takes a call, and passes it on with what it established, denies or escalates it. */
export type Step<In, Out, Deps> = (
  call: In,
  deps: Deps,
) => StepResult<Out> | Promise<StepResult<Out>>;

/** How a pipeline ended. `call` is as the last step returned it, or received it. */
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
  /** The pipeline with one more step at its end. A step may add to a call, never remove. */
  step<Next extends Out>(name: string, run: Step<Out, Next, Deps>): Pipeline<In, Next, Deps>;
  /**
   * Runs the steps in order. Synchronous unless a step returns a promise. Never throws or rejects.
   *
   * @param passed is called for each step that passed the call on
   */
  run(
    call: In,
    deps: Deps,
    passed?: (call: In, step: string) => void,
  ): Judgement<In, Out> | Promise<Judgement<In, Out>>;
  /**
   * Judges a call again that had to wait after its judgement, from the step that `again` names.
   * Never throws or rejects.
   */
  runAgain(
    again: Again,
    deps: Deps,
    passed?: (call: In, step: string) => void,
  ): Judgement<In, Out> | Promise<Judgement<In, Out>>;
  readonly steps: readonly string[];
}

// Internally steps are untyped: `step` above enforces the order.
interface AnyStep {
  name: string;
  run: Step<unknown, unknown, unknown>;
}

/** Longer than any step of the product takes: each has a shorter limit of its own. */
const STEP_MS = 60_000;
/** How often a call is judged again, at most: rules seldom change twice within a wait. */
export const MAX_REJUDGEMENTS = 3;

type Passed = (call: unknown, step: string) => void;
type AnyJudgement = Judgement<unknown, unknown>;

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
      runSteps(
        { steps, deps, passed: passed as Passed | undefined, agains: 0 },
        0,
        call,
      ) as Judgement<In, Out>,
    runAgain: ({ call, from }, deps, passed) => {
      const first = steps.findIndex((step) => step.name === from);
      const judged =
        first < 0
          ? thrown('none', call, new TypeError(`no step ${from}`))
          : runSteps({ steps, deps, passed: passed as Passed | undefined, agains: 0 }, first, call);
      return judged as Judgement<In, Out>;
    },
  };
}

/** One run of the steps for a call. */
interface Run {
  readonly steps: readonly AnyStep[];
  readonly deps: unknown;
  readonly passed: Passed | undefined;
  /** How often the call was judged again. */
  readonly agains: number;
}

/** Runs the steps from an index on. Returns a promise only where a step does. */
function runSteps(run: Run, from: number, first: unknown): AnyJudgement | Promise<AnyJudgement> {
  const { steps, deps, passed } = run;
  let call = first;
  for (let at = from; at < steps.length; at++) {
    const { name, run: runStep } = steps[at] as AnyStep;
    let result: StepResult<unknown> | Promise<StepResult<unknown>>;
    try {
      result = runStep(call, deps);
    } catch (error) {
      return thrown(name, call, error);
    }
    if (result instanceof Promise) return finishLater(run, at, call, result);
    const ended = endOf(name, call, result);
    if (ended !== null) return ended;
    call = (result as { call: unknown }).call;
    passed?.(call, name);
  }
  // A pipeline without steps allows nothing.
  if (steps.length === 0) return denied('none', call, 'no steps');
  return { verdict: 'allow', step: steps.at(-1)?.name ?? 'none', call };
}

async function finishLater(
  run: Run,
  at: number,
  call: unknown,
  waiting: Promise<StepResult<unknown>>,
): Promise<AnyJudgement> {
  const { name } = run.steps[at] as AnyStep;
  let result: StepResult<unknown>;
  try {
    result = await inTime(waiting, STEP_MS, hung);
  } catch (error) {
    return thrown(name, call, error);
  }
  if (result?.kind === 'again') return runAgain(run, at, result);
  const ended = endOf(name, call, result);
  if (ended !== null) return ended;
  const next = (result as { call: unknown }).call;
  run.passed?.(next, name);
  return runSteps(run, at + 1, next);
}

/** Goes back to a step before the one that waited. */
function runAgain(
  run: Run,
  at: number,
  { call, from }: Again,
): AnyJudgement | Promise<AnyJudgement> {
  const { steps, agains } = run;
  const { name } = steps[at] as AnyStep;
  const first = steps.findIndex((step) => step.name === from);
  if (first < 0 || first >= at)
    return thrown(name, call, new TypeError(`no step ${from} before it`));
  if (agains >= MAX_REJUDGEMENTS) {
    return denied(name, call, 'the rules changed again and again while the call was judged');
  }
  return runSteps({ ...run, agains: agains + 1 }, first, call);
}

/** A step that hangs counts as one that threw. */
function hung(): never {
  throw new Error('the step did not end in time');
}

/** The judgement that a step's result makes; null where the call continues. */
function endOf(step: string, call: unknown, result: StepResult<unknown>): AnyJudgement | null {
  switch (result?.kind) {
    case 'continue':
      return null;
    case 'deny':
      return { verdict: 'deny', step, call: call as object, deny: result };
    case 'escalate':
      return { verdict: 'escalate', step, call: call as object, escalate: result };
    // Nothing changes within a step that does not wait: `again` is none of its verdicts.
    default:
      return thrown(step, call, new TypeError('a step gave no verdict'));
  }
}

function thrown(step: string, call: unknown, error: unknown): AnyJudgement {
  return { ...denied(step, call, `the enforcement step ${step} failed`), error };
}

function denied(step: string, call: unknown, message: string) {
  const deny: Deny = { kind: 'deny', cause: 'policy', message, reasons: [] };
  return { verdict: 'deny', step, call: call as object, deny } as const;
}

/**
 * Adds what a step has established to a call. It changes the call in place, which only its run of
 * the pipeline uses: copies would cost more than most steps do.
 */
export function extend<C extends object, Added extends object>(call: C, added: Added): C & Added {
  return Object.assign(call, added);
}

/** Passes a call on to the next step. */
export function proceed<C>(call: C): Continue<C> {
  return { kind: 'continue', call };
}
