import { isUtf8 } from 'node:buffer';
import { ByteCollector } from '@governance/shared/byte-collector';
import { type AnswerBytes, SMALL_ANSWER } from '../shares/answer-room.ts';

/** Splits a byte stream into lines of UTF-8 with a limit: the rest of a longer line is dropped. */
export interface LineSink {
  onLine(line: string): void;
  /**
   * Gets lines that are not UTF-8, with U+FFFD for what is not; onLine gets them where it is absent.
   */
  onNotUtf8?(line: string): void;
  /** Called once for each line over the limit. */
  onTooLong(): void;
  /** Called once for each line without an end for which there is no room: its rest is dropped too. */
  onNoRoom?(): void;
  /** Called each time that as much more of such a line was dropped. */
  onDropped(): void;
}

const NEWLINE = 0x0a;

export class LineReader {
  readonly #sink: LineSink;
  readonly #line: ByteCollector;
  readonly #limit: number;
  readonly #room: Pick<AnswerBytes, 'hold'> | undefined;
  /** What is counted of the line. */
  #held = 0;
  #isDropping = false;
  #dropped = 0;

  /**
   * @param limit bytes of a line, at most
   * @param room counts a line until its end has come; absent where a line is small
   */
  constructor(limit: number, sink: LineSink, room?: Pick<AnswerBytes, 'hold'>) {
    this.#room = room;
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
    this.#count();
  }

  #add(part: Buffer): void {
    if (!this.#isDropping) {
      if (this.#line.add(part)) return;
      this.#dropRest();
      this.#sink.onTooLong();
      return;
    }
    this.#dropped += part.length;
    if (this.#dropped <= this.#limit) return;
    this.#dropped = 0;
    this.#sink.onDropped();
  }

  #dropRest(): void {
    this.#isDropping = true;
    this.#dropped = 0;
  }

  #count(): void {
    const bytes = this.#line.length;
    if (this.#held === 0 && bytes <= SMALL_ANSWER) return;
    if (this.#room?.hold(bytes - this.#held) ?? true) {
      this.#held = bytes;
      return;
    }
    this.#line.clear();
    this.#count();
    this.#dropRest();
    this.#sink.onNoRoom?.();
  }

  #flush(): void {
    // Blank lines come by the thousand in one chunk.
    const bytes = this.#isDropping || this.#line.length === 0 ? null : this.#line.take();
    const line = this.#isDropping ? null : (bytes?.toString('utf8') ?? '');
    this.#isDropping = false;
    // Whoever gets it counts it.
    this.#count();
    if (line === null) return;
    if (this.#sink.onNotUtf8 && bytes !== null && !isUtf8(bytes)) this.#sink.onNotUtf8(line);
    else this.#sink.onLine(line);
  }
}
