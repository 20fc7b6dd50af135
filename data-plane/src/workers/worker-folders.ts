/**
 * The folders of the workers of one machine. Worker 1 uses SERVICE_DATA_DIR itself, so that a data
 * plane may change from one process to several and back without a new registration; worker n uses
 * `worker-<n>` in it. The folder of a removed worker is drained (drain.ts) and marked.
 */
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { writeFileDurably } from '@governance/shared/process/durable-file';
import { Timestamp } from '@governance/shared/text';
import { z } from 'zod';
import { LEDGER_FILE } from '../ledger/ledger.ts';

const DRAINED_FILE = 'drained.json';
const DrainedFile = z.strictObject({ drained_at: Timestamp });

/**
 * The folder of a worker.
 *
 * @param dataDir SERVICE_DATA_DIR
 * @param worker from 1
 */
export function workerFolder(dataDir: string, worker: number): string {
  return worker === 1 ? dataDir : join(dataDir, `worker-${worker}`);
}

/**
 * The workers that have a folder, in order; includes 1 when SERVICE_DATA_DIR exists. None where it
 * cannot be read or is no folder: whoever starts there says so.
 */
export function listWorkers(dataDir: string): number[] {
  let names: string[];
  try {
    names = readdirSync(dataDir);
  } catch {
    return [];
  }
  const others = names.flatMap((name) => {
    const number = Number(/^worker-([1-9]\d{0,3})$/.exec(name)?.[1] ?? 0);
    // A link counts as well: a worker's folder may be on a disk of its own.
    return number > 1 && isFolder(join(dataDir, name)) ? [number] : [];
  });
  return [1, ...others.sort((a, b) => a - b)];
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** Workers above `count` whose folders may hold records that were not shipped. */
export function findUndrained(dataDir: string, count: number): number[] {
  return listWorkers(dataDir).filter((worker) => {
    const folder = workerFolder(dataDir, worker);
    const isUnused = worker > count && existsSync(join(folder, LEDGER_FILE));
    return isUnused && findDrained(folder) === null;
  });
}

/** When everything in a worker's folder was shipped; null where it was not. */
export function findDrained(folder: string): string | null {
  try {
    const text = readFileSync(join(folder, DRAINED_FILE), 'utf8');
    return DrainedFile.parse(JSON.parse(text)).drained_at;
  } catch {
    // An unreadable mark means one more drain, which changes nothing.
    return null;
  }
}

/** Marks durably that everything in the folder was shipped. Its ledger is closed. */
export function markDrained(folder: string, now = Date.now()): void {
  const content: z.infer<typeof DrainedFile> = { drained_at: new Date(now).toISOString() };
  writeFileDurably(join(folder, DRAINED_FILE), `${JSON.stringify(content)}\n`);
}

/** Removes the mark: the folder is written to again. Call it with its ledger open. */
export function unmarkDrained(folder: string): void {
  rmSync(join(folder, DRAINED_FILE), { force: true });
}
