/**
 * Where a stream of events that was cut is resumed (MCP, resumability), and when. An event is
 * delivered once, whatever the server sends again: some send everything that the session had since,
 * of all its streams. Proven by resume-point.test.ts and resumed-answer.test.ts.
 */
import { hash } from 'node:crypto';
import type { UpstreamFailure } from '../upstream.ts';

/** The delay before a stream is resumed whose server named none. */
const RESUME_MS = 1000;
const MIN_RETRY_MS = 50;
const MAX_RETRY_MS = 3_600_000;
/** Connections of a stream that a server may have sooner than a second after the one before. */
const MAX_QUICK = 8;
/** Attempts in a row that fail for the moment; the delay is doubled after each. */
const MAX_FAILED = 4;
/** Events of a session that are remembered. */
const MAX_SEEN = 256;
/** What the TypeScript SDK's server makes of an event that only had an id, when it sends that again. */
const EMPTY = '{}';
/** Letters at either end of an event that tell it from another with the same id and length. */
const COMPARED = 256;
/** Says nothing that could be done twice; one that is lost leaves an old list. It is short. */
const LIST_CHANGED = /"method": ?"notifications\/[a-z]{1,16}\/list_changed"/;
/** What fits into a header as it is. */
const EVENT_ID = /^[\x21-\x7e](?:[\x20-\x7e]{0,1022}[\x21-\x7e])?$/;
/** 409: the server has not noticed yet that the connection broke. */
const PASSING = new Set([408, 409, 425, 429]);

/** The last events with ids of all streams of a session. */
export class SeenEvents {
  readonly #seen = new Set<string>();

  /** @returns false where it was there already */
  add(id: string, data: string): boolean {
    // Some servers count anew on each connection: such an event is another, with other content.
    // The end counts too: some SDKs write the id of the request after the result.
    const ends = `${data.slice(0, COMPARED)}\n${data.slice(-COMPARED)}`;
    const known = `${id}\n${data.length}\n${ends}`;
    const key = hash('sha256', known, 'base64');
    const isNew = !this.#seen.delete(key);
    this.#seen.add(key);
    for (const oldest of this.#seen) {
      if (this.#seen.size <= MAX_SEEN) break;
      this.#seen.delete(oldest);
    }
    return isNew;
  }
}

/** Whether what answered a request for a stream may be better a moment later. */
export function isPassing(status: number, error: UpstreamFailure | null): boolean {
  if (status === 0) return error?.kind === 'unreachable';
  return status >= 500 || PASSING.has(status);
}

export class ResumePoint {
  readonly #seen: SeenEvents;
  #retryMs: number | null = null;
  #failed = 0;
  #connections = 0;
  /** The event after which the stream is resumed; null where it cannot be. */
  lastEventId: string | null = null;

  constructor(seen: SeenEvents) {
    this.#seen = seen;
  }

  /** Its server said when, or the last attempt failed: no sooner then. */
  get isTimed(): boolean {
    return this.#retryMs !== null || this.#failed > 0;
  }

  /** What the server asked for; 0 where it did not. */
  get retryMs(): number {
    return this.#retryMs ?? 0;
  }

  /** Milliseconds until it is resumed. */
  get delayMs(): number {
    // A server that ends each connection at once would be asked 20 times a second.
    const isQuick = this.#retryMs !== null && this.#connections <= MAX_QUICK;
    const own = this.#failed === 0 && isQuick ? 0 : RESUME_MS * 2 ** this.#failed;
    return Math.max(this.retryMs, own);
  }

  /** @returns whether it is to be delivered. @param isResumed the event came with the rest */
  take(id: string, data: string, isResumed: boolean): boolean {
    // Without a usable id, what came before it would come again.
    this.lastEventId = EVENT_ID.test(id) ? id : null;
    const isNew = data === '' || this.#seen.add(id, data);
    if (!isResumed) return true;
    return (isNew && data !== EMPTY) || (data.length <= COMPARED && LIST_CHANGED.test(data));
  }

  /** The server wants it to be resumed after this time. */
  setRetry(ms: number): void {
    this.#retryMs = Math.min(Math.max(ms, MIN_RETRY_MS), MAX_RETRY_MS);
  }

  /** A connection for it was opened. */
  opened(): void {
    this.#failed = 0;
    this.#connections += 1;
  }

  /** One could not be. @returns whether to try again */
  failed(status: number, error: UpstreamFailure | null): boolean {
    return isPassing(status, error) && ++this.#failed <= MAX_FAILED;
  }

  /** The stream that comes next is another. */
  reset(): void {
    this.lastEventId = null;
    this.#retryMs = null;
    this.#failed = 0;
    this.#connections = 0;
  }
}
