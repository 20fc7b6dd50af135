import { isLuhn, isUniform } from './checksums.ts';

/** How certain the issuer's range is: a weak one needs a word for a card beside the number. */
export type CardIssuer = 'strong' | 'weak';

/**
 * The range that a card number is in; undefined outside all of them.
 *
 * @param digits without separators
 */
export function cardIssuer(digits: string): CardIssuer | undefined {
  const two = Number(digits.slice(0, 2));
  const four = Number(digits.slice(0, 4));
  const length = digits.length;
  if (length === 16) {
    if (digits[0] === '4' || (two >= 51 && two <= 55)) return 'strong';
    if (four >= 2221 && four <= 2720) return 'strong';
    if (four === 6011 || two === 65 || (four >= 6440 && four <= 6499)) return 'strong';
    if (four >= 3528 && four <= 3589) return 'strong';
    if (two === 62 || (four >= 2200 && four <= 2204)) return 'strong';
  }
  if (length === 15 && (two === 34 || two === 37)) return 'strong';
  if (length === 14 && (two === 36 || two === 38 || two === 39 || (four >= 3000 && four <= 3059))) {
    return 'weak';
  }
  if ((length === 13 || length === 19) && digits[0] === '4') return 'weak';
  if (length >= 17 && length <= 19 && two === 62) return 'weak';
  if (length >= 12 && length <= 19 && (two === 50 || (two >= 56 && two <= 58) || two === 63)) {
    return 'weak';
  }
  if (length >= 12 && length <= 19 && (two === 67 || two === 60)) return 'weak';
  return undefined;
}

/** In an issuer's range, with the right check digit. */
export function isCardNumber(digits: string): boolean {
  return cardIssuer(digits) !== undefined && isLuhn(digits) && !isUniform(digits);
}
