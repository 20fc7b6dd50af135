/**
 * National identity numbers with check digits. Each function takes the compact form (separators
 * removed, upper case) of the right shape, and names the rule's source if there is one.
 */
import { isLuhn, isMod1110, isUniform, isVerhoeff, remainder, weightedSum } from './checksums.ts';
import { isShortDate } from './dates.ts';
import { LABELLED_IDS, type LabelledId } from './labelled-ids.ts';

export interface NationalId extends LabelledId {
  /**
   * The written form that is sufficient by itself; if it is absent or does not match, only a word
   * beside the number makes it a finding.
   */
  readonly written?: RegExp;
}

const DNI_LETTERS = 'TRWAGMYFPDXBNJZSQVHLCKE';

/** Spain: eight digits modulo 23 choose the letter; NIE puts 0, 1 or 2 for X, Y and Z. */
function isSpanishId(id: string): boolean {
  const digits = id.slice(0, -1).replace(/^[XYZ]/, (letter) => String('XYZ'.indexOf(letter)));
  return DNI_LETTERS[Number(digits) % 23] === id.at(-1);
}

/** France, NIR: 97 minus the remainder; Corsica's 2A and 2B count as 19 and 18. */
function isFrenchNir(id: string): boolean {
  const body = id.slice(0, 13).replace('2A', '19').replace('2B', '18');
  const month = Number(id.slice(3, 5));
  return (
    (month <= 12 || month >= 20) && month > 0 && 97 - remainder(body, 97) === Number(id.slice(13))
  );
}

const ODD_VALUES: Readonly<Record<string, number>> = Object.fromEntries(
  [...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ'].map((character, i) => [
    character,
    [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23][
      i < 10 ? i : i - 10
    ] ?? 0,
  ]),
);

/** Italy, codice fiscale: the sum of odd and even places modulo 26 is the last letter. */
function isCodiceFiscale(id: string): boolean {
  let sum = 0;
  for (let i = 0; i < 15; i++) {
    const character = id[i] ?? '';
    if (i % 2 === 0) sum += ODD_VALUES[character] ?? 0;
    else sum += character <= '9' ? Number(character) : character.charCodeAt(0) - 65;
  }
  return String.fromCharCode(65 + (sum % 26)) === id[15];
}

/** Netherlands, BSN: the elfproef. */
function isBsn(id: string): boolean {
  return !isUniform(id) && weightedSum(id, [9, 8, 7, 6, 5, 4, 3, 2, -1]) % 11 === 0;
}

function isPesel(id: string): boolean {
  return (
    isShortDate(id, [0, 20, 40, 60, 80]) &&
    weightedSum(id, [1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1]) % 10 === 0
  );
}

/** Brazil, CPF: two check digits modulo 11. */
function isCpf(id: string): boolean {
  const check = (length: number): number => {
    let sum = 0;
    for (let i = 0; i < length; i++) sum += Number(id[i]) * (length + 1 - i);
    return ((sum * 10) % 11) % 10;
  };
  return !isUniform(id) && check(9) === Number(id[9]) && check(10) === Number(id[10]);
}

/** China, GB 11643: ISO 7064 MOD 11-2 over a region, a date and a serial number. */
function isChineseId(id: string): boolean {
  const weights = [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2];
  const year = Number(id.slice(6, 10));
  if (year < 1900 || year > 2035 || !isShortDate(id.slice(8))) return false;
  return '10X98765432'[weightedSum(id, weights) % 11] === id[17];
}

/** Turkey, TCKN. */
function isTurkishId(id: string): boolean {
  const digit = (i: number): number => Number(id[i]);
  const odd = digit(0) + digit(2) + digit(4) + digit(6) + digit(8);
  const even = digit(1) + digit(3) + digit(5) + digit(7);
  const tenth = (((odd * 7 - even) % 10) + 10) % 10;
  return tenth === digit(9) && (odd + even + digit(9)) % 10 === digit(10);
}

/** Finland, HETU: the number modulo 31 chooses the last character. */
function isHetu(id: string): boolean {
  const digits = id.slice(0, 6) + id.slice(7, 10);
  return (
    isShortDate(digits.slice(4, 6) + digits.slice(2, 4) + digits.slice(0, 2)) &&
    '0123456789ABCDEFHJKLMNPRSTUVWXY'[Number(digits) % 31] === id[10]
  );
}

/** Belgium: the first nine digits modulo 97; from 2000 on with a 2 before them. */
function isBelgianId(id: string): boolean {
  const check = Number(id.slice(9));
  const body = id.slice(0, 9);
  const fits = 97 - remainder(body, 97) === check || 97 - remainder(`2${body}`, 97) === check;
  return fits && isShortDate(id, [0, 20, 40]);
}

/** Norway: two check digits modulo 11. */
function isNorwegianId(id: string): boolean {
  const first = weightedSum(id, [3, 7, 6, 1, 8, 9, 4, 5, 2, 1]) % 11;
  const second = weightedSum(id, [5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1]) % 11;
  return first === 0 && second === 0;
}

