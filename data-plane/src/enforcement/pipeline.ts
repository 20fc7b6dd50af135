import type { RawCall } from './calls.ts';
import { pipeline } from './pipeline-builder.ts';
import { type ArgumentsDeps, boundArguments } from './steps/arguments.ts';
import { type AuthenticateDeps, authenticate } from './steps/authenticate.ts';
import { type ClassifyDeps, classify } from './steps/classify.ts';
import { checkHops } from './steps/hops.ts';
import { checkKillSwitch, checkStanding, type KillSwitchDeps } from './steps/kill-switch.ts';
import { evaluatePolicy, type PolicyDeps } from './steps/policy.ts';

export type StepDeps = AuthenticateDeps &
  KillSwitchDeps &
  ArgumentsDeps &
  ClassifyDeps &
  PolicyDeps;

// Order is security. The reason for each position is in docs/enforcement-order.md.
export const enforcement = pipeline<RawCall, StepDeps>()
  .step('authenticate', authenticate) // 1, RawCall -> AgentCall
  .step('standing', checkStanding)
  .step('kill-switch', checkKillSwitch)
  .step('hops', checkHops)
  .step('arguments', boundArguments)
  .step('classify', classify) // AgentCall -> ClassifiedCall
  .step('policy', evaluatePolicy); // 5, ClassifiedCall -> JudgedCall
