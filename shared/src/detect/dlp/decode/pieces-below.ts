/**
 * A value in pieces, one a line below its label: `Telefon:`, `+49`, `151`, `2345`, `6789`. Lines below
 * a label are a list as a rule: only what no list has is joined.
 */
import { isIban } from '../validators/iban.ts';
import { isNationalId } from '../validators/national-ids.ts';
import { isCardNumber } from '../validators/payment-card.ts';
import type { Edit } from './view.ts';

/** Where a text may contain such pieces: single characters, or some that begin with digits. */
const LINE = String.raw`[ \t>]*(?:[-*•] )?["']?(?:[^\s:]|[A-Z(+]{0,2}\d[\dA-Z()]*(?: \d{1,6})?)["']?[ \t]*\r?\n`;
// Two literals in front: the engine tries an expression wherever one literal of it occurs.
export const PIECES_BELOW = String.raw`(?::|：|=)\r?\n${LINE}${LINE}`;

const PIECE = String.raw`[ \t>]{0,8}(?:[-*•] )?[^\s:]{1,8}(?: \d{1,6}(?![^\s]))?[ \t]*`;
const BELOW = new RegExp(
  String.raw`(?<=[:：=][ \t]{0,4}\r?\n)${PIECE}(?:\r?\n${PIECE}){2,63}(?![^\r\n])`,
  'g',
);
const disguise: readonly string[] = ['separators'];
const BULLET = /^[ \t>]*(?:[-*•] )?/;

/** Single characters that are no list. */
const MIN_CHARACTERS = 6;
/** Numbers of fewer digits are too often valid by chance. */
const MIN_CHECKED = 10;

export function piecesBelow(text: string): Edit[] {
  const edits: Edit[] = [];
  for (const { 0: block, index: start } of text.matchAll(BELOW)) {
    const pieces = block
      .split(/\r?\n/)
      .map((line) => line.replace(BULLET, '').replace(/^["']|["']?\s*$/g, ''));
    const replacement = joinedValue(pieces);
    if (replacement === undefined) continue;
    // The label's line goes on with the value.
    const feed = text[start - 2] === '\r' ? start - 2 : start - 1;
    edits.push({ start: feed, end: start, replacement: ' ', disguise });
    edits.push({ start, end: start + block.length, replacement, disguise });
  }
  return edits;
}

/** The value that the pieces are together; undefined if they could be a list. */
function joinedValue(pieces: readonly string[]): string | undefined {
  const value = pieces.join('').replaceAll(' ', '');
  if (pieces.every(({ length }) => length === 1)) {
    return pieces.length >= MIN_CHARACTERS && new Set(pieces).size > 3 ? value : undefined;
  }
  const sizes = pieces.map(({ length }) => length).join('-');
  const digits = /^\+?[\d()]+$/.test(value) ? value.replace(/\D/g, '') : undefined;
  if (digits === undefined) {
    const isNumber = isIban(value) || (value.length >= MIN_CHECKED && isNationalId(value, true));
    return isNumber ? value : undefined;
  }
  if (isCardNumber(digits) || sizes === '3-2-4') return value;
  // A telephone number in its own country begins with a zero, and its groups are no years.
  const isTelephone = digits.length >= 9 && digits.length <= 15 && pieces.length <= 8;
  if (isTelephone && pieces.slice(1).every((piece) => /^\d+$/.test(piece))) {
    if (/^(?:\+|00|\(?0\d)/.test(value)) return value;
  }
  return digits.length >= MIN_CHECKED && isNationalId(digits, true) ? value : undefined;
}
