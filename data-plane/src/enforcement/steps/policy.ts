import {
  FAULT_REASONS,
  formatReasons,
  isAuthorsFault,
  type PolicyFault,
  type PolicyInput,
  type PolicyOutcome,
  type PolicyReason,
  type PolicyVerdict,
} from '@governance/policies/contract';
import { isoTime } from '@governance/shared/time/iso-time';
import type { ActiveRules, ReplicaAgent } from '../../contracts.ts';
import { wasAsked } from '../../holds/asked-reasons.ts';
import type { OpaServers, OpaTrouble } from '../../opa-server/opa-servers.ts';
import { isList } from '../call/call-kinds.ts';
import type {
  AgentCall,
  CallDlp,
  Deny,
  Escalate,
  JudgedCall,
  ScannedCall,
  StepResult,
} from '../call/calls.ts';
import { extend, proceed } from '../call/pipeline-builder.ts';
import { worstOf } from '../call/severities.ts';
import { patternsOf } from '../dlp/dlp-findings.ts';
import { type CallNowDeps, findCallNow, hasMoved } from '../permission/eligibility.ts';
import {
  decideCall,
  type ExceptionDeps,
  exceptionsFor,
  type FindException,
} from '../permission/exceptions.ts';
import { findLackingPermission, permissionsFor } from '../permission/permits.ts';
import { type AskOpaDeps, askOpa, type OpaDenial } from './ask-opa.ts';
import { judgeAgain } from './judge-again.ts';

export interface PolicyDeps
  extends Omit<AskOpaDeps, 'opa' | 'replica'>,
    CallNowDeps,
    ExceptionDeps {
  replica: CallNowDeps['replica'] & ExceptionDeps['replica'];
  /** The OPA servers that decide; null for the engine of the active bundle. */
  opa: OpaServers | null;
  /** This data plane's id at the tenant. */
  findDeploymentId(tenantId: string): string | undefined;
  findRegion(tenantId: string): string | null;
  /** Unix milliseconds. */
  now(): number;
  /** Called when a policy failed by its author's fault: a person has to correct it. */
  onPolicyFault(call: ScannedCall, fault: PolicyFault): void;
}

/** Step 5: the verdict of the tenant's policies. Only a well-formed allow allows a call. */
export function evaluatePolicy(
  call: ScannedCall,
  deps: PolicyDeps,
): StepResult<JudgedCall> | Promise<StepResult<JudgedCall>> {
  const { rules, agent } = call;
  if (rules === null) return deny('no policy bundle is active', []);
  // A list needs no verdict: it only shows what the agent may call, and each call is judged.
  if (isList(call.ask.method)) return proceed(extend(call, { rules, reasons: [] }));
  // One time for all inputs of the call: OPA's second, and the one that is kept after a wait.
  const asked = extend(call, { judgedAt: deps.now() });
  if (deps.opa !== null) return evaluateByOpa(asked, { ...deps, opa: deps.opa });
  return judge(asked, rules, rules.engine.evaluate(policyInput(asked, agent, deps)), deps);
}

async function evaluateByOpa(
  call: ScannedCall,
  deps: PolicyDeps & AskOpaDeps,
): Promise<StepResult<JudgedCall>> {
  const inputOf = (agent: ReplicaAgent) => JSON.stringify(policyInput(call, agent, deps));
  const judgement = await askOpa(call, inputOf, deps);
  if (judgement.kind === 'deny') return judgement;
  if (judgement.kind === 'denied') {
    const { reason, message } = judgement;
    reportDenial(call, reason, message, deps);
    return deny(OPA_DENIALS[reason], [], `${reason}: ${message}`);
  }
  const { agent, rules } = judgement;
  const now = findCallNow(call, deps);
  if ('kind' in now) return now;
  // Earlier steps, or OPA, went by other rules or another workflow than those of now.
  if (rules !== call.rules || hasMoved(call, now)) return judgeAgain(call, now);
  if (judgement.kind === 'allowed_unjudged') {
    // No policy was asked, so no exceptions apply: a person has to decide on carried reasons.
    const verdict: PolicyVerdict = { decision: 'allow', reasons: [UNJUDGED] };
    return decide(extend(call, { agent }), rules, verdict, NO_EXCEPTION);
  }
  return judge(extend(call, { agent }), rules, judgement.outcome, deps);
}

