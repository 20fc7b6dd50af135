import type {
  PolicyFault,
  PolicyInput,
  PolicyOutcome,
  PolicyReason,
} from '@governance/policies/contract';
import { isAuthorsFault } from '../../policy-faults.ts';
import {
  type ClassifiedCall,
  type Deny,
  type Escalate,
  extend,
  type JudgedCall,
  proceed,
  type StepResult,
} from '../calls.ts';

export interface PolicyDeps {
  /** This data plane's id at the tenant. */
  findDeploymentId(tenantId: string): string | undefined;
  region: string | null;
  /** Unix milliseconds. */
  now(): number;
  /** Told when a policy failed at what its author wrote: somebody has to look at it. */
  onPolicyFault(call: ClassifiedCall, fault: PolicyFault): void;
}

/** Step 5: what the tenant's policies say. Whatever is not a well-formed allow is none. */
export function evaluatePolicy(call: ClassifiedCall, deps: PolicyDeps): StepResult<JudgedCall> {
  const { rules } = call;
  if (rules === null) return deny('no policy bundle is active', []);
  const outcome: PolicyOutcome = rules.engine.evaluate(policyInput(call, deps));
  if (!outcome.ok) {
    if (isAuthorsFault(outcome.fault)) deps.onPolicyFault(call, outcome.fault);
    return deny(FAULTS[outcome.fault], [], `${outcome.fault}: ${outcome.message}`);
  }
  const { decision, reasons } = outcome.verdict;
  const said = reasons.filter((reason) => reason.rule === decision);
  switch (decision) {
    case 'allow':
      return proceed(extend(call, { rules, reasons: said }));
    case 'escalate':
      return { kind: 'escalate', reasons: said } satisfies Escalate;
    case 'deny':
      return deny(said.length > 0 ? formatReasons(said) : 'no policy allows this call', said);
  }
}

const FAULTS: Record<PolicyFault, string> = {
  undefined: 'the policies gave no decision',
  malformed_verdict: 'the policies gave no well-formed decision',
  out_of_fuel: 'the policies took too long to decide',
  out_of_memory: 'the policies used too much memory',
  trap: 'the policies could not be evaluated',
  builtin_error: 'a built-in function of the policies failed',
  not_loaded: 'the policies are not loaded',
};

function deny(message: string, reasons: readonly PolicyReason[], detail?: string): Deny {
  return { kind: 'deny', cause: 'policy', message, reasons, detail };
}

/** Reasons as one line, as agent and audit event see them. */
export function formatReasons(reasons: readonly PolicyReason[]): string {
  return reasons.map((reason) => `${reason.policy}: ${reason.message}`).join('; ');
}

function policyInput(call: ClassifiedCall, deps: PolicyDeps): PolicyInput {
  const { agent } = call;
  return {
    agent: {
      id: agent.id,
      name: agent.name,
      agent_type: agent.agent_type,
      owner: agent.owner,
      roles: agent.role_names,
      permissions: agent.permissions,
      risk_tier: agent.risk_tier,
      risk_score: agent.risk_score,
    },
    request: {
      tool_name: call.toolName,
      action: call.action,
      resource: call.target,
      parameters: call.args,
      mcp_server: call.serverId,
      method: call.method,
    },
    requester: { id: call.requesterId, verified: false },
    workflow: null,
    delegation: null,
    dlp: { findings_count: 0, max_severity: null, patterns: [] },
    context: {
      time: new Date(deps.now()).toISOString(),
      data_plane: deps.findDeploymentId(call.tenantId) ?? '',
      region: deps.region,
      model: null,
      agent_role: null,
    },
  };
}
