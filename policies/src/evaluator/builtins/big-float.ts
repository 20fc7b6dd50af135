/** Go's big.Float with its usual precision, which OPA computes with. */

const MANTISSA_BITS = 64n;

export interface Fraction {
  numerator: bigint;
  denominator: bigint;
}

/** The number digits × 10^scale. The caller bounds both: the work grows with them. */
export function bigFloat(digits: bigint, scale: number): Fraction {
  return scale >= 0
    ? roundToBigFloat(digits * 10n ** BigInt(scale), 1n)
    : roundToBigFloat(digits, 10n ** BigInt(-scale));
}

/** To 64 significant bits, halves to even, as big.Float does after each step. */
export function roundToBigFloat(numerator: bigint, denominator: bigint): Fraction {
  if (numerator === 0n) return { numerator: 0n, denominator: 1n };
  const bits = (n: bigint) => BigInt(n.toString(2).length);
  let shift = MANTISSA_BITS - (bits(numerator) - bits(denominator));
  let mantissa = divide(numerator, denominator, shift);
  if (bits(mantissa.quotient) > MANTISSA_BITS) mantissa = divide(numerator, denominator, --shift);
  else if (bits(mantissa.quotient) < MANTISSA_BITS) {
    mantissa = divide(numerator, denominator, ++shift);
  }
  const { quotient, rest, divisor } = mantissa;
  const twice = rest * 2n;
  const up = twice > divisor || (twice === divisor && (quotient & 1n) === 1n);
  const rounded = up ? quotient + 1n : quotient;
  return shift >= 0n
    ? { numerator: rounded, denominator: 1n << shift }
    : { numerator: rounded << -shift, denominator: 1n };
}

function divide(numerator: bigint, denominator: bigint, shift: bigint) {
  const dividend = shift >= 0n ? numerator << shift : numerator;
  const divisor = shift >= 0n ? denominator : denominator << -shift;
  return { quotient: dividend / divisor, rest: dividend % divisor, divisor };
}
