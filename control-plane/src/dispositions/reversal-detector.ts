/** Stores the dispositions of actions, and raises BEHAVIOR_REVERSAL when one is reversed. */
import { addTo, findReversals, type SessionTallies } from './behavior-reversal.ts';
import { about, type Detect } from './detector.ts';
import { actionOf, dispositionOf, type SessionDecision } from './disposition.ts';
import { dispositionStore, type StoredDispositions } from './disposition-store.ts';

const COOL_DOWN_MS = 5 * 60_000;
const detector = 'behavior_reversal';

export const detectReversals: Detect = async ({ tx, decisions, states, writtenAt }) => {
  const judged = decisions.flatMap((decision) => {
    const disposition = dispositionOf(decision.record);
    return disposition ? [{ decision, disposition, action: actionOf(decision.record) }] : [];
  });
  if (judged.length === 0) return;
  const store = dispositionStore(tx);
  const known = await store.load(
    judged.map(({ decision, action }) => ({ requesterKey: decision.requesterKey, action })),
  );
  await states.load(judged.map(({ decision }) => ({ detector, subject: agentOf(decision) })));
  for (const { decision, disposition, action } of judged) {
    const group = known.of(decision.requesterKey, action);
    const own = group.sessions.get(decision.session.id) ?? emptyOf(decision);
    const added = { sessionId: own.sessionId, disposition, at: decision.at };
    const rows = [...group.sessions.values()];
    const conditions = findReversals(rows, own, added);
    group.sessions.set(own.sessionId, own);
    addTo(own, added);
    group.changed.add(own.sessionId);
    if (conditions.length === 0) continue;
    const isAfterBlocks = conditions.includes('allowed_after_blocks');
    const severity = isAfterBlocks ? 'high' : 'medium';
    const agentId = agentOf(decision);
    await states.raise({ detector, subject: agentId }, COOL_DOWN_MS, {
      alertType: 'BEHAVIOR_REVERSAL',
      severity,
      title: 'The decision about an action was reversed',
      agentId,
      details: {
        ...about(decision),
        conditions,
        disposition,
        target_shape: action.targetShape,
        requester_id: decision.record.requester_id?.slice(0, 256).toWellFormed() ?? null,
        blocked: countOf(group, 'blocked'),
        allowed: countOf(group, 'allowed'),
        sessions: group.sessions.size,
      },
      dedupeKey: `behavior-reversal:${agentId}:${decision.requesterKey}:${action.key}:${severity}`,
    });
  }
  await store.save(known, writtenAt);
};

const agentOf = ({ record }: SessionDecision) => record.agent_id.toLowerCase();

function emptyOf(decision: SessionDecision): SessionTallies {
  return {
    sessionId: decision.session.id,
    sessionStartedAt: decision.session.startedAt,
    agentId: agentOf(decision),
    tallies: { allowed: null, blocked: null, escalated: null },
  };
}

function countOf({ sessions }: StoredDispositions, disposition: 'allowed' | 'blocked'): number {
  return [...sessions.values()].reduce(
    (sum, { tallies }) => sum + (tallies[disposition]?.count ?? 0),
    0,
  );
}
