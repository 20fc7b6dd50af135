/**
 * One service per data folder: a lock file with the holder's process id. A killed holder leaves its
 * file behind; the next start sees that the process is gone and takes over.
 */
import { linkSync, readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { StartError } from '@governance/shared/process/start-error';

export interface FolderLock {
  release(): void;
}

interface Holder {
  pid: number;
  /**
   * The start time of the process, so that a later process with the same id is not mistaken for it.
   */
  started: string | null;
}

/**
 * Takes the lock.
 *
 * @param path of the lock file; its folder exists
 * @param folder the name used in the error
 * @throws StartError when a living process holds it
 */
export function lockFolder(path: string, folder: string): FolderLock {
  const holder: Holder = { pid: process.pid, started: startOf(process.pid) };
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(holder), { mode: 0o600 });
  try {
    for (let attempt = 0; attempt < 5; attempt++) {
      try {
        // A link appears with its content or not at all.
        linkSync(draft, path);
        return {
          release: () => {
            if (readHolder(path)?.pid === process.pid) unlinkSync(path);
          },
        };
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
      const holder = readHolder(path);
      if (holder && isAlive(holder)) {
        throw new StartError(
          `the data folder ${folder} is in use by process ${holder.pid}: stop that service first, or give this one another SERVICE_DATA_DIR`,
        );
      }
      removeStale(path, holder);
    }
    throw new Error(`the lock of the data folder ${folder} could not be taken`);
  } finally {
    unlinkSync(draft);
  }
}

/**
 * Renamed before it is deleted, so that only one of two processes removes the stale file. If the
 * renamed file is the fresh lock of the other, it is put back.
 */
function removeStale(path: string, stale: Holder | undefined): void {
  const aside = `${path}.stale.${process.pid}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  const moved = readHolder(aside);
  if (moved && (moved.pid !== stale?.pid || moved.started !== stale.started)) {
    linkSync(aside, path);
  }
  unlinkSync(aside);
}

function readHolder(path: string): Holder | undefined {
  try {
    const holder = JSON.parse(readFileSync(path, 'utf8')) as Partial<Holder>;
    return typeof holder.pid === 'number'
      ? { pid: holder.pid, started: holder.started ?? null }
      : undefined;
  } catch {
    return undefined;
  }
}

function isAlive(holder: Holder): boolean {
  if (!isProcessAlive(holder.pid)) return false;
  return holder.started === null || holder.started === startOf(holder.pid);
}

/** Whether a process with that id runs, as any user. */
export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  // A zombie: dead, but not reaped by its parent, which in a container may never happen.
  return statOf(pid)?.[0] !== 'Z';
}

/** The start time of a process in ticks since boot, where the system provides it (Linux). */
function startOf(pid: number): string | null {
  return statOf(pid)?.[19] ?? null;
}

/** The fields of /proc/<pid>/stat from the third on (its state). */
function statOf(pid: number): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in brackets and may hold anything.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}
