import { stat, statfs } from 'node:fs/promises';

export type DiskLevel = 'ok' | 'warning' | 'full';

/** Used share of the disk from which an alert is raised. */
const WARNING_AT = 0.8;
/**
 * Used share from which new calls are denied; the rest is reserved for the outcomes of calls that
 * have already begun.
 */
const FULL_AT = 0.95;

/** @returns the level for a used share between 0 and 1 */
export function diskLevel(usedShare: number): DiskLevel {
  if (usedShare >= FULL_AT) return 'full';
  return usedShare >= WARNING_AT ? 'warning' : 'ok';
}

/**
 * How full the ledger's disk is: the larger of the file system's use (as `df` counts it, without
 * the blocks reserved for root) and the ledger's own share of its limit.
 *
 * @param folder a folder on that file system
 * @param files the ledger's files, which need not exist
 * @param limitBytes what the files may take together, null for no limit
 * @param freeBytes unused bytes within the files, which are filled before the files grow
 */
export async function readUsedShare(
  folder: string,
  files: readonly string[],
  limitBytes: number | null,
  freeBytes = 0,
): Promise<number> {
  const disk = await statfs(folder);
  const taken = disk.blocks - disk.bfree;
  const used = Math.max(0, taken - freeBytes / disk.bsize);
  const ofDisk = taken + disk.bavail > 0 ? used / (taken + disk.bavail) : 1;
  if (limitBytes === null) return ofDisk;
  const sizes = await Promise.all(files.map(sizeOf));
  const bytes = sizes.reduce((sum, size) => sum + size, 0) - freeBytes;
  return Math.max(ofDisk, bytes / limitBytes);
}

async function sizeOf(file: string): Promise<number> {
  try {
    return (await stat(file)).size;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0;
    throw error;
  }
}

/**
 * Checks the disk periodically and reports when its level changes. A disk that cannot be checked
 * counts as full: fail closed.
 *
 * @returns `level`, `check` (looks at once), `reportFull` (a write found no room) and `stop`
 */
export function createDiskWatermark(options: {
  readUsedShare: () => Promise<number>;
  intervalMs: number;
  onChange: (level: DiskLevel, usedShare: number | null) => void;
}) {
  let level: DiskLevel = 'ok';
  let isStopped = false;
  const timer = setInterval(() => void check(), options.intervalMs);
  timer.unref();

  function set(next: DiskLevel, usedShare: number | null): void {
    // What a look finds while the files close says nothing of the disk.
    if (isStopped || next === level) return;
    level = next;
    options.onChange(next, usedShare);
  }

  async function check(): Promise<void> {
    let share: number | null;
    try {
      share = await options.readUsedShare();
    } catch {
      share = null;
    }
    set(share === null ? 'full' : diskLevel(share), share);
  }

  return {
    level: () => level,
    check,
    reportFull: () => set('full', null),
    stop: () => {
      isStopped = true;
      clearInterval(timer);
    },
  };
}
