/**
 * A session with a server whose era is not known in advance. It is opened in the era of its client,
 * and in the other where the server refuses that; the result is remembered for later sessions, and
 * detected again once the server refuses it.
 */

import { shareRun } from '../../storage/share-run.ts';
import { type EraCandidate, EraRefusal } from '../era.ts';
import {
  type Asker,
  type Era,
  isTimeout,
  requireEligible,
  requireStillWanted,
  type UpstreamAnswer,
  type UpstreamExchange,
  UpstreamFailure,
  type UpstreamFailureKind,
  type UpstreamInfo,
  type UpstreamNotification,
  type UpstreamRequest,
  type UpstreamSession,
} from '../upstream.ts';

export interface EraSessionOptions {
  preferred: Era;
  /** @param onRefused the server does not accept requests of that era, or no longer does */
  create(era: Era, onRefused: () => void): EraCandidate;
  /** Why the agent of the session may not act; undefined where it may. */
  findIneligibility(): string | undefined;
  /** The era that the server is known not to support. */
  findLack(): Era | undefined;
  keepLack(era: Era | undefined): void;
  /**
   * How long a server may be silent before it is asked in the other era; undefined for no such
   * limit.
   */
  patienceMs?: number | undefined;
  /** Its server knows nothing of what the session before it was told. */
  isReplacement?: boolean | undefined;
  /** The server changed its era, or is another one than before: its state is lost. */
  onReopened?: (() => void) | undefined;
}

export class EraSession implements UpstreamSession {
  readonly #options: EraSessionOptions;
  readonly #sessions: Partial<Record<Era, EraCandidate>> = {};
  #chosen: EraCandidate | null = null;
  readonly #choose = shareRun(() => this.#tryEras());
  #era: Era | null = null;
  #waiting = 0;
  #isClosed = false;
  #listener: ((notification: UpstreamNotification) => void) | null = null;

  constructor(options: EraSessionOptions) {
    this.#options = options;
  }

  get pending(): number {
    let pending = this.#waiting;
    for (const session of Object.values(this.#sessions)) pending += session.pending;
    return pending;
  }

  get isOpen(): boolean {
    return this.#chosen?.isOpen ?? false;
  }

  async open(asker: Asker): Promise<UpstreamInfo> {
    requireStillWanted(asker);
    return (this.#chosen ?? (await this.#choose())).open();
  }

  request(request: UpstreamRequest, exchange: UpstreamExchange): Promise<UpstreamAnswer> {
    return this.#chosen?.request(request, exchange) ?? this.#requestFirst(request, exchange);
  }

  notify(method: string): void {
    this.#chosen?.notify(method);
  }

  listen(listener: ((notification: UpstreamNotification) => void) | null): void {
    this.#listener = listener;
    this.#chosen?.listen(listener);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#listener = null;
    await Promise.all(Object.values(this.#sessions).map((session) => session.close()));
  }

  async #requestFirst(
    request: UpstreamRequest,
    exchange: UpstreamExchange,
  ): Promise<UpstreamAnswer> {
    requireStillWanted(exchange);
    this.#waiting++;
    let session: EraCandidate;
    try {
      session = await this.#choose();
    } finally {
      this.#waiting--;
    }
    return session.request(request, exchange);
  }

  async #tryEras(): Promise<EraCandidate> {
    const { preferred, patienceMs } = this.#options;
    const lack = this.#options.findLack();
    const first = lack === preferred ? otherThan(preferred) : preferred;
    const second = otherThan(first);
    let failure: UpstreamFailure;
    try {
      return await this.#open(first, lack === second ? undefined : patienceMs);
    } catch (error) {
      // Silence suggests the other era only where the wait was shortened.
      const isSilent = isTimeout(error) && patienceMs !== undefined && first === 'modern';
      if (!(error instanceof EraRefusal) && !isSilent) throw error;
      failure = error;
    }
    await this.#discard(first);
    try {
      const session = await this.#open(second, undefined);
      // Silence proves nothing: a dual-era server may be slow.
      if (failure instanceof EraRefusal) this.#options.keepLack(first);
      return session;
    } catch (error) {
      if (!(error instanceof EraRefusal)) throw tellingOf(failure, error, second);
      // It was slow to start, and does not know `initialize`: it gets the time of any request.
      if (!(failure instanceof EraRefusal)) {
        await this.#discard(second);
        const session = await this.#open(first, undefined);
        this.#options.keepLack(second);
        return session;
      }
      // What was remembered is wrong in any case.
      this.#options.keepLack(undefined);
      const isFirst = failure.weight > error.weight;
      throw isFirst || (failure.weight === error.weight && first === 'legacy') ? failure : error;
    }
  }

  async #open(era: Era, patienceMs: number | undefined): Promise<EraCandidate> {
    if (this.#isClosed) throw new UpstreamFailure('unreachable', 'the session was closed');
    // No process is started either for an agent that may not act, or not any more after the other
    // era was tried.
    requireEligible(this.#options);
    const known = this.#sessions[era];
    const session = known ?? this.#options.create(era, () => this.#refused(era));
    this.#sessions[era] = session;
    await session.open(patienceMs);
    if (this.#isClosed) throw new UpstreamFailure('unreachable', 'the session was closed');
    const before = this.#era;
    this.#era = era;
    this.#chosen = session;
    if (before !== null && before !== era) this.#sessions[before]?.listen(null);
    const isLost = before === null ? this.#options.isReplacement : before !== era || !known;
    if (isLost) this.#options.onReopened?.();
    session.listen(this.#listener);
    return session;
  }

  /**
   * Ends the requests in one era before the server is asked in the other: a process that has read a
   * request of one era is not asked in the other.
   */
  async #discard(era: Era): Promise<void> {
    const session = this.#sessions[era];
    delete this.#sessions[era];
    await session?.close();
  }

  /** The next request detects the server's era again. */
  #refused(era: Era): void {
    if (this.#era === era) this.#chosen = null;
  }
}

function otherThan(era: Era): Era {
  return era === 'legacy' ? 'modern' : 'legacy';
}

const TELLING: ReadonlySet<UpstreamFailureKind> = new Set(['unreachable', 'ineligible']);

/**
 * Combines a refusal with the failure of the other attempt: a server that is down is reported as
 * down, and an agent that may not act any more as that; otherwise the failure of `initialize`, which more servers know.
 */
function tellingOf(failure: UpstreamFailure, error: unknown, era: Era): unknown {
  const isTelling = error instanceof UpstreamFailure && TELLING.has(error.kind);
  return isTelling || era === 'legacy' ? error : failure;
}
