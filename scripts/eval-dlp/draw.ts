/** A seeded source of choices, so that a set is the same on every machine. */
export class Draw {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  /** From 0 to `below` - 1 (mulberry32). */
  int(below: number): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  }

  one<T>(items: readonly T[]): T {
    return items[this.int(items.length)] as T;
  }

  chars(alphabet: string, length: number): string {
    let text = '';
    for (let i = 0; i < length; i++) text += alphabet[this.int(alphabet.length)];
    return text;
  }

  digits(length: number): string {
    return this.chars('0123456789', length);
  }
}

export const LOWER = 'abcdefghijklmnopqrstuvwxyz';
export const UPPER = LOWER.toUpperCase();
export const DIGITS = '0123456789';
export const ALNUM = LOWER + UPPER + DIGITS;
export const HEX = '0123456789abcdef';

/** Appends the check digit that makes a number pass Luhn. */
export function withLuhn(body: string): string {
  let sum = 0;
  [...body].reverse().forEach((digit, i) => {
    const doubled = i % 2 === 0 ? Number(digit) * 2 : Number(digit);
    sum += doubled > 9 ? doubled - 9 : doubled;
  });
  return body + String((10 - (sum % 10)) % 10);
}

/** The two check digits of an IBAN. */
export function withIbanCheck(country: string, account: string): string {
  const digits = [...`${account}${country}00`]
    .map((character) => String(Number.parseInt(character, 36)))
    .join('');
  let rest = 0;
  for (const digit of digits) rest = (rest * 10 + Number(digit)) % 97;
  return `${country}${String(98 - rest).padStart(2, '0')}${account}`;
}
