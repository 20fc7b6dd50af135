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
  let parts: Buffer[] = [];
  let buffered = 0;
  for await (const chunk of chunks) {
    let rest = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    for (let end = rest.indexOf(0x0a); end >= 0; end = rest.indexOf(0x0a)) {
      if (buffered + end > limit) throw new LineTooLongError(limit);
      // Most lines lie within a chunk.
      const line = rest.subarray(0, end);
      yield parts.length === 0 ? line : Buffer.concat([...parts, line]);
      parts = [];
      buffered = 0;
      rest = rest.subarray(end + 1);
    }
    buffered += rest.length;
    if (buffered > limit) throw new LineTooLongError(limit);
    if (rest.length > 0) parts.push(rest);
  }
  if (buffered > 0) yield Buffer.concat(parts);
}
