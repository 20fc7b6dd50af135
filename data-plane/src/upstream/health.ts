/**
 * Which MCP servers are worth asking. One that failed several times in a row is left alone for a
 * while that grows; then one request finds out whether it answers again. Lists do not wait for it
 * meanwhile, and calls fail at once. An answer of any kind, a JSON-RPC error too, is a sign of life.
 */
import type { ReportedHealth, ServerReport } from '@governance/shared/channels';
import type { Logger } from 'pino';
import { ServerNotes } from './server-notes.ts';
import { type ServerFinding, toServerReport } from './server-report.ts';
import {
  type UpstreamAnswer,
  type UpstreamExchange,
  UpstreamFailure,
  type UpstreamFailureKind,
  type UpstreamInfo,
  type UpstreamNotification,
  type UpstreamRequest,
  type UpstreamSession,
} from './upstream.ts';

/** `failing`: the last request failed; `resting`: it is not asked; `probing`: one request is out. */
export type ServerHealth = 'ok' | 'failing' | 'resting' | 'probing';

/** Failures in a row after which a server rests. */
const FAILURES = 5;
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60_000;
/**
 * What opens a session or lists, and is slower, counts as failed, though it may still end. Joined
 * lists go on without a server only after that.
 */
const SLOW_MS = 8_000;

/**
 * What says that the server is not there. An answer that is refused or malformed was given by
 * somebody, and what the gateway refuses itself says nothing of the server. Nor does a call or a
 * read that takes too long: they may be slow, and nobody is to close a server to others by one.
 */
function isSilence(kind: UpstreamFailureKind, isQuick: boolean): boolean {
  return kind === 'unreachable' || (kind === 'timeout' && isQuick);
}

/** A server; where each agent has a process of its own, that process. */
export interface WatchedPlace {
  tenantId: string;
  serverId: string;
  /** Null where the agents share the server. */
  agentId: string | null;
  /** Where the server is: at another address it begins anew. */
  address: string | null;
}

export interface UpstreamHealthDeps {
  /** Monotonic milliseconds. */
  elapsed(): number;
  /** Told when a server of the tenant is found to be another way than before. */
  onChanged?(tenantId: string): void;
  log: Pick<Logger, 'info' | 'warn'>;
}

export type UpstreamHealth = ReturnType<typeof createUpstreamHealth>;

/** Keeps the health of all servers. */
export function createUpstreamHealth(deps: UpstreamHealthDeps) {
  const breakers = new Map<string, { place: WatchedPlace; breaker: Breaker }>();
  const notes = new ServerNotes((tenantId) => deps.onChanged?.(tenantId));

  return {
    /** Has reports say something of a server; null takes it back. */
    note: notes.put.bind(notes),

    /** A session that asks its server only while that is worth it. */
    watch(place: WatchedPlace, session: UpstreamSession): UpstreamSession {
      const key = `${place.tenantId} ${place.serverId} ${place.agentId}`;
      let known = breakers.get(key);
      if (known === undefined || known.place.address !== place.address) {
        known = { place, breaker: new Breaker(place, deps) };
        breakers.set(key, known);
      }
      return new WatchedSession(session, known.breaker);
    },

    /**
     * How a tenant's servers are, and why; of several processes of one, the worst counts.
     *
     * @param known what is known without asking them
     */
    report(tenantId: string, known: Iterable<ServerFinding> = []): ServerReport {
      const found: ServerFinding[] = [...known, ...notes.of(tenantId)];
      for (const { place, breaker } of breakers.values()) {
        const health = place.tenantId === tenantId ? breaker.reported() : undefined;
        if (health !== undefined) found.push([place.serverId, health, breaker.reason]);
      }
      return toServerReport(found);
    },

    /** How many servers (of stdio: processes) are in which state. */
    counts(): Record<ServerHealth, number> {
      const counts = { ok: 0, failing: 0, resting: 0, probing: 0 };
      for (const { breaker } of breakers.values()) counts[breaker.state()]++;
      return counts;
    },

    /** Forgets the servers that the registry lost, and those that nobody asked for so long. */
    forget(isRegistered: (tenantId: string, serverId: string) => boolean, idleMs: number): void {
      const before = deps.elapsed() - idleMs;
      for (const [key, { place, breaker }] of breakers) {
        const isKept = breaker.usedAt >= before && isRegistered(place.tenantId, place.serverId);
        if (!isKept) breakers.delete(key);
      }
      notes.forget(isRegistered);
    },
  };
}