/** Switzerland, AHV number: the check digit of an EAN-13. */
function isAhv(id: string): boolean {
  return weightedSum(id, [1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1]) % 10 === 0;
}

/** Chile, RUT: modulo 11, with K for ten. */
function isRut(id: string): boolean {
  let sum = 0;
  for (let i = id.length - 2, weight = 2; i >= 0; i--, weight = weight === 7 ? 2 : weight + 1) {
    sum += Number(id[i]) * weight;
  }
  return '0K987654321'[sum % 11] === id.at(-1);
}

/** Singapore, NRIC and FIN. */
function isNric(id: string): boolean {
  const offset = 'TG'.includes(id[0] ?? '') ? 4 : id[0] === 'M' ? 3 : 0;
  const rest = (weightedSum(id.slice(1, 8), [2, 7, 6, 5, 4, 3, 2]) + offset) % 11;
  const letters = 'ST'.includes(id[0] ?? '') ? 'JZIHGFEDCBA' : 'XWUTRQPNMLK';
  return id[0] === 'M' ? letters[10 - rest] === id[8] : letters[rest] === id[8];
}

/** Romania, CNP. */
function isCnp(id: string): boolean {
  const rest = weightedSum(id, [2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9]) % 11;
  return isShortDate(id.slice(1)) && (rest === 10 ? 1 : rest) === Number(id[12]);
}

/** Portugal, NIF: modulo 11. */
function isNif(id: string): boolean {
  const rest = weightedSum(id, [9, 8, 7, 6, 5, 4, 3, 2]) % 11;
  return (rest < 2 ? 0 : 11 - rest) === Number(id[8]);
}

/** Mexico, CURP. */
function isCurp(id: string): boolean {
  const alphabet = '0123456789ABCDEFGHIJKLMNÑOPQRSTUVWXYZ';
  let sum = 0;
  for (let i = 0; i < 17; i++) sum += alphabet.indexOf(id[i] ?? '') * (18 - i);
  return (10 - (sum % 10)) % 10 === Number(id[17]);
}

/** South Africa, and others that begin with a date and have a Luhn digit over everything. */
const isDatedLuhn = (id: string): boolean => isShortDate(id) && isLuhn(id);

/** Korea: weights 2 to 9 and again from 2. */
function isKoreanId(id: string): boolean {
  const sum = weightedSum(id, [2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5]);
  return isShortDate(id) && (11 - (sum % 11)) % 10 === Number(id[12]);
}

/** Hong Kong: letters from A as 10, a missing first one as 36; the digit in brackets may be A. */
function isHongKongId(id: string): boolean {
  const plain = id.replace(/[()]/g, '').padStart(9, ' ');
  const value = (character: string): number =>
    character === ' ' ? 36 : Number.parseInt(character, 36);
  let sum = 0;
  for (let i = 0; i < 9; i++) sum += value(plain[i] ?? '0') * (9 - i);
  return sum % 11 === 0;
}

/** Ireland, PPS number: modulo 23; a second letter counts nine times its value. */
function isPps(id: string): boolean {
  const second = id[8] === undefined || id[8] === 'W' ? 0 : id.charCodeAt(8) - 64;
  const sum = weightedSum(id, [8, 7, 6, 5, 4, 3, 2]) + 9 * second;
  return 'WABCDEFGHIJKLMNOPQRSTUV'[sum % 23] === id[7];
}

