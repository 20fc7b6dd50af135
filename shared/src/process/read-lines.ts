import { ByteCollector } from '../byte-collector.ts';

/** A line longer than the reader's limit. */
export class LineTooLongError extends Error {
  constructor(limit: number) {
    super(`a line is longer than ${limit} bytes`);
    this.name = 'LineTooLongError';
  }
}

/**
 * Splits bytes into lines at LF, without the LF, and never holds more than one line and one chunk.
 *
 * @param chunks the bytes, cut anywhere; lines are parts of them, so that none is to be filled anew
 * @param limit the longest line in bytes
 * @throws LineTooLongError
 */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  limit: number,
): AsyncGenerator<Buffer> {
  const begun = new ByteCollector(limit);
  for await (const chunk of chunks) {
    let rest = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    for (let end = rest.indexOf(0x0a); end >= 0; end = rest.indexOf(0x0a)) {
      // Most lines lie within a chunk, of which they are parts.
      if (!begun.add(rest.subarray(0, end))) throw new LineTooLongError(limit);
      yield begun.take();
      rest = rest.subarray(end + 1);
    }
    if (rest.length > 0 && !begun.add(rest)) throw new LineTooLongError(limit);
  }
  if (begun.length > 0) yield begun.take();
}
