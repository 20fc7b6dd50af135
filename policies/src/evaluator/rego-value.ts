/**
 * Rego values as OPA's WebAssembly prints them with `opa_value_dump`, read without loss: sets stay
 * sets, numbers keep their digits. `opa_json_dump`, which the npm package uses for the arguments
 * of built-ins, turns sets into arrays and 64-bit integers into doubles.
 */

/** A number by its decimal text, as spelled in the policy or the input. */
export class RegoNumber {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export class RegoSet {
  /** In the order of `compareRego`, without duplicates. */
  readonly items: readonly RegoValue[];
  constructor(items: RegoValue[]) {
    this.items = items.sort(compareRego);
  }
}

export class RegoObject {
  /** In the order of their keys by `compareRego`. */
  readonly entries: readonly (readonly [RegoValue, RegoValue])[];
  constructor(entries: [RegoValue, RegoValue][]) {
    this.entries = entries.sort((a, b) => compareRego(a[0], b[0]));
  }
}

export type RegoValue =
  | null
  | boolean
  | string
  | RegoNumber
  | readonly RegoValue[]
  | RegoSet
  | RegoObject;

/**
 * Reads the text of one value as `opa_value_dump` writes it.
 * Throws SyntaxError when it is anything else, RangeError when it is nested too deeply.
 */
export function parseRegoValue(text: string): RegoValue {
  const parser = new ValueParser(text);
  const value = parser.value();
  parser.finish();
  return value;
}

class ValueParser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  finish(): void {
    if (this.#at !== this.#text.length) this.#fail();
  }

  value(): RegoValue {
    switch (this.#text.charCodeAt(this.#at)) {
      case 0x22: // "
        return this.#string();
      case 0x5b: // [
        return this.#array();
      case 0x7b: // {
        return this.#objectOrSet();
      case 0x6e: // n
        return this.#literal('null', null);
      case 0x74: // t
        return this.#literal('true', true);
      case 0x66: // f
        return this.#literal('false', false);
      case 0x73: // s
        return this.#literal('set()', new RegoSet([]));
      default:
        return this.#number();
    }
  }

  #fail(): never {
    throw new SyntaxError(`not a Rego value at ${this.#at}`);
  }

  #literal<T extends RegoValue>(literal: string, value: T): T {
    if (!this.#text.startsWith(literal, this.#at)) this.#fail();
    this.#at += literal.length;
    return value;
  }

  #string(): string {
    const start = this.#at;
    let plain = true;
    for (let i = start + 1; i < this.#text.length; i++) {
      const code = this.#text.charCodeAt(i);
      if (code === 0x5c) {
        plain = false;
        i++;
      } else if (code === 0x22) {
        this.#at = i + 1;
        return plain
          ? this.#text.slice(start + 1, i)
          : (JSON.parse(this.#text.slice(start, i + 1)) as string);
      }
    }
    return this.#fail();
  }

  #number(): RegoNumber {
    const start = this.#at;
    while (isNumberCharacter(this.#text.charCodeAt(this.#at))) this.#at++;
    if (this.#at === start) this.#fail();
    return new RegoNumber(this.#text.slice(start, this.#at));
  }

  #array(): RegoValue[] {
    this.#at++;
    const items: RegoValue[] = [];
    if (this.#take(']')) return items;
    do items.push(this.value());
    while (this.#take(', '));
    if (!this.#take(']')) this.#fail();
    return items;
  }

  #objectOrSet(): RegoObject | RegoSet {
    this.#at++;
    if (this.#take('}')) return new RegoObject([]);
    const first = this.value();
    if (!this.#take(': ')) {
      const items = [first];
      while (this.#take(', ')) items.push(this.value());
      if (!this.#take('}')) this.#fail();
      return new RegoSet(items);
    }
    const entries: [RegoValue, RegoValue][] = [[first, this.value()]];
    while (this.#take(', ')) {
      const key = this.value();
      if (!this.#take(': ')) this.#fail();
      entries.push([key, this.value()]);
    }
    if (!this.#take('}')) this.#fail();
    return new RegoObject(entries);
  }

  #take(token: string): boolean {
    if (!this.#text.startsWith(token, this.#at)) return false;
    this.#at += token.length;
    return true;
  }
}

/** Digits, sign, point and exponent. */
function isNumberCharacter(code: number): boolean {
  return (
    (code >= 0x30 && code <= 0x39) ||
    code === 0x2d ||
    code === 0x2b ||
    code === 0x2e ||
    code === 0x65 ||
    code === 0x45
  );
}

const MAX_INT64_DIGITS = 20;

/**
 * The integer that a number denotes, or null when it has a fraction, an exponent or does not fit 64
 * bits. Zeros after the point count as an integer ("10.00"), as in OPA.
 */
export function toInt64(number: RegoNumber): bigint | null {
  const match = /^([+-]?\d+)(?:\.0*)?$/.exec(number.text);
  // No 64-bit integer has more digits, and JSON allows no leading zeros; BigInt would parse any
  // length.
  if (!match || (match[1] as string).length > MAX_INT64_DIGITS) return null;
  const value = BigInt(match[1] as string);
  return BigInt.asIntN(64, value) === value ? value : null;
}

function rank(value: RegoValue): number {
  if (value === null) return 0;
  if (typeof value === 'boolean') return 1;
  if (value instanceof RegoNumber) return 2;
  if (typeof value === 'string') return 3;
  if (value instanceof RegoObject) return 5;
  return value instanceof RegoSet ? 6 : 4;
}

/** OPA's order: null, booleans, numbers, strings, arrays, objects, sets; within a type by value. */
export function compareRego(a: RegoValue, b: RegoValue): number {
  const difference = rank(a) - rank(b);
  if (difference !== 0) return difference;
  if (typeof a === 'string') return compareStrings(a, b as string);
  if (a instanceof RegoNumber) return compareNumbers(a, b as RegoNumber);
  if (typeof a === 'boolean') return Number(a) - Number(b);
  if (a === null) return 0;
  if (a instanceof RegoObject) return compareObjects(a, b as RegoObject);
  if (a instanceof RegoSet) return compareLists(a.items, (b as RegoSet).items);
  return compareLists(a, b as readonly RegoValue[]);
}

export function equalRego(a: RegoValue, b: RegoValue): boolean {
  return compareRego(a, b) === 0;
}

/** By code point, which is the order of the UTF-8 bytes that OPA compares. */
export function compareStrings(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x === y) continue;
    const xSurrogate = x >= 0xd800 && x <= 0xdfff;
    const ySurrogate = y >= 0xd800 && y <= 0xdfff;
    if (xSurrogate !== ySurrogate) return xSurrogate ? 1 : -1;
    return x - y;
  }
  return a.length - b.length;
}

function compareNumbers(a: RegoNumber, b: RegoNumber): number {
  const x = toInt64(a);
  const y = toInt64(b);
  if (x !== null && y !== null) return x < y ? -1 : x > y ? 1 : 0;
  return Number(a.text) - Number(b.text);
}

function compareLists(a: readonly RegoValue[], b: readonly RegoValue[]): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const order = compareRego(a[i] as RegoValue, b[i] as RegoValue);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function compareObjects(a: RegoObject, b: RegoObject): number {
  const length = Math.min(a.entries.length, b.entries.length);
  for (let i = 0; i < length; i++) {
    const [aKey, aValue] = a.entries[i] as [RegoValue, RegoValue];
    const [bKey, bValue] = b.entries[i] as [RegoValue, RegoValue];
    const order = compareRego(aKey, bKey) || compareRego(aValue, bValue);
    if (order !== 0) return order;
  }
  return a.entries.length - b.entries.length;
}
