import type { SessionTokenClass } from '@governance/shared/tokens/session-token';
import type { AskForNews, FeedNews, Replica } from '../../contracts.ts';
import type { WorkflowAlerts } from '../alerts/workflow-alerts.ts';
import type { AgentCall, Deny, StepResult } from '../call/calls.ts';
import { extend, proceed } from '../call/pipeline-builder.ts';
import {
  type EligibilityDeps,
  findAgentNow,
  findSession,
  NO_PART,
  placeInWorkflow,
  placeOfDelegatee,
  refused,
  type WorkflowEligibilityDeps,
} from '../permission/eligibility.ts';
import type { SessionToken, SessionTokenVerifier } from '../tokens/session-token.ts';

/** How long a replica that is behind a token may take to catch up. */
const FEED_WAIT_MS = 1000;

export interface SessionTokenDeps extends WorkflowEligibilityDeps {
  replica: WorkflowEligibilityDeps['replica'] &
    EligibilityDeps['replica'] &
    Pick<Replica, 'cursor' | 'waitFor'>;
  findDenial: EligibilityDeps['findDenial'];
  askForNews: AskForNews;
  sessionTokens: SessionTokenVerifier;
  workflowAlerts: WorkflowAlerts;
}

/**
 * Step 2d: finds the workflow session of a call. An invalid token denies the call: a call that
 * claims a workflow is never judged as one outside it.
 */
export function validateWorkflowSession(
  call: AgentCall,
  deps: SessionTokenDeps,
): StepResult<AgentCall> | Promise<StepResult<AgentCall>> {
  const token = call.caller.workflow?.sessionToken ?? null;
  if (token === null) return proceed(call);
  return withToken(call, 'workflow', token, deps, (now, { subject }) => {
    const session = findSession(now.caller.tenantId, subject, deps);
    if ('kind' in session) return session;
    const place = placeInWorkflow(now.agent.id, session);
    if (place !== undefined) return proceed(extend(now, { workflow: place }));
    // With a delegation the agent may take part: the next step verifies it, or denies.
    if (now.caller.workflow?.delegationToken !== null) {
      return proceed(extend(now, { workflow: placeOfDelegatee(session) }));
    }
    deps.workflowAlerts.unexpectedParticipant(now, session.workflow.id, session.session.id);
    return NO_PART;
  });
}

/** Verifies a token. Waits for the feed where the replica is behind the token or lacks its key. */
export function withToken(
  call: AgentCall,
  kind: SessionTokenClass,
  text: string,
  deps: SessionTokenDeps,
  use: (call: AgentCall, token: SessionToken) => StepResult<AgentCall>,
): StepResult<AgentCall> | Promise<StepResult<AgentCall>> {
  const { tenantId } = call.caller;
  const token = deps.sessionTokens.verify(kind, tenantId, text);
  if (typeof token !== 'string') return withVerified(call, kind, token, deps, use);
  const asked = token === 'unknown_key' ? deps.askForNews(tenantId, call.agent.id) : null;
  if (asked === null) return notValid(kind, token);
  return asked.then((news) => {
    const again = deps.sessionTokens.verify(kind, tenantId, text);
    if (typeof again === 'string') {
      return notValid(kind, again === 'unknown_key' ? withNews(again, news) : again);
    }
    return withAgentNow(call, deps, (now) => withVerified(now, kind, again, deps, use));
  });
}

function withVerified(
  call: AgentCall,
  kind: SessionTokenClass,
  token: SessionToken,
  deps: SessionTokenDeps,
  use: (call: AgentCall, token: SessionToken) => StepResult<AgentCall>,
): StepResult<AgentCall> | Promise<StepResult<AgentCall>> {
  const { tenantId } = call.caller;
  if (token.expiresAt <= deps.now()) return notValid(kind, 'expired');
  if (deps.replica.cursor(tenantId) >= token.feedSeq) return use(call, token);
  void deps.askForNews(tenantId, call.agent.id);
  return deps.replica.waitFor(tenantId, token.feedSeq, FEED_WAIT_MS).then((isThere) => {
    if (!isThere) return notValid(kind, 'replica_behind');
    return withAgentNow(call, deps, (now) => use(now, token));
  });
}

function withNews(fault: string, news: FeedNews): string {
  if (news === 'current') return fault;
  if (news === 'crowded') return `${fault}, and too many wait for news of it already`;
  return `${fault}, and the control plane did not answer`;
}

/** Continues after a wait, in which the agent may have changed. */
function withAgentNow<T>(
  call: AgentCall,
  deps: SessionTokenDeps,
  use: (call: AgentCall) => T,
): T | Deny {
  const agent = findAgentNow(call, deps);
  return 'kind' in agent ? agent : use(extend(call, { agent }));
}

function notValid(kind: SessionTokenClass, fault: string): Deny {
  const name = kind === 'workflow' ? 'X-Workflow-Session' : 'X-Delegation-Token';
  return { ...refused(`the token in ${name} is not valid`), detail: `${name}: ${fault}` };
}
