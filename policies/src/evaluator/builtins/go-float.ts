/**
 * Go's strconv.FormatFloat for finite doubles: the verbs e, E, f, g, G, b, x and X with any
 * precision. JavaScript's own forms differ in ties (0.5 with no digits is 0 in Go, 1 here), in the
 * digits of an exponent and in their limits, so the digits come from the exact value.
 */

/** The value 0.d1d2d3… × 10^point; no digits for zero. No trailing zeros. */
interface Decimal {
  digits: string;
  point: number;
}

/** @param precision digits as the verb counts them, -1 for the fewest that identify the double */
export function formatGoFloat(value: number, verb: string, precision: number): string {
  const negative = value < 0 || Object.is(value, -0);
  const sign = negative ? '-' : '';
  const magnitude = Math.abs(value);
  switch (verb) {
    case 'b':
      return sign + formatBinary(magnitude);
    case 'x':
      return sign + formatHexadecimal(magnitude, precision);
    case 'X':
      return (sign + formatHexadecimal(magnitude, precision)).toUpperCase();
    case 'f': {
      const decimal = precision < 0 ? shortest(magnitude) : roundPoint(exact(magnitude), precision);
      return sign + formatFixed(decimal, precision < 0 ? fraction(decimal) : precision);
    }
    case 'e':
    case 'E': {
      const decimal =
        precision < 0 ? shortest(magnitude) : roundDigits(exact(magnitude), precision + 1);
      const digits = precision < 0 ? Math.max(decimal.digits.length - 1, 0) : precision;
      return sign + formatExponent(decimal, digits, verb);
    }
    default:
      return sign + formatGeneral(magnitude, precision, verb === 'G' ? 'E' : 'e');
  }
}

function formatGeneral(magnitude: number, wanted: number, exponentVerb: string): string {
  const isShortest = wanted < 0;
  const significant = wanted === 0 ? 1 : wanted;
  const decimal = isShortest ? shortest(magnitude) : roundDigits(exact(magnitude), significant);
  const length = decimal.digits.length;
  const precision = isShortest ? 6 : significant;
  let exponentFrom = isShortest ? 6 : significant;
  if (!isShortest && exponentFrom > length && length >= decimal.point) exponentFrom = length;
  const exponent = decimal.point - 1;
  if (exponent < -4 || exponent >= exponentFrom) {
    const digits = isShortest || precision > length ? length : precision;
    return formatExponent(decimal, Math.max(digits - 1, 0), exponentVerb);
  }
  return formatFixed(decimal, fraction(decimal));
}

function fraction(decimal: Decimal): number {
  return Math.max(decimal.digits.length - decimal.point, 0);
}

function formatExponent(decimal: Decimal, fractionDigits: number, verb: string): string {
  const first = decimal.digits[0] ?? '0';
  const rest = decimal.digits.slice(1, fractionDigits + 1).padEnd(fractionDigits, '0');
  const exponent = decimal.digits === '' ? 0 : decimal.point - 1;
  const size = Math.abs(exponent).toString().padStart(2, '0');
  return `${first}${fractionDigits > 0 ? `.${rest}` : ''}${verb}${exponent < 0 ? '-' : '+'}${size}`;
}

function formatFixed(decimal: Decimal, fractionDigits: number): string {
  const { digits, point } = decimal;
  const whole = point > 0 ? digits.slice(0, point).padEnd(point, '0') : '0';
  if (fractionDigits <= 0) return whole;
  const leading = '0'.repeat(Math.min(Math.max(-point, 0), fractionDigits));
  const rest = (leading + digits.slice(Math.max(point, 0))).slice(0, fractionDigits);
  return `${whole}.${rest.padEnd(fractionDigits, '0')}`;
}

