/**
 * A tenant's bundles on disk: the last good one and the one before, and, apart from them, the
 * highest revision ever activated, so that an old file put back does not bring old rules back.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { storeFileDurably } from '@governance/shared/durable-file';
import { isUuid } from '@governance/shared/ids';

const KEPT = 2;
const HIGH_WATER = 'high-water';

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

  function readHighWater(): number {
    const file = join(folder, HIGH_WATER);
    const text = existsSync(file) ? readFileSync(file, 'utf8').trim() : '0';
    if (/^\d{1,16}$/.test(text)) return Number(text);
    // The mark is damaged: the newest name is the best evidence left.
    return revisions()[0] ?? 0;
  }

  return {
    /** The highest revision ever kept; 0 before the first. */
    readHighWater,
    /** The stored bundles, newest first. They are as untrusted as a download. */
    read: (): { revision: number; bytes: Uint8Array }[] =>
      revisions().map((revision) => ({ revision, bytes: readFileSync(fileOf(revision)) })),
    /**
     * Stores a bundle durably, then raises the high-water mark, then drops the oldest. Calls
     * continue meanwhile; one save at a time.
     */
    keep: async (revision: number, bytes: Uint8Array): Promise<void> => {
      await storeFileDurably(fileOf(revision), bytes);
      if (revision > readHighWater()) {
        await storeFileDurably(join(folder, HIGH_WATER), `${revision}\n`);
      }
      // If a crash brings it back, it is dropped the next time.
      for (const old of revisions().slice(KEPT)) await rm(fileOf(old), { force: true });
    },
  };
}
