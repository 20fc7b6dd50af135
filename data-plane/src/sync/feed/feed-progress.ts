import { type SyncFailure, toSyncFailure } from '../link/sync-failure.ts';

/** After this long without news, a start no longer waits for the control plane. */
const START_MS = 5_000;

export interface FeedStatus {
  cursor: number;
  /** The newest seq that the control plane announced. */
  head: number;
  last_attempt_at: string | null;
  last_applied_at: string | null;
  /** When a snapshot last replaced everything known. */
  last_snapshot_at: string | null;
  failure: SyncFailure | null;
}

/** How far a feed was followed, what is being done, and whether its start is over. */
export class FeedProgress {
  readonly #now: () => number;
  readonly #status: FeedStatus;
  #isStarting = true;
  #receivedAt = performance.now();
  stage: 'read' | 'snapshot' | 'verify' | 'apply' = 'read';

  constructor(cursor: number, now: () => number) {
    this.#now = now;
    this.#status = {
      ...{ cursor, head: cursor, failure: null },
      ...{ last_attempt_at: null, last_applied_at: null, last_snapshot_at: null },
    };
  }

  attempted(): void {
    this.stage = 'read';
    this.#status.last_attempt_at = this.#time();
  }

  announced(head: number): void {
    this.#status.head = head;
  }

  /** @param isNews whether it is further than before */
  applied(cursor: number, isNews: boolean): void {
    this.#status.cursor = cursor;
    this.#status.failure = null;
    if (!isNews) return;
    this.#status.last_applied_at = this.#time();
    this.received();
  }

  /** A snapshot replaced everything known. */
  replaced(cursor: number): void {
    const time = this.#time();
    const replaced = { cursor, head: cursor, failure: null };
    Object.assign(this.#status, replaced, { last_applied_at: time, last_snapshot_at: time });
  }

  /** @returns `isNews` where the failure differs from the one before */
  failed(error: unknown): { failure: SyncFailure; isNews: boolean } {
    const failure = toSyncFailure(this.stage, error, this.#now());
    const before = this.#status.failure;
    this.#status.failure = failure;
    return { failure, isNews: before?.code !== failure.code || before.stage !== failure.stage };
  }

  /** Something arrived. */
  received(): void {
    this.#receivedAt = performance.now();
  }

  /** Everything was applied, or the control plane failed. */
  started(): void {
    this.#isStarting = false;
  }

  /**
   * Whether it is still expected to catch up after its start: the control plane did not fail, and
   * something arrived within seconds.
   */
  isCatchingUp(): boolean {
    return this.#isStarting && performance.now() - this.#receivedAt < START_MS;
  }

  status(): FeedStatus {
    return { ...this.#status };
  }

  #time(): string {
    return new Date(this.#now()).toISOString();
  }
}
