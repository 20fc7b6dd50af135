/** Check digits. Each function takes digits only (separators removed) unless stated otherwise. */

/** ISO/IEC 7812-1, annex B. */
export function isLuhn(digits: string): boolean {
  let sum = 0;
  for (let i = digits.length - 1, double = false; i >= 0; i--, double = !double) {
    let digit = digits.charCodeAt(i) - 48;
    if (double) {
      digit *= 2;
      if (digit > 9) digit -= 9;
    }
    sum += digit;
  }
  return sum % 10 === 0;
}

const VERHOEFF_PERMUTATION = ['0123456789', '1576283094', '5803796142', '8916043527', '9453126870'];
const VERHOEFF_PERMUTATION_2 = ['4286573901', '2793806415', '7046913258'];
const PERMUTATIONS = [...VERHOEFF_PERMUTATION, ...VERHOEFF_PERMUTATION_2];
const MULTIPLICATION = [
  '0123456789',
  '1234067895',
  '2340178956',
  '3401289567',
  '4012395678',
  '5987604321',
  '6598710432',
  '7659821043',
  '8765932104',
  '9876543210',
];

/** Verhoeff's scheme, as used for Aadhaar numbers. */
export function isVerhoeff(digits: string): boolean {
  let check = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i]);
    const permuted = Number(PERMUTATIONS[i % 8]?.[digit]);
    check = Number(MULTIPLICATION[check]?.[permuted]);
  }
  return check === 0;
}

/** The remainder of a decimal number of any length. */
export function remainder(digits: string, divisor: number): number {
  let rest = 0;
  for (let i = 0; i < digits.length; i++) rest = (rest * 10 + digits.charCodeAt(i) - 48) % divisor;
  return rest;
}

/** The sum of the digits, each multiplied by its weight. */
export function weightedSum(digits: string, weights: readonly number[]): number {
  let sum = 0;
  for (let i = 0; i < weights.length; i++) sum += (digits.charCodeAt(i) - 48) * (weights[i] ?? 0);
  return sum;
}

/** ISO 7064 MOD 11,10, as used for German tax numbers. */
export function isMod1110(digits: string): boolean {
  let product = 10;
  for (let i = 0; i < digits.length - 1; i++) {
    const sum = (digits.charCodeAt(i) - 48 + product) % 10 || 10;
    product = (sum * 2) % 11;
  }
  return (11 - product) % 10 === digits.charCodeAt(digits.length - 1) - 48;
}

/** All digits equal. No scheme issues such a number. */
export function isUniform(text: string): boolean {
  for (let i = 1; i < text.length; i++) if (text[i] !== text[0]) return false;
  return true;
}
