/**
 * Bounds the memory that servers' answers, notifications and questions take, from their first bytes until they
 * were inspected. The number of requests in progress is bounded too (fair-shares.ts), but not what
 * each brings.
 */
import { type UpstreamExchange, UpstreamFailure } from '../upstream.ts';
import { type ByteOwner, FairBytes, heapShare } from './fair-bytes.ts';

/** Bytes of an answer that is not counted: nearly all are as small, and their number is bounded. */
export const SMALL_ANSWER = 16 * 1024;
/** Answers take one part in this many of the heap: each byte takes up to ten, once it is parsed. */
const HEAP_PARTS = 16;
/** Answers of maximum size that have room however small the heap is. */
const LEAST_ANSWERS = 8;

/** Bytes to count for a message that belongs to no call: none for a small one that waits alone. */
export function bytesToHold(bytes: number, isFirst: boolean): number {
  return isFirst && bytes <= SMALL_ANSWER ? 0 : bytes;
}

/** @param messageBytes of one answer, at most */
export function createAnswerRoom(messageBytes: number, servesSeveral: () => boolean): FairBytes {
  const most = Math.max(heapShare(HEAP_PARTS), LEAST_ANSWERS * messageBytes);
  return new FairBytes(most, servesSeveral);
}

/** What the answer of one call takes, or one stream. */
export class AnswerBytes {
  readonly #room: FairBytes;
  readonly #owner: ByteOwner;
  #bytes = 0;
  #isReleased = false;

  constructor(room: FairBytes, owner: ByteOwner) {
    this.#room = room;
    this.#owner = owner;
  }

  /** What is counted now. */
  get bytes(): number {
    return this.#bytes;
  }

  /** See `UpstreamExchange.hold`. */
  hold(bytes: number): boolean {
    if (this.#isReleased) return true;
    if (bytes > 0 && !this.#room.hasRoom(this.#owner, bytes, this.#bytes)) return false;
    this.#bytes += bytes;
    this.#room.add(this.#owner, bytes);
    return true;
  }

  /** The answer is no longer waited for, and was handed over or dropped. */
  release(): void {
    this.#isReleased = true;
    this.#room.add(this.#owner, -this.#bytes);
    this.#bytes = 0;
  }
}

/** The failure of a call whose answer finds no room. @param done what the server did */
export function noRoom(done: 'did' | 'may have done' = 'did'): UpstreamFailure {
  return new UpstreamFailure(
    'no_room',
    `Busy: the answers that are on their way take too much memory, so this one was dropped. The MCP server ${done} what it was asked for. Make fewer calls with large answers at once.`,
  );
}

/** The failure of what has to be read before a call is sent, as a handshake. */
export function noRoomYet(): UpstreamFailure {
  return new UpstreamFailure(
    'busy',
    'Busy: the answers that are on their way take too much memory. Try again later.',
  );
}

/** Counts an answer that has arrived whole. @returns false where there is no room for it */
export function hasRoomFor(exchange: UpstreamExchange, bytes: number): boolean {
  return bytes <= SMALL_ANSWER || (exchange.hold?.(bytes) ?? true);
}

/** The failure of a request whose answer may have found no room: what counts none is no call. */
export function noRoomFor(exchange: UpstreamExchange): UpstreamFailure {
  return exchange.hold ? noRoom('may have done') : noRoomYet();
}
