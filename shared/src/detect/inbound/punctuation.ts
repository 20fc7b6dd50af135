/** Characters that structure a text, as UTF-16 units. */
import { IDEOGRAPH, KIND_OF } from './characters.ts';

const SPACE = 0x20;
export const LINE_FEED = 0x0a;
export const RETURN = 0x0d;
export const BAR = 0x7c;
export const SLASH = 0x2f;
export const FULL_STOP = 0x2e;
const COMMA = 0x2c;
const COLON_SIGN = 0x3a;
export const DOUBLE_QUOTE = 0x22;
export const APOSTROPHE = 0x27;
export const CURLY_APOSTROPHE = 0x2019;
export const QUESTION_MARK = 0x3f;
export const WIDE_QUESTION_MARK = 0xff1f;

export const OPENING_MARKS = '“„‟«‹「『‘‚';
export const CLOSING_MARKS = '”»›」』’';
/** What may end a quotation that began with an opening mark. */
export const ENDS_OF_OPENED = `${CLOSING_MARKS}"`;
const LINK_ENDS = ' \n\r\t"\'<>()[]{}';

/** Whether a unit is one of a few characters. */
export function isOneOf(characters: string, unit: number): boolean {
  for (let at = 0; at < characters.length; at += 1) {
    if (characters.charCodeAt(at) === unit) return true;
  }
  return false;
}

/** Whether a quotation mark opens a value of JSON, of a table or of an attribute. */
export function isValueAt(units: Uint16Array, at: number): boolean {
  let before = at - 1;
  while (before >= 0 && units[before] === SPACE && at - before < 4) before -= 1;
  if (before < 0) return true;
  const mark = units[before] as number;
  if (mark === COLON_SIGN) return before > 0 && isOneOf('"\'', units[before - 1] as number);
  return isOneOf('=[{', mark) || (mark === COMMA && before === at - 1) || mark === LINE_FEED;
}

/** Where a link that was partly read ends. */
export function linkEnd(units: Uint16Array, from: number, length: number): number {
  let end = from;
  while (end < length) {
    const unit = units[end] as number;
    if (unit <= 0x7f ? isOneOf(LINK_ENDS, unit) : (KIND_OF[unit] as number) >= IDEOGRAPH) break;
    end += 1;
  }
  return end;
}
