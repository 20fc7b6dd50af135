/**
 * Values whose fields say that they are parts of one: `pesel_head`, `pesel_mid`, `pesel_tail`, or
 * `"db_password": {"p1": …, "p2": …}`. Joined under the word for the whole, they are read as if it
 * had been written in one. Parts in sentences, whose order their names tell, are in parts.ts.
 */
import type { Piece } from './piece.ts';

/** Parts of one value, and their lengths. */
const MAX_PARTS = 6;
const MAX_LENGTH = 128;
/** Fields before the first part that may say what the whole is. */
const MAX_BEFORE = 4;

/** The end of a part's name; what stands before it names the whole. */
const PART =
  /^(.*?)[_\-. ]?(?:(?:part|parte?|teil|partie|deel|seg(?:ment)?|chunk|piece|frag(?:ment)?|half|p|s)[_\-. ]?(?:[a-f]|[1-9]|one|two|three)|head|mid(?:dle)?|tail|first|second|third|fourth|last|begin|start|end|rest|left|right|prefix|suffix|(?<=[_\-. ])[a-f]|[1-9])$/i;
/** The name of a field, behind which its value begins. */
const KEY = /([\p{L}_$][\p{L}\d_$.-]{0,40})["'\\`]{0,3}\s{0,3}(?:[:=]|=>)\s{0,8}$/u;
/** The name of an object whose first field that is. */
const OUTER =
  /([\p{L}_$][\p{L}\d_$. -]{0,40})["'\\`]{0,3}\s{0,3}(?:[:=]|=>)\s{0,3}\{\s{0,40}["'\\`]{0,3}[\p{L}\d_$.-]{1,40}["'\\`]{0,3}\s{0,3}(?:[:=]|=>)\s{0,8}$/u;
/** Fields that say what another one holds. */
const ABOUT =
  /^(?:kind|type|label|about|name|field|key|title|description|what|purpose|art|tipo|typ)$/i;
/** Where none does, a remark may. */
const REMARK =
  /^(?:note|comment|hint|info|remark|memo|notiz|bemerkung|hinweis|nota|uwaga|opmerking)$/i;

/** Nearly all names end otherwise: the expressions are not asked for them. */
const LAST_LETTERS = new Set('abcdef123456789elyxtk');

/** What a character at the end of the text before a value is. */
const BEHIND_KEY = 1;
const LAST_LETTER = 2;
const SORT_OF = new Uint8Array(128);
for (const sign of ' \t\n\v\f\r:=>"\'\\`') SORT_OF[sign.charCodeAt(0)] = BEHIND_KEY;
for (const letter of LAST_LETTERS) {
  SORT_OF[letter.charCodeAt(0)] = LAST_LETTER;
  SORT_OF[letter.toUpperCase().charCodeAt(0)] = LAST_LETTER;
}

/** Whether the last letter of its key allows a piece to be a part. */
function mayBeNamedPart({ between }: Piece): boolean {
  if (between === undefined) return true;
  for (let at = between.length - 1; at >= 0; at--) {
    const unit = between.charCodeAt(at);
    // Some blanks are of other alphabets.
    const sort = unit < SORT_OF.length ? SORT_OF[unit] : LAST_LETTER;
    if (sort !== BEHIND_KEY) return sort === LAST_LETTER;
  }
  return false;
}

const keyOf = ({ between, label }: Piece): string =>
  between === undefined ? label : (KEY.exec(between)?.[1] ?? '');

/** @returns what stands before the end that makes it a part's name; undefined for other names */
function stemOf(key: string): string | undefined {
  const last = key.at(-1)?.toLowerCase() ?? '';
  return LAST_LETTERS.has(last) ? PART.exec(key)?.[1] : undefined;
}

const mayBePart = ({ text }: Piece): boolean =>
  text !== '' && text.length <= MAX_LENGTH && !text.includes('\n');

/**
 * Each value whose parts are declared, as a row of pieces of which the first has the whole's label.
 * The cost is linear in the pieces.
 */
export function* declaredParts(pieces: readonly Piece[]): Iterable<readonly Piece[]> {
  for (let at = 0; at + 1 < pieces.length; at++) {
    const first = pieces[at] as Piece;
    const next = pieces[at + 1] as Piece;
    if (first.group !== next.group || !mayBePart(first) || !mayBePart(next)) continue;
    if (!mayBeNamedPart(first) || !mayBeNamedPart(next)) continue;
    const key = keyOf(first);
    const stem = key === '' ? undefined : stemOf(key);
    if (stem === undefined) continue;
    let end = at + 1;
    while (
      end < pieces.length &&
      end - at < MAX_PARTS &&
      goesOn(pieces[end] as Piece, first, stem)
    ) {
      end++;
    }
    if (end - at < 2) continue;
    const label = stem === '' ? labelOfWhole(pieces, at) : stem;
    if (label !== '') {
      yield pieces
        .slice(at, end)
        .map((piece, index) => ({ ...piece, label: index === 0 ? label : '', isDeclared: true }));
    }
    at = end - 1;
  }
}

function goesOn(piece: Piece, first: Piece, stem: string): boolean {
  return piece.group === first.group && mayBePart(piece) && stemOf(keyOf(piece)) === stem;
}

/** Parts with no more than a number for a name are the whole object's, or another field's. */
function labelOfWhole(pieces: readonly Piece[], at: number): string {
  const first = pieces[at] as Piece;
  const outer = first.outer ?? OUTER.exec(first.between ?? '')?.[1] ?? '';
  for (const names of [ABOUT, REMARK]) {
    for (let before = at - 1; before >= Math.max(0, at - MAX_BEFORE); before--) {
      const piece = pieces[before] as Piece;
      if (piece.text.length <= MAX_LENGTH && names.test(keyOf(piece))) return piece.text;
    }
  }
  return outer;
}
