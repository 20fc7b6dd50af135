/** A value in several pieces: neighbouring fields, items, or strings that code concatenates. */
import type { Stretch } from '../builtin-pattern.ts';
import { declaredParts } from './part-fields.ts';
import type { Piece } from './piece.ts';

/** The most digits of neighbours among which a number is not a coincidence. */
const MAX_DIGITS = 40;

/**
 * Groups with so many digits that some neighbours form a number with a valid check digit by chance:
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
  /** The pieces that a stretch of the text covers; undefined if it lies within one. */
  piecesAt(stretch: Stretch): readonly Piece[] | undefined;
}

/** A longer piece is not part of a split value. */
export const MAX_PIECE = 400;
/** Neighbours that are joined, starting from each piece. */
const MAX_TOGETHER = 4;
/** Length of pieces so small that a whole run of them may be the value. */
const SMALL_PIECE = 6;
const MAX_SMALL = 64;
/** Maximum number of pieces in a run. */
export const MAX_RUN = Math.max(MAX_TOGETHER, MAX_SMALL);

/** Characters at the ends of a longer text that may be part of a value. */
export const MAX_END = 64;

/** Whether a text could be part of a value: short, on one line, and without words in a row. */
function isPart(text: string): boolean {
  return text.length <= MAX_PIECE && !holdsWords(text);
}

const WORDS = /[^\S ]|[a-zà-ÿ]{2,}[.,!?]? [a-zA-Z]/;

/** Tests for `WORDS`; most pieces are ASCII, for which a loop is faster. */
export function holdsWords(text: string): boolean {
  let smalls = 0;
  let isBehindWord = false;
  let isBehindSpace = false;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit >= 128) return WORDS.test(text);
    const sort = SORT_OF[unit] as number;
    if (sort === LINE) return true;
    const isLetter = sort === SMALL || sort === CAPITAL;
    if (isLetter && isBehindSpace) return true;
    isBehindSpace = sort === BLANK && (isBehindWord || smalls >= 2);
    isBehindWord = sort === STOP && smalls >= 2;
    smalls = sort === SMALL ? smalls + 1 : 0;
  }
  return false;
}

const [SMALL, CAPITAL, BLANK, STOP, LINE] = [1, 2, 3, 4, 5] as const;
const SORT_OF = new Uint8Array(128);
for (const letter of 'abcdefghijklmnopqrstuvwxyz') {
  SORT_OF[letter.charCodeAt(0)] = SMALL;
  SORT_OF[letter.toUpperCase().charCodeAt(0)] = CAPITAL;
}
for (const stop of '.,!?') SORT_OF[stop.charCodeAt(0)] = STOP;
for (const blank of '\t\n\v\f\r') SORT_OF[blank.charCodeAt(0)] = LINE;
SORT_OF[' '.charCodeAt(0)] = BLANK;

