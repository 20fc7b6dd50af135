/**
 * REQUESTER_SESSION_CYCLING: one requester opens session after session, so that per-session state
 * is empty each time. Proven by requester-detectors.pg.test.ts.
 */
import { REMOVED_NAME } from '../sessions/session-key.ts';
import { readOpenings } from '../sessions/session-store.ts';
import { about, type Detect } from './detector.ts';
import type { SessionDecision } from './disposition.ts';

const WINDOW_MS = 30 * 60_000;
const COOL_DOWN_MS = 5 * 60_000;

export const detectCycling: Detect = async ({ tx, decisions, states, settings }) => {
  // A session counts once, when it opens: further calls within it are not cycling.
  const opened = decisions.filter(
    ({ record: { requester_id: name }, at, session }) =>
      name !== null && name !== REMOVED_NAME && at === session.startedAt,
  );
  if (opened.length === 0) return;
  const detector = 'session_cycling';
  await states.load(opened.map(({ requesterKey }) => ({ detector, subject: requesterKey })));
  const ranges = rangesAround(opened);
  const openings = await readOpenings(
    tx,
    ranges.map(({ requesterKey, from, to }) => ({
      requesterKey,
      from: new Date(from - WINDOW_MS),
      to: new Date(to + WINDOW_MS),
    })),
  );
  const looked = ranges.flatMap(({ decisions }, index) =>
    decisions.map((decision) => ({ decision, near: openings[index] ?? [] })),
  );
  for (const { decision, near } of looked.sort((a, b) => a.decision.at - b.decision.at)) {
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

interface Range {
  requesterKey: string;
  from: number;
  to: number;
  decisions: SessionDecision[];
}

/**
 * Groups openings of one requester within a window, so that they need one read instead of one each.
 *
 * @param opened ordered by time
 */
export function rangesAround(opened: readonly SessionDecision[]): Range[] {
  const ranges: Range[] = [];
  const last = new Map<string, Range>();
  for (const decision of opened) {
    const { requesterKey, at } = decision;
    const known = last.get(requesterKey);
    if (known && at - known.from <= WINDOW_MS) {
      known.to = at;
      known.decisions.push(decision);
    } else {
      const range = { requesterKey, from: at, to: at, decisions: [decision] };
      last.set(requesterKey, range);
      ranges.push(range);
    }
  }
  return ranges;
}

/**
 * The largest set of openings within one window that contains `at`. Linear time.
 *
 * @param near ordered by time
 */
export function mostWithin(near: readonly Opening[], at: number): readonly Opening[] {
  let [first, end, length] = [0, 0, 0];
  for (const [index, { startedAt: from }] of near.entries()) {
    if (from > at) break;
    if (from + WINDOW_MS < at) continue;
    while ((near[end]?.startedAt ?? Number.POSITIVE_INFINITY) <= from + WINDOW_MS) end++;
    if (end - index > length) [first, length] = [index, end - index];
  }
  return near.slice(first, first + length);
}
