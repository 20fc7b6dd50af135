/**
 * Packs members into the only archive form that verifiers accept: gzip of strict USTAR. Content
 * that compresses so well that verifiers would refuse it as a decompression bomb is stored
 * uncompressed, so that any content can be verified. Proven by pack-volume.test.ts.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { constants, crc32, createDeflateRaw } from 'node:zlib';
import { VOLUME_LIMITS } from '@governance/shared/evidence/evidence-package';
import { USTAR_END, ustarHeader, ustarPadding } from '@governance/shared/evidence/ustar';
import { ExportRefused } from './evidence-request.ts';
import type { Member } from './package-members.ts';

/** Size of a stored piece of a volume; the last one is shorter. */
export const CHUNK_BYTES = 1024 * 1024;

/** Nearly as small as with zlib's default level, 6, in half the time. */
const LEVEL = 3;
const STORED = 0;

/** How much is packed between two checks of the ratio. */
const SLICE_BYTES = 64 * 1024;
/**
 * Half of the ratio that verifiers accept, applied from half a mebibyte on instead of one: the rest
 * is reserve.
 */
const HIGHEST_RATIO = VOLUME_LIMITS.ratio / 2;
const RATIO_FROM_BYTES = 512 * 1024;

/** The gzip header: deflated, no name, no time, made on Unix. */
const HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]);

const TOO_LARGE = 'what belongs to one batch is more than a volume may have';

/**
 * @param members in their order, the manifest first
 * @param store called with each piece in turn
 * @throws ExportRefused beyond verifiers' limits; volumes are cut between batches only
 */
export async function packVolume(
  members: readonly Member[],
  store: (n: number, bytes: Buffer) => Promise<void>,
): Promise<{ size: number; sha256: string }> {
  const digest = createHash('sha256');
  let size = 0;
  let unpacked = 0;
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
  const packer = createPacker((piece) => {
    digest.update(piece);
    size += piece.length;
    held.push(piece);
    heldBytes += piece.length;
  });
  try {
    for (const slice of slicesOf(tarOf(members))) {
      unpacked += slice.length;
      if (unpacked > VOLUME_LIMITS.unpackedBytes) throw new ExportRefused(TOO_LARGE);
      await packer.write(slice);
      if (size > VOLUME_LIMITS.packedBytes) throw new ExportRefused(TOO_LARGE);
      if (heldBytes >= CHUNK_BYTES) await flush(false);
    }
    await packer.end();
  } finally {
    packer.destroy();
  }
  if (size > VOLUME_LIMITS.packedBytes) throw new ExportRefused(TOO_LARGE);
  await flush(true);
  return { size, sha256: digest.digest('hex') };
}

/**
 * A gzip (RFC 1952) whose ratio stays below the limit at each of its bytes. Its header and trailer
 * are written here, since zlib can change the level of a deflate stream only.
 *
 * @param onPacked called with packed bytes, before the write that produced them is done
 */
function createPacker(onPacked: (piece: Buffer) => void) {
  const deflate = createDeflateRaw({ level: LEVEL });
  const write = promisify((slice: Buffer, done: (error?: Error | null) => void) => {
    deflate.write(slice, done);
  });
  const flush = promisify((done: () => void) => deflate.flush(constants.Z_SYNC_FLUSH, done));
  const setLevel = promisify((next: number, done: () => void) => {
    deflate.params(next, constants.Z_DEFAULT_STRATEGY, done);
  });
  let level = LEVEL;
  let check = 0;
  let unpacked = 0;
  let packed = 0;
  const give = (piece: Buffer) => {
    packed += piece.length;
    onPacked(piece);
  };
  deflate.on('data', give);
  /**
   * Whether the ratio stays within the limit even if the slice packs to nothing. Output that zlib
   * still buffers is not counted.
   */
  const isRoomFor = (slice: Buffer): boolean => {
    const after = unpacked + slice.length;
    return after <= RATIO_FROM_BYTES || after <= packed * HIGHEST_RATIO;
  };
  give(HEADER);
  return {
    async write(slice: Buffer): Promise<void> {
      if (!isRoomFor(slice)) await flush();
      const next = isRoomFor(slice) ? LEVEL : STORED;
      if (next !== level) await setLevel(next);
      level = next;
      await write(slice);
      check = crc32(slice, check);
      unpacked += slice.length;
    },
    async end(): Promise<void> {
      const ended = once(deflate, 'end');
      deflate.end();
      await ended;
      const trailer = Buffer.alloc(8);
      trailer.writeUInt32LE(check, 0);
      trailer.writeUInt32LE(unpacked % 2 ** 32, 4);
      give(trailer);
    },
    destroy: (): void => {
      deflate.destroy();
    },
  };
}

function* slicesOf(pieces: Iterable<Buffer>): Generator<Buffer> {
  for (const piece of pieces) {
    for (let at = 0; at < piece.length; at += SLICE_BYTES) {
      yield piece.subarray(at, at + SLICE_BYTES);
    }
  }
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
