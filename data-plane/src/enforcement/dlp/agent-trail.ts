/**
 * What DLP remembers of an agent's recent calls, to examine several calls together. Bounded, and
 * only in memory.
 */
import { isWithin } from '@governance/shared/time/durations';

/** Arguments of tools whose pieces are remembered. */
const MAX_CHAINS = 8;
/** Most pieces that are joined into one value. */
const MAX_PIECES = 6;
/** Earlier pieces with which a new one is paired. */
const MAX_PAIRED = 3;
/** Most UTF-16 units of one piece. */
const MAX_PIECE = 64;
/** Pieces older than this are dropped. */
const PIECE_MS = 10 * 60_000;
/**
 * Pieces that a later one completed are dropped so long after that: the call may be repeated, but a
 * completion by chance must not flag every later call that happens to fit.
 */
const COMPLETED_MS = 2 * 60_000;

interface Piece {
  readonly text: string;
  readonly at: number;
}

/** By argument, least recently used first. */
export type Pieces = readonly (readonly [string, Piece[]])[];

/** The joined text of several pieces, and the offset at which the newest begins. */
export interface Joined {
  readonly argument: string;
  readonly text: string;
  readonly boundary: number;
  /** Whether it is two pieces of several: numbers that happen to be valid do not count. */
  readonly isPair?: true;
}

export class AgentTrail {
  /** By argument, least recently used first. */
  readonly #chains = new Map<string, Piece[]>();
  /** When an alert was last raised. */
  #alertedAt: number | undefined;

  /** Whether no alert was raised within the cool-down; notes one as raised now. */
  mayAlert(now: number, coolDownMs: number): boolean {
    const last = this.#alertedAt;
    if (last !== undefined && isWithin(last, coolDownMs, now)) return false;
    this.#alertedAt = now;
    return true;
  }

  /**
   * Joins a new piece of an argument to its earlier ones.
   *
   * @param head the part of the text that may continue earlier pieces
   * @param tail the part that later pieces may continue
   * @returns all earlier pieces joined with the head, and the last of them alone, since those before
   *   it may be of something else; none where the piece repeats the previous one
   */
  join(argument: string, head: string, tail: string, now: number): Joined[] {
    const known = this.#chains.get(argument) ?? [];
    const pieces = known.filter(({ at }) => isWithin(at, PIECE_MS, now));
    const last = pieces.at(-1)?.text ?? '';
    if (pieces.length > 0 && last === tail) return [];
    const before = pieces.map(({ text }) => text).join('');
    const kept = tail === '' ? [] : [...pieces, { text: own(tail), at: now }].slice(-MAX_PIECES);
    touch(this.#chains, argument, kept, MAX_CHAINS);
    if (before === '' || head === '') return [];
    const whole = { argument, text: before + head, boundary: before.length };
    if (pieces.length === 1 || !(isPairable(last) || isPairable(head))) return [whole];
    return [whole, { argument, text: last + head, boundary: last.length, isPair: true }];
  }

  /**
   * Joins a new piece of an argument to each of the last ones, in either order: other pieces may
   * have come between. Words, numbers, hashes and UUIDs are not paired, which keeps nearly all calls
   * from the scan. To be called before `join` remembers the piece.
   */
  pairs(argument: string, piece: string, now: number): Joined[] {
    if (!isPairable(piece)) return [];
    const known = this.#chains.get(argument) ?? [];
    return known
      .slice(-MAX_PAIRED)
      .filter(({ text, at }) => isWithin(at, PIECE_MS, now) && text !== piece && isPairable(text))
      .flatMap(({ text }) => [
        { argument, text: text + piece, boundary: text.length, isPair: true as const },
        { argument, text: piece + text, boundary: piece.length, isPair: true as const },
      ]);
  }

  /** What pieces are remembered now; none is ever changed in place. */
  pieces(): Pieces {
    return [...this.#chains];
  }

  /** Remembers of these arguments what was remembered then, and nothing else. */
  restore(pieces: Pieces, args: ReadonlySet<string>): void {
    for (const argument of args) this.#chains.delete(argument);
    for (const [argument, kept] of pieces) {
      if (args.has(argument)) this.#chains.set(argument, kept);
    }
  }

  /** Restores the pieces of arguments in which a value was completed now, for a shorter time. */
  restoreCompleted(pieces: Pieces, args: ReadonlySet<string>, now: number): void {
    // A later completion lengthens nothing.
    const latest = now - PIECE_MS + COMPLETED_MS;
    const aged = pieces.map(
      ([argument, kept]) =>
        [argument, kept.map(({ text, at }) => ({ text, at: Math.min(at, latest) }))] as const,
    );
    this.restore(aged, args);
  }
}

/** A text with at most this many words is one piece as a whole. */
const MAX_WORDS = 3;
const MAX_SEARCHED = 256;
/** Shorter runs count as words. */
const MIN_TOKEN = 4;
/** Paths and URLs, which differ in each call. */
const PLACE = /^(?:~?\.{0,2}[/\\]|[a-z]+:\/\/|[A-Za-z]:\\)/;

/**
 * The parts of a text that may be pieces of a value: all of a short text, the first and last run of
 * a longer one. Paths, URLs and mere words have none, which is the case in nearly all calls.
 *
 * @returns `head`, which may continue earlier pieces, and `tail`, which later ones may continue
 */
export function piecesOf(text: string): { head: string; tail: string } | null {
  if (PLACE.test(text)) return null;
  if (text.length <= MAX_PIECE && hasFewWords(text)) {
    return mayBePiece(text) ? { head: text, tail: text } : null;
  }
  const [first = ''] = text.slice(0, MAX_PIECE).split(/\s/);
  const last = text.slice(-MAX_PIECE).split(/\s/).at(-1) ?? '';
  const head = mayBePiece(first) ? first : '';
  const tail = mayBePiece(last) ? last : '';
  return head === '' && tail === '' ? null : { head, tail };
}

function hasFewWords(text: string): boolean {
  let at = -1;
  for (let words = 1; words <= MAX_WORDS; words++) {
    at = text.indexOf(' ', at + 1);
    if (at < 0) return true;
  }
  return false;
}

function isMixed(text: string): boolean {
  return /[0-9]/.test(text) && /[A-Za-z]/.test(text);
}

const HASH = /^[0-9a-f-]+$/i;

function isPairable(text: string): boolean {
  return isMixed(text) && !HASH.test(text);
}

function mayBePiece(text: string): boolean {
  return /[0-9A-Z]/.test(text);
}

/**
 * The longest run in a text that may be a piece of a secret: `ODNN7` in `and part two: ODNN7`. It
 * has letters and a digit, or letters of both cases. A bare number does not count.
 */
export function tokenOf(text: string): string {
  if (PLACE.test(text)) return '';
  const searched = text.slice(0, MAX_SEARCHED);
  // Every such run has a digit or a capital letter.
  if (!mayBePiece(searched)) return '';
  let best = '';
  for (const run of searched.split(/[\s"'`,;:()[\]{}<>]/)) {
    const isPiece = isMixed(run) || (/[a-z]/.test(run) && /[A-Z]/.test(run));
    if (isPiece && run.length >= MIN_TOKEN && run.length > best.length) best = run;
  }
  return best.slice(0, MAX_PIECE);
}

/** Sets an entry as the most recently used; above `max` the least recently used is dropped. */
function touch<V>(map: Map<string, V>, key: string, value: V, max: number): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= max) return;
  const { value: oldest } = map.keys().next();
  if (oldest !== undefined) map.delete(oldest);
}

/** A copy, since a slice would keep the whole text in memory. */
function own(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le');
}
