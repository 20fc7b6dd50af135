/** Dates as people write them, in many languages and orders. */
import { dayOf } from './day-words.ts';

const MONTHS: readonly string[] = [
  'jan|januar|january|janvier|enero|ene|gennaio|gen|januari|janeiro|styczen|stycznia|tammikuu|tammikuuta|ledna|ianuarie|ocak|sijecnja|января|січня|ιανουαριου|януари|يناير|ינואר|जनवरी|มกราคม',
  'feb|februar|february|fevrier|fevr|febrero|febbraio|februari|fevereiro|fev|luty|lutego|unora|helmikuuta|februarie|subat|veljace|февраля|лютого|φεβρουαριου|февруари|فبراير|פברואר|फरवरी|กุมภาพันธ์',
  'mar|mrz|marz|maerz|march|mars|marzo|maart|mrt|marco|marzec|marca|brezna|maaliskuuta|marcius|martie|mart|ozujka|maret|марта|березня|μαρτιου|март|مارس|מרץ|मार्च|มีนาคม',
  'apr|april|avril|avr|abril|abr|aprile|kwiecien|kwietnia|dubna|huhtikuuta|aprilis|aprilie|nisan|travnja|апреля|квітня|απριλιου|април|أبريل|ابريل|אפריל|अप्रैल|เมษายน',
  'may|mai|mayo|maggio|mag|mei|maio|maj|maja|kvetna|toukokuuta|majus|mayis|svibnja|мая|травня|μαιου|май|مايو|מאי|मई|พฤษภาคม',
  'jun|juni|june|juin|junio|giugno|giu|junho|czerwiec|czerwca|cervna|kesakuuta|junius|iunie|haziran|lipnja|июня|червня|ιουνιου|юни|يونيو|יוני|जून|มิถุนายน',
  'jul|juli|july|juillet|juil|julio|luglio|lug|julho|lipiec|lipca|cervence|heinakuuta|julius|iulie|temmuz|srpnja|июля|липня|ιουλιου|юли|يوليو|יולי|जुलाई|กรกฎาคม',
  'aug|august|aout|agosto|ago|augustus|augusti|sierpien|sierpnia|srpna|elokuuta|augusztus|agustos|kolovoza|agustus|августа|серпня|αυγουστου|август|أغسطس|אוגוסט|अगस्त|สิงหาคม',
  'sep|sept|september|septembre|septiembre|settembre|set|setembro|wrzesien|wrzesnia|zari|syyskuuta|szeptember|septembrie|eylul|rujna|сентября|вересня|σεπτεμβριου|септември|سبتمبر|ספטמבר|सितंबर|กันยายน',
  'oct|okt|oktober|october|octobre|octubre|ottobre|ott|outubro|out|pazdziernik|pazdziernika|rijna|lokakuuta|octombrie|ekim|октября|жовтня|οκτωβριου|октомври|أكتوبر|אוקטובר|अक्टूबर|ตุลาคม',
  'nov|november|novembre|noviembre|novembro|listopad|listopada|listopadu|marraskuuta|noiembrie|kasim|studenoga|ноября|листопада|νοεμβριου|ноември|نوفمبر|נובמבר|नवंबर|พฤศจิกายน',
  'dec|dez|dezember|december|decembre|diciembre|dic|dicembre|dezembro|grudzien|grudnia|prosince|joulukuuta|decembrie|aralik|prosinca|desember|декабря|грудня|δεκεμβριου|декември|ديسمبر|דצמבר|दिसंबर|ธันวาคม',
];
/** Without accents, and as `findDates` reads them. */
const plain = (name: string): string =>
  name
    .toLowerCase()
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .replaceAll('ı', 'i')
    .replace(/^ב(?=[א-ת]{3})/, '');
const MONTH_OF = new Map(
  MONTHS.flatMap((names, i) => names.split('|').map((name) => [plain(name), i + 1])),
);
/** The year before the first of an era: Japan's, and that of the Republic of China. */
const ERAS: Readonly<Record<string, number>> = {
  明治: 1867,
  大正: 1911,
  昭和: 1925,
  平成: 1988,
  令和: 2018,
  民國: 1911,
  民国: 1911,
  m: 1867,
  t: 1911,
  s: 1925,
  h: 1988,
  r: 2018,
};
/** Thailand's years, by as much ahead. */
const BUDDHIST = 543;

export interface FoundDate {
  readonly start: number;
  readonly end: number;
  readonly year: number;
}

