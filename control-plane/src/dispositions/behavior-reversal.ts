/**
 * BEHAVIOR_REVERSAL (specification 1, section 6): an action that was blocked is allowed, or the
 * reverse, for the same requester. Decisions of several data planes arrive late and out of order,
 * so each condition considers decisions before and after the new one. Proven by
 * behavior-reversal.test.ts.
 */
import { MINUTE_MS } from '@governance/shared/time/durations';
import type { Disposition } from './disposition.ts';

const OPPOSITE_WITHIN_MS = 120 * MINUTE_MS;
const VARYING_WITHIN_MS = 30 * MINUTE_MS;
const PRIOR_BLOCKS = 3;
const VARYING_SESSIONS = 3;

/** Decisions of one kind about one action in one session. Times are Unix milliseconds. */
export interface Tally {
  count: number;
  firstAt: number;
  lastAt: number;
}

/** The decisions about one action in one session. */
export interface SessionTallies {
  sessionId: string;
  sessionStartedAt: number;
  agentId: string;
  tallies: Record<Disposition, Tally | null>;
}

export interface NewDecision {
  sessionId: string;
  disposition: Disposition;
  at: number;
}

export type ReversalCondition =
  | 'opposite_in_new_session'
  | 'allowed_after_blocks'
  | 'varying_sessions';

/** Adds a decision to its session. */
export function addTo(row: SessionTallies, { disposition, at }: NewDecision): void {
  const known = row.tallies[disposition];
  row.tallies[disposition] = {
    count: (known?.count ?? 0) + 1,
    firstAt: Math.min(known?.firstAt ?? at, at),
    lastAt: Math.max(known?.lastAt ?? at, at),
  };
}

/**
 * @param rows earlier decisions about the action for the requester, by session
 * @param own the session of the decision, one of `rows` or a new one
 * @returns the conditions that the decision meets
 */
export function findReversals(
  rows: readonly SessionTallies[],
  own: SessionTallies,
  decision: NewDecision,
): ReversalCondition[] {
  const found: ReversalCondition[] = [];
  const others = rows.filter((row) => row.sessionId !== own.sessionId);
  const ofAgent = others.filter((row) => row.agentId === own.agentId);
  if (isOpposite(ofAgent, own, decision)) found.push('opposite_in_new_session');
  if (isVarying(ofAgent, own, decision)) found.push('varying_sessions');
  if (isAllowedAfterBlocks([...others, own], decision)) found.push('allowed_after_blocks');
  return found;
}

/**
 * Whether the decision is the earliest of its kind in the session: repeated ones add nothing,
 * unless one arrives late.
 */
function isFirst(own: SessionTallies, { disposition, at }: NewDecision): boolean {
  const known = own.tallies[disposition];
  return known === null || at < known.firstAt;
}

/** The opposite decision in the later of two sessions, within two hours. */
function isOpposite(
  others: readonly SessionTallies[],
  own: SessionTallies,
  decision: NewDecision,
): boolean {
  const { disposition, at } = decision;
  if (disposition === 'escalated') return false;
  const looksBehind = isFirst(own, decision);
  const opposite = disposition === 'allowed' ? 'blocked' : 'allowed';
  return others.some((other) => {
    const tally = other.tallies[opposite];
    if (tally === null || other.sessionStartedAt === own.sessionStartedAt) return false;
    return other.sessionStartedAt < own.sessionStartedAt
      ? looksBehind && tally.firstAt <= at && tally.lastAt >= at - OPPOSITE_WITHIN_MS
      : tally.lastAt >= at && tally.firstAt <= at + OPPOSITE_WITHIN_MS;
  });
}

