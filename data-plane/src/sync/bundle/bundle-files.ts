/**
 * A tenant's bundles on disk: the last good one and the one before, and, apart from them, the
 * highest revision ever activated of each key, so that an old file put back does not bring old rules
 * back. A revoked key's does not count: whoever had it could name one that no other bundle reaches.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isUuid } from '@governance/shared/ids';
import { storeFileDurably } from '@governance/shared/process/durable-file';
import { z } from 'zod';

/** Bundles that are kept for the next start. */
const KEPT = 2;
/** Written for earlier versions, and read where one left it: the highest revision of any key. */
const HIGH_WATER = 'high-water';
/** Marks of the newest keys that are kept; more than rotations leave in use. */
const MAX_MARKS = 100;
const HIGH_WATERS = 'high-waters.json';
const HighWaters = z.record(z.string(), z.int().nonnegative());

export type BundleFiles = ReturnType<typeof createBundleFiles>;

export function createBundleFiles(dataDir: string, tenantId: string) {
  if (!isUuid(tenantId)) throw new TypeError('a tenant id is a lower-case UUID');
  const folder = join(dataDir, 'bundles', tenantId);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const fileOf = (revision: number) => join(folder, `${revision}.tar.gz`);

  const revisions = () =>
    readdirSync(folder)
      .map((name) => /^(\d{1,16})\.tar\.gz$/.exec(name)?.[1])
      .filter((digits) => digits !== undefined)
      .map(Number)
      .sort((a, b) => b - a);

  function readMarks(): Record<string, number> | undefined {
    try {
      return HighWaters.parse(JSON.parse(readFileSync(join(folder, HIGH_WATERS), 'utf8')));
    } catch {
      // Missing or damaged: the one mark of all keys is there.
      return undefined;
    }
  }

  function readHighWater(keys: readonly { kid: string }[]): number {
    const marks = readMarks();
    if (marks) return Math.max(0, ...keys.map(({ kid }) => marks[kid] ?? 0));
    const file = join(folder, HIGH_WATER);
    const text = existsSync(file) ? readFileSync(file, 'utf8').trim() : '0';
    if (/^\d{1,16}$/.test(text)) return Number(text);
    // The mark is damaged: the newest name is the best evidence left.
    return revisions()[0] ?? 0;
  }

  return {
    /** The highest revision ever kept that one of these keys signed; 0 before the first. */
    readHighWater,
    /** The stored bundles, newest first. They are as untrusted as a download. */
    read: (): { revision: number; bytes: Uint8Array }[] =>
      revisions().map((revision) => ({ revision, bytes: readFileSync(fileOf(revision)) })),
    /**
     * Stores a bundle that may be activated durably, then its key's mark, then drops the oldest and
     * what is above it: a revoked key signed that. Calls continue meanwhile; one save at a time.
     */
    keep: async (revision: number, bytes: Uint8Array, kid: string): Promise<void> => {
      await storeFileDurably(fileOf(revision), bytes);
      const { [kid]: _, ...others } = readMarks() ?? {};
      const marks = [...Object.entries(others), [kid, revision]].slice(-MAX_MARKS);
      await storeFileDurably(
        join(folder, HIGH_WATERS),
        `${JSON.stringify(Object.fromEntries(marks))}\n`,
      );
      await storeFileDurably(join(folder, HIGH_WATER), `${revision}\n`);
      // If a crash brings it back, it is dropped the next time.
      const above = revisions().filter((other) => other > revision);
      const old = revisions().filter((other) => other <= revision);
      for (const one of [...above, ...old.slice(KEPT)]) await rm(fileOf(one), { force: true });
    },
  };
}
