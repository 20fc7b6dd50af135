/**
 * Unpacks one gzip member (RFC 1952) as a stream, within limits that hold while it is unpacked, and
 * nothing before, between or behind it. Proven by ustar.test.ts.
 */
import { pipeline, Readable } from 'node:stream';
import { crc32, createInflateRaw } from 'node:zlib';
import { ArchiveError } from './ustar.ts';

export interface GunzipLimits {
  packedBytes: number;
  unpackedBytes: number;
  /** The highest ratio of unpacked to packed bytes, checked from the first mebibyte on. */
  ratio: number;
}

/** An archive larger than a reader allows. */
export class TooLargeError extends Error {
  override readonly name = 'TooLargeError';
}

const HEADER_BYTES = 10;
const TRAILER_BYTES = 8;
const RATIO_FROM_BYTES = 1024 * 1024;

/**
 * The unpacked bytes.
 *
 * @param source of the gzip, cut anywhere
 * @throws ArchiveError when it is no single, plain gzip member; TooLargeError at a limit
 */
export async function* gunzip(
  source: AsyncIterable<Uint8Array>,
  limits: GunzipLimits,
): AsyncGenerator<Buffer> {
  const packed = { bytes: 0, body: 0, trailer: Buffer.alloc(0) };
  const inflate = createInflateRaw();
  let failed: unknown;
  pipeline(Readable.from(bodyOf(source, limits, packed)), inflate, (error) => {
    failed = error ?? undefined;
  });
  let size = 0;
  let check = 0;
  try {
    for await (const chunk of inflate as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > limits.unpackedBytes) throw new TooLargeError('it unpacks to too much');
      if (size > RATIO_FROM_BYTES && size > packed.bytes * limits.ratio) {
        throw new TooLargeError('it unpacks to too many times its size');
      }
      check = crc32(chunk, check);
      yield chunk;
    }
  } catch (error) {
    const cause = failed ?? error;
    if (cause instanceof ArchiveError || cause instanceof TooLargeError) throw cause;
    throw new ArchiveError('the gzip cannot be unpacked', { cause });
  }
  const { trailer } = packed;
  if (inflate.bytesWritten !== packed.body || trailer.length !== TRAILER_BYTES) {
    throw new ArchiveError('something follows the gzip');
  }
  if (trailer.readUInt32LE(0) !== check || trailer.readUInt32LE(4) !== size % 2 ** 32) {
    throw new ArchiveError('the checksum of the gzip is wrong');
  }
}

/** The deflated bytes between header and trailer. */
async function* bodyOf(
  source: AsyncIterable<Uint8Array>,
  limits: GunzipLimits,
  packed: { bytes: number; body: number; trailer: Buffer },
): AsyncGenerator<Buffer> {
  let buffered = Buffer.alloc(0);
  let isHeaderRead = false;
  for await (const chunk of source) {
    packed.bytes += chunk.byteLength;
    if (packed.bytes > limits.packedBytes) throw new TooLargeError('it is too large');
    buffered = Buffer.concat([buffered, chunk]);
    if (!isHeaderRead) {
      if (buffered.length < HEADER_BYTES) continue;
      readHeader(buffered);
      buffered = buffered.subarray(HEADER_BYTES);
      isHeaderRead = true;
    }
    // The last bytes may be the trailer.
    const certain = buffered.length - TRAILER_BYTES;
    if (certain <= 0) continue;
    packed.body += certain;
    yield buffered.subarray(0, certain);
    buffered = buffered.subarray(certain);
  }
  if (!isHeaderRead) throw new ArchiveError('it is no gzip');
  packed.trailer = buffered;
}

/** Of deflate, without name, comment or extra fields: those would be unverified bytes. */
function readHeader(bytes: Buffer): void {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b || bytes[2] !== 8) {
    throw new ArchiveError('it is no gzip');
  }
  if (bytes[3] !== 0) throw new ArchiveError('the gzip has more than a plain header');
}
