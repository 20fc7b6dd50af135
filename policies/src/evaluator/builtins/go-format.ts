/**
 * Go's fmt.Sprintf for the operands that OPA gives it: float64, int64, *big.Int and string. OPA's
 * sprintf is this function, with every mistake in a format answered in the text ("%!d(string=x)").
 * Width and precision are bounded, the length of the result too.
 */
import { BuiltinLimitError } from './builtin.ts';
import { formatGoFloat } from './go-float.ts';
import { canBackquote, isPrintable, quoteCharacter, quoteString } from './go-quote.ts';

export type FormatOperand =
  | { type: 'float64'; value: number }
  | { type: 'int64'; value: bigint }
  | { type: '*big.Int'; value: bigint }
  | { type: 'string'; value: string };

export interface FormatLimits {
  /** The largest width or precision. */
  maxWidth: number;
  /** The longest result in UTF-16 units. */
  maxLength: number;
}

const DIGITS = /\d+/y;
/** From here on Go itself refuses a width (`%!(BADWIDTH)`). */
const GO_TOO_LARGE = 1_000_000;

interface Flags {
  minus: boolean;
  plus: boolean;
  sharp: boolean;
  space: boolean;
  zero: boolean;
  sharpV: boolean;
  width: number | null;
  precision: number | null;
}

const noFlags = (): Flags => ({
  minus: false,
  plus: false,
  sharp: false,
  space: false,
  zero: false,
  sharpV: false,
  width: null,
  precision: null,
});

/**
 * Returns what Go's fmt.Sprintf returns.
 * Throws `BuiltinLimitError` when a width, a precision or the result is beyond the limits.
 */
export function goSprintf(
  format: string,
  operands: readonly FormatOperand[],
  limits: FormatLimits,
): string {
  return new Printer(format, operands, limits).print();
}

class Printer {
  readonly #format: string;
  readonly #operands: readonly FormatOperand[];
  readonly #limits: FormatLimits;
  #out = '';
  #at = 0;
  #next = 0;
  #reordered = false;
  #goodIndex = true;
  #afterIndex = false;

  constructor(format: string, operands: readonly FormatOperand[], limits: FormatLimits) {
    this.#format = format;
    this.#operands = operands;
    this.#limits = limits;
  }

