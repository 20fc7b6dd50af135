/** Dates as people write them, in many languages and orders. */

const MONTHS: readonly string[] = [
  'jan|januar|january|janvier|enero|ene|gennaio|gen|januari|janeiro|styczen|stycznia|tammikuu|ledna|januar',
  'feb|februar|february|fevrier|fevr|febrero|febbraio|februari|fevereiro|fev|luty|lutego|unora',
  'mar|mrz|marz|maerz|march|mars|marzo|maart|mrt|marco|marzec|marca|brezna',
  'apr|april|avril|avr|abril|abr|aprile|kwiecien|kwietnia|dubna',
  'may|mai|mayo|maggio|mag|mei|maio|maj|maja|kvetna',
  'jun|juni|june|juin|junio|giugno|giu|junho|czerwiec|czerwca|cervna',
  'jul|juli|july|juillet|juil|julio|luglio|lug|julho|lipiec|lipca|cervence',
  'aug|august|aout|agosto|ago|augustus|augusti|sierpien|sierpnia|srpna',
  'sep|sept|september|septembre|septiembre|settembre|set|setembro|wrzesien|wrzesnia|zari',
  'oct|okt|oktober|october|octobre|octubre|ottobre|ott|outubro|out|pazdziernik|pazdziernika|rijna',
  'nov|november|novembre|noviembre|novembro|listopad|listopada|listopadu',
  'dec|dez|dezember|december|decembre|diciembre|dic|dicembre|dezembro|grudzien|grudnia|prosince',
];
const MONTH_OF = new Map(
  MONTHS.flatMap((names, i) => names.split('|').map((name) => [name, i + 1])),
);

export interface FoundDate {
  readonly start: number;
  readonly end: number;
  readonly year: number;
}

/** Possible birth years of a living person; two digits are read as one of them. */
const FIRST_YEAR = 1900;
const LAST_YEAR = 2035;

const YEAR_FIRST =
  /(?<![\d.])(\d{4})([-/ ]|\. ?|[年년] ?)(\d{1,2})(?:[-/ ]|\. ?|[月월] ?)(\d{1,2})(?!\d)/g;
const YEAR_LAST = /(?<![\d.])(\d{1,2})( ?[-/.] ?| )(\d{1,2})(?: ?[-/.] ?| )(\d{4}|\d{2})(?![\d])/g;
const COMPACT = /(?<![\dA-Za-z.])(\d{8})(?![\dA-Za-z])/g;
const DAY_MONTH_NAME =
  /(?<!\d)(\d{1,2})(?:st|nd|rd|th|er|º|°|\.)?(?:[\s\-/]{1,2}|(?: de | of ))(?:the |day of )?([a-zà-ÿ]{3,12})\.?,?(?:[\s\-/]{1,2}|(?: de | del ))'?(\d{4}|\d{2})(?!\d)/g;
const MONTH_NAME_DAY =
  /(?<![a-zà-ÿ])([a-zà-ÿ]{3,12})\.?[\s\-/]{1,2}(\d{1,2})(?:st|nd|rd|th)?,?[\s\-/]{1,2}'?(\d{4}|\d{2})(?!\d)/g;
const YEAR_MONTH_NAME = /(?<!\d)(\d{4})[\s\-/]([a-zà-ÿ]{3,12})[\s\-/](\d{1,2})(?!\d)/g;

/**
 * Possible dates of birth in a short text, leftmost first.
 *
 * @param text a window of bounded length: the expressions here run on V8
 */
export function findDates(text: string): FoundDate[] {
  const lower = text.toLowerCase();
  const found: FoundDate[] = [];
  const add = (match: RegExpMatchArray, year: string, month: number, day: string): void => {
    const full = fullYear(year);
    if (full === undefined || month < 1 || month > 12 || !isDay(Number(day))) return;
    found.push({ start: match.index ?? 0, end: (match.index ?? 0) + match[0].length, year: full });
  };
  for (const match of lower.matchAll(YEAR_FIRST)) {
    const [, year = '', , month = '', day = ''] = match;
    add(match, year, Number(month), day);
  }
  for (const match of lower.matchAll(YEAR_LAST)) {
    const [, first = '', , second = '', year = ''] = match;
    // Day first or month first: one of the two must be a month.
    if (Number(second) <= 12) add(match, year, Number(second), first);
    else add(match, year, Number(first), second);
  }
  for (const match of lower.matchAll(COMPACT)) {
    const [, digits = ''] = match;
    const yearFirst = Number(digits.slice(0, 4));
    if (yearFirst >= FIRST_YEAR && yearFirst <= LAST_YEAR) {
      add(match, digits.slice(0, 4), Number(digits.slice(4, 6)), digits.slice(6));
    } else add(match, digits.slice(4), Number(digits.slice(2, 4)), digits.slice(0, 2));
  }
  for (const match of lower.matchAll(DAY_MONTH_NAME)) {
    const [, day = '', name = '', year = ''] = match;
    add(match, year, monthOf(name), day);
  }
  for (const match of lower.matchAll(MONTH_NAME_DAY)) {
    const [, name = '', day = '', year = ''] = match;
    add(match, year, monthOf(name), day);
  }
  for (const match of lower.matchAll(YEAR_MONTH_NAME)) {
    const [, year = '', name = '', day = ''] = match;
    add(match, year, monthOf(name), day);
  }
  return found.sort((a, b) => a.start - b.start);
}

function monthOf(name: string): number {
  return MONTH_OF.get(name.normalize('NFD').replace(/[\u0300-\u036f]/g, '')) ?? 0;
}

function isDay(day: number): boolean {
  return day >= 1 && day <= 31;
}

function fullYear(year: string): number | undefined {
  const number = Number(year);
  if (year.length === 2) return number > LAST_YEAR % 100 ? 1900 + number : 2000 + number;
  return number >= FIRST_YEAR && number <= LAST_YEAR ? number : undefined;
}

/** YYMMDD as in national numbers: a month (with an offset for the century) and a day. */
export function isShortDate(digits: string, monthOffsets: readonly number[] = [0]): boolean {
  const month = Number(digits.slice(2, 4));
  const day = Number(digits.slice(4, 6));
  return isDay(day) && monthOffsets.some((offset) => month > offset && month <= offset + 12);
}
