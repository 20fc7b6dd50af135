/**
 * A session that asks its server only within the share of its agent, and only while the circuit
 * breaker is closed. A request keeps its share until it has ended, even if nobody waits for it: an
 * agent that disconnects frees nothing.
 */
import type { CircuitBreaker } from '../health/circuit-breaker.ts';
import type { FairShares, ShareAccount } from '../shares/fair-shares.ts';
import {
  type Asker,
  requireStillWanted,
  type UpstreamAnswer,
  type UpstreamExchange,
  type UpstreamInfo,
  type UpstreamNotification,
  type UpstreamRequest,
  type UpstreamSession,
} from '../upstream.ts';

export interface SessionGuards {
  breaker: CircuitBreaker;
  shares: FairShares;
  account: ShareAccount;
}

export class GuardedSession implements UpstreamSession {
  readonly #session: UpstreamSession;
  readonly #guards: SessionGuards;
  #waiting = 0;

  constructor(session: UpstreamSession, guards: SessionGuards) {
    this.#session = session;
    this.#guards = guards;
  }

  get pending(): number {
    return this.#session.pending + this.#waiting;
  }

  get isOpen(): boolean {
    return this.#session.isOpen;
  }

  open(asker: Asker): Promise<UpstreamInfo> {
    return this.#guard(null, asker, () => this.#session.open(asker));
  }

  request(request: UpstreamRequest, exchange: UpstreamExchange): Promise<UpstreamAnswer> {
    const ask = () => this.#session.request(request, exchange);
    return this.#guard(request.method, exchange, ask);
  }

  notify(method: string): void {
    this.#session.notify(method);
  }

  listen(listener: ((notification: UpstreamNotification) => void) | null): void {
    this.#session.listen(listener);
  }

  close(): Promise<void> {
    return this.#session.close();
  }

  async #guard<T>(method: string | null, asker: Asker, ask: () => Promise<T>): Promise<T> {
    const { breaker, shares, account } = this.#guards;
    const room = shares.take(account, asker.cancellation);
    if (room !== undefined) {
      this.#waiting++;
      try {
        await room;
      } finally {
        this.#waiting--;
      }
    }
    try {
      // While it waited its agent may have been suspended: the breaker's one probe is not for that.
      if (room !== undefined) requireStillWanted(asker);
      return await breaker.watch(method, this.#session, ask);
    } finally {
      shares.give(account);
    }
  }
}
