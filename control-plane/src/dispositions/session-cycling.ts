/**
 * REQUESTER_SESSION_CYCLING: one requester opens session after session, by which what is remembered
 * of a session begins anew each time. Proven by requester-detectors.pg.test.ts.
 */
import { REMOVED_NAME } from '../sessions/session-key.ts';
import { readOpenings } from '../sessions/session-store.ts';
import { about, type Detect } from './detector.ts';

const WINDOW_MS = 30 * 60_000;
const COOL_DOWN_MS = 5 * 60_000;

export const detectCycling: Detect = async ({ tx, decisions, states, settings }) => {
  // A session is looked at once, when it opens: going on in it is no cycling.
  const opened = decisions.filter(
    ({ record: { requester_id: name }, at, session }) =>
      name !== null && name !== REMOVED_NAME && at === session.startedAt,
  );
  if (opened.length === 0) return;
  const detector = 'session_cycling';
  await states.load(opened.map(({ requesterKey }) => ({ detector, subject: requesterKey })));
  const wanted = opened.map(({ requesterKey, at }) => ({
    requesterKey,
    from: new Date(at - WINDOW_MS),
    to: new Date(at + WINDOW_MS),
  }));
  const openings = await readOpenings(tx, wanted);
  for (const [index, decision] of opened.entries()) {
    const near = openings[index] ?? [];
    const most = mostWithin(near, decision.at);
    if (most.length < settings.cycling_sessions) continue;
    await states.raise({ detector, subject: decision.requesterKey }, COOL_DOWN_MS, {
      alertType: 'REQUESTER_SESSION_CYCLING',
      severity: 'medium',
      title: 'One requester opens many sessions in a short time',
      agentId: decision.record.agent_id,
      details: {
        ...about(decision),
        requester_id: decision.record.requester_id?.slice(0, 256).toWellFormed() ?? null,
        sessions: most.length,
        agents: new Set(most.map(({ agentId }) => agentId)).size,
      },
      dedupeKey: `session-cycling:${decision.requesterKey}`,
    });
  }
};

interface Opening {
  agentId: string;
  startedAt: number;
}

/** The most of them within one window that has `at`, in the order of time. */
function mostWithin(near: readonly Opening[], at: number): Opening[] {
  let most: Opening[] = [];
  for (const { startedAt: from } of near) {
    if (from > at) break;
    const to = from + WINDOW_MS;
    if (to < at) continue;
    const within = near.filter(({ startedAt }) => startedAt >= from && startedAt <= to);
    if (within.length > most.length) most = within;
  }
  return most;
}