/** What may stand between two strings that belong together, JSON keys included. */
const BETWEEN =
  /^\s{0,40}(?:[+.&|,;~\\)}\]([{]|\.\.|\|\||<>|<<|and|then)?[\s)}\]([{\\]{0,40}(?:(?:["']?[A-Za-z_$][\w$.\- \]["']{0,40}["']?\s{0,3}(?:=>|\+=|[:=]))\s{0,8})?$/;

/** `"…".concat("…")`, `append("…").append("…")`. */
const CALLED = /^\)?\s{0,40}\.(?:concat|append|add|push|write|put)\(\s{0,40}$/i;

/**
 * Whether what stands between two strings, or a string and a value, indicates that they belong
 * together.
 */
function isBetween(text: string): boolean {
  if (text === '' || text === ', ' || text === ',') return true;
  // It has one comma at most.
  const comma = text.indexOf(',');
  if (comma >= 0 && text.indexOf(',', comma + 1) >= 0) return false;
  return BETWEEN.test(text) || CALLED.test(text);
}

/**
 * Whether a piece makes its run worth examining, because it could be part of a value: words alone
 * could not. A digit, `@`, five hyphens, or two capital letters with only small ones between them.
 */
function isTelling(text: string): boolean {
  return text.length <= MAX_PIECE && holdsTelling(text);
}

/** Whether a piece of the text could be telling: runs without such a piece are not examined. */
export function holdsTelling(text: string): boolean {
  let hyphens = 0;
  let isInWord = false;
  for (let at = 0; at < text.length; at++) {
    const written = text.charCodeAt(at);
    const unit = written > FULL_WIDTH ? written - FULL_WIDTH : written;
    const isCapital = unit >= 0x41 && unit <= 0x5a;
    if ((unit >= 0x30 && unit <= 0x39) || unit === AT_SIGN || (isCapital && isInWord)) return true;
    hyphens = unit === HYPHEN ? hyphens + 1 : 0;
    if (hyphens === HYPHENS) return true;
    isInWord = isCapital || (isInWord && unit >= 0x61 && unit <= 0x7a);
  }
  return false;
}

/** Between a character and its form of full width. */
const FULL_WIDTH = 0xfee0;
const AT_SIGN = 0x40;
const HYPHEN = 0x2d;
const HYPHENS = 5;

/** A joined text ends at this length: the engine takes no longer ones. */
const MAX_JOINED = 4_000_000;

/**
 * Every run of neighbours, joined; for most texts in a single text, or none. Longer than the pieces
 * by a constant factor at most.
 *
 * @param take receives the texts one by one: for megabytes, all together would be too long
 */
export function joinPieces(pieces: readonly Piece[], take: (joined: JoinedPieces) => void): void {
  const joining = new Joining(take);
  const row = new PieceRow(pieces);
  for (let i = row.nextStart(0); i >= 0; i = row.nextStart(i + 1)) {
    const size = row.runFrom(i);
    if (size < 2) continue;
    // Two, three, four: what follows the value must not be joined to it.
    for (let end = i + 2; end <= i + Math.min(size, MAX_TOGETHER); end++) {
      joining.write(pieces, i, end);
    }
    if (size > MAX_TOGETHER) joining.write(pieces, i, i + size);
  }
  for (let i = 1; i < pieces.length; i++) {
    const ends = row.endsBefore(i);
    if (ends) joining.write(ends, 0, ends.length);
  }
  for (const parts of declaredParts(pieces)) joining.write(parts, 0, parts.length);
  joining.end();
}

class Joining {
  readonly #take: (joined: JoinedPieces) => void;
  #texts: string[] = [];
  #starts: number[] = [];
  #members: Piece[] = [];
  #length = 0;

  constructor(take: (joined: JoinedPieces) => void) {
    this.#take = take;
  }

  write(row: readonly Piece[], from: number, to: number): void {
    const first = row[from]?.label;
    if (first) {
      this.#texts.push(first, ': ');
      this.#length += first.length + 2;
    }
    for (let at = from; at < to; at++) {
      const piece = row[at] as Piece;
      this.#starts.push(this.#length);
      this.#members.push(piece);
      this.#texts.push(piece.text);
      this.#length += piece.text.length;
    }
    this.#texts.push('\n\u2028\n');
    this.#length += 3;
    if (this.#length >= MAX_JOINED) this.end();
  }

  end(): void {
    if (this.#members.length === 0) return;
    this.#take(new JoinedRow(this.#texts.join(''), this.#starts, this.#members));
    [this.#texts, this.#starts, this.#members, this.#length] = [[], [], [], 0];
  }
}

class JoinedRow implements JoinedPieces {
  readonly text: string;
  readonly #starts: readonly number[];
  readonly #members: readonly Piece[];

  constructor(text: string, starts: readonly number[], members: readonly Piece[]) {
    this.text = text;
    this.#starts = starts;
    this.#members = members;
  }

  piecesAt({ start, end }: Stretch): readonly Piece[] | undefined {
    const starts = this.#starts;
    const touched: Piece[] = [];
    for (let i = lastAtOrBefore(starts, start); i < starts.length; i++) {
      const from = starts[i] ?? 0;
      const piece = this.#members[i];
      if (from >= end || !piece) break;
      if (from + piece.text.length > start) touched.push(piece);
    }
    return touched.length > 1 ? touched : undefined;
  }
}

/** The last word of a text and the first of the next: `the key is AKIAQ`, `7MZ3 and so on`. */
function endsThatMeet(one: Piece, other: Piece): readonly Piece[] | undefined {
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

/** Minimum length of two ends together: no issuer's key is shorter. */
const MIN_ENDS = 16;

/** What is known about a piece, and whether it belongs together with the previous one. */
const READ = 1;
const PART = 2;
const TELLING = 4;
const ASKED = 8;
const NEXT = 16;

/** Longer rows get an array of their own. */
const KEPT = 1024;
const keptFlags = new Uint8Array(KEPT);

class PieceRow {
  readonly #pieces: readonly Piece[];
  readonly #flags: Uint8Array;
  /** The first telling piece at or after the place where runs are looked for. */
  #telling = -1;
  /** The earliest start of a run that reaches it. */
  #earliest = 0;

  constructor(pieces: readonly Piece[]) {
    this.#pieces = pieces;
    const { length } = pieces;
    this.#flags = length > KEPT ? new Uint8Array(length) : keptFlags.fill(0, 0, length);
  }

  /** The next place from which a run could include a telling piece; -1 if there is none. */
  nextStart(from: number): number {
    if (this.#telling < from) {
      const { length } = this.#pieces;
      let at = from;
      while (at < length && (this.#read(at) & TELLING) === 0) at++;
      if (at === length) return -1;
      this.#telling = at;
      // Beyond the first pieces of a run, all are small.
      let small = 0;
      while (at - small >= from && small < MAX_SMALL && this.#isSmall(at - small)) small++;
      this.#earliest = at - small - MAX_TOGETHER + 1;
    }
    return Math.max(from, this.#earliest);
  }

  /** The number of neighbours in the run that begins there; 0 if none of them is telling. */
  runFrom(from: number): number {
    const { length } = this.#pieces;
    if (this.#at(from).text === '') return 0;
    let end = from;
    let all = 0;
    while (end < length) {
      const read = this.#read(end);
      if ((read & PART) === 0 || (end !== from && !this.#isNext(end))) break;
      if (end - from >= MAX_TOGETHER && !this.#maySmallFollow(from, end)) break;
      all |= read;
      end++;
    }
    return (all & TELLING) !== 0 ? end - from : 0;
  }

  /** The ends of a piece and the previous one, if either is too long for a run. */
  endsBefore(index: number): readonly Piece[] | undefined {
    const [one, other] = [this.#at(index - 1), this.#at(index)];
    if (one.group !== other.group || one.text.length + other.text.length < MIN_ENDS) {
      return undefined;
    }
    if ((this.#read(index - 1) & this.#read(index) & PART) !== 0) return undefined;
    const ends = endsThatMeet(one, other);
    return ends !== undefined && this.#isNext(index) ? ends : undefined;
  }

  #at(index: number): Piece {
    return this.#pieces[index] as Piece;
  }

  #isSmall(index: number): boolean {
    return this.#at(index).text.length <= SMALL_PIECE;
  }

  #maySmallFollow(from: number, index: number): boolean {
    return index - from < MAX_SMALL && this.#isSmall(index) && this.#isRunStart(from);
  }

  #read(index: number): number {
    const known = this.#flags[index] as number;
    if (known !== 0) return known;
    const { text } = this.#at(index);
    let read = READ;
    if (isPart(text)) read |= PART;
    if (isTelling(text)) read |= TELLING;
    this.#flags[index] = read;
    return read;
  }

  /** Whether a piece belongs together with the previous one. */
  #isNext(index: number): boolean {
    const known = this.#read(index);
    if ((known & ASKED) !== 0) return (known & NEXT) !== 0;
    const { group, between } = this.#at(index);
    const isOne = group === this.#at(index - 1).group;
    const isNext = isOne && (between === undefined || isBetween(between));
    this.#flags[index] = known | ASKED | (isNext ? NEXT : 0);
    return isNext;
  }

  #isRunStart(index: number): boolean {
    return index === 0 || !this.#isSmall(index - 1) || !this.#isNext(index);
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
