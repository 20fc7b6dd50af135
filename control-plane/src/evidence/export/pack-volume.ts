/** Packs members into their only archive form: gzip of strict USTAR. */
import { createHash } from 'node:crypto';
import { pipeline, Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { USTAR_END, ustarHeader, ustarPadding } from '@governance/shared/evidence/ustar';
import type { Member } from './package-members.ts';

/** Size of a stored piece of a volume; the last one is shorter. */
export const CHUNK_BYTES = 1024 * 1024;

/** Nearly as small as with zlib's default, 6, in half of the time. */
const LEVEL = 3;

/**
 * @param members in their order, the manifest first
 * @param store called with each piece in turn
 */
export async function packVolume(
  members: readonly Member[],
  store: (n: number, bytes: Buffer) => Promise<void>,
): Promise<{ size: number; sha256: string }> {
  const digest = createHash('sha256');
  let size = 0;
  let n = 0;
  let held: Buffer[] = [];
  let heldBytes = 0;
  /** Stores whole pieces, and at the end the remainder. */
  const flush = async (isLast: boolean) => {
    const all = Buffer.concat(held);
    let at = 0;
    for (; all.length - at >= CHUNK_BYTES || (isLast && at < all.length); at += CHUNK_BYTES) {
      await store(n++, all.subarray(at, at + CHUNK_BYTES));
    }
    const rest = all.subarray(Math.min(at, all.length));
    held = rest.length > 0 ? [rest] : [];
    heldBytes = rest.length;
  };
  const packed = createGzip({ level: LEVEL });
  // An error of the source ends the gzip, and so the loop.
  pipeline(Readable.from(tarOf(members)), packed, () => undefined);
  for await (const piece of packed as AsyncIterable<Buffer>) {
    digest.update(piece);
    size += piece.length;
    held.push(piece);
    heldBytes += piece.length;
    if (heldBytes >= CHUNK_BYTES) await flush(false);
  }
  await flush(true);
  return { size, sha256: digest.digest('hex') };
}

function* tarOf(members: readonly Member[]): Generator<Buffer> {
  for (const { name, size, pieces } of members) {
    yield ustarHeader(name, size);
    yield* pieces;
    const padding = ustarPadding(size);
    if (padding.length > 0) yield padding;
  }
  yield USTAR_END;
}
