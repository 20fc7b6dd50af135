/**
 * Groups events into sessions by time: two belong together if at most the idle time lies between
 * them. The result is a union of spans, so it does not depend on the order of arrival: a late event
 * may begin a session earlier, or merge two. Proven by session-spans.test.ts.
 */

/** Times are Unix milliseconds. */
export interface Span {
  startedAt: number;
  lastEventAt: number;
  /** Without an event until then, the session is over. */
  expiresAt: number;
}

export interface Joined<S, E> {
  span: Span;
  events: E[];
  /** The known sessions merged into it, the earliest first; empty for a new session. */
  sessions: S[];
}

/** @returns the spans of the events alone, without known sessions, the earliest first */
export function runsOf<E extends { at: number }>(events: readonly E[], idleMs: number): Span[] {
  return joinSpans<never, E>([], events, idleMs).map(({ span }) => span);
}

/**
 * Assigns events of one key to its sessions.
 *
 * @param sessions the sessions whose span meets a run of the events; no two of them meet
 * @returns the sessions with new events; the others stay as they are
 */
export function joinSpans<S extends Span, E extends { at: number }>(
  sessions: readonly S[],
  events: readonly E[],
  idleMs: number,
): Joined<S, E>[] {
  const parts = [
    ...sessions.map((session) => ({ span: spanOf(session), session, event: undefined })),
    ...events.map((event) => ({ span: ofEvent(event.at, idleMs), session: undefined, event })),
  ].sort((a, b) => a.span.startedAt - b.span.startedAt);
  const joined: Joined<S, E>[] = [];
  let open: Joined<S, E> | undefined;
  for (const { span, session, event } of parts) {
    if (open === undefined || span.startedAt > open.span.expiresAt) {
      open = { span: { ...span }, events: [], sessions: [] };
      joined.push(open);
    }
    open.span.lastEventAt = Math.max(open.span.lastEventAt, span.lastEventAt);
    open.span.expiresAt = Math.max(open.span.expiresAt, span.expiresAt);
    if (session !== undefined) open.sessions.push(session);
    if (event !== undefined) open.events.push(event);
  }
  return joined.filter((one) => one.events.length > 0);
}

const spanOf = ({ startedAt, lastEventAt, expiresAt }: Span): Span => ({
  startedAt,
  lastEventAt,
  expiresAt,
});

const ofEvent = (at: number, idleMs: number): Span => ({
  startedAt: at,
  lastEventAt: at,
  expiresAt: at + idleMs,
});
