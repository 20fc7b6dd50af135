/**
 * One running engine: numbered sets of patterns, and one text at a time. Its exports are defined in
 * shared/detect-engine/src/lib.rs. After anything thrown here but a `CompileFailure`, the instance
 * must not be used again.
 */
import { engineModule } from './engine-module.ts';
import { wasmApi } from './wasm-api.ts';

interface EngineExports {
  readonly memory: { readonly buffer: ArrayBuffer };
  text_buffer(capacity: number): number;
  shrink(capacity: number): void;
  answer(): number;
  message(): number;
  compile(length: number, tenant: number): number;
  release(number: number): void;
  hits(number: number, length: number): number;
  find(number: number, length: number, ascii: number): number;
}

/** Why patterns were not compiled. */
export interface CompileFailure {
  readonly reason: 'syntax' | 'too-large';
  /** Which pattern. */
  readonly pattern: number;
  /** Bytes of UTF-8 from the start of the pattern. */
  readonly byteOffset: number;
  readonly message: string;
}

const encoder = new TextEncoder();
/** A UTF-16 unit has at most three bytes of UTF-8; a pair of surrogates has four. */
const BYTES_PER_UNIT = 3;
/** The most that the text buffer keeps between texts. */
const KEPT_TEXT_BYTES = 256 * 1024;
const TOO_LARGE = 2;

export type EngineInstance = ReturnType<typeof createEngineInstance>;

/** One instance of the WebAssembly engine, with a memory of its own. */
export function createEngineInstance() {
  const engine = new wasmApi.Instance(engineModule()).exports as EngineExports;
  // The place comes first: making room may grow the memory, which detaches every view of it.
  const viewText = (capacity: number): Uint8Array => {
    const place = engine.text_buffer(capacity);
    return new Uint8Array(engine.memory.buffer, place, capacity);
  };
  let text = viewText(KEPT_TEXT_BYTES);

  const roomFor = (bytes: number): Uint8Array => {
    // A detached view has no bytes.
    if (bytes > text.length) text = viewText(Math.max(bytes, KEPT_TEXT_BYTES));
    return text;
  };

  const write = (value: string): number =>
    encoder.encodeInto(value, roomFor(value.length * BYTES_PER_UNIT)).written;

  const shrink = (): void => {
    if (text.length <= KEPT_TEXT_BYTES) return;
    engine.shrink(KEPT_TEXT_BYTES);
    text = viewText(KEPT_TEXT_BYTES);
  };

  const numbers = (count: number): Uint32Array => {
    const place = engine.answer();
    return new Uint32Array(engine.memory.buffer, place, count);
  };

  const failure = (): CompileFailure => {
    const [reason, pattern = 0, byteOffset = 0, length = 0] = numbers(4);
    const message = Buffer.from(engine.memory.buffer, engine.message(), length).toString();
    return { reason: reason === TOO_LARGE ? 'too-large' : 'syntax', pattern, byteOffset, message };
  };

  return {
    /** @returns the set's number, or why it was not compiled */
    compile(patterns: readonly string[], tenant: boolean): number | CompileFailure {
      const bytes = encodePatterns(patterns);
      roomFor(bytes.length).set(bytes);
      const set = engine.compile(bytes.length, Number(tenant));
      const answer = set === 0 ? failure() : set;
      shrink();
      return answer;
    },

    release(set: number): void {
      engine.release(set);
    },

    /** @returns the numbers of the patterns that match, or null when the set gave up */
    hits(set: number, value: string): readonly number[] | null {
      const count = engine.hits(set, write(value));
      // Copied before the memory that holds them may shrink.
      const found = count > 0 ? [...numbers(count)] : [];
      shrink();
      return count < 0 ? null : found;
    },

    /** @returns (pattern, start, end) of every match, flattened, or null when the set gave up */
    find(set: number, value: string): ArrayLike<number> | null {
      const length = write(value);
      const count = engine.find(set, length, Number(length === value.length));
      const found = count > 0 ? numbers(3 * count).slice() : [];
      shrink();
      return count < 0 ? null : found;
    },

    memoryBytes: (): number => engine.memory.buffer.byteLength,
  };
}

/** Each as its length (32 bits, little endian) and its bytes. */
function encodePatterns(patterns: readonly string[]): Uint8Array {
  return Buffer.concat(
    patterns.flatMap((pattern) => {
      const bytes = encoder.encode(pattern);
      const length = Buffer.alloc(4);
      length.writeUInt32LE(bytes.length);
      return [length, bytes];
    }),
  );
}
