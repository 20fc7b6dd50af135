/**
 * A strict subset of USTAR (POSIX.1-1988) for evidence: regular files, mode 0644, owner and time 0,
 * two blocks of zeros at the end and nothing behind, so that a set of members has exactly one
 * archive. Reading streams. Proven by ustar.test.ts.
 */

const BLOCK = 512;
const MAX_SIZE = 0o77777777777;
const EMPTY_BLOCK = Buffer.alloc(BLOCK);

/** An archive that is not of this form. */
export class ArchiveError extends Error {
  override readonly name = 'ArchiveError';
}

/**
 * The header block of a member.
 *
 * @param name at most 100 bytes of printable ASCII
 * @param size of its content, which `ustarPadding` follows
 * @throws RangeError
 */
export function ustarHeader(name: string, size: number): Buffer {
  if (!/^[\x21-\x7e]{1,100}$/.test(name)) throw new RangeError('the name is not plain');
  if (!Number.isSafeInteger(size) || size < 0 || size > MAX_SIZE) {
    throw new RangeError('the size is not possible');
  }
  const block = Buffer.alloc(BLOCK);
  block.write(name, 0, 'latin1');
  block.write('0000644\0', 100);
  block.write('0000000\0', 108);
  block.write('0000000\0', 116);
  block.write(`${size.toString(8).padStart(11, '0')}\0`, 124);
  block.write('00000000000\0', 136);
  block.write('        ', 148);
  block.write('0', 156);
  block.write('ustar\0', 257);
  block.write('00', 263);
  let sum = 0;
  for (const byte of block) sum += byte;
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

/** The zeros behind a content of this size. */
export function ustarPadding(size: number): Buffer {
  return Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);
}

/** What ends an archive. */
export const USTAR_END = Buffer.alloc(2 * BLOCK);

export interface ArchiveMember {
  name: string;
  size: number;
  /** To be read to its end before the next member is requested. */
  content: AsyncIterable<Buffer>;
}

/**
 * Reads an archive's members in turn.
 *
 * @param source the archive's bytes, cut anywhere
 * @throws ArchiveError at the first deviation from this form
 */
export async function* readUstar(source: AsyncIterable<Uint8Array>): AsyncGenerator<ArchiveMember> {
  const bytes = createByteReader(source);
  for (;;) {
    const block = await bytes.exactly(BLOCK);
    if (block.equals(EMPTY_BLOCK)) break;
    const { name, size } = readHeader(block);
    let left = size;
    async function* content(): AsyncGenerator<Buffer> {
      while (left > 0) {
        const piece = await bytes.atMost(left);
        left -= piece.length;
        yield piece;
      }
    }
    yield { name, size, content: content() };
    if (left > 0) for await (const _ of content());
    const padding = await bytes.exactly((BLOCK - (size % BLOCK)) % BLOCK);
    if (padding.some((byte) => byte !== 0)) throw new ArchiveError('a padding is not empty');
  }
  const second = await bytes.exactly(BLOCK);
  if (!second.equals(EMPTY_BLOCK)) throw new ArchiveError('the end is not two empty blocks');
  if (!(await bytes.isAtEnd())) throw new ArchiveError('something follows the end');
}

function readHeader(block: Buffer): { name: string; size: number } {
  const end = block.indexOf(0);
  const name = block.toString('latin1', 0, Math.min(end < 0 ? 100 : end, 100));
  const digits = block.toString('latin1', 124, 135);
  if (!/^[0-7]{11}$/.test(digits) || !/^[\x21-\x7e]+$/.test(name)) {
    throw new ArchiveError('a header cannot be read');
  }
  const size = Number.parseInt(digits, 8);
  // Serialised again it is the same block: no field can be read otherwise.
  if (!ustarHeader(name, size).equals(block)) {
    throw new ArchiveError('a header is not of a plain file');
  }
  return { name, size };
}

function createByteReader(source: AsyncIterable<Uint8Array>) {
  const chunks = source[Symbol.asyncIterator]();
  let buffered: Buffer = Buffer.alloc(0);

  /** @returns false at the end */
  async function refill(): Promise<boolean> {
    while (buffered.length === 0) {
      const { done, value } = await chunks.next();
      if (done) return false;
      buffered = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    }
    return true;
  }

  /** At most this many bytes, at least one. */
  async function atMost(count: number): Promise<Buffer> {
    if (!(await refill())) throw new ArchiveError('the archive is cut off');
    const piece = buffered.subarray(0, count);
    buffered = buffered.subarray(piece.length);
    return piece;
  }

  return {
    atMost,
    exactly: async (count: number): Promise<Buffer> => {
      const pieces: Buffer[] = [];
      for (let left = count; left > 0; ) {
        const piece = await atMost(left);
        left -= piece.length;
        pieces.push(piece);
      }
      return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
    },
    isAtEnd: async (): Promise<boolean> => !(await refill()),
  };
}
