/**
 * Answers that clients do not read wait in memory here. The amount is bounded by agent, over all of
 * its connections: further answers are not sent. A connection without progress is closed after a
 * while, and sooner while its agent has too much unread.
 */
import type { ServerResponse } from 'node:http';
import { StallClock } from '@governance/shared/unsent-bytes';

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
  'Busy: this agent has too much unread of earlier answers, so this one is not sent. Read those, or close their connections.';

/** The same limit for a connection of an agent that has too much unread. */
const PRESSED_MS = 5_000;

export type UnreadAnswers = ReturnType<typeof createUnreadAnswers>;

export function createUnreadAnswers({ maxBytes, stallMs, elapsed }: UnreadOptions) {
  const agents = new Map<string, AgentUnread>();
  /** Ensures that each connection is listened to once, however often something waits on it. */
  const known = new WeakMap<ServerResponse, Followed>();
  const timer = setInterval(
    () => {
      for (const agent of [...agents.values()]) agent.close(stallMs);
    },
    Math.min(1000, stallMs / 4),
  );
  timer.unref();

  class AgentUnread {
    readonly #key: string;
    readonly #followed = new Set<Followed>();
    bytes = 0;

    constructor(key: string) {
      this.#key = key;
    }

    follow(raw: ServerResponse): void {
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
      raw.once('close', () => agents.get(this.#key)?.drop(one));
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
      this.bytes -= one.bytes;
      one.bytes = isOver ? 0 : raw.writableLength;
      this.bytes += one.bytes;
      if (one.bytes === 0) this.drop(one);
      else one.stalledMs = one.clock.look(raw.req.socket, elapsed());
    }

    drop(one: Followed): void {
      this.bytes -= one.bytes;
      one.bytes = 0;
      this.#followed.delete(one);
      this.#forgetIfDone();
    }

    hold(bytes: number): void {
      this.bytes += bytes;
      this.#forgetIfDone();
    }

    #forgetIfDone(): void {
      const isDone = this.bytes === 0 && this.#followed.size === 0;
      if (isDone && agents.get(this.#key) === this) agents.delete(this.#key);
    }
  }

  function open(key: string): AgentUnread {
    const agent = agents.get(key) ?? new AgentUnread(key);
    agents.set(key, agent);
    return agent;
  }

  return {
    outletOf(agentKey: string): Outlet {
      return {
        hasRoom(bytes) {
          const agent = agents.get(agentKey);
          // One answer may always be sent, however large.
          if (agent === undefined || agent.bytes === 0) return true;
          const fits = () => agent.bytes + bytes <= maxBytes;
          if (!fits()) agent.close(Math.min(PRESSED_MS, stallMs), fits);
          return fits();
        },
        follow(raw) {
          if (!raw.destroyed && raw.writableLength > 0) open(agentKey).follow(raw);
        },
        hold: (bytes) => open(agentKey).hold(bytes),
      };
    },

    /** Bytes that wait for all agents. */
    bytes(): number {
      let all = 0;
      for (const agent of agents.values()) all += agent.bytes;
      return all;
    },

    stop: () => clearInterval(timer),
  };
}
