/** One operand by one verb, as Go's fmt prints it; see go-format.ts. */
import { BuiltinLimitError } from './builtin.ts';
import { formatGoFloat } from './go-float.ts';
import { canBackquote, isPrintable, quoteCharacter, quoteString } from './go-quote.ts';

export type FormatOperand =
  | { type: 'float64'; value: number }
  | { type: 'int64'; value: bigint }
  | { type: '*big.Int'; value: bigint }
  | { type: 'string'; value: string };

/** What stands between the percent sign and the verb. */
export interface Flags {
  minus: boolean;
  plus: boolean;
  sharp: boolean;
  space: boolean;
  zero: boolean;
  sharpV: boolean;
  width: number | null;
  precision: number | null;
}

export const noFlags = (): Flags => ({
  minus: false,
  plus: false,
  sharp: false,
  space: false,
  zero: false,
  sharpV: false,
  width: null,
  precision: null,
});

/** Formats one operand by a verb, after setting the flags of %+v and %#v aside. */
export function formatOperand(operand: FormatOperand, verb: string, flags: Flags): string {
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

/** The verb does not fit the operand: Go reports that in the text, under the same flags. */
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
  return padText(signOf(negative, flags) + digits, withoutZeros);
}

/** The sign of an integer: Go writes a positive one's only where a flag asks for it. */
function signOf(isNegative: boolean, flags: Flags): string {
  if (isNegative) return '-';
  if (flags.plus) return '+';
  return flags.space ? ' ' : '';
}

/** The character of a code point; U+FFFD for an invalid one. */
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
  // Go prints the address or the words of the number here.
  if (verb === 'p' || verb === 'w') throw new BuiltinLimitError(`%${verb} of a large integer`);
  const bases: Record<string, number> = { b: 2, o: 8, O: 8, d: 10, s: 10, v: 10, x: 16, X: 16 };
  const base = bases[verb];
  if (base === undefined) return `%!${verb}(big.Int=${value})`;
  const sign = signOf(value < 0n, flags);
  const prefixes: Record<string, string> = { b: '0b', o: '0', x: '0x', X: '0X' };
  const ofSharp = flags.sharp ? (prefixes[verb] ?? '') : '';
  const prefix = verb === 'O' ? '0o' : ofSharp;
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

/** The precision with which Go writes as many digits as the number needs. */
const SHORTEST = -1;

function formatFloat(
  operand: Extract<FormatOperand, { type: 'float64' }>,
  verb: string,
  flags: Flags,
): string {
  if (!'vbgGxXfFeE'.includes(verb)) return badVerb(operand, verb, flags);
  const sameAs: Record<string, string> = { v: 'g', F: 'f' };
  const goVerb = sameAs[verb] ?? verb;
  const precision = flags.precision ?? ('fFeE'.includes(verb) ? 6 : SHORTEST);
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
  const kept = precision === SHORTEST ? 6 : precision;
  let missing = 'gGx'.includes(verb) ? kept : 0;
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

/** Truncates to the precision, in characters. */
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

/** Pads to the width, in characters: zeros or spaces on the left, spaces on the right. */
function padText(text: string, flags: Flags): string {
  if (flags.width === null || flags.width <= text.length / 2) return text;
  let characters = 0;
  for (const _ of text) characters++;
  const missing = flags.width - characters;
  if (missing <= 0) return text;
  if (flags.minus) return text + ' '.repeat(missing);
  return (flags.zero ? '0' : ' ').repeat(missing) + text;
}
