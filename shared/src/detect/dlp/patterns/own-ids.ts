/**
 * National numbers of countries whose forms many other numbers have: each counts only close behind
 * its own name, since a check digit is missing or proves little.
 */
import { type Judge, type JudgedExpression, NOTHING } from '../builtin-pattern.ts';
import { isLuhn, isUniform, weightedSum } from '../validators/checksums.ts';
import { isNationalId } from '../validators/national-ids.ts';

const isDay = (day: number): boolean => day >= 1 && day <= 31;
const isMonth = (month: number): boolean => month >= 1 && month <= 12;
const isYearFirst = (id: string): boolean =>
  isMonth(Number(id.slice(2, 4))) && isDay(Number(id.slice(4, 6)));

/** Slovenia, taxes: falling weights; a difference of ten or eleven is written 0. */
function isSlovenianTax(id: string): boolean {
  const check = 11 - (weightedSum(id, [8, 7, 6, 5, 4, 3, 2]) % 11);
  return (check > 9 ? 0 : check) === Number(id[7]);
}

/** New Zealand, taxes: a second set of weights where the first leaves ten. */
function isIrd(written: string): boolean {
  const id = written.padStart(9, '0');
  const rest = (weights: readonly number[]): number => (11 - (weightedSum(id, weights) % 11)) % 11;
  const first = rest([3, 2, 7, 6, 5, 4, 3, 2]);
  return (first < 10 ? first : rest([7, 4, 3, 2, 5, 2, 7, 6])) === Number(id[8]);
}

/** Characters behind a name within which its number begins. */
const NEAR = 24;
const NUMBER = /(?<![\dA-Za-z.])\d(?:[ .-]?\d){6,15}(?![\dA-Za-z]|[.,]\d)/;
const DATE = /^(?:(?:19|20)\d\d[-. ]\d\d[-. ]\d\d|\d\d[-. ]\d\d[-. ](?:19|20)\d\d)$/;

/** The first number behind the name, if its digits fit. */
function fitting(shape: RegExp, isValid: (digits: string) => boolean = () => true): Judge {
  return (text, _start, end) => {
    const behind = text.slice(end, end + NEAR + 32);
    const found = NUMBER.exec(behind);
    if (!found || found.index > NEAR || behind.slice(0, found.index).includes('\n\n')) {
      return NOTHING;
    }
    const digits = found[0].replace(/\D/g, '');
    if (!shape.test(digits) || isUniform(digits) || DATE.test(found[0]) || !isValid(digits)) {
      return NOTHING;
    }
    return [{ start: end + found.index, end: end + found.index + found[0].length }];
  };
}

export const OWN_IDS: readonly JudgedExpression[] = [
  // Turkey and Israel, by what people call them for short.
  {
    expression: String.raw`\b(?:TC|T\.C\.)(?:[ ]?(?:[Nn]o|NO)\.?)?[ ]?[:：=#]`,
    judge: fitting(/^[1-9]\d{10}$/, (id) => isNationalId(id, true, 'TR')),
  },
  {
    expression: String.raw`ת\.ז\.?|ת[״"]ז`,
    judge: fitting(/^\d{9}$/, isLuhn),
  },
  // Vietnam.
  {
    expression: '(?i)căn cước|\\bcccd|\\bcmnd|số định danh',
    judge: fitting(/^(?:0\d{11}|\d{9})$/),
  },
  // Malaysia.
  {
    expression: '(?i)kad pengenalan|\\bmykad|\\bno\\.? ?k\\.?p\\b|\\bic (?:no\\b|number)',
    judge: fitting(/^\d{12}$/, isYearFirst),
  },
  // Indonesia: day and month of birth behind six digits of a place; women's days are 40 higher.
  {
    expression: '(?i)\\bnik\\b|\\bktp\\b|induk kependudukan|kartu tanda penduduk',
    judge: fitting(
      /^[1-9]\d{15}$/,
      (id) => isDay(Number(id.slice(6, 8)) % 40) && isMonth(Number(id.slice(8, 10))),
    ),
  },
  // Saudi Arabia and Egypt.
  {
    expression: '(?i)رقم الهوية|هوية وطنية|رقم الإقامة|\\biqama|saudi id|الرقم القومي|الرقم الوطني',
    judge: fitting(/^(?:[12]\d{9}|[23]\d{13})$/, (id) =>
      id.length === 10 ? isLuhn(id) : isYearFirst(id.slice(1)),
    ),
  },
  // Pakistan.
  { expression: '(?i)\\bcnic\\b|\\bnicop\\b', judge: fitting(/^[1-8]\d{12}$/) },
  // Latin America.
  {
    expression:
      '(?i)c[ée]dula|\\bdni\\b|documento (?:nacional )?de identidad|tarjeta de identidad|\\bc\\.?c\\.? n[°ºo]',
    judge: fitting(/^\d{7,11}$/),
  },
  // Nigeria and Kenya.
  { expression: '(?i)\\bnin\\b(?: no\\.?| number|:)|\\bbvn\\b', judge: fitting(/^\d{11}$/) },
  { expression: '(?i)davčna (?:številka|št)', judge: fitting(/^[1-9]\d{7}$/, isSlovenianTax) },
  {
    expression: '(?i)\\bird(?:[ _-]?(?:no\\b|number|num\\b)|["\']{0,2} ?[:=])',
    judge: fitting(/^\d{8,9}$/, isIrd),
  },
];
