/** A value in two or more pieces: neighbouring fields, items, or strings that code puts together. */
import type { Stretch } from '../builtin-pattern.ts';

export interface Piece {
  readonly text: string;
  /** Where the piece stands in the text it was taken from. */
  readonly start: number;
  /** Pieces of different groups are no neighbours. */
  readonly group: number;
  /** A word for what the piece holds; '' where it has none. */
  readonly label: string;
}

export interface JoinedPieces {
  readonly text: string;
  /** The pieces that a stretch of the text lies in; undefined where it lies in one alone. */
  readonly piecesAt: (stretch: Stretch) => readonly Piece[] | undefined;
}

/** A longer piece holds no part of a value. */
const MAX_PIECE = 400;
/** Neighbours that are put together, beginning with each piece. */
const MAX_TOGETHER = 4;
/** Characters of pieces of which all together make the value. */
const SMALL_PIECE = 6;
const MAX_SMALL = 64;

const isPart = (text: string): boolean =>
  text.length <= MAX_PIECE && !/[^\S ]/.test(text) && !/[a-zà-ÿ]{2,}[.,!?]? [a-zA-Z]/.test(text);

/** Whether a run of pieces could be one value: between letters only, no. */
const isTelling = (pieces: readonly Piece[]): boolean =>
  pieces.some(({ text }) => /\d|@|-----|[A-Z][a-z]*[A-Z]/.test(text));

/** Every run of neighbours, joined. The text grows by a constant factor at most. */
export function joinPieces(pieces: readonly Piece[]): JoinedPieces | undefined {
  const texts: string[] = [];
  const starts: number[] = [];
  const members: Piece[] = [];
  const lines: number[] = [];
  let length = 0;
  const write = (run: readonly Piece[], line: number): void => {
    const label = run[0]?.label ? `${run[0].label}: ` : '';
    texts.push(label);
    length += label.length;
    for (const piece of run) {
      starts.push(length);
      members.push(piece);
      lines.push(line);
      texts.push(piece.text);
      length += piece.text.length;
    }
    texts.push('\n\u2028\n');
    length += 3;
  };
  let line = 0;
  for (let i = 0; i < pieces.length; i++) {
    const run = neighbours(pieces, i);
    if (run.length < 2 || !isTelling(run)) continue;
    // Two, three, four: what stands behind the value must not grow onto it.
    for (let size = 2; size <= Math.min(run.length, MAX_TOGETHER); size++) {
      write(run.slice(0, size), line++);
    }
    if (run.length > MAX_TOGETHER) write(run, line++);
  }
  if (members.length === 0) return undefined;
  return {
    text: texts.join(''),
    piecesAt: ({ start, end }) => {
      const touched: Piece[] = [];
      for (let i = lastAtOrBefore(starts, start); i < starts.length; i++) {
        const from = starts[i] ?? 0;
        const piece = members[i];
        if (from >= end || !piece) break;
        if (from + piece.text.length > start) touched.push(piece);
      }
      return touched.length > 1 ? touched : undefined;
    },
  };
}

function neighbours(pieces: readonly Piece[], from: number): readonly Piece[] {
  const first = pieces[from];
  if (!first || !isPart(first.text) || first.text === '') return [];
  const run: Piece[] = [];
  const isStart = isRunStart(pieces, from);
  for (let i = from; i < pieces.length; i++) {
    const piece = pieces[i];
    if (!piece || piece.group !== first.group || !isPart(piece.text)) break;
    const small = run.length < MAX_SMALL && piece.text.length <= SMALL_PIECE;
    if (run.length >= MAX_TOGETHER && !(small && isStart)) break;
    run.push(piece);
  }
  return run;
}

function isRunStart(pieces: readonly Piece[], at: number): boolean {
  const before = pieces[at - 1];
  const piece = pieces[at];
  return !before || before.group !== piece?.group || before.text.length > SMALL_PIECE;
}

function lastAtOrBefore(starts: readonly number[], place: number): number {
  let low = 0;
  let high = starts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) <= place) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}

const QUOTE = 1;
const SIGN = 2;

/** By the code of a character that a literal may begin with, or stand behind. */
function marksOf(quotes: string, signs: string): Uint8Array {
  const marks = new Uint8Array(128);
  for (const quote of quotes) marks[quote.charCodeAt(0)] = QUOTE;
  for (const sign of signs) marks[sign.charCodeAt(0)] = SIGN;
  return marks;
}

/** Strings of code or JSON, and bare values behind a sign; each sort of quote may hold the other. */
const LITERALS: readonly { expression: RegExp; marks: Uint8Array }[] = [
  {
    expression:
      /"((?:[^"\\\n]|\\.){0,400})"|(?<=[=:] {0,2})([A-Za-z0-9+/][A-Za-z0-9+/_.\-=]{1,200})(?=[\s,;&)}\]]|$)/y,
    marks: marksOf('"', '=:'),
  },
  {
    expression: /'((?:[^'\\\n]|\\.){0,400})'|`([^`\n]{0,400})`/y,
    marks: marksOf("'`", ''),
  },
];
/** What stands between two strings that belong together, keys of JSON included. */
const BETWEEN =
  /^\s{0,40}(?:[+.&|,;~\\)}\]([{]|\.\.|\|\||<>|<<|and|then)?[\s)}\]([{\\]{0,40}(?:(?:["']?[A-Za-z_$][\w$.\- \]["']{0,40}["']?\s{0,3}(?:=>|\+=|[:=]))\s{0,8})?$/;

/** The strings that stand in a text one after another. */
export function literalPieces(text: string): Piece[] {
  if (!/["'`=:]/.test(text)) return [];
  const pieces: Piece[] = [];
  let group = 0;
  for (const literal of LITERALS) {
    let lastEnd = 0;
    group++;
    for (const match of matchesAtMarks(text, literal)) {
      const value = match[1] ?? match[2] ?? '';
      const isQuoted = /^["'`]/.test(match[0]);
      const end = match.index + match[0].length;
      // A key of JSON is no piece; it may stand between two.
      if (isQuoted && /^\s{0,3}:/.test(text.slice(end, end + 4))) continue;
      const gap = text.slice(lastEnd, match.index);
      if (gap.length > 100 || !BETWEEN.test(gap)) group++;
      pieces.push({ text: value, start: match.index + (isQuoted ? 1 : 0), group, label: '' });
      lastEnd = end;
    }
  }
  return pieces;
}

/** Tried where one may begin, since the expression alone looks behind at every character. */
function matchesAtMarks(
  text: string,
  { expression, marks }: { expression: RegExp; marks: Uint8Array },
): RegExpExecArray[] {
  const matches: RegExpExecArray[] = [];
  let end = 0;
  for (let at = 0; at < text.length; at++) {
    const mark = marks[text.charCodeAt(at)];
    if (mark !== QUOTE && mark !== SIGN) continue;
    const start = mark === QUOTE ? at : behindSign(text, at);
    if (start < end) continue;
    expression.lastIndex = start;
    const match = expression.exec(text);
    if (!match) continue;
    matches.push(match);
    end = start + match[0].length;
    // A sign that ends this one may stand before the next.
    at = end - 2;
  }
  return matches;
}

/** Behind a sign and two spaces at most. */
function behindSign(text: string, at: number): number {
  let start = at + 1;
  while (start < at + 3 && text[start] === ' ') start++;
  return start;
}
