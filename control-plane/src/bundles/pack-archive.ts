/**
 * The container of a bundle: a gzipped USTAR archive whose bytes depend on nothing but its
 * members (sorted, fixed owner, mode and time).
 */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { BundleArchiveError, isPlainPath } from '@governance/shared/bundle/bundle-archive';
import { BUNDLE_LIMITS } from '@governance/shared/bundle/bundle-format';
import { Header } from 'tar';

const compress = promisify(gzip);

const BLOCK = 512;
const END = Buffer.alloc(2 * BLOCK);
const EPOCH = new Date(0);

/**
 * Packs files into a tar.gz.
 *
 * @param files content by path, without leading slashes
 * @throws BundleArchiveError when data planes would refuse it: too many members, too large, or a
 *   path that USTAR cannot hold
 */
export async function packArchive(files: ReadonlyMap<string, Uint8Array>): Promise<Buffer> {
  if (files.size > BUNDLE_LIMITS.members) throw tooLarge('too many members');
  const names = [...files.keys()].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const blocks: Uint8Array[] = [];
  for (const name of names) {
    const bytes = files.get(name) ?? new Uint8Array();
    blocks.push(headerOf(name, bytes.length), bytes, Buffer.alloc(padding(bytes.length)));
  }
  const tar = Buffer.concat([...blocks, END]);
  if (tar.length > BUNDLE_LIMITS.unpackedBytes) throw tooLarge('too large');
  const packed = await compress(tar);
  if (packed.length > BUNDLE_LIMITS.compressedBytes) throw tooLarge('too large when compressed');
  return packed;
}

function headerOf(path: string, size: number): Buffer {
  if (!isPlainPath(path)) throw unwritable(`the path ${path} is not a plain relative path`);
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
  if (header.encode(block)) throw unwritable(`${path} does not fit a USTAR header`);
  return block;
}

function tooLarge(message: string): BundleArchiveError {
  return new BundleArchiveError('too_large', message);
}

function unwritable(message: string): BundleArchiveError {
  return new BundleArchiveError('archive_malformed', message);
}

function padding(size: number): number {
  return (BLOCK - (size % BLOCK)) % BLOCK;
}