/** The reason recorded for a call that was allowed since OPA could not be reached. */
const UNJUDGED: PolicyReason = {
  policy_id: 'opa_unavailable_allowed',
  policy: 'opa_unavailable_allowed',
  rule: 'allow',
  message: 'the OPA server could not be reached, and SERVICE_OPA_FAIL_CLOSED is false',
};

function reportDenial(
  call: ScannedCall,
  reason: OpaDenial,
  message: string,
  deps: PolicyDeps & AskOpaDeps,
): void {
  // An error of OPA's may quote what it was asked, and no prompt is stored.
  const shown = call.ask.model ? OPA_DENIALS[reason] : message;
  const details = { reason, message: shown, event_id: call.id };
  const trouble = OPA_TROUBLES[reason];
  if (reason === 'opa_policy_failed') deps.onPolicyFault(call, 'trap');
  else if (trouble) deps.opa.alert(call.caller.tenantId, trouble, details);
}

/** Denials that raise an alert for an operator. An outage is reported with the server's state. */
const OPA_TROUBLES: Partial<Record<OpaDenial, OpaTrouble>> = {
  opa_stale: 'bundle',
  opa_ahead: 'bundle',
  opa_no_bundle: 'bundle',
  opa_wrong_tenant: 'bundle',
  opa_no_address: 'bundle',
  opa_error: 'answer',
  opa_malformed: 'answer',
};

const OPA_DENIALS: Record<OpaDenial, string> = {
  opa_unavailable: 'the policy engine cannot be reached',
  opa_unreachable: 'the policy engine gave no answer',
  opa_timeout: 'the policy engine took too long to decide',
  opa_error: 'the policy engine answered with an error',
  opa_malformed: 'the policy engine gave no well-formed answer',
  opa_policy_failed: 'the policies could not be evaluated',
  opa_overloaded: 'the policy engine is overloaded',
  opa_wrong_tenant: 'the policy engine has the rules of another tenant',
  opa_no_address: 'no policy engine is set for this tenant',
  opa_stale: 'the policy engine does not have the newest rules yet',
  opa_ahead: 'the policy engine has rules that are not in force here',
  opa_no_bundle: 'the policy engine has no rules',
};

function judge(
  call: ScannedCall,
  rules: ActiveRules,
  outcome: PolicyOutcome,
  deps: PolicyDeps,
): StepResult<JudgedCall> {
  if (!outcome.ok) {
    if (isAuthorsFault(outcome.fault)) deps.onPolicyFault(call, outcome.fault);
    return deny(FAULT_REASONS[outcome.fault], [], `${outcome.fault}: ${outcome.message}`);
  }
  return decide(call, rules, outcome.verdict, exceptionsFor(call, deps));
}

/** The verdict after exceptions and approvals. A denial wins over both. */
function decide(
  call: ScannedCall,
  rules: ActiveRules,
  verdict: PolicyVerdict,
  findException: FindException,
): StepResult<JudgedCall> {
  const { carried = [], grant } = call;
  const isApproved = (reason: PolicyReason) =>
    grant !== undefined && wasAsked(grant.asked, { reasons: [reason], revision: rules.revision });
  const decided = decideCall({ verdict, carried, isApproved, findException });
  const { decision, reasons, lifted } = decided;
  const judged = lifted ? extend(call, { lifted }) : call;
  switch (decision) {
    case 'allow':
      return proceed(extend(judged, { rules, reasons }));
    case 'escalate':
      return { kind: 'escalate', reasons } satisfies Escalate;
    case 'deny':
      return denied(call, reasons);
  }
}

