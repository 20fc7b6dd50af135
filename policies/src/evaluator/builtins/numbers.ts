/** OPA's to_number and format_int, as its interpreter computes them. */
import { RegoNumber } from '../rego-value.ts';
import { bigFloat } from './big-float.ts';
import { type Builtin, BuiltinLimitError, JsonText } from './builtin.ts';

const FUEL_PER_CHARACTER = 20;
const MAX_DIGITS = 1_000;
/** No double is larger. */
const MAX_EXPONENT = 400;
const BASES: ReadonlyMap<string, number> = new Map([2, 8, 10, 16].map((base) => [`${base}`, base]));
const DECIMAL = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/;
const HEXADECIMAL = /^[+-]?0x[0-9a-f]*\.?[0-9a-f]*p[+-]?\d+$/i;

export const toNumber: Builtin = ([value], call) => {
  if (value === null) return 0;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (value instanceof RegoNumber) return new JsonText(value.text);
  if (typeof value !== 'string') return undefined;
  call.charge(value.length * FUEL_PER_CHARACTER);
  return parseNumber(value);
};

/** Go's strconv.ParseFloat: a sign, underscores between digits, a point without digits. */
function parseNumber(value: string): JsonText | undefined {
  if (/(?<![0-9])_|_(?![0-9])/.test(value)) return undefined;
  const text = value.replaceAll('_', '');
  if (HEXADECIMAL.test(text)) throw new BuiltinLimitError('a hexadecimal fraction');
  const [, sign, whole = '', fraction = '', exponent] = DECIMAL.exec(text) ?? [];
  if (whole === '' && fraction === '') return undefined;
  // Undefined in OPA; a deny rule that compares the number would then let it through.
  if (!Number.isFinite(Number(text))) throw new BuiltinLimitError('a number beyond a double');
  const minus = sign === '-' ? '-' : '';
  const point = fraction === '' ? '' : `.${fraction}`;
  const power = exponent === undefined ? '' : `e${exponent}`;
  return new JsonText(`${minus}${whole.replace(/^0+(?=\d)/, '') || '0'}${point}${power}`);
}

export const formatInt: Builtin = ([number, base], call) => {
  if (!(number instanceof RegoNumber) || !(base instanceof RegoNumber)) return undefined;
  const radix = BASES.get(base.text);
  if (radix === undefined) return undefined;
  const { text } = number;
  if (text.length > MAX_DIGITS) throw new BuiltinLimitError(`over ${MAX_DIGITS} digits`);
  call.charge(text.length * FUEL_PER_CHARACTER);
  return truncate(text).toString(radix);
};

/** An integer as it is, another number rounded to OPA's precision and then towards zero. */
function truncate(text: string): bigint {
  if (/^-?\d+$/.test(text)) return BigInt(text);
  const [, sign, whole = '', fraction = '', exponent = '0'] = DECIMAL.exec(text) ?? [];
  if (Math.abs(Number(exponent)) > MAX_EXPONENT) throw new BuiltinLimitError('a huge exponent');
  const { numerator, denominator } = bigFloat(
    BigInt(whole + fraction),
    Number(exponent) - fraction.length,
  );
  const size = numerator / denominator;
  return sign === '-' ? -size : size;
}
