/**
 * A session that asks its server only within the share of its agent. What is asked holds its place
 * until it ended, whoever still waits for it: an agent that hangs up frees nothing.
 */
import type { FairShares, ShareAccount } from './fair-shares.ts';
import type {
  Cancellation,
  UpstreamAnswer,
  UpstreamExchange,
  UpstreamInfo,
  UpstreamNotification,
  UpstreamRequest,
  UpstreamSession,
} from './upstream.ts';

export class SharingSession implements UpstreamSession {
  readonly #session: UpstreamSession;
  readonly #shares: FairShares;
  readonly #account: ShareAccount;
  #waiting = 0;

  constructor(session: UpstreamSession, shares: FairShares, account: ShareAccount) {
    this.#session = session;
    this.#shares = shares;
    this.#account = account;
  }

  get pending(): number {
    return this.#session.pending + this.#waiting;
  }

  open(): Promise<UpstreamInfo> {
    return this.#within(undefined, () => this.#session.open());
  }

  request(request: UpstreamRequest, exchange: UpstreamExchange): Promise<UpstreamAnswer> {
    return this.#within(exchange.cancellation, () => this.#session.request(request, exchange));
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

  async #within<T>(cancellation: Cancellation | undefined, work: () => Promise<T>): Promise<T> {
    const room = this.#shares.take(this.#account, cancellation);
    if (room !== undefined) {
      this.#waiting++;
      try {
        await room;
      } finally {
        this.#waiting--;
      }
    }
    try {
      return await work();
    } finally {
      this.#shares.give(this.#account);
    }
  }
}
