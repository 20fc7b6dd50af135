import type { RawCall } from './call/calls.ts';
import { pipeline } from './call/pipeline-builder.ts';
import type { EligibilityDeps } from './permission/eligibility.ts';
import { type ArgumentsDeps, boundArguments } from './steps/arguments.ts';
import { type AuthenticateDeps, authenticate } from './steps/authenticate.ts';
import { type BlastRadiusDeps, limitBlastRadius } from './steps/blast-radius.ts';
import { type CausalDepthDeps, findCausalDepth } from './steps/causal-depth.ts';
import { type ClassifyDeps, classify } from './steps/classify.ts';
import { validateDelegation } from './steps/delegation.ts';
import { type DlpDeps, scanCall } from './steps/dlp.ts';
import { checkHops } from './steps/hops.ts';
import { checkKillSwitch } from './steps/kill-switch.ts';
import { checkPinnedTool, type PinnedToolsDeps } from './steps/pinned-tools.ts';
import { evaluatePolicy, type PolicyDeps } from './steps/policy.ts';
import { limitRate, type RateLimitDeps } from './steps/rate-limit.ts';
import { checkDelegatedScope } from './steps/scope-probe.ts';
import { checkTenantEligibility } from './steps/standing.ts';
import { checkWorkflowActions } from './steps/workflow-actions.ts';
import { type SessionTokenDeps, validateWorkflowSession } from './steps/workflow-session.ts';

export type StepDeps = AuthenticateDeps &
  EligibilityDeps &
  RateLimitDeps &
  SessionTokenDeps &
  CausalDepthDeps &
  ArgumentsDeps &
  ClassifyDeps &
  PinnedToolsDeps &
  DlpDeps &
  BlastRadiusDeps &
  PolicyDeps;

// Order is security. The reason for each position is in docs/enforcement-order.md.
export const enforcement = pipeline<RawCall, StepDeps>()
  .step('authenticate', authenticate) // 1, RawCall -> AgentCall
  .step('standing', checkTenantEligibility)
  .step('kill-switch', checkKillSwitch)
  .step('rate-limit', limitRate)
  .step('workflow-session', validateWorkflowSession) // 2d
  .step('delegation', validateDelegation) // 2e
  .step('causal-depth', findCausalDepth)
  .step('hops', checkHops)
  .step('arguments', boundArguments)
  .step('classify', classify) // AgentCall -> ClassifiedCall
  .step('workflow-actions', checkWorkflowActions)
  .step('pinned-tools', checkPinnedTool)
  .step('dlp', scanCall) // 2, ClassifiedCall -> ScannedCall
  .step('scope-probe', checkDelegatedScope) // 4c
  .step('blast-radius', limitBlastRadius) // 4d
  .step('policy', evaluatePolicy); // 5, ScannedCall -> JudgedCall
