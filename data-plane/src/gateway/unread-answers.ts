/**
 * Answers that clients do not read wait in memory here. The amount is bounded by agent, over all of
 * its connections, and shared out among all: further answers are not sent. A connection without
 * progress is closed after a while, and sooner while its agent, or all together, have too much
 * unread.
 */
import type { ServerResponse } from 'node:http';
import { StallClock } from '@governance/shared/http/unsent-bytes';
import { SMALL_ANSWER } from '../upstream/shares/answer-room.ts';
import { type ByteOwner, FairBytes } from '../upstream/shares/fair-bytes.ts';

/** The way out for the answers of one agent. */
export interface Outlet {
  /** Whether this many more bytes may wait for the agent. */
  hasRoom(bytes: number): boolean;
  /** Counts what waits on a connection, after something was written to it. */
  follow(raw: ServerResponse): void;
  /** Counts what waits to be written: so many bytes more, or fewer if negative. */
  hold(bytes: number): void;
}

export interface UnreadOptions {
  /** Bytes that may wait for one agent, at most. */
  maxBytes: number;
  /** For all agents. */
  maxBytesOfAll: number;
  servesSeveral(): boolean;
  /** How long a connection with unsent data may go without progress. */
  stallMs: number;
  /** Monotonic milliseconds. */
  elapsed(): number;
}

interface Followed {
  raw: ServerResponse;
  bytes: number;
  clock: StallClock;
  stalledMs: number;
}

/** The error that an agent gets in place of an answer. */
export const TOO_MUCH_UNREAD =
  'Busy: too much is unread of earlier answers, so this one is not sent. Read those, or close their connections.';

/** How long a connection may stall whose agent has too much unread. */
const PRESSED_MS = 5_000;

export type UnreadAnswers = ReturnType<typeof createUnreadAnswers>;

export function createUnreadAnswers(options: UnreadOptions) {
  const { maxBytes, stallMs, elapsed } = options;
  const all = new FairBytes(options.maxBytesOfAll, options.servesSeveral);
  const pressedMs = Math.min(PRESSED_MS, stallMs);
  const agents = new Map<string, AgentUnread>();
  /** Ensures that each connection is listened to once, however often something waits on it. */
  const known = new WeakMap<ServerResponse, Followed>();
  const timer = setInterval(
    () => {
      const afterMs = all.isShort ? pressedMs : stallMs;
      for (const agent of [...agents.values()]) agent.close(afterMs);
    },
    Math.min(1000, stallMs / 4),
  );
  timer.unref();

  class AgentUnread {
    readonly #owner: ByteOwner;
    readonly #followed = new Set<Followed>();
    bytes = 0;

    constructor(owner: ByteOwner) {
      this.#owner = owner;
    }

    follow(raw: ServerResponse): void {
      // Its `close` has been.
      if (raw.destroyed) return;
      const one = known.get(raw) ?? this.#watch(raw);
      if (!this.#followed.has(one)) {
        one.clock = new StallClock(elapsed());
        this.#followed.add(one);
      }
      this.#look(one);
    }

    #watch(raw: ServerResponse): Followed {
      const one = { raw, bytes: 0, clock: new StallClock(elapsed()), stalledMs: 0 };
      known.set(raw, one);
      raw.once('close', () => agents.get(this.#owner.key)?.drop(one));
      return one;
    }

    /** Closes connections stalled this long, the longest first, until `isEnough`. */
    close(afterMs: number, isEnough: () => boolean = () => false): void {
      for (const one of [...this.#followed]) this.#look(one);
      const stalled = [...this.#followed].filter((one) => one.stalledMs >= afterMs);
      for (const one of stalled.sort((a, b) => b.stalledMs - a.stalledMs)) {
        if (isEnough()) return;
        one.raw.destroy();
        this.drop(one);
      }
    }

    #look(one: Followed): void {
      const { raw } = one;
      const isOver = raw.destroyed || raw.writableFinished;
      const before = one.bytes;
      one.bytes = isOver ? 0 : raw.writableLength;
      this.#count(one.bytes - before);
      if (one.bytes === 0) this.drop(one);
      else one.stalledMs = one.clock.look(raw.req.socket, elapsed());
    }

    drop(one: Followed): void {
      this.#count(-one.bytes);
      one.bytes = 0;
      this.#followed.delete(one);
      this.#forgetIfDone();
    }

    hold(bytes: number): void {
      this.#count(bytes);
      this.#forgetIfDone();
    }

    #count(bytes: number): void {
      this.bytes += bytes;
      all.add(this.#owner, bytes);
    }

    #forgetIfDone(): void {
      const isDone = this.bytes === 0 && this.#followed.size === 0;
      const { key } = this.#owner;
      if (isDone && agents.get(key) === this) agents.delete(key);
    }
  }

  function open({ tenantId, key }: ByteOwner): AgentUnread {
    const agent = agents.get(key) ?? new AgentUnread({ tenantId, key });
    agents.set(key, agent);
    return agent;
  }

  return {
    outletOf(owner: ByteOwner): Outlet {
      return {
        hasRoom(bytes) {
          const agent = agents.get(owner.key);
          // However much others leave unread, who reads gets what is small.
          if (agent === undefined && bytes <= SMALL_ANSWER) return true;
          const own = () => agent?.bytes ?? 0;
          const fits = () =>
            // One answer may be larger than the agent's limit.
            (own() === 0 || own() + bytes <= maxBytes) && all.hasRoom(owner, bytes);
          if (!fits()) agent?.close(pressedMs, fits);
          return fits();
        },
        follow(raw) {
          if (!raw.destroyed && raw.writableLength > 0) open(owner).follow(raw);
        },
        hold: (bytes) => open(owner).hold(bytes),
      };
    },

    /** Bytes that wait for all agents. */
    bytes: (): number => all.total,

    stop: () => clearInterval(timer),
  };
}
