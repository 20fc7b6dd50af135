/**
 * Tries policies on a call. The decision is the one that a data plane would make, by the engine and
 * the bounds of data planes; OPA's interpreter only explains it. Proven by evaluate-policy.pg.test.ts.
 */
import {
  type Explanation,
  FAULT_REASONS,
  type PolicyInput,
  type PolicyOutcome,
  type PolicySource,
  type PolicyVerdict,
  type RegoCompiler,
} from '@governance/policies/contract';
import { describeDecision, describeVerdict } from '@governance/policies/describe-decision';
import { AppError } from '@governance/shared/errors';
import { ACTIONS } from '@governance/shared/tokens/permission';
import { findPolicyWarnings } from './policy.ts';
import { doesNotCompile } from './policy-errors.ts';
import type { EvaluateBody, EvaluationView } from './policy-schemas.ts';

/** The input of a policy, with any action: roles may name others than calls have. */
export type TrialInput = Omit<PolicyInput, 'request'> & {
  request: Omit<PolicyInput['request'], 'action'> & { action: string };
};

export interface Trial {
  policyId: string;
  /** This policy alone. */
  alone: PolicySource[];
  /** The active ones and this one. */
  together: PolicySource[];
  input: TrialInput;
  settings: unknown;
  /** Who asks: the compiler takes tenants in turn. */
  turn: string;
  withTrace: boolean;
}

/**
 * Both decisions are made before either is explained: an explanation that is stopped ends the thread
 * with what it has compiled.
 *
 * @throws AppError POLICY_DOES_NOT_COMPILE, NOT_EVALUATED
 */
export async function evaluatePolicy(
  compiler: Pick<RegoCompiler, 'judge' | 'explain'>,
  trial: Trial,
): Promise<EvaluationView> {
  const { alone, together, policyId, withTrace } = trial;
  const outcomes = {
    alone: await judge(compiler, alone, trial),
    together: await judge(compiler, together, trial),
  };
  const explain = (policies: PolicySource[]) =>
    compiler.explain(policies, trial.input, { settings: trial.settings }, trial.turn);
  const why = await explain(alone);
  // The larger set would be stopped too.
  const whyTogether = why.stopped === null ? await explain(together) : undefined;
  const { action } = trial.input.request;
  const notes = ACTIONS.includes(action)
    ? []
    : [`No call has the action ${action}: data planes give ${ACTIONS.join(', ')}.`];
  for (const { name, rego } of alone) {
    notes.push(...findPolicyWarnings(rego).map((warning) => `${name}: ${warning}`));
  }
  const view = (policies: PolicySource[], outcome: PolicyOutcome, explained?: Explanation) => ({
    ...describe(policies, outcome, { notes, explained }),
    ...(withTrace && { trace: explained?.trace ?? [] }),
  });
  return {
    policy_id: policyId,
    ...view(alone, outcomes.alone, why),
    active_set: view(together, outcomes.together, whyTogether),
  };
}

async function judge(
  compiler: Pick<RegoCompiler, 'judge'>,
  policies: PolicySource[],
  { input, settings, turn, policyId }: Trial,
): Promise<PolicyOutcome> {
  const judged = await compiler.judge(policies, input, { settings }, turn);
  switch (judged.kind) {
    case 'decided':
      return judged.outcome;
    case 'not_compiled':
      throw doesNotCompile(judged.diagnostics, policyId);
    case 'not_loaded':
      throw notEvaluated(`no data plane would load these policies (${judged.message})`);
    case 'stopped':
      throw notEvaluated(`the evaluation was stopped, since ${judged.message}`);
  }
}

function notEvaluated(why: string): AppError {
  return new AppError('NOT_EVALUATED', `Nothing was decided: ${why}.`);
}

function describe(
  policies: PolicySource[],
  outcome: PolicyOutcome,
  { notes, explained }: { notes: string[]; explained: Explanation | undefined },
) {
  const names = new Map(policies.map(({ id, name }) => [id, name]));
  const verdict = outcome.ok ? outcome.verdict : denialOf(outcome);
  const { decision } = verdict;
  const reasons = verdict.reasons.filter(({ rule }) => rule === decision);
  const [summary, ...rules] = describeDecision(
    { decision, reasons },
    explained?.steps ?? [],
    names,
  );
  return {
    decision,
    reasons,
    ...(!outcome.ok && { fault: outcome.fault }),
    explanation: [summary ?? '', ...notes, ...notesOn(outcome, explained), ...rules],
  };
}

type Fault = Extract<PolicyOutcome, { ok: false }>;

/** With the reason that a data plane gives. */
function denialOf({ fault }: Fault): PolicyVerdict {
  const message = FAULT_REASONS[fault];
  const reason = { policy_id: '', policy: 'default', rule: 'deny' as const, message };
  return { decision: 'deny', reasons: [reason] };
}

/** What is to be known before the rules are read. */
function notesOn(outcome: PolicyOutcome, explained: Explanation | undefined): string[] {
  const bounds = outcome.ok
    ? []
    : [`Data planes end this evaluation (${outcome.fault}: ${outcome.message}) and deny the call.`];
  return [...bounds, ...notesOfInterpreter(outcome, explained)];
}

function notesOfInterpreter(outcome: PolicyOutcome, explained: Explanation | undefined): string[] {
  if (!explained)
    return ['The rules are not explained, since those of this policy alone were not.'];
  const { stopped, verdict } = explained;
  if (stopped !== null) {
    return [`The rules are not explained: the explanation was stopped, since ${stopped}.`];
  }
  const { decision } = verdict;
  if (outcome.ok && outcome.verdict.decision === decision) return [];
  const reasons = verdict.reasons.filter(({ rule }) => rule === decision);
  const other = describeVerdict({ decision, reasons });
  return [`OPA’s interpreter explains the rules, and has other bounds. It says: ${other}`];
}

export function toPolicyInput(body: EvaluateBody, now: Date): TrialInput {
  const { agent, request, requester, workflow, delegation, dlp, context } = body;
  const { input_responses, request_state, resource = request.tool_name, ...asked } = request;
  return {
    agent,
    request: {
      ...asked,
      resource,
      ...(input_responses !== undefined && { input_responses }),
      ...(request_state !== undefined && { request_state }),
    },
    requester,
    workflow,
    delegation,
    dlp,
    context: { ...context, time: context.time ?? now.toISOString() },
  };
}
