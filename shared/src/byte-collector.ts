/**
 * Collects the bytes of a body, a message or a line whose pieces the other side cuts. Small pieces
 * are copied into one growing buffer and let go: an object for each costs some 200 bytes, so that a
 * body of one-byte chunks would take hundreds of times its size. Proven by byte-collector.test.ts.
 */

/** Bytes of the first buffer. */
const FIRST_CAPACITY = 1024;

export class ByteCollector {
  readonly #limit: number;
  /** A single piece as it came, or the growing buffer. */
  #bytes: Buffer = Buffer.alloc(0);
  #length = 0;

  /** @param limit bytes at most */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get length(): number {
    return this.#length;
  }

  /** Bytes of memory that are held: at most twice those that were added, but for the first KiB. */
  get capacity(): number {
    return this.#bytes.length;
  }

  /**
   * Adds a piece. A single one is kept and not copied.
   *
   * @param piece caller-controlled; nobody may change it afterwards
   * @returns false where it leads over the limit: everything is dropped then
   */
  add(piece: Uint8Array): boolean {
    const length = this.#length + piece.length;
    if (length > this.#limit) {
      this.clear();
      return false;
    }
    if (this.#length === 0) {
      this.#bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    } else {
      // A single piece fills its buffer, so the other side's memory is never written into.
      if (length > this.#bytes.length) this.#grow(length);
      this.#bytes.set(piece, this.#length);
    }
    this.#length = length;
    return true;
  }

  /** What was added, and begins anew. */
  take(): Buffer {
    const bytes = this.#bytes.subarray(0, this.#length);
    this.clear();
    return bytes;
  }

  clear(): void {
    this.#bytes = Buffer.alloc(0);
    this.#length = 0;
  }

  #grow(needed: number): void {
    const capacity = Math.max(FIRST_CAPACITY, needed, this.#length * 2);
    const grown = Buffer.allocUnsafeSlow(Math.min(capacity, this.#limit));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
  }
}
