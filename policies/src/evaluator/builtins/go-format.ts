/**
 * Go's fmt.Sprintf for the operands that OPA gives it: float64, int64, *big.Int and string. OPA's
 * sprintf is this function, which reports every error of a format in the text ("%!d(string=x)").
 * Width and precision are bounded, the length of the result too.
 */
import { BuiltinLimitError } from './builtin.ts';
import { type Flags, type FormatOperand, formatOperand, noFlags } from './go-verbs.ts';

export interface FormatLimits {
  /** The largest width or precision. */
  maxWidth: number;
  /** The longest result in UTF-16 units. */
  maxLength: number;
}

const DIGITS = /\d+/y;
/** From here on Go itself refuses a width (`%!(BADWIDTH)`). */
const GO_TOO_LARGE = 1_000_000;

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
  readonly #lastClose: number;

  constructor(format: string, operands: readonly FormatOperand[], limits: FormatLimits) {
    this.#format = format;
    this.#lastClose = format.lastIndexOf(']');
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
    // Searched once, since a format may open a thousand brackets and close none.
    const close = this.#at > this.#lastClose ? -1 : this.#format.indexOf(']', this.#at);
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
        // Go stops formatting here.
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
