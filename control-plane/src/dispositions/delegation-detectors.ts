/**
 * Detectors over the delegated calls of all data planes: calls outside the delegation's scope, and
 * calls with a requester other than the delegation's. The data planes have already decided the
 * calls. Proven by requester-detectors.pg.test.ts.
 */

import { isQuestion } from '@governance/shared/mcp/server-questions';
import { MINUTE_MS } from '@governance/shared/time/durations';
import { DELEGATOR_LACKS } from '@governance/shared/tokens/delegation-scope';
import { keyOf } from '../sessions/session-key.ts';
import { about, type Detect } from './detector.ts';
import type { SessionDecision } from './disposition.ts';

const PROBES = 3;
const PROBE_COOL_DOWN_MS = 5 * MINUTE_MS;
/** The window in which different names are counted together; each name is reported once in it. */
const MISMATCH_WINDOW_MS = 15 * MINUTE_MS;
/** Names per agent and delegation that are counted separately. */
const MAX_NAMES = 100;

/** The delegation that a call was made with: the last one in its chain. */
const delegationOf = ({ record }: SessionDecision) => record.delegation_chain.at(-1);

/** DELEGATION_SCOPE_PROBE: the third call outside of a delegation's scope, and those after it. */
export const detectScopeProbes: Detect = async ({ decisions, states }) => {
  const probes = decisions.flatMap((decision) => {
    const { decided_by, method, policy_reason } = decision.record;
    const delegation = delegationOf(decision);
    // A server asks this, not the agent.
    if (isQuestion(method)) return [];
    // Not a probe: the call is within the delegation's scope, but the delegator has lost the right.
    // Data planes record this sentence unchanged, so a redacted reason is another one and counts:
    // else an agent could hide its probes by arguments that have the reason redacted.
    const isProbe = decided_by === 'scope-probe' && policy_reason !== DELEGATOR_LACKS;
    return isProbe && delegation ? [{ decision, delegation }] : [];
  });
  const detector = 'scope_probe';
  await states.load(probes.map(({ delegation }) => ({ detector, subject: delegation })));
  for (const { decision, delegation } of probes) {
    const key = { detector, subject: delegation };
    const state = states.of(key);
    state.count += 1;
    state.lastAt = Math.max(state.lastAt ?? 0, decision.at);
    if (state.count < PROBES) continue;
    await states.raise(key, PROBE_COOL_DOWN_MS, {
      alertType: 'DELEGATION_SCOPE_PROBE',
      severity: 'high',
      title: 'An agent repeatedly tries what its delegation does not cover',
      agentId: decision.record.agent_id,
      details: {
        ...about(decision),
        delegation_id: delegation,
        probes: state.count,
        action: decision.record.action,
      },
      dedupeKey: `delegation-probe:${delegation}`,
    });
  }
};

/** REQUESTER_IDENTITY_MISMATCH: a delegated call names another requester than its delegation. */
export const detectMismatches: Detect = async ({ decisions, states }) => {
  const found = decisions.flatMap((decision) => {
    const { requester_id: name, requester_verified: isVerified, agent_id } = decision.record;
    const delegation = delegationOf(decision);
    if (delegation === undefined || isVerified || name === null) return [];
    return [{ decision, delegation, name, subject: `${delegation}:${agent_id}` }];
  });
  const detector = 'requester_mismatch';
  await states.load(found.map(({ subject }) => ({ detector, subject })));
  for (const { decision, delegation, name, subject } of found) {
    const key = { detector, subject };
    const isFull = states.itemsOf(key).length >= MAX_NAMES;
    const item = isFull ? 'others' : keyOf('name', name);
    const state = states.of({ ...key, item });
    state.count += 1;
    state.lastAt = Math.max(state.lastAt ?? 0, decision.at);
    const since = decision.at - MISMATCH_WINDOW_MS;
    const names = states.itemsOf(key).filter(({ lastAt }) => (lastAt ?? 0) >= since).length;
    await states.raise({ ...key, item }, MISMATCH_WINDOW_MS, {
      alertType: 'REQUESTER_IDENTITY_MISMATCH',
      severity: 'high',
      title: 'A delegated call names another requester than its delegation',
      agentId: decision.record.agent_id,
      // A count instead of the names, which the tenant's data protection may keep out of alerts.
      details: { ...about(decision), delegation_id: delegation, names },
      dedupeKey: `requester-mismatch:${subject}`,
    });
  }
};