/** The fewest digits that read back as the same double; JavaScript and Go agree on these. */
function shortest(magnitude: number): Decimal {
  if (magnitude === 0) return { digits: '', point: 0 };
  const [mantissa, exponent] = magnitude.toExponential().split('e') as [string, string];
  return { digits: mantissa.replace('.', ''), point: Number(exponent) + 1 };
}

/** All digits of the double's exact value. */
function exact(magnitude: number): Decimal {
  const { mantissa, exponent } = split(magnitude);
  if (mantissa === 0n) return { digits: '', point: 0 };
  // mantissa × 2^exponent, written over a power of ten.
  const whole = exponent >= 0 ? mantissa << BigInt(exponent) : mantissa * 5n ** BigInt(-exponent);
  const text = whole.toString();
  const point = exponent >= 0 ? text.length : text.length + exponent;
  return trim({ digits: text, point });
}

function split(magnitude: number): { mantissa: bigint; exponent: number } {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, magnitude);
  const raw = bits.getBigUint64(0);
  const biased = Number(raw >> 52n);
  const fractionBits = raw & 0xf_ffff_ffff_ffffn;
  return biased === 0
    ? { mantissa: fractionBits, exponent: -1074 }
    : { mantissa: fractionBits | (1n << 52n), exponent: biased - 1075 };
}

function trim(decimal: Decimal): Decimal {
  const digits = decimal.digits.replace(/0+$/, '');
  return digits === '' ? { digits: '', point: 0 } : { digits, point: decimal.point };
}

function roundPoint(decimal: Decimal, fractionDigits: number): Decimal {
  return roundDigits(decimal, decimal.point + fractionDigits);
}

/** Rounds to this many significant digits, halves to even. */
function roundDigits(decimal: Decimal, count: number): Decimal {
  const { digits, point } = decimal;
  if (count >= digits.length) return decimal;
  if (count < 0) return { digits: '', point: 0 };
  const kept = digits.slice(0, count);
  const next = digits[count] as string;
  const half = next === '5' && digits.length === count + 1;
  const odd = count > 0 && Number(kept[count - 1]) % 2 === 1;
  if (half ? !odd : next < '5') return trim({ digits: kept, point });
  const raised = (BigInt(kept || '0') + 1n).toString().padStart(count, '0');
  return trim({ digits: raised, point: point + raised.length - count });
}

/** mantissa p exponent, both decimal. */
function formatBinary(magnitude: number): string {
  const { mantissa, exponent } = split(magnitude);
  return `${mantissa}p${exponent < 0 ? '' : '+'}${exponent}`;
}

/** 0x1.8p+01 */
function formatHexadecimal(magnitude: number, precision: number): string {
  let { mantissa, exponent } = split(magnitude);
  if (mantissa === 0n) exponent = 0;
  else {
    // Shift the leading 1 to bit 60: one digit before the point and fifteen after it.
    exponent += 52;
    mantissa <<= 8n;
    while ((mantissa & (1n << 60n)) === 0n) {
      mantissa <<= 1n;
      exponent--;
    }
  }
  if (precision >= 0 && precision < 15) {
    const shift = BigInt(precision * 4);
    const extra = (mantissa << shift) & ((1n << 60n) - 1n);
    mantissa >>= 60n - shift;
    if ((extra | (mantissa & 1n)) > 1n << 59n) mantissa++;
    mantissa <<= 60n - shift;
    if ((mantissa & (1n << 61n)) !== 0n) {
      mantissa >>= 1n;
      exponent++;
    }
  }
  const lead = (mantissa >> 60n) & 1n;
  let digits = (mantissa & ((1n << 60n) - 1n)).toString(16).padStart(15, '0');
  digits = precision < 0 ? digits.replace(/0+$/, '') : digits.padEnd(precision, '0');
  if (precision >= 0) digits = digits.slice(0, precision);
  const size = Math.abs(exponent).toString().padStart(2, '0');
  return `0x${lead}${digits ? `.${digits}` : ''}p${exponent < 0 ? '-' : '+'}${size}`;
}