/** Three blocks or more, followed by the first allow. */
function isAllowedAfterBlocks(
  rows: readonly SessionTallies[],
  { disposition, at }: NewDecision,
): boolean {
  if (disposition === 'escalated') return false;
  const allowed = rows.flatMap((row) => row.tallies.allowed ?? []);
  if (disposition === 'allowed') {
    const before = blocksBefore(rows, at);
    const lastAllowed = Math.max(
      ...allowed.map(({ firstAt, lastAt }) => lastUntil(firstAt, lastAt, at)),
    );
    return before.count >= PRIOR_BLOCKS && before.lastAt > lastAllowed;
  }
  // A block that arrives late and is the third before a known allow.
  const next = Math.min(
    ...allowed.flatMap(({ firstAt, lastAt }) => [firstAt, lastAt].filter((time) => time > at)),
  );
  if (next === Number.POSITIVE_INFINITY) return false;
  const before = blocksBefore(rows, next);
  return before.count + 1 === PRIOR_BLOCKS;
}

/** The later of the two times that are not after `at`; minus infinity where both are after it. */
function lastUntil(firstAt: number, lastAt: number, at: number): number {
  if (lastAt <= at) return lastAt;
  return firstAt <= at ? firstAt : Number.NEGATIVE_INFINITY;
}

/** Where a session's blocks continue after `at`, only the first is known to precede it. */
function blocksBefore(rows: readonly SessionTallies[], at: number) {
  let count = 0;
  let last = Number.NEGATIVE_INFINITY;
  for (const { tallies } of rows) {
    const { blocked } = tallies;
    if (blocked === null || blocked.firstAt > at) continue;
    count += blocked.lastAt <= at ? blocked.count : 1;
    last = Math.max(last, lastUntil(blocked.firstAt, blocked.lastAt, at));
  }
  return { count, lastAt: last };
}

/** Three or more sessions within half an hour with differing decisions. */
function isVarying(
  others: readonly SessionTallies[],
  own: SessionTallies,
  decision: NewDecision,
): boolean {
  const { at } = decision;
  const looksBehind = isFirst(own, decision);
  const tallies = { ...own.tallies };
  const row = { ...own, tallies };
  addTo(row, decision);
  const all = [...others, row].flatMap(({ sessionId, tallies }) =>
    Object.entries(tallies).flatMap(([disposition, tally]) =>
      tally === null ? [] : [{ sessionId, disposition, ...tally }],
    ),
  );
  const ends = all
    .flatMap(({ firstAt, lastAt }) => [firstAt, lastAt])
    .filter((time) => (time > at || looksBehind) && time >= at && time <= at + VARYING_WITHIN_MS);
  return variesAt(all, ends);
}

interface SpanOfSession {
  sessionId: string;
  disposition: string;
  firstAt: number;
  lastAt: number;
}

/**
 * Whether three or more sessions with differing decisions overlap the half hour before one of the
 * ends. Each span enters and leaves the window once, however many ends there are.
 */
export function variesAt(spans: readonly SpanOfSession[], ends: readonly number[]): boolean {
  if (ends.length === 0) return false;
  const byBegin = [...spans].sort((a, b) => a.firstAt - b.firstAt);
  const byEnd = [...spans].sort((a, b) => a.lastAt - b.lastAt);
  const sessions = new Map<string, number>();
  const dispositions = new Map<string, number>();
  const count = ({ sessionId, disposition }: SpanOfSession, change: 1 | -1) => {
    countIn(sessions, sessionId, change);
    countIn(dispositions, disposition, change);
  };
  let [begun, over] = [0, 0];
  for (const end of [...ends].sort((a, b) => a - b)) {
    for (let span = byBegin[begun]; span && span.firstAt <= end; span = byBegin[++begun]) {
      count(span, 1);
    }
    const from = end - VARYING_WITHIN_MS;
    for (let span = byEnd[over]; span && span.lastAt < from; span = byEnd[++over]) count(span, -1);
    if (sessions.size >= VARYING_SESSIONS && dispositions.size > 1) return true;
  }
  return false;
}

function countIn(counts: Map<string, number>, key: string, change: 1 | -1): void {
  const left = (counts.get(key) ?? 0) + change;
  if (left === 0) counts.delete(key);
  else counts.set(key, left);
}
