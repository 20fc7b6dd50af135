/**
 * The interface of our built-ins. The rules they share:
 * - An error in OPA returns `undefined`: the expression is undefined, as in OPA.
 * - Anything that OPA would compute but our limits forbid throws `BuiltinLimitError`: the whole
 *   decision is
 * then a denial. It must not be undefined, or a deny rule would silently not apply.
 * - Work in proportion to an argument is paid for by `charge`, in the units of the policy's fuel,
 * so that a loop over a built-in ends where any other loop does.
 */
import type { RegoValue } from '../rego-value.ts';

export interface BuiltinCall {
  /** The time of this decision in nanoseconds; the same for all calls of one decision. */
  readonly nowNs: bigint;
  /** Takes fuel; throws `OutOfFuelError` when too little is left. */
  charge(units: number): void;
  /** True the first time it is asked for this key in one decision. */
  firstUse(key: string): boolean;
}

/** A result that is written as JSON already. */
export class JsonText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** A string of bytes that are not UTF-8, which JSON cannot hold. */
export class ByteString {
  readonly bytes: Buffer;
  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }
}

/** A result that JSON can hold, integers of any size as bigint. */
export type JsonResult = string | number | bigint | boolean | JsonText | readonly JsonResult[];
export type BuiltinResult = JsonResult | ByteString;

export type Builtin = (args: readonly RegoValue[], call: BuiltinCall) => BuiltinResult | undefined;

export class BuiltinLimitError extends Error {
  override readonly name = 'BuiltinLimitError';
}

export class OutOfFuelError extends Error {
  override readonly name = 'OutOfFuelError';
}

/** The JSON text of a result, for `opa_json_parse`. */
export function encodeResult(result: JsonResult): string {
  if (typeof result === 'bigint') return result.toString();
  if (result instanceof JsonText) return result.text;
  if (typeof result === 'object') return `[${result.map(encodeResult).join(',')}]`;
  // A lone surrogate cannot be encoded as UTF-8.
  return JSON.stringify(typeof result === 'string' ? result.toWellFormed() : result);
}
