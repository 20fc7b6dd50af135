/**
 * Reads as much of WebAssembly's binary format as metering needs. Every read is checked against the
 * end of the region it reads from, so that a damaged module ends in a `WasmFormatError`, never in a
 * read beyond it.
 */
export class WasmFormatError extends Error {
  override readonly name = 'WasmFormatError';
}

export class WasmReader {
  readonly bytes: Uint8Array;
  readonly end: number;
  position: number;

  constructor(bytes: Uint8Array, start = 0, end = bytes.length) {
    this.bytes = bytes;
    this.position = start;
    this.end = end;
  }

  get done(): boolean {
    return this.position >= this.end;
  }

  /** Throws when bytes are left. */
  finish(): void {
    if (!this.done) throw new WasmFormatError('a section is longer than its contents');
  }

  byte(): number {
    if (this.position >= this.end) throw new WasmFormatError('unexpected end of WebAssembly');
    return this.bytes[this.position++] as number;
  }

  /** An unsigned LEB128 of at most 32 bits. */
  u32(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.byte();
      if (shift === 28 && byte > 0x0f) break;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    throw new WasmFormatError('a LEB128 number is longer than 32 bits');
  }

  /** Skips a LEB128 of at most `maxBytes` bytes, whatever its sign and value. */
  skipLeb(maxBytes: number): void {
    for (let i = 0; i < maxBytes; i++) if (this.byte() < 0x80) return;
    throw new WasmFormatError('a LEB128 number is too long');
  }

  skip(count: number): void {
    if (count > this.end - this.position) {
      throw new WasmFormatError('unexpected end of WebAssembly');
    }
    this.position += count;
  }

  /** A reader of the next `count` bytes, which this one skips. */
  region(count: number): WasmReader {
    const start = this.position;
    this.skip(count);
    return new WasmReader(this.bytes, start, start + count);
  }

  /** A reader that begins at this one's place. */
  clone(): WasmReader {
    return new WasmReader(this.bytes, this.position, this.end);
  }

  name(): string {
    const length = this.u32();
    const start = this.position;
    this.skip(length);
    return new TextDecoder().decode(this.bytes.subarray(start, start + length));
  }
}

/** A growing buffer of bytes. */
export class WasmWriter {
  #bytes: Uint8Array;
  #length = 0;

  constructor(capacity: number) {
    this.#bytes = new Uint8Array(Math.max(capacity, 64));
  }

  get length(): number {
    return this.#length;
  }

  #reserve(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = value;
  }

  copy(source: Uint8Array, start = 0, end = source.length): void {
    this.#reserve(end - start);
    this.#bytes.set(source.subarray(start, end), this.#length);
    this.#length += end - start;
  }

  u32(value: number): void {
    let rest = value >>> 0;
    while (rest >= 0x80) {
      this.byte((rest & 0x7f) | 0x80);
      rest >>>= 7;
    }
    this.byte(rest);
  }

  i32(value: number): void {
    let rest = value | 0;
    for (;;) {
      const low = rest & 0x7f;
      rest >>= 7;
      const last = (rest === 0 && (low & 0x40) === 0) || (rest === -1 && (low & 0x40) !== 0);
      this.byte(last ? low : low | 0x80);
      if (last) return;
    }
  }

  /** The bytes written so far; shares memory with the writer. */
  view(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }
}
