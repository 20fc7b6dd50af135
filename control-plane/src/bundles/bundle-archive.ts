/**
 * The container of a bundle: a gzipped USTAR archive whose bytes depend on nothing but its
 * members (sorted, fixed owner, mode and time). Read back only from our own database, yet with
 * limits and a closed list of entry types, so that a damaged row is an error and nothing worse.
 */
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { BUNDLE_LIMITS } from '@governance/shared/bundle-format';
import { Header } from 'tar';

const compress = promisify(gzip);
const decompress = promisify(gunzip);

const BLOCK = 512;
const END = Buffer.alloc(2 * BLOCK);
const EPOCH = new Date(0);

/** A bundle that cannot be written, or a stored one that cannot be read. */
export class BundleArchiveError extends Error {
  override readonly name = 'BundleArchiveError';
}

/**
 * Packs files into a tar.gz.
 *
 * @param files content by path, without leading slashes
 * @throws BundleArchiveError when data planes would refuse it: too many members, too large, or a
 *   path that USTAR cannot hold
 */
export async function packArchive(files: ReadonlyMap<string, Uint8Array>): Promise<Buffer> {
  if (files.size > BUNDLE_LIMITS.members) throw new BundleArchiveError('too many members');
  const names = [...files.keys()].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const blocks: Uint8Array[] = [];
  for (const name of names) {
    const bytes = files.get(name) ?? new Uint8Array();
    blocks.push(headerOf(name, bytes.length), bytes, Buffer.alloc(padding(bytes.length)));
  }
  const tar = Buffer.concat([...blocks, END]);
  if (tar.length > BUNDLE_LIMITS.unpackedBytes) throw new BundleArchiveError('too large');
  const packed = await compress(tar);
  if (packed.length > BUNDLE_LIMITS.compressedBytes) {
    throw new BundleArchiveError('too large when compressed');
  }
  return packed;
}

function headerOf(path: string, size: number): Buffer {
  const block = Buffer.alloc(BLOCK);
  const header = new Header({
    path,
    size,
    mode: 0o644,
    uid: 0,
    gid: 0,
    mtime: EPOCH,
    type: 'File',
    uname: '',
    gname: '',
  });
  if (header.encode(block)) throw new BundleArchiveError(`${path} does not fit a USTAR header`);
  return block;
}

function padding(size: number): number {
  return (BLOCK - (size % BLOCK)) % BLOCK;
}

/**
 * Unpacks a tar.gz that packArchive made.
 *
 * @returns content by path
 * @throws BundleArchiveError when it is damaged, too large, or holds anything but plain files
 */
export async function unpackArchive(packed: Uint8Array): Promise<Map<string, Buffer>> {
  let tar: Buffer;
  try {
    tar = await decompress(packed, { maxOutputLength: BUNDLE_LIMITS.unpackedBytes });
  } catch (error) {
    throw new BundleArchiveError('it cannot be decompressed', { cause: error });
  }
  const files = new Map<string, Buffer>();
  let at = 0;
  while (!tar.subarray(at, at + END.length).equals(END)) {
    if (at + BLOCK > tar.length) throw new BundleArchiveError('it has no end');
    const header = new Header(tar, at);
    const { path, size } = header;
    at += BLOCK;
    if (!header.cksumValid || header.type !== 'File' || !path || size === undefined) {
      throw new BundleArchiveError('it holds a damaged header or something that is no file');
    }
    if (files.has(path) || at + size > tar.length) {
      throw new BundleArchiveError(`${path} is there twice or cut short`);
    }
    files.set(path, tar.subarray(at, at + size));
    const rest = tar.subarray(at + size, at + size + padding(size));
    if (rest.some((byte) => byte !== 0)) throw new BundleArchiveError('its padding is not empty');
    at += size + padding(size);
  }
  if (at + END.length !== tar.length) throw new BundleArchiveError('something follows its end');
  return files;
}