const NO_EXCEPTION: FindException = () => undefined;

/** The denial. Where no policy gave a reason, it names a permission that would be needed. */
function denied(call: ScannedCall, reasons: readonly PolicyReason[]): Deny {
  const message = reasons.length > 0 ? formatReasons(reasons) : 'no policy allows this call';
  const isByDefault = reasons.every(({ policy_id }) => policy_id === DEFAULT_REASON);
  const lacking = isByDefault ? findLackingPermission(call.agent, call) : undefined;
  if (lacking === undefined) return deny(message, reasons);
  const { permission, isOutOfScope } = lacking;
  const where = isOutOfScope ? ' in a role whose resource_scopes cover it' : '';
  const hint = `it needs a permission such as \`${permission}\`${where}`;
  return { ...deny(`${message}; ${hint}`, reasons), neededPermission: permission };
}

/** The `policy_id` of the reason used when no policy gave one. */
const DEFAULT_REASON = '';

function deny(message: string, reasons: readonly PolicyReason[], detail?: string): Deny {
  return { kind: 'deny', cause: 'policy', message, reasons, detail };
}

/** The input for the policies; docs/policy-contract.md describes it for their authors. */
export function policyInput(
  call: ScannedCall,
  agent: ReplicaAgent,
  deps: Pick<PolicyDeps, 'now' | 'findDeploymentId' | 'findRegion'>,
): PolicyInput {
  const { ask, caller } = call;
  const { inputResponses: input_responses, requestState: request_state } = ask.retry ?? {};
  return {
    agent: {
      id: agent.id,
      name: agent.name,
      agent_type: agent.agent_type,
      owner: agent.owner,
      roles: agent.role_names,
      // Only permissions that apply to this call, within the scopes of their roles.
      permissions: permissionsFor(agent.permits, ask, call.rules),
      risk_tier: agent.risk_tier,
      risk_score: agent.risk_score,
    },
    request: {
      tool_name: ask.name,
      action: call.action,
      resource: call.target,
      parameters: ask.args,
      ...(input_responses && { input_responses }),
      ...(request_state !== undefined && { request_state }),
      mcp_server: ask.serverId,
      method: ask.method,
    },
    requester: call.requester ?? { id: caller.requesterId, verified: false },
    workflow: workflowInput(call),
    delegation: delegationInput(call),
    dlp: dlpInput(call.dlp),
    context: {
      time: isoTime(call.judgedAt ?? deps.now()),
      data_plane: deps.findDeploymentId(caller.tenantId) ?? '',
      region: deps.findRegion(caller.tenantId),
      model: ask.model?.name ?? null,
      agent_role: ask.model ? (agent.role_names[0] ?? null) : null,
    },
  };
}

function workflowInput({ workflow }: AgentCall): PolicyInput['workflow'] {
  if (workflow === undefined) return null;
  return {
    id: workflow.workflowId,
    session_id: workflow.sessionId,
    role: workflow.role,
    causal_depth: workflow.causalDepth,
    parent_event_id: workflow.parentEventId,
  };
}

function delegationInput({ delegation }: AgentCall): PolicyInput['delegation'] {
  if (delegation === undefined) return null;
  const { links, last } = delegation;
  return {
    id: last.id,
    depth: links.length,
    delegator_agent_id: last.delegator_agent_id,
    /** In order, from the first. */
    delegators: links.map((link) => link.delegation.delegator_agent_id),
    tools: last.tools,
    resources: last.resources,
  };
}

const NO_FINDINGS: PolicyInput['dlp'] = { findings_count: 0, max_severity: null, patterns: [] };

function dlpInput({ findings }: CallDlp): PolicyInput['dlp'] {
  if (findings.length === 0) return NO_FINDINGS;
  return {
    findings_count: findings.length,
    max_severity: worstOf(findings),
    patterns: patternsOf(findings),
  };
}
