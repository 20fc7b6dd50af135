/**
 * Messages that servers send during a call or unprompted: each is inspected before it is passed on,
 * in order and within bounds.
 */
import { bytesToHold } from '../upstream/shares/answer-room.ts';
import type { UpstreamNotification } from '../upstream/upstream.ts';
import type { Caller, Destination, JudgedCall } from './call/calls.ts';
import {
  type Inspect,
  type Inspected,
  type ReceivedPart,
  textsOf,
} from './call/received-message.ts';
import { LargeTurns } from './turns/large-turns.ts';
import { PORTION, turnOf } from './turns/scan-turns.ts';
import { TurnShare } from './turns/turn-share.ts';

/** Characters of earlier messages that an inspection also sees. */
const MAX_CARRY = 4096;
/** Notifications that may wait, and characters of those besides the first; others are dropped. */
const MAX_WAITING = 2000;
const MAX_WAITING_LENGTH = 4 * 1024 * 1024;

/**
 * Notifications of a stream that are inspected: so many at once, and then so many a second. Further
 * ones are dropped.
 */
const MAX_AT_ONCE = 2000;
const PER_SECOND = 200;
/** Shared by all streams, since any of them keeps every agent waiting. */
const share = new TurnShare(5);
/** Shared likewise: an agent may have many streams, each with a large message. */
const largeTurns = new LargeTurns();

export interface StreamOptions {
  caller: Caller;
  speaker: Destination['speaker'];
  /** The call that the messages belong to; null where they are unprompted. */
  call: JudgedCall | null;
  inspect: Inspect;
  passOn(serverId: string, notification: UpstreamNotification): void;
  /** See `UpstreamExchange.hold`: counts what waits. */
  hold(bytes: number): boolean;
  /** Called when a step or `passOn` threw for a message. */
  onFailed(serverId: string, inspected: Inspected): void;
  /** Called once, when the first message is dropped because there are too many. */
  onDropped(serverId: string): void;
}

export class InspectedStream {
  readonly #options: StreamOptions;
  #carry = '';
  #carriedLast = 0;
  #waiting: Promise<void> | null = null;
  #waitingCount = 0;
  /** The length of those after the first. */
  #waitingLength = 0;
  /** Those that wait for a turn of their agent's, and when the last of them has begun. */
  #unbegun = 0;
  #begun: Promise<void> = Promise.resolve();
  #hasDropped = false;
  #isOver = false;
  #allowance = MAX_AT_ONCE;
  #countedAt = performance.now();

  constructor(options: StreamOptions) {
    this.#options = options;
  }

  /** Resolves when all messages so far were inspected; null when none waits. */
  get settled(): Promise<void> | null {
    return this.#waiting;
  }

  get carry(): string {
    return this.#carry;
  }

  /** How many characters of it are of the last message. */
  get carriedLast(): number {
    return this.#carriedLast;
  }

