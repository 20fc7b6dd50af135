/**
 * Finds the signs of a text that open or separate a disguise, many characters at a time: in the
 * engine's WebAssembly, whose exports are defined in shared/detect-engine/src/signs.rs. Proven
 * against plain loops by sign-finder.test.ts.
 */
import { engineModule } from './engine-module.ts';
import { wasmApi } from './wasm-api.ts';

interface SignExports {
  readonly memory: { readonly buffer: ArrayBuffer };
  sign_window(): number;
  sign_row_buffer(): number;
  sign_place_buffer(): number;
  begin_signs(): void;
  sign_rows(from: number, count: number, available: number): number;
  last_sign_rows(): number;
  sign_marks(count: number, others: number): number;
}

/** Units of a text whose signs are found together. */
export const SIGN_WINDOW = 4096;
/** Units behind them that are looked at, too. */
const AHEAD = 16;
/** Numbers per row. */
export const SIGN_ROW = 4;

/** One text at a time: what a call finds is valid until the next call. */
export interface SignFinder {
  /**
   * Of signs at regular places those that deserve a closer look, in rows of four numbers: the step,
   * where the sign stood first, where it stood last (-1 while unknown), and where the last digit
   * stood (-1 if there was none).
   */
  readonly rows: Int32Array;
  /** Places of marks, counted from where the window begins. */
  readonly places: Uint16Array;
  /** Before the rows of a text. */
  begin(): void;
  /**
   * The rows of the next window of a text.
   *
   * @param from where it begins: a multiple of `SIGN_WINDOW`
   * @returns how many numbers of `rows` are in use
   */
  findRows(units: Uint16Array, from: number, length: number): number;
  /** The rows that the text ended with, after its last window; the same result. */
  findLastRows(): number;
  /**
   * Double quotes, `=` and `:` in the window that begins there; or single quotes and grave accents.
   *
   * @returns how many of `places` are in use
   */
  findMarks(units: Uint16Array, from: number, length: number, areOthers: boolean): number;
}

let current: SignFinder | undefined;

/** The finder of this thread, which all texts share. */
export function signFinder(): SignFinder {
  current ??= createSignFinder();
  return current;
}

/** @throws Error when the engine's artifact is missing or damaged */
function createSignFinder(): SignFinder {
  const engine = new wasmApi.Instance(engineModule()).exports as SignExports;
  // Nothing that is called here takes memory, so the views stay attached.
  const { buffer } = engine.memory;
  const window = new Uint16Array(buffer, engine.sign_window(), SIGN_WINDOW + AHEAD);
  const rows = new Int32Array(buffer, engine.sign_row_buffer(), 2 * SIGN_ROW * SIGN_WINDOW);
  const places = new Uint16Array(buffer, engine.sign_place_buffer(), SIGN_WINDOW);

  /** @returns how many units the window holds */
  const fill = (units: Uint16Array, from: number, length: number, ahead: number): number => {
    const count = Math.min(SIGN_WINDOW + ahead, length - from);
    window.set(units.subarray(from, from + count));
    return count;
  };

  return {
    rows,
    places,
    begin: () => engine.begin_signs(),
    findRows(units, from, length) {
      const available = fill(units, from, length, AHEAD);
      return engine.sign_rows(from, Math.min(SIGN_WINDOW, available), available);
    },
    findLastRows: () => engine.last_sign_rows(),
    findMarks: (units, from, length, areOthers) =>
      engine.sign_marks(fill(units, from, length, 0), Number(areOthers)),
  };
}
