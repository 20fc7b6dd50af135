/**
 * A permanent database session: reopened, with growing pauses, whenever it is lost. A query every
 * other second notices the loss within seconds, even if the network silently drops packets.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';

export interface StandingSessionDeps {
  open(): Promise<pg.Client>;
  /**
   * Uses each session. The signal aborts when the session is lost or must end; `use` has to return
   * then. If it throws, the session is closed and another one opened.
   */
  use(session: pg.Client, signal: AbortSignal): Promise<void>;
  /** Called with the reason when a session could not be opened, or ended before `stop`. */
  onLost(error: unknown): void;
}

export interface StandingSession {
  /** Ends it; resolves when `use` has returned and the session is closed. */
  stop(): Promise<void>;
}

/** The pause between two checks of the session. */
const ASK_EVERY_MS = 2_000;
/** A session that takes longer to close has its connection destroyed. */
const CLOSE_WITHIN_MS = 2_000;
/** The pause before the next try: it doubles with every failure, up to the longest. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

export function startStandingSession(deps: StandingSessionDeps): StandingSession {
  const stopping = new AbortController();

  const keep = async (): Promise<void> => {
    let failures = 0;
    while (!stopping.signal.aborted) {
      try {
        const session = await deps.open();
        await hold(session, () => {
          failures = 0;
        });
      } catch (error) {
        if (stopping.signal.aborted) return;
        deps.onLost(error);
      }
      const pause = Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS);
      failures += 1;
      await sleep(pause, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };

  /** @throws the reason why the session ended, unless `stop` ended it */
  const hold = async (session: pg.Client, onAnswer: () => void): Promise<void> => {
    const lost = new AbortController();
    const lose = (error?: unknown) => lost.abort(error ?? new Error('the session ended'));
    session.on('error', lose);
    session.on('end', lose);
    const asking = setInterval(() => {
      session.query('SELECT 1').then(onAnswer, lose);
    }, ASK_EVERY_MS);
    try {
      await deps.use(session, AbortSignal.any([stopping.signal, lost.signal]));
      lost.signal.throwIfAborted();
    } finally {
      clearInterval(asking);
      await close(session, lost.signal.aborted);
    }
  };

  const running = keep();
  return {
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}

/**
 * The connection of a lost session is destroyed first: the server would not answer a normal close.
 */
async function close(session: pg.Client, isLost: boolean): Promise<void> {
  session.removeAllListeners('end');
  session.removeAllListeners('notification');
  const cut = () => session.connection.stream.destroy();
  if (isLost) cut();
  const late = setTimeout(cut, CLOSE_WITHIN_MS);
  await session.end().catch(() => undefined);
  clearTimeout(late);
}