class Breaker {
  readonly #place: WatchedPlace;
  readonly #deps: UpstreamHealthDeps;
  usedAt: number;
  /** Whether the server has answered, or failed to. */
  #isFound = false;
  #failures = 0;
  /** From when on the server may be asked; null while it may be asked at any time. */
  #retryAt: number | null = null;
  #pauseMs = FIRST_PAUSE_MS;
  #isProbing = false;
  #reason: string | undefined;

  constructor(place: WatchedPlace, deps: UpstreamHealthDeps) {
    this.#place = place;
    this.#deps = deps;
    this.usedAt = deps.elapsed();
  }

  state(): ServerHealth {
    if (this.#retryAt !== null) return this.#isProbing ? 'probing' : 'resting';
    return this.#failures > 0 ? 'failing' : 'ok';
  }

  /**
   * For the control plane, which hears of it a while later: that one request finds out is over by
   * then.
   */
  reported(): ReportedHealth | undefined {
    if (!this.#isFound) return undefined;
    const state = this.state();
    return state === 'probing' ? 'resting' : state;
  }

  /** What went wrong the last time; undefined where nothing does. */
  get reason(): string | undefined {
    return this.#reason;
  }

  /**
   * Asked before each request.
   *
   * @returns whether the request is the one that finds out
   * @throws UpstreamFailure while the server rests
   */
  enter(): boolean {
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
    // Should this request hang, or be cancelled, another one finds out after the same pause.
    this.#retryAt = now + this.#pauseMs;
    this.#isProbing = true;
    return true;
  }

  answered(): void {
    if (this.#isFound && this.#failures === 0) return;
    this.#change(() => this.#recover());
  }

  #recover(): void {
    if (this.#retryAt !== null) {
      const fields = { server: this.#place.serverId, failures: this.#failures };
      this.#deps.log.info(fields, 'an MCP server answers again');
    }
    this.#failures = 0;
    this.#reason = undefined;
    this.#retryAt = null;
    this.#pauseMs = FIRST_PAUSE_MS;
    this.#isProbing = false;
  }

  failed(isProbe: boolean, reason: string): void {
    this.#reason = reason;
    this.#change(() => this.#count(isProbe));
  }

  #count(isProbe: boolean): void {
    this.#failures++;
    if (this.#retryAt === null) {
      if (this.#failures >= FAILURES) this.#rest();
    } else if (isProbe) {
      // What was under way when the rest began says nothing new.
      this.#pauseMs = Math.min(this.#pauseMs * 2, MAX_PAUSE_MS);
      this.#rest();
    }
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

class WatchedSession implements UpstreamSession {
  readonly #session: UpstreamSession;
  readonly #breaker: Breaker;

  constructor(session: UpstreamSession, breaker: Breaker) {
    this.#session = session;
    this.#breaker = breaker;
  }

  get pending(): number {
    return this.#session.pending;
  }

  open(): Promise<UpstreamInfo> {
    return this.#watch(null, () => this.#session.open());
  }

  request(request: UpstreamRequest, exchange: UpstreamExchange): Promise<UpstreamAnswer> {
    return this.#watch(request.method, () => this.#session.request(request, exchange));
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

  async #watch<T>(method: string | null, work: () => Promise<T>): Promise<T> {
    const breaker = this.#breaker;
    const isProbe = breaker.enter();
    let isCounted = false;
    const fail = (reason: string) => {
      if (!isCounted) breaker.failed(isProbe, reason);
      isCounted = true;
    };
    const isQuick = method === null || method.endsWith('/list');
    const slow = `${method ?? 'opening a session'} takes longer than ${SLOW_MS / 1000} s`;
    const timer = isQuick ? setTimeout(fail, SLOW_MS, slow) : undefined;
    try {
      const done = await work();
      breaker.answered();
      return done;
    } catch (error) {
      if (error instanceof UpstreamFailure && isSilence(error.kind, isQuick)) fail(error.message);
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }
}
