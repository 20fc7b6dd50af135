/**
 * A circuit breaker for each MCP server. After several consecutive failures it opens for a growing
 * time; then one request probes whether the server answers again. Meanwhile lists leave the server
 * out, and calls fail at once. Proven by health.test.ts.
 */
import type { ReportedHealth } from '@governance/shared/channel/channels';
import type { Logger } from 'pino';
import { UpstreamFailure, type UpstreamFailureKind, type UpstreamSession } from '../upstream.ts';

/**
 * `failing`: the last request failed; `resting`: the breaker is open; `probing`: one request is
 * out.
 */
export type ServerHealth = 'ok' | 'failing' | 'resting' | 'probing';

/** Consecutive failures that open the breaker. */
const FAILURES = 5;
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60_000;
/**
 * Opening a session or listing counts as failed after this time, though it may still succeed.
 * Joined lists wait for a server as long.
 */
const SLOW_MS = 8_000;

/**
 * Whether a failure shows that the server is down. A refused or malformed answer came from a live
 * server, and the gateway's own refusals say nothing about it. Nor does a call or a read that times
 * out: it may just be slow, and must not open the breaker for others.
 */
function isSilence(kind: UpstreamFailureKind, isQuick: boolean): boolean {
  return kind === 'unreachable' || (kind === 'timeout' && isQuick);
}

/** @param method what is waited for; null for what opens a session */
function slowReason(method: string | null): string {
  const what = method ?? 'opening a session (initialize or server/discover)';
  return `${what} takes longer than ${SLOW_MS / 1000} s`;
}

/** A server, or the process where each agent has its own. */
export interface WatchedPlace {
  tenantId: string;
  serverId: string;
  /** Null where the agents share the server. */
  agentId: string | null;
  /** The server's address: at another address the breaker starts afresh. */
  address: string | null;
}

export interface CircuitBreakerDeps {
  /** Monotonic milliseconds. */
  elapsed(): number;
  /** Called when a server's health has changed. */
  onChanged?(tenantId: string): void;
  log: Pick<Logger, 'info' | 'warn'>;
}

/** One server's breaker. An answer of any kind, even a JSON-RPC error, is a sign of life. */
export class CircuitBreaker {
  readonly #place: WatchedPlace;
  readonly #deps: CircuitBreakerDeps;
  usedAt: number;
  /** Whether the server has answered, or failed to. */
  #isFound = false;
  #failures = 0;
  /** When the server may be asked again; null while it may be asked at any time. */
  #retryAt: number | null = null;
  #pauseMs = FIRST_PAUSE_MS;
  #isProbing = false;
  #reason: string | undefined;

  constructor(place: WatchedPlace, deps: CircuitBreakerDeps) {
    this.#place = place;
    this.#deps = deps;
    this.usedAt = deps.elapsed();
  }

  state(): ServerHealth {
    if (this.#retryAt !== null) return this.#isProbing ? 'probing' : 'resting';
    return this.#failures > 0 ? 'failing' : 'ok';
  }

  /** For the control plane, which learns of it later: a probe is over by then. */
  reported(): ReportedHealth | undefined {
    if (!this.#isFound) return undefined;
    const state = this.state();
    return state === 'probing' ? 'resting' : state;
  }

  /** The last failure; undefined while there is none. */
  get reason(): string | undefined {
    return this.#reason;
  }

  /**
   * Asks the server, and updates its health by the result.
   *
   * @param method null for what opens a session; any other opens it where it is not open yet
   * @throws UpstreamFailure `unreachable` while the server rests
   */
  async watch<T>(
    method: string | null,
    session: Pick<UpstreamSession, 'isOpen'>,
    ask: () => Promise<T>,
  ): Promise<T> {
    const isProbe = this.#enter();
    let isCounted = false;
    const fail = (reason: string) => {
      if (!isCounted) this.#failed(isProbe, reason);
      isCounted = true;
    };
    const isQuick = method === null || method.endsWith('/list');
    const isSlow = () => fail(slowReason(session.isOpen ? method : null));
    const timer = isQuick ? setTimeout(isSlow, SLOW_MS) : undefined;
    try {
      const done = await ask();
      this.#answered();
      return done;
    } catch (error) {
      if (error instanceof UpstreamFailure && isSilence(error.kind, isQuick)) fail(error.message);
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** @returns whether the request is the probe */
  #enter(): boolean {
    const now = this.#deps.elapsed();
    this.usedAt = now;
    if (this.#retryAt === null) return false;
    if (now < this.#retryAt) {
      const seconds = Math.ceil((this.#retryAt - now) / 1000);
      throw new UpstreamFailure(
        'unreachable',
        `not asked: the server failed ${this.#failures} times in a row and is tried again in ${seconds} s`,
      );
    }
    // If this probe hangs or is cancelled, another one follows after the same pause.
    this.#retryAt = now + this.#pauseMs;
    this.#isProbing = true;
    return true;
  }

  #answered(): void {
    if (this.#isFound && this.#failures === 0) return;
    this.#change(() => {
      if (this.#retryAt !== null) {
        const fields = { server: this.#place.serverId, failures: this.#failures };
        this.#deps.log.info(fields, 'an MCP server answers again');
      }
      this.#failures = 0;
      this.#reason = undefined;
      this.#retryAt = null;
      this.#pauseMs = FIRST_PAUSE_MS;
      this.#isProbing = false;
    });
  }

  #failed(isProbe: boolean, reason: string): void {
    this.#reason = reason;
    this.#change(() => {
      this.#failures++;
      if (this.#retryAt === null) {
        if (this.#failures >= FAILURES) this.#rest();
      } else if (isProbe) {
        // Requests in progress when the breaker opened say nothing new.
        this.#pauseMs = Math.min(this.#pauseMs * 2, MAX_PAUSE_MS);
        this.#rest();
      }
    });
  }

  #change(work: () => void): void {
    const before = this.reported();
    this.#isFound = true;
    work();
    if (this.reported() !== before) this.#deps.onChanged?.(this.#place.tenantId);
  }

  #rest(): void {
    this.#isProbing = false;
    this.#retryAt = this.#deps.elapsed() + this.#pauseMs;
    const { serverId: server } = this.#place;
    const fields = { server, failures: this.#failures, pauseMs: this.#pauseMs };
    this.#deps.log.warn(fields, 'an MCP server does not answer and is left alone for a while');
  }
}
