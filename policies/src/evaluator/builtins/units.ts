/** OPA's units.parse_bytes: "10KiB" to 10240. */
import { bigFloat, roundToBigFloat } from './big-float.ts';
import type { Builtin } from './builtin.ts';
import { BuiltinLimitError } from './builtin.ts';

const FUEL_PER_CHARACTER = 100;
const MAX_LENGTH = 1_000;
/** OPA's own limit is six digits; sizes that large have no use. */
const MAX_EXPONENT = 400;

const UNITS: Readonly<Record<string, bigint>> = (() => {
  const units: Record<string, bigint> = { '': 1n };
  [...'kmgtpe'].forEach((letter, i) => {
    const decimal = 1000n ** BigInt(i + 1);
    const binary = 1024n ** BigInt(i + 1);
    units[letter] = decimal;
    units[`${letter}b`] = decimal;
    units[`${letter}i`] = binary;
    units[`${letter}ib`] = binary;
  });
  return units;
})();

export const parseBytes: Builtin = ([value], call) => {
  if (typeof value !== 'string') return undefined;
  call.charge(value.length * FUEL_PER_CHARACTER);
  const text = value.toLowerCase().replaceAll('"', '');
  if (text.includes(' ')) return undefined;
  if (text.length > MAX_LENGTH) throw new BuiltinLimitError('a size of over 1000 characters');
  const unitAt = findUnit(text);
  if (unitAt === undefined || unitAt === 0 || text === '') return undefined;
  const unit = text.slice(unitAt);
  const factor = Object.hasOwn(UNITS, unit) ? UNITS[unit] : undefined;
  const match = /^([+-]?)(\d*)\.?(\d*)(?:e([+-]?\d+))?$/.exec(text.slice(0, unitAt));
  if (factor === undefined || !match) return undefined;
  const [, sign, whole = '', fraction = '', exponentText = '0'] = match;
  if (whole === '' && fraction === '') return undefined;
  const exponent = Number(exponentText);
  if (Math.abs(exponent) > MAX_EXPONENT) throw new BuiltinLimitError('a size with a huge exponent');
  const amount = bigFloat(BigInt(whole + fraction), exponent - fraction.length);
  const product = roundToBigFloat(amount.numerator * factor, amount.denominator);
  const total = product.numerator / product.denominator;
  return sign === '-' ? -total : total;
};

/** Where the unit begins, the length when there is none; undefined for too long an exponent. */
function findUnit(text: string): number | undefined {
  for (let i = 0; i < text.length; i++) {
    const character = text[i] as string;
    if (!/[0-9.e+-]/.test(character)) return i;
    if (character !== 'e') continue;
    if (!/[0-9+-]/.test(text[i + 1] ?? '')) return i;
    if (/[+-]/.test(text[i + 1] as string)) i++;
    const exponent = /^\d*/.exec(text.slice(i + 1))?.[0] ?? '';
    if (exponent.length > 6) return undefined;
  }
  return text.length;
}
