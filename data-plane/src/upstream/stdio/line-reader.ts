import { ByteCollector } from '@governance/shared/byte-collector';

/** Splits a byte stream into lines of UTF-8 with a limit: the rest of a longer line is dropped. */
export interface LineSink {
  onLine(line: string): void;
  /** Called once for each line over the limit. */
  onTooLong(): void;
  /** Called each time that as much more of such a line was dropped. */
  onDropped(): void;
}

const NEWLINE = 0x0a;

export class LineReader {
  readonly #sink: LineSink;
  readonly #line: ByteCollector;
  readonly #limit: number;
  #isDropping = false;
  #dropped = 0;

  /** @param limit bytes of a line, at most */
  constructor(limit: number, sink: LineSink) {
    this.#line = new ByteCollector(limit);
    this.#limit = limit;
    this.#sink = sink;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(NEWLINE, start);
      if (end < 0) break;
      this.#add(chunk.subarray(start, end));
      this.#flush();
      start = end + 1;
    }
    if (start < chunk.length) this.#add(chunk.subarray(start));
  }

  #add(part: Buffer): void {
    if (!this.#isDropping) {
      if (this.#line.add(part)) return;
      this.#isDropping = true;
      this.#dropped = 0;
      this.#sink.onTooLong();
      return;
    }
    this.#dropped += part.length;
    if (this.#dropped <= this.#limit) return;
    this.#dropped = 0;
    this.#sink.onDropped();
  }

  #flush(): void {
    // Blank lines come by the thousand in one chunk.
    const read = () => (this.#line.length === 0 ? '' : this.#line.take().toString('utf8'));
    const line = this.#isDropping ? null : read();
    this.#isDropping = false;
    if (line !== null) this.#sink.onLine(line);
  }
}
