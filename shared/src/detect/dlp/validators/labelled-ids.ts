/**
 * National identity numbers whose form many other numbers have: they count only beside a word for
 * them. Each function takes the compact form of the right shape.
 */
import { isLuhn, isMod1110, remainder, weightedSum } from './checksums.ts';

export interface LabelledId {
  readonly country: string;
  /** The compact form: separators removed, upper case. */
  readonly shape: RegExp;
  readonly isValid: (id: string) => boolean;
}

const isDay = (text: string): boolean => Number(text) >= 1 && Number(text) <= 31;
const isMonth = (text: string): boolean => Number(text) >= 1 && Number(text) <= 12;
const isDayFirst = (id: string): boolean => isDay(id.slice(0, 2)) && isMonth(id.slice(2, 4));

/** Austria: the fourth digit checks the serial number and the date. */
function isSvnr(id: string): boolean {
  const sum = weightedSum(id.slice(0, 3) + id.slice(4), [3, 7, 9, 5, 8, 4, 2, 1, 6]);
  return isDay(id.slice(4, 6)) && sum % 11 === Number(id[3]);
}

/** Czechia and Slovakia: women's months are 50 higher, and 20 where numbers had run out. */
function isRodneCislo(id: string): boolean {
  return isMonth(String((Number(id.slice(2, 4)) % 50) % 20)) && remainder(id, 11) === 0;
}

