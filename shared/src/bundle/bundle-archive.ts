/**
 * Reads a bundle's tar.gz, which came over a network or out of a database and is not trusted yet:
 * into memory, with limits before anything is unpacked, and nothing but regular files of a plain
 * USTAR archive, each path once. Proven by verify-bundle.test.ts of the data plane.
 */
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { Header } from 'tar';
import { CodedError } from '../coded-error.ts';
import { BUNDLE_LIMITS } from './bundle-format.ts';

const decompress = promisify(gunzip);

const BLOCK = 512;
const MIN_CHUNK = 64 * 1024;
/** Zeros behind the last member; writers pad to a record of 20 blocks. */
const MAX_PADDING = 64 * 1024;

/** An archive that is refused, or cannot be written. */
export class BundleArchiveError extends CodedError<'too_large' | 'archive_malformed'> {}

/**
 * The files of a bundle by path.
 *
 * @param bytes the tar.gz
 * @throws BundleArchiveError when it is larger than BUNDLE_LIMITS or anything but such an archive
 */
export async function unpackArchive(bytes: Uint8Array): Promise<Map<string, Buffer>> {
  if (bytes.length > BUNDLE_LIMITS.compressedBytes) {
    throw new BundleArchiveError('too_large', 'the bundle is too large');
  }
  let tar: Buffer;
  try {
    tar = await decompress(bytes, {
      chunkSize: unpackedSize(bytes),
      maxOutputLength: BUNDLE_LIMITS.unpackedBytes,
    });
  } catch (cause) {
    const tooLarge = (cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    throw new BundleArchiveError(
      tooLarge ? 'too_large' : 'archive_malformed',
      tooLarge ? 'the bundle unpacks to too much' : 'the bundle is no gzip',
      { cause },
    );
  }
  return readTar(tar);
}

/**
 * The size stated at the end of a gzip, plus one byte, so that it is unpacked in one piece: each
 * piece costs a turn of the inflating thread, and all are copied in the end. The size may be false,
 * within the limit: then there are more pieces, or memory is reserved unused.
 */
function unpackedSize(bytes: Uint8Array): number {
  const at = bytes.byteLength - 4;
  const declared =
    at < 0 ? 0 : new DataView(bytes.buffer, bytes.byteOffset + at).getUint32(0, true);
  return Math.min(Math.max(declared, MIN_CHUNK), BUNDLE_LIMITS.unpackedBytes) + 1;
}

function readTar(tar: Buffer): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  let offset = 0;
  for (;;) {
    const header = readHeader(tar, offset);
    if (!header) break;
    const { path, size } = header;
    const start = offset + BLOCK;
    if (start + size > tar.length) throw malformed('a member is cut off');
    if (files.has(path)) throw malformed('a path is there twice');
    if (files.size >= BUNDLE_LIMITS.members) {
      throw new BundleArchiveError('too_large', 'the bundle has too many members');
    }
    files.set(path, tar.subarray(start, start + size));
    offset = start + Math.ceil(size / BLOCK) * BLOCK;
    if (!isZero(tar.subarray(start + size, offset))) throw malformed('its padding is not empty');
  }
  const rest = tar.subarray(offset);
  if (rest.length > MAX_PADDING || !isZero(rest)) {
    throw malformed('something follows the end');
  }
  return files;
}

function isZero(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0);
}

/** @returns null at the end of the archive */
function readHeader(tar: Buffer, offset: number): { path: string; size: number } | null {
  if (offset + BLOCK > tar.length) throw malformed('the end is missing');
  const header = parseHeader(tar, offset);
  if (header.nullBlock) return null;
  if (!header.cksumValid) throw malformed('a checksum is wrong');
  const { path, size, type } = header;
  if (type !== 'File') throw malformed('a member is no regular file');
  if (path === undefined || !isPlainPath(path)) throw malformed('a path is not plain');
  if (size === undefined || !Number.isSafeInteger(size) || size < 0) {
    throw malformed('a size is wrong');
  }
  return { path, size };
}

function parseHeader(tar: Buffer, offset: number): Header {
  try {
    return new Header(tar, offset);
  } catch (cause) {
    throw malformed('a header cannot be read', cause);
  }
}

/** Relative, of ordinary segments: such a path means the same to every reader. */
export function isPlainPath(path: string): boolean {
  if (!/^[\x20-\x7e]+$/.test(path) || path.includes('\\')) return false;
  return path.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
}

function malformed(message: string, cause?: unknown): BundleArchiveError {
  return new BundleArchiveError('archive_malformed', `the bundle's archive: ${message}`, { cause });
}
