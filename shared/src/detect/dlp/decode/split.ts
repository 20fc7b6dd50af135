/** A value in two or more pieces: neighbouring fields, items, or strings that code puts together. */
import type { Stretch } from '../builtin-pattern.ts';

export interface Piece {
  readonly text: string;
  /** Where the piece stands in the text it was taken from. */
  readonly start: number;
  /** Pieces of different groups are no neighbours. */
  readonly group: number;
  /** Of a string in a text: what stands between the one before and this one. */
  readonly between?: string;
  /** A word for what the piece holds; '' where it has none. */
  readonly label: string;
  /** Whether it is the end of a longer text, where only a key with an issuer's mark is certain. */
  readonly isEnd?: boolean;
}

/** Digits that neighbours may have together where some of them make a number. */
const MAX_DIGITS = 40;

/**
 * The groups with so many digits that some neighbours make a number with a check digit by chance:
 * lists of prices, years, ids.
 */
export function numerousGroups(pieces: readonly Piece[]): ReadonlySet<number> {
  const digits = new Map<number, number>();
  for (const { text, group } of pieces) {
    if (text.length > MAX_PIECE || !/\d/.test(text)) continue;
    digits.set(group, (digits.get(group) ?? 0) + (text.match(/\d/g)?.length ?? 0));
  }
  return new Set([...digits].filter(([, count]) => count > MAX_DIGITS).map(([group]) => group));
}

export interface JoinedPieces {
  readonly text: string;
  /** The pieces that a stretch of the text lies in; undefined where it lies in one alone. */
  readonly piecesAt: (stretch: Stretch) => readonly Piece[] | undefined;
}

/** A longer piece holds no part of a value. */
export const MAX_PIECE = 400;
/** Neighbours that are put together, beginning with each piece. */
const MAX_TOGETHER = 4;
/** Characters of pieces of which all together make the value. */
const SMALL_PIECE = 6;
const MAX_SMALL = 64;
/** Pieces of one run at most. */
export const MAX_RUN = Math.max(MAX_TOGETHER, MAX_SMALL);

/** Characters at the ends of a longer text that may be a part of a value. */
export const MAX_END = 64;

const isPart = (text: string): boolean =>
  text.length <= MAX_PIECE && !/[^\S ]/.test(text) && !/[a-zà-ÿ]{2,}[.,!?]? [a-zA-Z]/.test(text);

