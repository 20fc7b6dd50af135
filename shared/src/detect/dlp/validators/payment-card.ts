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
  // Troy of Turkey.
  if (length === 16 && four === 9792) return 'strong';
  // Cards that are only taken in Korea, RuPay of India, Uzcard and Humo of Uzbekistan.
  if (length === 16 && two >= 90 && two <= 95) return 'weak';
  if (length === 16 && (two === 81 || two === 82 || four === 8600 || four === 9860)) return 'weak';
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

/** Numbers that card issuers and payment services publish for tests. No card has them. */
const TEST_CARDS: ReadonlySet<string> = new Set(
  `4242424242424242 4000056655665556 4111111111111111 4012888888881881 4005519200000004
  4009348888881881 4012000033330026 4012000077777777 4500600000000061 4000000000000002
  4000000000009995 4000000000003220 4000002500003155 4000002760003184 4000000000000077
  4000000000000341 4000000000000127 4000000000000069 4000000000000119 4917610000000000
  4988438843884305 4166676667666746 5555555555554444 5105105105105100 5200828282828210
  2223003122003222 2223000048400011 5454545454545454 5424000000000015 5200000000000007
  2222400070000005 5555341244441115 378282246310005 371449635398431 378734493671000
  370000000000002 6011111111111117 6011000990139424 6011981111111113 6011000000000012
  6555900000604105 3056930009020004 30569309025904 36227206271667 38520000023237
  3566002020360505 3530111333300000 6200000000000005 6205500000000000004 6243030000000001`.split(
    /\s+/,
  ),
);

/** @param digits without separators */
export const isTestCard = (digits: string): boolean => TEST_CARDS.has(digits);