/** Japan, individual number. */
function isMyNumber(id: string): boolean {
  const rest = weightedSum(id, [6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11;
  return (rest < 2 ? 0 : 11 - rest) === Number(id[11]);
}

/** Greece, AFM. */
const isAfm = (id: string): boolean =>
  (weightedSum(id, [256, 128, 64, 32, 16, 8, 4, 2]) % 11) % 10 === Number(id[8]);

export const NATIONAL_IDS: readonly NationalId[] = [
  { country: 'CN', shape: /^\d{17}[\dX]$/, isValid: isChineseId, written: /^\d{17}[\dXx]$/ },
  {
    country: 'MX',
    shape: /^[A-Z]{4}\d{6}[HMX][A-Z]{5}[A-Z0-9]\d$/,
    isValid: isCurp,
    written: /^[A-Z]{4}/,
  },
  {
    country: 'IT',
    shape: /^[A-Z]{6}[0-9LMNP-V]{2}[A-EHLMPR-T][0-9LMNP-V]{2}[A-Z][0-9LMNP-V]{3}[A-Z]$/,
    isValid: isCodiceFiscale,
    written: /^[A-Za-z]{3}/,
  },
  {
    country: 'FR',
    shape: /^[12]\d{4}(?:\d{2}|2[AB])\d{8}$/,
    isValid: isFrenchNir,
    written: /^[12][\d ABab]+$/,
  },
  {
    country: 'ZA',
    shape: /^\d{13}$/,
    isValid: (id) => isDatedLuhn(id) && (id[10] === '0' || id[10] === '1'),
    written: /^\d{6} \d{4} \d{3}$/,
  },
  { country: 'RO', shape: /^[1-8]\d{12}$/, isValid: isCnp },
  { country: 'KR', shape: /^\d{6}[1-8]\d{6}$/, isValid: isKoreanId, written: /^\d{6}-\d{7}$/ },
  {
    country: 'CH',
    shape: /^756\d{10}$/,
    isValid: isAhv,
    written: /^756[. ]\d{4}[. ]\d{4}[. ]\d\d$|^756\d{10}$/,
  },
  {
    country: 'IN',
    shape: /^[2-9]\d{11}$/,
    isValid: isVerhoeff,
    written: /^\d{4}[ -]\d{4}[ -]\d{4}$/,
  },
  {
    country: 'BR',
    shape: /^\d{11}$/,
    isValid: isCpf,
    written: /^\d{3}\.\d{3}\.\d{3}-\d{2}$/,
  },
  {
    country: 'BE',
    shape: /^\d{11}$/,
    isValid: isBelgianId,
    written: /^\d\d\.\d\d\.\d\d-\d{3}[.-]\d\d$/,
  },
  {
    country: 'DE',
    shape: /^[1-9]\d{10}$/,
    isValid: isMod1110,
    written: /^\d\d \d{3} \d{3} \d{3}$/,
  },
  { country: 'PL', shape: /^\d{11}$/, isValid: isPesel },
  { country: 'TR', shape: /^[1-9]\d{10}$/, isValid: isTurkishId },
  { country: 'NO', shape: /^\d{11}$/, isValid: isNorwegianId },
  {
    country: 'FI',
    shape: /^\d{6}[-+A-FU-Y]\d{3}[0-9A-Y]$/,
    isValid: isHetu,
    written: /^\d{6}[-+A]\d{3}[0-9A-Y]$/,
  },
  { country: 'SE', shape: /^\d{10}$/, isValid: isDatedLuhn, written: /^\d{6}[-+]\d{4}$/ },
  {
    country: 'SE',
    shape: /^(?:19|20)\d{10}$/,
    isValid: (id) => isDatedLuhn(id.slice(2)),
    written: /^\d{8}[-+]\d{4}$/,
  },
  {
    country: 'ES',
    shape: /^(?:\d{8}|[XYZ]\d{7})[A-Z]$/,
    isValid: isSpanishId,
    written: /^(?:\d{8}|[XYZxyz]-?\d{7})-?[A-Za-z]$|^\d\d\.\d{3}\.\d{3}[ -]?[A-Z]$/,
  },
  { country: 'SG', shape: /^[STFGM]\d{7}[A-Z]$/, isValid: isNric, written: /^[STFGM]\d{7}[A-Z]$/ },
  {
    country: 'CL',
    shape: /^\d{7,8}[\dK]$/,
    isValid: isRut,
    written: /^\d{1,2}\.\d{3}\.\d{3}-[\dKk]$/,
  },
  { country: 'NL', shape: /^\d{8,9}$/, isValid: (id) => isBsn(id.padStart(9, '0')) },
  { country: 'PT', shape: /^[1-9]\d{8}$/, isValid: isNif },
  { country: 'HK', shape: /^[A-Z]{1,2}\d{6}(?:[0-9A]|\([0-9A]\))$/, isValid: isHongKongId },
  { country: 'IE', shape: /^\d{7}[A-W][A-IW]?$/, isValid: isPps },
  { country: 'JP', shape: /^\d{12}$/, isValid: isMyNumber },
  { country: 'GR', shape: /^\d{9}$/, isValid: isAfm },
  { country: 'IL', shape: /^\d{9}$/, isValid: isLuhn },
  // No check digit is known; the fourth letter is the holder's type.
  { country: 'IN', shape: /^[A-Z]{3}[ABCFGHLJPT][A-Z]\d{4}[A-Z]$/, isValid: () => true },
  { country: 'CA', shape: /^[1-79]\d{8}$/, isValid: isLuhn },
  ...LABELLED_IDS,
];

/**
 * Whether a number is some country's national id.
 *
 * @param written the number as it stands, with its separators
 * @param named whether a word beside it says that it is one
 * @param country the only one (ISO 3166-1 alpha-2) whose numbers count; all if not given
 */
export function isNationalId(written: string, named: boolean, country?: string): boolean {
  const compact = written.replace(/[ .\-/]/g, '').toUpperCase();
  const forms = [compact, written.toUpperCase()];
  return NATIONAL_IDS.some(
    (id) =>
      (country === undefined || id.country === country) &&
      (named || id.written?.test(written) === true) &&
      forms.some((form) => id.shape.test(form) && !isUniform(form) && id.isValid(form)),
  );
}