/** What stands between two strings that belong together, keys of JSON included. */
const BETWEEN =
  /^\s{0,40}(?:[+.&|,;~\\)}\]([{]|\.\.|\|\||<>|<<|and|then)?[\s)}\]([{\\]{0,40}(?:(?:["']?[A-Za-z_$][\w$.\- \]["']{0,40}["']?\s{0,3}(?:=>|\+=|[:=]))\s{0,8})?$/;

/**
 * Whether a piece makes a run that it stands in one that could be a value: words alone do not. A
 * digit, `@`, five hyphens, or two capital letters with none but small ones between them.
 */
function isTelling(text: string): boolean {
  return text.length <= MAX_PIECE && holdsTelling(text);
}

/** Whether a piece of the text could be telling: no run of pieces is looked at where none is. */
export function holdsTelling(text: string): boolean {
  let hyphens = 0;
  let isInWord = false;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    const isCapital = unit >= 0x41 && unit <= 0x5a;
    if ((unit >= 0x30 && unit <= 0x39) || unit === AT_SIGN || (isCapital && isInWord)) return true;
    hyphens = unit === HYPHEN ? hyphens + 1 : 0;
    if (hyphens === HYPHENS) return true;
    isInWord = isCapital || (isInWord && unit >= 0x61 && unit <= 0x7a);
  }
  return false;
}

const AT_SIGN = 0x40;
const HYPHEN = 0x2d;
const HYPHENS = 5;

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
  const write = (row: readonly Piece[], from: number, to: number): void => {
    const first = row[from]?.label;
    if (first) {
      texts.push(first, ': ');
      length += first.length + 2;
    }
    for (let at = from; at < to; at++) {
      const piece = row[at] as Piece;
      starts.push(length);
      members.push(piece);
      texts.push(piece.text);
      length += piece.text.length;
    }
    texts.push('\n\u2028\n');
    length += 3;
  };
  const row = new PieceRow(pieces);
  for (let i = row.nextStart(0); i >= 0; i = row.nextStart(i + 1)) {
    const size = row.runFrom(i);
    // Two, three, four: what stands behind the value must not grow onto it.
    for (let end = i + 2; end <= i + Math.min(size, MAX_TOGETHER); end++) write(pieces, i, end);
    if (size > MAX_TOGETHER) write(pieces, i, i + size);
    if (length < MAX_JOINED) continue;
    yield joinedPieces(texts.join(''), starts, members);
    [texts, starts, members, length] = [[], [], [], 0];
  }
  for (let i = 1; i < pieces.length; i++) {
    const ends = row.endsBefore(i);
    if (ends) write(ends, 0, ends.length);
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
function endsThatMeet(one: Piece, other: Piece): readonly Piece[] | undefined {
  if (one.group !== other.group) return undefined;
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

const EDGES = new Uint8Array(128);
for (const edge of ' \t\r\n"\'`(<[{)>]}') EDGES[edge.charCodeAt(0)] = 1;
const isEdge = (text: string, at: number): boolean => EDGES[text.charCodeAt(at)] === 1;

/** Characters of two ends: no key of an issuer is shorter. */
const MIN_ENDS = 16;

/** Answers that are asked for once of each piece, and of most pieces never. */
const NO = 1;
const YES = 2;

class PieceRow {
  readonly #pieces: readonly Piece[];
  readonly #parts: Uint8Array;
  readonly #next: Uint8Array;
  /** The first telling piece that is not before the place at which runs are looked for. */
  #telling = -1;
  /** Where a run may begin that reaches it. */
  #earliest = 0;

  constructor(pieces: readonly Piece[]) {
    this.#pieces = pieces;
    this.#parts = new Uint8Array(pieces.length);
    this.#next = new Uint8Array(pieces.length);
  }

  /** From where on a run could hold a telling piece; -1 for nowhere. */
  nextStart(from: number): number {
    if (this.#telling < from) {
      let at = from;
      while (at < this.#pieces.length && !isTelling(this.#at(at).text)) at++;
      if (at === this.#pieces.length) return -1;
      this.#telling = at;
      // Behind the first of a run all are small.
      let small = 0;
      while (at - small >= from && small < MAX_SMALL && this.#isSmall(at - small)) small++;
      this.#earliest = at - small - MAX_TOGETHER + 1;
    }
    return Math.max(from, this.#earliest);
  }

  /** How many neighbours make the run that begins there; 0 where none of them is telling. */
  runFrom(from: number): number {
    if (this.#at(from).text === '') return 0;
    const isStart = this.#isRunStart(from);
    let end = from;
    let hasTelling = false;
    while (end < this.#pieces.length && this.#isPart(end) && (end === from || this.#isNext(end))) {
      const count = end - from;
      const { text } = this.#at(end);
      const small = count < MAX_SMALL && this.#isSmall(end);
      if (count >= MAX_TOGETHER && !(small && isStart)) break;
      hasTelling ||= end >= this.#telling && isTelling(text);
      end++;
    }
    return hasTelling ? end - from : 0;
  }

  /** The ends of a piece and of the one before it, where one of them is too long for a run. */
  endsBefore(index: number): readonly Piece[] | undefined {
    const ends = endsThatMeet(this.#at(index - 1), this.#at(index));
    if (ends === undefined || (this.#isPart(index - 1) && this.#isPart(index))) return undefined;
    return this.#isNext(index) ? ends : undefined;
  }

  #at(index: number): Piece {
    return this.#pieces[index] as Piece;
  }

  #isSmall(index: number): boolean {
    return this.#at(index).text.length <= SMALL_PIECE;
  }

  #isPart(index: number): boolean {
    this.#parts[index] ||= isPart(this.#at(index).text) ? YES : NO;
    return this.#parts[index] === YES;
  }

  /** Whether a piece belongs together with the one before it. */
  #isNext(index: number): boolean {
    if (this.#next[index] === 0) {
      const { group, between } = this.#at(index);
      const isOne = group === this.#at(index - 1).group;
      this.#next[index] = isOne && (between === undefined || BETWEEN.test(between)) ? YES : NO;
    }
    return this.#next[index] === YES;
  }

  #isRunStart(index: number): boolean {
    if (index === 0 || !this.#isSmall(index - 1)) return true;
    return !this.#isNext(index);
  }
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
