/**
 * Room for the events that streams keep for clients that come back (stream-log.ts). No agent takes
 * more of it than its share, and nobody more than is left (ADR 34). Where it is short, events go
 * that have been sent on a connection, before anything new is refused; for an answer, also unsent
 * notifications. They are the agent's own, or of somebody who keeps more: nobody loses events
 * because of somebody who keeps more. Proven by replay-room.test.ts.
 */
import { type ByteOwner, OwnedBytes } from '../upstream/shares/owned-bytes.ts';

/** Bytes that all streams may keep. */
const MAX_BYTES = 64 * 1024 * 1024;
/** Of that, the share of one agent. */
const MAX_BYTES_OF_AGENT = 8 * 1024 * 1024;

/** A stream that keeps events. */
export interface KeepingStream {
  readonly owner: ByteOwner;
  /** Gives back the room of its oldest event. False: it keeps none. */
  dropOldest(): boolean;
}

/** What a stream keeps: what its connection was sent, or what waits for one; neither an answer. */
export type Kept = 'sent' | 'waiting';

export interface ReplayLimits {
  bytes: number;
  bytesOfAgent: number;
  /** Whether this process has more than one tenant. */
  servesSeveral(): boolean;
}

export class ReplayRoom {
  readonly #limits: ReplayLimits;
  readonly #counts = new OwnedBytes();
  readonly #droppable = { sent: new Droppable(), waiting: new Droppable() };

  constructor(limits: Pick<ReplayLimits, 'servesSeveral'> & Partial<ReplayLimits>) {
    this.#limits = { bytes: MAX_BYTES, bytesOfAgent: MAX_BYTES_OF_AGENT, ...limits };
  }

  get bytes(): number {
    return this.#counts.total;
  }

  /** Takes room for one event; false where there is none. */
  take({ owner }: KeepingStream, bytes: number, isAnswer: boolean): boolean {
    if (bytes > this.#limits.bytesOfAgent) return false;
    const { sent, waiting } = this.#droppable;
    for (const droppable of isAnswer ? [sent, waiting] : [sent]) {
      while (!this.#fits(owner, bytes)) {
        const next = this.#isOwnShareTaken(owner, bytes)
          ? droppable.findOwn(owner)
          : droppable.findLargest(owner, this.#counts);
        if (next === undefined) break;
        while (!this.#fits(owner, bytes) && next.dropOldest());
      }
    }
    if (!this.#fits(owner, bytes)) return false;
    this.#counts.add(owner, bytes);
    return true;
  }

  give({ owner }: KeepingStream, bytes: number): void {
    this.#counts.add(owner, -bytes);
  }

  /** Says what of a stream may be dropped; null: nothing. */
  place(stream: KeepingStream, kept: Kept | null): void {
    for (const kind of ['sent', 'waiting'] as const) {
      if (kind === kept) this.#droppable[kind].add(stream);
      else this.#droppable[kind].delete(stream);
    }
  }

  #isOwnShareTaken(owner: ByteOwner, bytes: number): boolean {
    return this.#counts.ofAgent(owner) + bytes > this.#limits.bytesOfAgent;
  }

  #fits(owner: ByteOwner, bytes: number): boolean {
    const counts = this.#counts;
    const free = this.#limits.bytes - counts.total;
    const own = this.#limits.servesSeveral() ? counts.ofTenant(owner) : counts.ofAgent(owner);
    return own + bytes <= free && !this.#isOwnShareTaken(owner, bytes);
  }
}

/** Streams by agent; of an agent, the one that has kept for longest comes first. */
class Droppable {
  readonly #byAgent = new Map<string, Set<KeepingStream>>();

  add(stream: KeepingStream): void {
    const { key } = stream.owner;
    this.#byAgent.set(key, (this.#byAgent.get(key) ?? new Set()).add(stream));
  }

  delete(stream: KeepingStream): void {
    const { key } = stream.owner;
    const own = this.#byAgent.get(key);
    if (own?.delete(stream) && own.size === 0) this.#byAgent.delete(key);
  }

  findOwn({ key }: ByteOwner): KeepingStream | undefined {
    const [first] = this.#byAgent.get(key) ?? [];
    return first;
  }

  /** One of whoever keeps most: of this agent, unless others keep more. */
  findLargest(owner: ByteOwner, counts: OwnedBytes): KeepingStream | undefined {
    let found = this.findOwn(owner);
    for (const [first] of this.#byAgent.values()) {
      if (first && counts.hasMore(first.owner, found?.owner ?? owner)) found = first;
    }
    return found;
  }
}