/** Argentina: eleven minus the remainder; 11 is written 0, and 10 is written 9. */
function isCuil(id: string): boolean {
  const check = 11 - (weightedSum(id.slice(0, 10), [5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11);
  return (check === 11 ? 0 : check === 10 ? 9 : check) === Number(id[10]);
}

/** The numbers of Taiwan's letters begin at 10, in this order. */
const TAIWANESE = 'ABCDEFGHJKLMNPQRSTUVXYWZIO';

function isTaiwanese(id: string): boolean {
  const place = TAIWANESE.indexOf(id[0] ?? '') + 10;
  return weightedSum(`${place}${id.slice(1)}`, [1, 9, 8, 7, 6, 5, 4, 3, 2, 1, 1]) % 10 === 0;
}

/** Bulgaria: months are 20 higher in the century before, and 40 in the one after. */
function isEgn(id: string): boolean {
  const sum = weightedSum(id.slice(0, 9), [2, 4, 8, 5, 10, 9, 7, 3, 6]);
  return isMonth(String(Number(id.slice(2, 4)) % 20)) && (sum % 11) % 10 === Number(id[9]);
}

/** Russia, insurance: nine digits by falling weights. */
function isSnils(id: string): boolean {
  const sum = weightedSum(id.slice(0, 9), [9, 8, 7, 6, 5, 4, 3, 2, 1]);
  return (sum % 101) % 100 === Number(id.slice(9));
}

const INN_WEIGHTS = [3, 7, 2, 4, 10, 3, 5, 9, 4, 6, 8];

/** Russia, taxes of a person: the last two digits each check what is before them. */
function isInn(id: string): boolean {
  const first = (weightedSum(id.slice(0, 10), INN_WEIGHTS.slice(1)) % 11) % 10;
  const second = (weightedSum(id.slice(0, 11), INN_WEIGHTS) % 11) % 10;
  return first === Number(id[10]) && second === Number(id[11]);
}

/** Ukraine: nine digits by weights, one of them negative. */
function isUkrainian(id: string): boolean {
  const sum = weightedSum(id.slice(0, 9), [-1, 5, 7, 9, 4, 6, 10, 5, 7]);
  return (((sum % 11) + 11) % 11) % 10 === Number(id[9]);
}

/** The countries of former Yugoslavia: the date, the region, a serial number. */
function isJmbg(id: string): boolean {
  const sum = weightedSum(id.slice(0, 12), [7, 6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2]);
  const check = 11 - (sum % 11);
  return isDayFirst(id) && (check > 9 ? 0 : check) === Number(id[12]);
}

/** Estonia and Lithuania: a second set of weights where the first leaves ten. */
function isBaltic(id: string): boolean {
  const first = weightedSum(id.slice(0, 10), [1, 2, 3, 4, 5, 6, 7, 8, 9, 1]) % 11;
  const second = weightedSum(id.slice(0, 10), [3, 4, 5, 6, 7, 8, 9, 1, 2, 3]) % 11;
  return isMonth(id.slice(3, 5)) && (first < 10 ? first : second % 10) === Number(id[10]);
}

/** Thailand: twelve digits by falling weights. */
function isThai(id: string): boolean {
  const sum = weightedSum(id.slice(0, 12), [13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2]);
  return (11 - (sum % 11)) % 10 === Number(id[12]);
}

/** Australia, tax file number. */
const isTfn = (id: string): boolean => weightedSum(id, [1, 4, 3, 7, 5, 8, 6, 9, 10]) % 11 === 0;

/** Germany, pension insurance: the letter counts by its place, and each product by its digits. */
function isVsnr(id: string): boolean {
  const place = String(id.charCodeAt(8) - 64).padStart(2, '0');
  const weights = [2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1];
  const sum = [...`${id.slice(0, 8)}${place}${id.slice(9, 11)}`].reduce((total, digit, i) => {
    const product = Number(digit) * (weights[i] ?? 0);
    return total + Math.floor(product / 10) + (product % 10);
  }, 0);
  return isMonth(id.slice(4, 6)) && sum % 10 === Number(id[11]);
}

/** Hungary, social insurance: odd places count three, even ones seven. */
const isTaj = (id: string): boolean =>
  weightedSum(id, [3, 7, 3, 7, 3, 7, 3, 7]) % 10 === Number(id[8]);

/** Hungary, taxes: each digit by its place, modulo 11. */
const isHungarianTax = (id: string): boolean =>
  weightedSum(id, [1, 2, 3, 4, 5, 6, 7, 8, 9]) % 11 === Number(id[9]);

/** Kazakhstan: a birth date, and a second set of weights where the first leaves ten. */
function isKazakh(id: string): boolean {
  const first = weightedSum(id, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]) % 11;
  const second = weightedSum(id, [3, 4, 5, 6, 7, 8, 9, 10, 11, 1, 2]) % 11;
  return isMonth(id.slice(2, 4)) && (first < 10 ? first : second) === Number(id[11]);
}

/** Latvia: the day first, or 32 to 39 without a date. */
const isLatvian = (id: string): boolean => Number(id.slice(0, 2)) >= 32 || isDayFirst(id);

export const LABELLED_IDS: readonly LabelledId[] = [
  { country: 'DE', shape: /^\d{8}[A-Z]\d{3}$/, isValid: isVsnr },
  { country: 'AT', shape: /^[1-9]\d{9}$/, isValid: isSvnr },
  { country: 'DK', shape: /^\d{10}$/, isValid: isDayFirst },
  { country: 'CZ', shape: /^\d{10}$/, isValid: isRodneCislo },
  { country: 'AR', shape: /^(?:2[0347]|3[034])\d{9}$/, isValid: isCuil },
  { country: 'TW', shape: /^[A-Z][1289]\d{8}$/, isValid: isTaiwanese },
  { country: 'BG', shape: /^\d{10}$/, isValid: isEgn },
  { country: 'GR', shape: /^\d{11}$/, isValid: (id) => isDayFirst(id) && isLuhn(id) },
  { country: 'RU', shape: /^\d{11}$/, isValid: isSnils },
  { country: 'RU', shape: /^\d{12}$/, isValid: isInn },
  { country: 'UA', shape: /^\d{10}$/, isValid: isUkrainian },
  { country: 'HR', shape: /^\d{11}$/, isValid: isMod1110 },
  { country: 'RS', shape: /^\d{13}$/, isValid: isJmbg },
  { country: 'EE', shape: /^[1-6]\d{10}$/, isValid: isBaltic },
  { country: 'TH', shape: /^[1-8]\d{12}$/, isValid: isThai },
  { country: 'AU', shape: /^[1-9]\d{8}$/, isValid: isTfn },
  { country: 'HU', shape: /^\d{9}$/, isValid: isTaj },
  { country: 'HU', shape: /^8\d{9}$/, isValid: isHungarianTax },
  { country: 'LV', shape: /^(?:\d{6}[0-2]\d{4}|3[2-9]\d{9})$/, isValid: isLatvian },
  { country: 'KZ', shape: /^\d{6}[1-6]\d{5}$/, isValid: isKazakh },
  { country: 'AE', shape: /^784\d{12}$/, isValid: isLuhn },
];