  print(): string {
    while (this.#at < this.#format.length) {
      const percent = this.#format.indexOf('%', this.#at);
      if (percent < 0) {
        this.#write(this.#format.slice(this.#at));
        break;
      }
      this.#write(this.#format.slice(this.#at, percent));
      this.#at = percent + 1;
      if (!this.#directive()) break;
    }
    if (!this.#reordered && this.#next < this.#operands.length) this.#extra();
    return this.#out;
  }

  #write(text: string): void {
    this.#out += text;
    if (this.#out.length > this.#limits.maxLength) {
      throw new BuiltinLimitError(`the text is longer than ${this.#limits.maxLength} characters`);
    }
  }

  /** One directive after its percent sign; false at the end of the format. */
  #directive(): boolean {
    this.#goodIndex = true;
    this.#afterIndex = false;
    const flags = this.#flags();
    this.#index();
    this.#width(flags);
    this.#precision(flags);
    if (!this.#afterIndex) this.#index();
    if (this.#at >= this.#format.length) {
      this.#write('%!(NOVERB)');
      return false;
    }
    const verb = String.fromCodePoint(this.#format.codePointAt(this.#at) as number);
    this.#at += verb.length;
    if (verb === '%') this.#write('%');
    else if (!this.#goodIndex) this.#write(`%!${verb}(BADINDEX)`);
    else if (this.#next >= this.#operands.length) this.#write(`%!${verb}(MISSING)`);
    else this.#write(formatOperand(this.#operands[this.#next++] as FormatOperand, verb, flags));
    return true;
  }

  #flags(): Flags {
    const flags = noFlags();
    for (; this.#at < this.#format.length; this.#at++) {
      const character = this.#format[this.#at];
      if (character === '#') flags.sharp = true;
      else if (character === '0') flags.zero = true;
      else if (character === '+') flags.plus = true;
      else if (character === '-') flags.minus = true;
      else if (character === ' ') flags.space = true;
      else break;
    }
    return flags;
  }

  /** An explicit operand number, `[3]`. */
  #index(): void {
    this.#afterIndex = false;
    if (this.#format[this.#at] !== '[') return;
    this.#reordered = true;
    const close = this.#format.indexOf(']', this.#at);
    if (close < 0 || this.#format.length - this.#at < 3) {
      this.#goodIndex = false;
      this.#at++;
      return;
    }
    const inside = this.#format.slice(this.#at + 1, close);
    this.#at = close + 1;
    const number = /^\d+$/.test(inside) ? Number(inside) : null;
    const isSane = number !== null && Math.floor(number / 10) <= GO_TOO_LARGE;
    if (isSane && number >= 1 && number <= this.#operands.length) {
      this.#next = number - 1;
      this.#afterIndex = true;
      return;
    }
    this.#goodIndex = false;
    this.#afterIndex = isSane;
  }

  #width(flags: Flags): void {
    if (this.#format[this.#at] === '*') {
      this.#at++;
      flags.width = this.#starred();
      if (flags.width === null) this.#write('%!(BADWIDTH)');
      else if (flags.width < 0) {
        flags.width = -flags.width;
        flags.minus = true;
        flags.zero = false;
      }
      this.#afterIndex = false;
    } else {
      flags.width = this.#number();
      if (this.#afterIndex && flags.width !== null) this.#goodIndex = false;
    }
    this.#checkSize(flags.width);
  }

  #precision(flags: Flags): void {
    if (this.#at + 1 >= this.#format.length || this.#format[this.#at] !== '.') return;
    this.#at++;
    if (this.#afterIndex) this.#goodIndex = false;
    this.#index();
    if (this.#format[this.#at] === '*') {
      this.#at++;
      const precision = this.#starred();
      flags.precision = precision !== null && precision < 0 ? null : precision;
      if (flags.precision === null) this.#write('%!(BADPREC)');
      this.#afterIndex = false;
    } else {
      flags.precision = this.#number() ?? 0;
    }
    this.#checkSize(flags.precision);
  }

  /** A width or precision that is an operand. */
  #starred(): number | null {
    const operand = this.#operands[this.#next];
    if (operand === undefined) return null;
    this.#next++;
    if (operand.type !== 'int64') return null;
    const value = operand.value;
    return value > GO_TOO_LARGE || value < -GO_TOO_LARGE ? null : Number(value);
  }

  #number(): number | null {
    DIGITS.lastIndex = this.#at;
    const match = DIGITS.exec(this.#format);
    if (!match) return null;
    let value = 0;
    for (const digit of match[0]) {
      if (value > GO_TOO_LARGE) {
        // Go gives up on the whole format here.
        this.#at = this.#format.length;
        return null;
      }
      value = value * 10 + Number(digit);
    }
    this.#at += match[0].length;
    return value;
  }

  #checkSize(size: number | null): void {
    if (size !== null && size > this.#limits.maxWidth) {
      throw new BuiltinLimitError(`a width of ${size} is more than ${this.#limits.maxWidth}`);
    }
  }

  #extra(): void {
    const rest = this.#operands.slice(this.#next);
    this.#write('%!(EXTRA ');
    rest.forEach((operand, i) => {
      const value = formatOperand(operand, 'v', noFlags());
      this.#write(`${i > 0 ? ', ' : ''}${operand.type}=${value}`);
    });
    this.#write(')');
  }
}

/** One operand by a verb of the format, which moves the flags of %+v and %#v aside. */
function formatOperand(operand: FormatOperand, verb: string, flags: Flags): string {
  if (verb === 'T') return padText(truncate(operand.type, flags), flags);
  if (operand.type === '*big.Int') return formatBigInteger(operand.value, verb, flags);
  if (verb !== 'v' && verb !== 'w') return printOperand(operand, verb, flags);
  return printOperand(operand, verb, { ...flags, sharpV: flags.sharp, sharp: false, plus: false });
}

type SimpleOperand = Exclude<FormatOperand, { type: '*big.Int' }>;

function printOperand(operand: SimpleOperand, verb: string, flags: Flags): string {
  switch (operand.type) {
    case 'float64':
      return formatFloat(operand, verb, flags);
    case 'int64':
      return formatInteger(operand, verb, flags);
    case 'string':
      return formatString(operand, verb, flags);
  }
}

/** The verb does not fit the operand: Go says so in the text, under the same flags. */
function badVerb(operand: SimpleOperand, verb: string, flags: Flags): string {
  return `%!${verb}(${operand.type}=${printOperand(operand, 'v', flags)})`;
}

function formatString(
  operand: Extract<FormatOperand, { type: 'string' }>,
  verb: string,
  flags: Flags,
): string {
  switch (verb) {
    case 'v':
      if (flags.sharpV) return formatQuoted(operand.value, flags);
      return padText(truncate(operand.value, flags), flags);
    case 's':
      return padText(truncate(operand.value, flags), flags);
    case 'x':
      return formatHexText(operand.value, flags);
    case 'X':
      return formatHexText(operand.value, flags).toUpperCase();
    case 'q':
      return formatQuoted(operand.value, flags);
    default:
      return badVerb(operand, verb, flags);
  }
}

function formatQuoted(text: string, flags: Flags): string {
  const shown = truncate(text, flags);
  if (flags.sharp && canBackquote(shown)) return padText(`\`${shown}\``, flags);
  return padText(quoteString(shown, flags.plus), flags);
}

function formatHexText(text: string, flags: Flags): string {
  let bytes = Buffer.from(text, 'utf8');
  if (flags.precision !== null) bytes = bytes.subarray(0, flags.precision);
  const pairs = bytes.toString('hex').match(/../g) ?? [];
  const prefix = flags.sharp && pairs.length > 0 ? '0x' : '';
  return padText(prefix + pairs.join(flags.space ? ` ${prefix}` : ''), flags);
}

function formatInteger(
  operand: Extract<FormatOperand, { type: 'int64' }>,
  verb: string,
  flags: Flags,
): string {
  const { value } = operand;
  switch (verb) {
    case 'v':
    case 'd':
      return formatDigits(value, 10, verb, flags);
    case 'b':
      return formatDigits(value, 2, verb, flags);
    case 'o':
    case 'O':
      return formatDigits(value, 8, verb, flags);
    case 'x':
    case 'X':
      return formatDigits(value, 16, verb, flags);
    case 'c':
      return padText(toCharacter(value), flags);
    case 'q':
      return padText(quoteCharacter(toCharacter(value), flags.plus), flags);
    case 'U':
      return formatUnicode(value, flags);
    default:
      return badVerb(operand, verb, flags);
  }
}

function formatDigits(value: bigint, base: number, verb: string, flags: Flags): string {
  const negative = value < 0n;
  let digits = (negative ? -value : value).toString(base);
  const withoutZeros = { ...flags, zero: false };
  if (flags.precision === 0 && value === 0n) return ' '.repeat(flags.width ?? 0);
  if (flags.precision !== null) {
    digits = digits.padStart(flags.precision, '0');
  } else if (flags.zero && !flags.minus && flags.width !== null) {
    const sign = negative || flags.plus || flags.space ? 1 : 0;
    digits = digits.padStart(flags.width - sign, '0');
  }
  if (flags.sharp && base === 2) digits = `0b${digits}`;
  if (flags.sharp && base === 8 && !digits.startsWith('0')) digits = `0${digits}`;
  if (flags.sharp && base === 16) digits = `0x${digits}`;
  if (verb === 'O') digits = `0o${digits}`;
  if (verb === 'X') digits = digits.toUpperCase();
  const sign = negative ? '-' : flags.plus ? '+' : flags.space ? ' ' : '';
  return padText(sign + digits, withoutZeros);
}

/** The character of a code point; U+FFFD for what is none. */
function toCharacter(value: bigint): string {
  const isCharacter = value >= 0n && value <= 0x10ffffn && (value < 0xd800n || value > 0xdfffn);
  return isCharacter ? String.fromCodePoint(Number(value)) : '\ufffd';
}

function formatUnicode(value: bigint, flags: Flags): string {
  const unsigned = BigInt.asUintN(64, value);
  const digits = unsigned
    .toString(16)
    .toUpperCase()
    .padStart(Math.max(flags.precision ?? 0, 4), '0');
  const character = toCharacter(value);
  const shown =
    flags.sharp && unsigned <= 0x10ffffn && isPrintable(character) ? ` '${character}'` : '';
  return padText(`U+${digits}${shown}`, { ...flags, zero: false });
}

/** math/big's Int.Format, which differs from fmt's own integers in several ways. */
function formatBigInteger(value: bigint, verb: string, flags: Flags): string {
  // Go shows the address or the words of the number here.
  if (verb === 'p' || verb === 'w') throw new BuiltinLimitError(`%${verb} of a large integer`);
  const bases: Record<string, number> = { b: 2, o: 8, O: 8, d: 10, s: 10, v: 10, x: 16, X: 16 };
  const base = bases[verb];
  if (base === undefined) return `%!${verb}(big.Int=${value})`;
  const sign = value < 0n ? '-' : flags.plus ? '+' : flags.space ? ' ' : '';
  const prefixes: Record<string, string> = { b: '0b', o: '0', x: '0x', X: '0X' };
  const prefix = verb === 'O' ? '0o' : flags.sharp ? (prefixes[verb] ?? '') : '';
  let digits = (value < 0n ? -value : value).toString(base);
  if (verb === 'X') digits = digits.toUpperCase();
  if (flags.precision !== null) digits = digits.padStart(flags.precision, '0');
  const missing = (flags.width ?? 0) - sign.length - prefix.length - digits.length;
  if (missing <= 0) return sign + prefix + digits;
  if (flags.minus) return sign + prefix + digits + ' '.repeat(missing);
  if (flags.zero && flags.precision === null) {
    return sign + prefix + '0'.repeat(missing) + digits;
  }
  return ' '.repeat(missing) + sign + prefix + digits;
}

function formatFloat(
  operand: Extract<FormatOperand, { type: 'float64' }>,
  verb: string,
  flags: Flags,
): string {
  if (!'vbgGxXfFeE'.includes(verb)) return badVerb(operand, verb, flags);
  const goVerb = verb === 'v' ? 'g' : verb === 'F' ? 'f' : verb;
  const precision = flags.precision ?? ('fFeE'.includes(verb) ? 6 : -1);
  const text = formatGoFloat(operand.value, goVerb, precision);
  const negative = text.startsWith('-');
  let digits = negative ? text.slice(1) : text;
  if (flags.sharp && goVerb !== 'b') digits = keepPoint(digits, goVerb, precision);
  const sign = negative ? '-' : flags.space && !flags.plus ? ' ' : '+';
  if (!flags.plus && sign === '+') return padText(digits, flags);
  const padsZeros = flags.zero && !flags.minus && flags.width !== null;
  if (padsZeros) return sign + digits.padStart((flags.width ?? 0) - 1, '0');
  return padText(sign + digits, flags);
}

/** The sharp flag: a decimal point always, and trailing zeros kept for g and x. */
function keepPoint(number: string, verb: string, precision: number): string {
  let missing = 'gGx'.includes(verb) ? (precision === -1 ? 6 : precision) : 0;
  const isHex = verb === 'x' || verb === 'X';
  const tailAt = number.search(isHex ? /[pP]/ : /[eE]/);
  let body = tailAt < 0 ? number : number.slice(0, tailAt);
  const tail = tailAt < 0 ? '' : number.slice(tailAt);
  let sawDigit = false;
  for (const character of body) {
    if (character === '.') continue;
    if (character !== '0') sawDigit = true;
    if (sawDigit) missing--;
  }
  if (!body.includes('.')) {
    if (body === '0') missing--;
    body += '.';
  }
  return body + '0'.repeat(Math.max(missing, 0)) + tail;
}

/** Cuts to the precision, in characters. */
function truncate(text: string, flags: Flags): string {
  if (flags.precision === null || text.length <= flags.precision) return text;
  let end = 0;
  let left = flags.precision;
  for (const character of text) {
    if (left-- <= 0) break;
    end += character.length;
  }
  return text.slice(0, end);
}

/** Fills up to the width, in characters: zeros or spaces on the left, spaces on the right. */
function padText(text: string, flags: Flags): string {
  if (flags.width === null || flags.width <= text.length / 2) return text;
  let characters = 0;
  for (const _ of text) characters++;
  const missing = flags.width - characters;
  if (missing <= 0) return text;
  if (flags.minus) return text + ' '.repeat(missing);
  return (flags.zero ? '0' : ' ').repeat(missing) + text;
}
