/**
 * Commits groups one after the other: commit, sync, acknowledge. Records that arrive during a sync
 * are committed as one group after it, so that groups grow with the load. Other writes to the file
 * run between two groups. So the writer never waits for a lock of the ledger's own second thread,
 * and at most one commit is not on disk. Proven by ledger-committer.test.ts.
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
 * How long records wait for the lock before they are refused. From then on new ones are refused at
 * once, until the lock is free.
 */
export const BUSY_FOR_MS = 5_000;
/** Size of the log at which it is copied into the file and restarted. */
const CHECKPOINT_BYTES = 12 * 1024 * 1024;
/**
 * Counted for each commit beside its records, since a commit writes whole pages: four for two
 * records. Without it, calls that come one by one would let the log grow to eight times
 * CHECKPOINT_BYTES.
 */
const COMMIT_BYTES = 16 * 1024;

export interface Group {
  items: GroupItem[];
  characters: number;
  /** To be called when all items are on disk. */
  resolve(chained: AppendedRecord[]): void;
  /** To be called when none of them was recorded. */
  reject(error: unknown): void;
  /**
   * To be called when none of them could be recorded yet: awaited records are refused, and outcomes
   * move to a later group.
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
  /** The error for the affected callers; null where the error has to end the ledger. */
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

  /** Commits what waits. A commit or another write in progress calls it again when it ends. */
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

  /** Makes the commits durable. @throws when the sync failed: nothing more may be written then */
  async function settle(): Promise<void> {
    await sync.sync();
    writer.confirm();
  }

  /** Copies most of the log beside other writes, and the rest between them: so it can restart. */
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

  /** Runs a commit on the writer's connection between two groups, and makes it durable. */
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
    /** Starts no more commits, and rejects the writes that wait. */
    end: (error: LedgerError) => {
      end ??= error;
      for (const { reject } of turns.splice(0)) reject(error);
    },
  };
}