/** Possible birth years of a living person; two digits are read as one of them. */
const FIRST_YEAR = 1900;
const LAST_YEAR = 2035;

const YEAR_FIRST =
  /(?<![\d.])(\d{4})([-/ ]|\. ?| ?[年년] ?)(\d{1,2})(?:[-/ ]|\. ?| ?[月월] ?)(\d{1,2})(?!\d)/g;
const OF_AN_ERA =
  /(?:(明治|大正|昭和|平成|令和|民[國国])[ \t]?|(?<![a-z\d])([mtshr])[ .]?)(\d{1,2}|元)(?:[-/.]| ?年 ?)(\d{1,2})(?:[-/.]| ?月 ?)(\d{1,2})(?![\d])/g;
const VIETNAMESE = /(?<!\d)(\d{1,2}) tháng (\d{1,2}),? năm (\d{4})(?!\d)/g;
const YEAR_LAST = /(?<![\d.])(\d{1,2})( ?[-/.] ?| )(\d{1,2})(?: ?[-/.] ?| )(\d{4}|\d{2})(?![\d])/g;
const COMPACT = /(?<![\dA-Za-z.])(\d{8})(?![\dA-Za-z])/g;
const DAY_MONTH_NAME =
  /(?<!\d)(\d{1,2})(?:st|nd|rd|th|er|º|°|\.)?(?:[\s\-/]{1,2}|(?: de | of ))(?:the |day of )?([\p{L}\p{M}]{2,14})\.?,?(?:[\s\-/]{1,2}|(?: de | del ))(?:พ\.ศ\. ?)?'?(\d{4}|\d{2})(?!\d)/gu;
/** As airlines write it: 11JAN1994, 11JAN94. */
const DAY_MONTH_YEAR = /(?<![\da-z])(\d{2})([a-z]{3})(\d{4}|\d{2})(?![\da-z])/g;
/** A day in words, which may be joined: "the twenty-first of May 1990". */
const SPOKEN_DAY =
  /(?<![\p{L}-])(\p{L}{2,18}(?:-\p{L}{1,9}){0,2}(?: (?:y|e|et) \p{L}{2,6})?)(?: day)?(?: of| de)? (?:of )?(\p{L}{3,14}),?(?: (?:de|del) | )(\d{4})(?!\d)/gu;
const MONTH_NAME_DAY =
  /(?<![\p{L}\p{M}])([\p{L}\p{M}]{2,14})\.?[\s\-/]{1,2}(\d{1,2})(?:st|nd|rd|th)?,?[\s\-/]{1,2}'?(\d{4}|\d{2})(?!\d)/gu;
const YEAR_MONTH_NAME = /(?<!\d)(\d{4})\.?[\s\-/]([\p{L}\p{M}]{2,14})[\s\-/](\d{1,2})(?!\d)/gu;

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
  for (const match of lower.matchAll(OF_AN_ERA)) {
    const [, era = '', letter = '', count = '', month = '', day = ''] = match;
    const year = (ERAS[era + letter] ?? 0) + (count === '元' ? 1 : Number(count));
    add(match, String(year), Number(month), day);
  }
  for (const match of lower.matchAll(VIETNAMESE)) {
    const [, day = '', month = '', year = ''] = match;
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
  for (const match of lower.matchAll(DAY_MONTH_YEAR)) {
    const [, day = '', name = '', year = ''] = match;
    add(match, year, monthOf(name), day);
  }
  for (const match of lower.matchAll(SPOKEN_DAY)) {
    const [, words = '', name = '', year = ''] = match;
    add(match, year, monthOf(name), String(dayOf(words)));
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
  return MONTH_OF.get(plain(name)) ?? 0;
}

function isDay(day: number): boolean {
  return day >= 1 && day <= 31;
}

function fullYear(year: string): number | undefined {
  const number = Number(year);
  if (year.length === 2) return number > LAST_YEAR % 100 ? 1900 + number : 2000 + number;
  const common = number > LAST_YEAR + BUDDHIST - 100 ? number - BUDDHIST : number;
  return common >= FIRST_YEAR && common <= LAST_YEAR ? common : undefined;
}

/** YYMMDD as in national numbers: a month (with an offset for the century) and a day. */
export function isShortDate(digits: string, monthOffsets: readonly number[] = [0]): boolean {
  const month = Number(digits.slice(2, 4));
  const day = Number(digits.slice(4, 6));
  return isDay(day) && monthOffsets.some((offset) => month > offset && month <= offset + 12);
}
