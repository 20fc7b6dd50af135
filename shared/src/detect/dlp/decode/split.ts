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
  /** Whether it is the end of a longer text, where only a key with an issuer's mark is certain. */
  readonly isEnd?: boolean;
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
/** Pieces of one run at most. */
export const MAX_RUN = Math.max(MAX_TOGETHER, MAX_SMALL);

/** Characters at the ends of a longer text that may be a part of a value. */
const MAX_END = 64;

const isPart = (text: string): boolean =>
  text.length <= MAX_PIECE && !/[^\S ]/.test(text) && !/[a-zà-ÿ]{2,}[.,!?]? [a-zA-Z]/.test(text);

/** Whether a piece makes a run that it stands in one that could be a value: words alone do not. */
const isTelling = (text: string): boolean => /\d|@|-----|[A-Z][a-z]*[A-Z]/.test(text);

/** A joined text is closed at this length: the engine reads no longer ones. */
const MAX_JOINED = 4_000_000;

/**
 * Every run of neighbours, joined; of most texts in one text, or none. They are longer than the
 * pieces by a constant factor at most.
 */
export function* joinPieces(pieces: readonly Piece[]): Generator<JoinedPieces> {
  let texts: string[] = [];
  let starts: number[] = [];
  let members: Piece[] = [];
  let length = 0;
  const write = (run: readonly Piece[]): void => {
    const label = run[0]?.label ? `${run[0].label}: ` : '';
    texts.push(label);
    length += label.length;
    for (const piece of run) {
      starts.push(length);
      members.push(piece);
      texts.push(piece.text);
      length += piece.text.length;
    }
    texts.push('\n\u2028\n');
    length += 3;
  };
  // Of each piece it is asked once.
  const parts = pieces.map(({ text }) => isPart(text));
  const telling = pieces.map(({ text }, i) => parts[i] === true && isTelling(text));
  for (let i = 0; i < pieces.length; i++) {
    const run = neighbours(pieces, parts, i);
    if (run.length < 2 || !telling.slice(i, i + run.length).includes(true)) continue;
    // Two, three, four: what stands behind the value must not grow onto it.
    for (let size = 2; size <= Math.min(run.length, MAX_TOGETHER); size++) {
      write(run.slice(0, size));
    }
    if (run.length > MAX_TOGETHER) write(run);
    if (length < MAX_JOINED) continue;
    yield joinedPieces(texts.join(''), starts, members);
    [texts, starts, members, length] = [[], [], [], 0];
  }
  for (let i = 1; i < pieces.length; i++) {
    if (parts[i - 1] === true && parts[i] === true) continue;
    const ends = endsThatMeet(pieces[i - 1], pieces[i]);
    if (ends) write(ends);
    if (length < MAX_JOINED) continue;
    yield joinedPieces(texts.join(''), starts, members);
    [texts, starts, members, length] = [[], [], [], 0];
  }
  if (members.length > 0) yield joinedPieces(texts.join(''), starts, members);
}

function joinedPieces(
  text: string,
  starts: readonly number[],
  members: readonly Piece[],
): JoinedPieces {
  return {
    text,
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

/** The last word of a text and the first of the next: `the key is AKIAQ`, `7MZ3 and so on`. */
function endsThatMeet(one: Piece | undefined, other: Piece | undefined) {
  if (!one || !other || one.group !== other.group) return undefined;
  let start = one.text.length;
  while (start > 0 && one.text.length - start < MAX_END && !isEdge(one.text, start - 1)) start--;
  let end = 0;
  while (end < other.text.length && end < MAX_END && !isEdge(other.text, end)) end++;
  const length = one.text.length - start + end;
  if (start === one.text.length || end === 0 || length < MIN_ENDS) return undefined;
  const last = one.text.slice(start);
  const first = other.text.slice(0, end);
  if (!isTelling(last) && !isTelling(first)) return undefined;
  return [
    { ...one, text: last, start: one.start + start, label: '', isEnd: true },
    { ...other, text: first, isEnd: true },
  ];
}

const EDGES = ' \t\r\n"\'`(<[{)>]}';
const isEdge = (text: string, at: number): boolean => EDGES.includes(text[at] ?? '');

/** Characters of two ends: no key of an issuer is shorter. */
const MIN_ENDS = 16;

/** @param parts whether each piece may be a part of a value */
function neighbours(
  pieces: readonly Piece[],
  parts: readonly boolean[],
  from: number,
): readonly Piece[] {
  const first = pieces[from];
  if (!first || parts[from] !== true || first.text === '') return [];
  const isStart = isRunStart(pieces, from);
  let end = from;
  while (end < pieces.length) {
    const piece = pieces[end];
    if (!piece || piece.group !== first.group || parts[end] !== true) break;
    const count = end - from;
    const small = count < MAX_SMALL && piece.text.length <= SMALL_PIECE;
    if (count >= MAX_TOGETHER && !(small && isStart)) break;
    end++;
  }
  return end - from < 2 ? [] : pieces.slice(from, end);
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
