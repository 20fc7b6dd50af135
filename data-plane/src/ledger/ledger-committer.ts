/**
 * Commits groups one after the other: commit, sync, acknowledge. What arrives during a sync is
 * gathered and committed as one group when it ends, so that groups grow with the load. Other writes
 * to the file take their turn between two groups; so the writer never meets a lock of its own
 * second thread, and at most one commit is ever not on disk. Proven by ledger-committer.test.ts.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { AppendedRecord } from '../contracts.ts';
import { sqliteCode } from '../storage/durable-database.ts';
import { LedgerError } from './ledger-error.ts';
import type { LedgerSync } from './ledger-sync.ts';
import type { GroupItem, LedgerWriter } from './ledger-writer.ts';

/** The interval of retries while another program holds the lock, such as a person with sqlite3. */
const BUSY_AGAIN_MS = 5;
/**
 * The time after which waiting records are refused. Until the lock is free again, new ones are
 * refused at once.
 */
export const BUSY_FOR_MS = 5_000;
/** Size of the log at which it is copied into the file and restarted. */
const CHECKPOINT_BYTES = 12 * 1024 * 1024;
/**
 * A commit writes whole pages: four for two records. Counted by its records alone, the log of calls
 * that come one by one would grow to eight times this size.
 */
const COMMIT_BYTES = 16 * 1024;

export interface Group {
  items: GroupItem[];
  characters: number;
  /** They are on disk. */
  resolve(chained: AppendedRecord[]): void;
  /** None of them is recorded. */
  reject(error: unknown): void;
  /**
   * None of them is recorded yet: those that are awaited are refused, and outcomes are added to a
   * later group.
   */
  postpone(error: unknown): void;
}

export interface LedgerObserver {
  /**
   * A group is on disk: its size, the seconds from its start until then, and those of the sync
   * alone.
   */
  committed?(records: number, seconds: number, diskSeconds: number): void;
}

export type LedgerCommitter = ReturnType<typeof createLedgerCommitter>;

export function createLedgerCommitter(options: {
  writer: Pick<LedgerWriter, 'commitGroup' | 'confirm'>;
  sync: Pick<LedgerSync, 'sync'>;
  /** Takes the waiting records; null when there are none. */
  take(): Group | null;
  /** Copies the log into the file, as far as possible without blocking the writer. */
  checkpoint(): Promise<void>;
  /** The error for the affected callers only; null where it ends the ledger. */
  refusalFor(error: unknown): LedgerError | null;
  onFatal(error: unknown): void;
  observer?: LedgerObserver;
}) {
  const { writer, sync } = options;
  const turns: { take: () => Promise<void>; reject: (error: unknown) => void }[] = [];
  let end: Error | null = null;
  /** Since when another program has held the file's lock. */
  let lockedAt: number | null = null;
  let isBusy = false;
  let isCheckpointing = false;
  let sinceCheckpoint = 0;

  /** Commits what waits, unless a commit or a turn is in progress, which then continues with it. */
  function run(): void {
    if (isBusy || end) return;
    const turn = turns.shift()?.take ?? nextGroup();
    if (!turn) return;
    isBusy = true;
    turn()
      .catch(options.onFatal)
      .finally(() => {
        isBusy = false;
        // Acknowledged callers continue first.
        setImmediate(run);
      });
  }

  function nextGroup(): (() => Promise<void>) | null {
    const group = options.take();
    return group && (() => commit(group));
  }

  async function commit(group: Group): Promise<void> {
    const started = performance.now();
    let chained: AppendedRecord[];
    try {
      chained = await whenFree(() => writer.commitGroup(group.items));
    } catch (error) {
      const refusal = refusalOrThrow(error);
      if (refusal.fault === 'overloaded') group.postpone(refusal);
      else group.reject(refusal);
      return;
    }
    const committed = performance.now();
    await settle();
    group.resolve(chained);
    const now = performance.now();
    const seconds = (now - started) / 1_000;
    if (chained.length > 0) {
      options.observer?.committed?.(chained.length, seconds, (now - committed) / 1_000);
    }
    sinceCheckpoint += group.characters + COMMIT_BYTES;
    if (sinceCheckpoint > CHECKPOINT_BYTES && !isCheckpointing) void checkpoint();
  }

  /** Makes the commits durable. After an error nothing more may be written: it is rethrown. */
  async function settle(): Promise<void> {
    await sync.sync();
    writer.confirm();
  }

  /** Most of the log while others write; the rest while nobody does, so that it restarts. */
  async function checkpoint(): Promise<void> {
    isCheckpointing = true;
    try {
      await options.checkpoint();
      await between(options.checkpoint);
      sinceCheckpoint = 0;
    } catch (error) {
      if (!options.refusalFor(error)) options.onFatal(error);
    } finally {
      isCheckpointing = false;
    }
  }

  /**
   * Runs another write between two groups. If it leaves the file in an unknown state, it ends the
   * ledger.
   */
  function between<T>(work: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      addTurn(() => work().then(resolve, reject), reject);
    });
  }

  function addTurn(take: () => Promise<void>, reject: (error: unknown) => void): void {
    if (end) {
      reject(end);
      return;
    }
    turns.push({ take, reject });
    run();
  }

  /** Commits something on the writer's connection, and makes it durable. */
  function write<T>(work: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      addTurn(async () => {
        try {
          const result = await whenFree(work);
          await settle();
          resolve(result);
        } catch (error) {
          reject(refusalOrThrow(error));
        }
      }, reject);
    });
  }

  function refusalOrThrow(error: unknown): LedgerError {
    const refusal = options.refusalFor(error);
    if (!refusal) throw error;
    return refusal;
  }

  async function whenFree<T>(work: () => T): Promise<T> {
    while (!end) {
      try {
        const result = work();
        lockedAt = null;
        return result;
      } catch (error) {
        if (!sqliteCode(error)?.startsWith('SQLITE_BUSY')) throw error;
      }
      lockedAt ??= performance.now();
      await sleep(BUSY_AGAIN_MS);
      if (performance.now() - lockedAt >= BUSY_FOR_MS) {
        throw new LedgerError('overloaded', 'another program holds the lock of the ledger');
      }
    }
    throw end;
  }

  return {
    run,
    between,
    write,
    /** Starts nothing any more, and refuses waiting turns. */
    end: (error: LedgerError) => {
      end ??= error;
      for (const { reject } of turns.splice(0)) reject(error);
    },
  };
}
