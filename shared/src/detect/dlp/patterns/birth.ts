/** Dates of birth, and the dates that only look like one. */
import { type Judge, NOTHING, type Stretch } from '../builtin-pattern.ts';
import { DAY_NAME, MONTH_NAME, YEAR_NAME } from '../decode/parts.ts';
import { findNear } from '../near.ts';
import { findDates, isShortDate } from '../validators/dates.ts';

// Works and companies are born, too; "Born" occurs in many titles.
const OF_A_WORK =
  /releas|came out|album|song|film|movie|novel|found(?:ed|ing)|launch|publish|premier|broadcast/i;
const OF_A_FIRM = /\b(?:company|startup|firm|band|project|idea|movement|brand|product)\b[^.\n]*$/i;
/** `birthday sale`: nobody was born on its day. */
const OF_A_FEAST =
  /^s? (?:sale|party|offer|deal|discount|campaign|promo\w*|event|bash|dinner|lunch|celebration|special|edition|issue|week|month|gala|show|concert)\b|^ ?(?:파티|축하|선물|이벤트|쿠폰|할인|パーティー|会|プレゼント|クーポン|特典|派对|聚会|礼物|蛋糕|优惠|券)/i;
const IS_BORN = /^(?:born|född|født|geboren)$/i;
const OTHERS = /\n|[.!?;] +[A-ZÀ-Ý]/;
const SHORT_DATE = /^["']?[ \t]{0,2}[:=][ \t]{0,2}["']?(\d{6})(?![\d.,])/;

/** A possible date beside a word for birth, near enough to belong to it. */
export const birth: Judge = (text, start, end) => {
  if (/^ in (?:the )?\d{4}/.test(text.slice(end, end + 12))) return NOTHING;
  const isWord = IS_BORN.test(text.slice(start, end));
  // Ideas and versions are.
  if (isWord && /^ (?:(?:out )?of|from|ur|aus ein(?:er|em))\b/.test(text.slice(end, end + 12)))
    return NOTHING;
  if (OF_A_FEAST.test(text.slice(end, end + 24))) return NOTHING;
  const short = SHORT_DATE.exec(text.slice(end, end + 16));
  if (short?.[1] && isBirthNumber(short[1])) {
    const to = end + short[0].length;
    return [{ start: to - 6, end: to }];
  }
  const found = findNear(text, start, end, { after: 64, before: 30 }, findBirthDates);
  if (found.length === 0) return dateInFields(text, end);
  return found.filter((date) => {
    // Before it stands the date of another line or sentence.
    if (isWord && date.end <= start && OTHERS.test(text.slice(date.end, start))) return false;
    // Behind this word stands a year: a date further on is of something else.
    if (/jahrgang/i.test(text.slice(start, end)) && !(date.start - end <= 4)) return false;
    if (OF_A_WORK.test(text.slice(end, date.start))) return false;
    return !(isWord && OF_A_FIRM.test(text.slice(Math.max(0, start - 30), start)));
  });
};

/** Behind a label within which the three fields of its date stand. */
const FIELDS_WITHIN = 160;
const DATE_FIELDS = new RegExp(
  String.raw`["'\s_](?:(${DAY_NAME})|(${MONTH_NAME})|(${YEAR_NAME}))["'\\]{0,3}\s{0,3}[:=]\s{0,3}["'\\]{0,3}(\d{1,4})(?!\d)`,
  'gi',
);

/** `{"label": "DOB", "day": "24", "month": "01", "year": "1939"}`: a date in three fields, in any order. */
function dateInFields(text: string, from: number): readonly Stretch[] {
  const fields = [...text.slice(from, from + FIELDS_WITHIN).matchAll(DATE_FIELDS)].slice(0, 3);
  const [first, , third] = fields;
  const fieldOf = (kind: 1 | 2 | 3): string => fields.find((field) => field[kind])?.[4] ?? '';
  const date = `${fieldOf(3)}-${fieldOf(2).padStart(2, '0')}-${fieldOf(1).padStart(2, '0')}`;
  if (!first || !third || findDates(date).length === 0) return NOTHING;
  const startOf = ({ index, 0: written, 4: value = '' }: RegExpExecArray): number =>
    from + index + written.length - value.length;
  return [{ start: startOf(first), end: startOf(third) + (third[4]?.length ?? 0) }];
}

/** Six digits: year first or last. */
const isBirthNumber = (digits: string): boolean =>
  isShortDate(digits) || isShortDate(digits.slice(4) + digits.slice(2, 4) + digits.slice(0, 2));

function findBirthDates(window: string): readonly Stretch[] {
  return findDates(window).filter(
    (date) =>
      // "1 Jan 04:30"
      !/^:\d\d/.test(window.slice(date.end, date.end + 3)) &&
      (!/[T ]\d\d:\d\d/.test(window.slice(date.end, date.end + 6)) ||
        /00:00/.test(window.slice(date.end, date.end + 7))),
  );
}
