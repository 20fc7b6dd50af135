/**
 * Reads a stream of server-sent events (WHATWG HTML, section 9.2) with a limit. Each byte is
 * examined once, however the server splits chunks or ends lines. Proven by event-reader.test.ts.
 */
import { isUtf8 } from 'node:buffer';
import { ByteCollector } from '@governance/shared/byte-collector';

export interface EventSink {
  /** An event with data; `id` and `type` where it has one. */
  onEvent(data: string, id: string | undefined, type: string): void;
  /** An event of no data that has an id: the stream can be resumed from there. */
  onId?(id: string): void;
  /** How long to wait before the stream is resumed, in milliseconds. */
  onRetry(ms: number): void;
  /** A line, or the data of an event, is over the limit. Nothing comes after it. */
  onTooLarge(): void;
  /** The bytes are not UTF-8. Nothing comes after it. */
  onMalformed(): void;
}

const LF = 0x0a;
const CR = 0x0d;
const COLON = 0x3a;
const SPACE = 0x20;
const BOM = Buffer.of(0xef, 0xbb, 0xbf);
/** Lines of data that are kept apart. */
const MAX_LINES = 1_024;
/** No known field has a longer name. */
const MAX_NAME = 5;
/** Bytes of a type that are kept: it is compared with a short one. */
const MAX_TYPE = 64;
/** Bytes of an id that are kept: one more than any that can be used, so that it stays unfit. */
const MAX_ID = 1_025;
const RETRY = /^\d{1,15}$/;

export class EventReader {
  readonly #limit: number;
  readonly #sink: EventSink;
  /** The incomplete line. */
  readonly #line: ByteCollector;
  /** The incomplete event. Texts, since a slice would keep its whole chunk in memory. */
  #data: string[] = [];
  /** Its earlier lines, joined: a list of many empty ones takes many times their bytes. */
  #joined: string[] = [];
  #dataBytes = 0;
  #id: string | undefined;
  #type = '';
  #isFirstLine = true;
  #afterCr = false;
  #isOver = false;

  /** @param limit bytes of a line and of an event's data, at most */
  constructor(limit: number, sink: EventSink) {
    this.#limit = limit;
    this.#line = new ByteCollector(limit);
    this.#sink = sink;
  }

  /** Lines so far, empty ones and comments too. */
  lines = 0;

  /** Bytes of an event that is not complete yet. */
  get waiting(): number {
    return this.#line.length + this.#dataBytes;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (let i = 0; i < chunk.length && !this.#isOver; i++) {
      const byte = chunk[i];
      if (byte !== LF && byte !== CR) continue;
      const isEmpty = i === start && this.#line.length === 0;
      // CR LF is one end of a line.
      if (!(byte === LF && this.#afterCr && isEmpty)) {
        this.lines += 1;
        if (isEmpty) this.#dispatch();
        else this.#endLine(chunk.subarray(start, i));
      }
      this.#afterCr = byte === CR;
      start = i + 1;
    }
    if (this.#isOver || start === chunk.length) return;
    if (!this.#line.add(chunk.subarray(start))) this.#tooLarge();
  }

  #endLine(last: Buffer): void {
    // Most lines lie within a chunk; of comments there may be thousands in one.
    const isWhole = this.#line.length === 0;
    if (isWhole ? last.length > this.#limit : !this.#line.add(last)) {
      this.#tooLarge();
      return;
    }
    const line = isWhole ? last : this.#line.take();
    const mayHaveBom = this.#isFirstLine;
    this.#isFirstLine = false;
    if (line[0] === COLON) return;
    const hasBom = mayHaveBom && line.subarray(0, BOM.length).equals(BOM);
    this.#readLine(hasBom ? line.subarray(BOM.length) : line);
  }

  #readLine(line: Buffer): void {
    const colon = line.indexOf(COLON);
    const nameEnd = colon < 0 ? line.length : colon;
    // A comment, or a field of a later standard.
    if (nameEnd === 0 || nameEnd > MAX_NAME) {
      if (line.length === 0) this.#dispatch();
      return;
    }
    const name = line.toString('latin1', 0, nameEnd);
    const valueStart = colon < 0 ? line.length : colon + (line[colon + 1] === SPACE ? 2 : 1);
    const value = line.subarray(valueStart);
    if (name === 'data') this.#addData(value);
    else if (name === 'id') this.#readId(value);
    else if (name === 'event') this.#type = value.toString('utf8', 0, MAX_TYPE);
    else if (name === 'retry') {
      const text = value.toString('latin1', 0, 16);
      if (RETRY.test(text)) this.#sink.onRetry(Number(text));
    }
  }

  #addData(value: Buffer): void {
    // The line feed in between counts, so that empty lines do, too.
    this.#dataBytes += value.length + 1;
    if (this.#dataBytes > this.#limit + 1) this.#tooLarge();
    else if (!isUtf8(value)) {
      this.#isOver = true;
      this.#sink.onMalformed();
    } else {
      this.#data.push(value.toString('utf8'));
      if (this.#data.length === MAX_LINES) this.#joined.push(this.#data.splice(0).join('\n'));
    }
  }

  #readId(value: Buffer): void {
    // Not reported, and no error of the event.
    if (value.includes(0) || !isUtf8(value)) return;
    this.#id = value.toString('utf8', 0, MAX_ID);
  }

  #dispatch(): void {
    this.#isFirstLine = false;
    const lines = this.#joined.length > 0 ? [...this.#joined, ...this.#data] : this.#data;
    const [first] = lines;
    const [id, type] = [this.#id, this.#type];
    this.#id = undefined;
    this.#type = '';
    if (first === undefined) {
      if (id !== undefined) this.#sink.onId?.(id);
      return;
    }
    const data = lines.length === 1 ? first : lines.join('\n');
    this.#data = [];
    this.#joined = [];
    this.#dataBytes = 0;
    this.#sink.onEvent(data, id, type);
  }

  #tooLarge(): void {
    this.#isOver = true;
    this.#line.clear();
    this.#data = [];
    this.#joined = [];
    this.#sink.onTooLarge();
  }
}