  push(serverId: string, { method, params }: UpstreamNotification): void {
    if (this.#waitingCount >= MAX_WAITING || !this.#isAllowed()) {
      this.#drop(serverId);
      return;
    }
    const length = JSON.stringify(params ?? null).length;
    const isFirst = this.#waiting === null;
    // The first may be as long as any message.
    const besides = isFirst ? 0 : length;
    const held = bytesToHold(length, isFirst);
    if (!this.#takeRoom(besides, held)) {
      this.#drop(serverId);
      return;
    }
    const part = { kind: 'notification', method, params } as const;
    const inspecting = this.#begin(() => this.#inspect(serverId, part), length > PORTION);
    if (!(inspecting instanceof Promise) && this.#waiting === null) {
      this.#giveRoom(besides, held);
      this.#passOn(serverId, inspecting);
      return;
    }
    this.#waitingCount++;
    this.#waiting = Promise.all([inspecting, this.#waiting]).then(([inspected]) => {
      this.#giveRoom(besides, held);
      if (--this.#waitingCount === 0) this.#waiting = null;
      try {
        this.#passOn(serverId, inspected);
      } catch (error) {
        const blocked = 'stream: it could not be passed on';
        this.#options.onFailed(serverId, { part, step: 'stream', blocked, error });
      }
    });
  }

  /** To be called when nobody listens any more: what its inspection has not begun is dropped. */
  end(): void {
    this.#isOver = true;
  }

  /**
   * Inspects now, or in a turn of the agent's where this turn has no time; in order. A message that
   * needs several turns also waits for such ones of its agent's other streams.
   */
  #begin(inspect: () => ReturnType<Inspect>, isLarge: boolean): ReturnType<Inspect> {
    const { caller } = this.#options;
    const isHeldUp = isLarge && largeTurns.isTaken(caller.key);
    if (this.#unbegun === 0 && share.hasTime && !isHeldUp) {
      return spend(inspect, isLarge ? largeTurns.begin(caller.key) : undefined);
    }
    this.#unbegun++;
    let inspecting: ReturnType<Inspect>;
    this.#begun = this.#begun.then(async () => {
      const leave = isLarge ? await largeTurns.take(caller.key) : undefined;
      await turnOf(caller);
      this.#unbegun--;
      inspecting = spend(inspect, leave);
    });
    return this.#begun.then(() => inspecting);
  }

  #inspect(
    serverId: string,
    part: Extract<ReceivedPart, { kind: 'notification' }>,
  ): ReturnType<Inspect> {
    if (this.#isOver) return { part, blocked: 'stream: it has ended' };
    const { caller, speaker, call, inspect } = this.#options;
    const before = this.#carry;
    const carriedLast = this.#carriedLast;
    const text = textsOf(part.params);
    const carry = lastOf(before + text);
    this.#carry = carry;
    this.#carriedLast = Math.min(text.length, carry.length);
    const received = { caller, speaker, call, serverId, part, carry: before, carriedLast };
    const inspecting = inspect(received);
    // What was withheld nobody reads together with what follows: that is judged without it.
    const settle = (inspected: Inspected) => {
      if (isWithheld(inspected) && this.#carry === carry) {
        this.#carry = before;
        this.#carriedLast = carriedLast;
      }
      return inspected;
    };
    return inspecting instanceof Promise ? inspecting.then(settle) : settle(inspecting);
  }

  #takeRoom(besides: number, held: number): boolean {
    if (this.#waitingLength + besides > MAX_WAITING_LENGTH) return false;
    if (held > 0 && !this.#options.hold(held)) return false;
    this.#waitingLength += besides;
    return true;
  }

  #giveRoom(besides: number, held: number): void {
    this.#waitingLength -= besides;
    if (held > 0) this.#options.hold(-held);
  }

  #drop(serverId: string): void {
    if (this.#hasDropped) return;
    this.#hasDropped = true;
    this.#options.onDropped(serverId);
  }

  #isAllowed(): boolean {
    const now = performance.now();
    const earned = ((now - this.#countedAt) / 1000) * PER_SECOND;
    this.#allowance = Math.min(MAX_AT_ONCE, this.#allowance + earned);
    this.#countedAt = now;
    if (this.#allowance < 1) return false;
    this.#allowance--;
    return true;
  }

  #passOn(serverId: string, inspected: Inspected): void {
    const { part, blocked, error } = inspected;
    if (blocked !== undefined) {
      if (error !== undefined) this.#options.onFailed(serverId, inspected);
    } else if (part.kind === 'notification' && !this.#isOver) {
      const { method, params } = part;
      this.#options.passOn(serverId, { method, params });
    }
  }
}

/** Whether nothing of a message's text is passed on. A redacted one shows the rest of its text. */
function isWithheld({ blocked, step }: Inspected): boolean {
  return blocked !== undefined || step === 'injection';
}

/** Inspects within the share, and calls `leave` when that has ended. */
function spend(inspect: () => ReturnType<Inspect>, leave?: () => void): ReturnType<Inspect> {
  const inspecting = share.spend(inspect);
  if (inspecting instanceof Promise) return leave ? inspecting.finally(leave) : inspecting;
  leave?.();
  return inspecting;
}

/** A copy of the end of a text, since a slice would keep the whole text in memory. */
function lastOf(text: string): string {
  return Buffer.from(text.slice(-MAX_CARRY), 'utf16le').toString('utf16le');
}
