/** Values in several pieces: neighbouring leaves of a document, strings in a text. */
import type { Severity } from '../../ledger/ledger-record.ts';
import type { Stretch } from './builtin-pattern.ts';
import { eachLiteral, holdsLiterals } from './decode/literals.ts';
import type { Piece } from './decode/piece.ts';
import {
  holdsTelling,
  type JoinedPieces,
  joinPieces,
  MAX_END,
  MAX_PIECE,
  MAX_RUN,
  numerousGroups,
} from './decode/split.ts';
import { changedParts } from './decode/view.ts';
import { decodedView } from './decode/views.ts';
import type { JsonDocument, Leaf } from './json-document.ts';
import type { PlainFinding, PlainScan, PlainScanned } from './plain-scan.ts';
import { createScanBudget, type ScanBudget, ScanBudgetError } from './scan-budget.ts';

/** What code writes between two strings that it joins: then even an open pattern is certain. */
const CONCATENATES = /^\s{0,40}(?:\+|\.{1,2}|\|\||&|<>)\s{0,40}$/;
/** Patterns too open to be certain in a value that is split into pieces. */
const SPLIT_OPEN = new Set([
  'email_address',
  'phone_number',
  'secret_assignment',
  'national_id',
  'record_number',
  'identity_document',
  'bank_account',
  'date_of_birth',
  'us_ssn',
  'uk_nino',
]);
/** Patterns that count when they are a whole run of pieces, and only then. */
const WHOLE_PIECES = new Set([
  'payment_card',
  'us_ssn',
  'uk_nino',
  'iban',
  'national_id',
  'email_address',
]);

/** An address by itself: of a function or an example, or it would be a finding without the rest. */
const ADDRESS = /^[^\s@]{1,64}@[^\s@.]{1,63}\.[^\s@]{2,190}$/;

/** Characters of the parts of a value that do not belong to it. */
const MAX_AROUND = 2;

/** Characters of a password that are no list, and groups of a telephone number. */
const MIN_CHARACTERS = 6;
const MAX_GROUPS = 7;

/** Numbers that neighbours in a long list form by chance. */
const CARD_FIELD = /card|karte|carte|tarjeta|\bcc|\bpan\b/i;
const BY_CHANCE = new Set(['payment_card', 'us_ssn', 'national_id']);

export interface SplitFinding {
  readonly finding: PlainFinding;
  readonly touched: readonly Piece[];
}

/** Pieces that are joined at once: for nearly all texts, all of them. */
const MAX_PIECES = 100_000;

/** A long run, an escape, or a character of another alphabet: joined names and numbers have none. */
const MAY_BE_ENCODED = /[A-Za-z0-9+/_-]{16}|[%&\\]|[\u0080-\u2027\u2029-\uffff]/;
/** Disguises within disguises that are undone in joined pieces. */
const DEPTH_OF_SPLIT = 2;

/** Looks for values in consecutive pieces. */
export class Portions {
  readonly #plain: PlainScan;
  readonly #budget: ScanBudget;
  readonly #budgetOfDecoded: ScanBudget;
  readonly #isFull: (severity: Severity) => boolean;
  readonly #found: SplitFinding[] = [];
  #pieces: Piece[] = [];

  /**
   * @param length of the text that contains the pieces; joined pieces are longer than it
   * @param isFull whether findings of a severity are no longer wanted
   */
  constructor(plain: PlainScan, length: number, isFull: (severity: Severity) => boolean) {
    this.#plain = plain;
    this.#isFull = isFull;
    this.#budget = createScanBudget(2 * length);
    this.#budgetOfDecoded = createScanBudget(2 * length);
  }

  take(piece: Piece): void {
    this.#pieces.push(piece);
    if (this.#pieces.length < MAX_PIECES) return;
    this.#read();
    // The last ones may belong together with the next.
    this.#pieces = this.#pieces.slice(-MAX_RUN);
  }

  findings(): readonly SplitFinding[] {
    this.#read();
    return this.#found;
  }

  #read(): void {
    if (this.#pieces.length < 2) return;
    let numerous: ReadonlySet<number> | undefined;
    joinPieces(this.#pieces, (joined) => {
      for (const one of splitFindings(joined, this.#findIn(joined.text))) {
        const [first] = one.touched;
        if (first && BY_CHANCE.has(one.finding.pattern)) {
          numerous ??= numerousGroups(this.#pieces);
          if (numerous.has(first.group) && !CARD_FIELD.test(first.label)) continue;
        }
        this.#found.push(one);
      }
    });
  }

  /** Findings in joined pieces, also where the whole of them was encoded before it was split. */
  #findIn(joined: string): readonly PlainFinding[] {
    const { findings, gates } = this.#plain.scan(joined, this.#budget, this.#isFull);
    const all = [...findings];
    let decoded = MAY_BE_ENCODED.test(joined) ? decodedView(joined, gates) : undefined;
    for (let depth = 0; decoded !== undefined && depth < DEPTH_OF_SPLIT; depth++) {
      const view = changedParts(decoded);
      const scanned = this.#tryScan(view.text);
      if (scanned === undefined) break;
      for (const finding of scanned.findings) all.push({ ...finding, ...view.origin(finding) });
      const within = decodedView(view.text, scanned.gates);
      decoded = within && { ...within, origin: (stretch) => view.origin(within.origin(stretch)) };
    }
    return all;
  }

  /** @returns undefined when the budget of what is decoded is exhausted */
  #tryScan(text: string): PlainScanned | undefined {
    try {
      return this.#plain.scan(text, this.#budgetOfDecoded, this.#isFull);
    } catch (error) {
      if (error instanceof ScanBudgetError) return undefined;
      throw error;
    }
  }
}

function splitFindings(
  joined: JoinedPieces,
  findings: readonly PlainFinding[],
): readonly SplitFinding[] {
  const found: SplitFinding[] = [];
  for (const finding of findings) {
    const touched = joined.piecesAt(finding);
    if (!touched) continue;
    if (!isConcatenated(touched) && !isWhole(finding, touched) && !isCertain(finding, touched)) {
      continue;
    }
    const isDecimal = touched.some((piece) => /\d\.\d/.test(piece.text));
    if (finding.pattern === 'payment_card' && isDecimal) continue;
    found.push({ finding, touched });
  }
  return found;
}

/** Whether it is all of a value whose parts are declared. */
function isWhole({ start, end }: PlainFinding, touched: readonly Piece[]): boolean {
  const together = touched.reduce((sum, piece) => sum + piece.text.length, 0);
  return touched.every(({ isDeclared }) => isDeclared) && end - start >= together - MAX_AROUND;
}

function isConcatenated(touched: readonly Piece[]): boolean {
  return touched.slice(1).every(({ between = '' }) => CONCATENATES.test(between));
}

/** Whether neighbours that nothing joins hold the value nevertheless. */
function isCertain({ pattern, start, end }: PlainFinding, touched: readonly Piece[]): boolean {
  if (!SPLIT_OPEN.has(pattern) && !WHOLE_PIECES.has(pattern)) return true;
  // Country, length and two check digits: no two neighbours have them by chance.
  if (pattern === 'iban' && touched.length === 2) return true;
  if (touched.some(({ isEnd }) => isEnd)) return false;
  if (pattern === 'email_address' && touched.some(({ text }) => ADDRESS.test(text))) return false;
  const together = touched.reduce((sum, piece) => sum + piece.text.length, 0);
  if (Math.abs(end - start - together) > 1) return false;
  if (WHOLE_PIECES.has(pattern)) return true;
  return touched[0]?.label ? isInArray(pattern, touched) : false;
}

/** Single characters of a password, or a telephone number in groups, under the label of an array. */
function isInArray(pattern: string, touched: readonly Piece[]): boolean {
  if (pattern === 'secret_assignment') {
    return touched.length >= MIN_CHARACTERS && touched.every(({ text }) => text.length === 1);
  }
  if (pattern !== 'phone_number' || touched.length > MAX_GROUPS) return false;
  return touched.every(({ text }, i) => (i === 0 ? /^(?:\+|0)\d/ : /^\d{1,5}$/).test(text));
}

export function spanOf(pieces: readonly Piece[]): Stretch {
  const last = pieces.at(-1);
  return { start: pieces[0]?.start ?? 0, end: (last?.start ?? 0) + (last?.text.length ?? 0) };
}

/** Whether leaves, or the strings in one, could form a run of pieces that is examined. */
export function mayMakeRun(leaves: readonly Leaf[]): boolean {
  return mayBeNeighbours(leaves, false) || mayBeNeighbours(leaves, true) || mayBeListed(leaves);
}

/** Whether one object or array has two leaves in a row, of which one could be telling. */
function mayBeNeighbours(leaves: readonly Leaf[], areKeys: boolean): boolean {
  let parent: number | undefined;
  let count = 0;
  let isTelling = false;
  for (const leaf of leaves) {
    if ((leaf.kind === 'key') !== areKeys) continue;
    if (leaf.kind === 'string' && holdsLiterals(leaf.value)) return true;
    if (leaf.parent !== parent) [parent, count, isTelling] = [leaf.parent, 0, false];
    count++;
    isTelling ||= mayBeTelling(leaf.value);
    if (isTelling && count > 1) return true;
  }
  return false;
}

/** Whether two items of one array have a text, of which one could be telling. */
function mayBeListed(leaves: readonly Leaf[]): boolean {
  let list = 0;
  let count = 0;
  let isTelling = false;
  for (const leaf of leaves) {
    if (leaf.list === 0) continue;
    if (leaf.list !== list) [list, count, isTelling] = [leaf.list, 0, false];
    count++;
    isTelling ||= mayBeTelling(leaf.value);
    if (isTelling && count > 1) return true;
  }
  return false;
}

/** Only the ends of a longer text are joined with others. */
function mayBeTelling(text: string): boolean {
  if (text.length <= MAX_PIECE) return holdsTelling(text);
  return holdsTelling(text.slice(0, MAX_END)) || holdsTelling(text.slice(-MAX_END));
}

/**
 * The fields of each object, the items of each array, the texts of an array's items, and the strings
 * in each string.
 */
export function eachPiece({ leaves }: JsonDocument, take: (piece: Piece) => void): void {
  for (const { kind, value, start, parent, key, outer } of leaves) {
    if (kind !== 'key') take({ text: value, start, group: parent, label: key, outer });
  }
  for (const { kind, value, start, parent } of leaves) {
    if (kind === 'key') take({ text: value, start, group: parent, label: '' });
  }
  for (const piece of listedPieces(leaves)) take(piece);
  let groups = leaves.length;
  for (const leaf of leaves) {
    if (leaf.kind !== 'string' || !holdsLiterals(leaf.value)) continue;
    let last = 0;
    eachLiteral(leaf.value, (piece) => {
      last = piece.group + 1;
      take({ ...piece, start: leaf.start + piece.start, group: groups + last });
    });
    groups += last + 1;
  }
}

/** The texts of each array's items, by their member: `[{"text": …}, {"text": …}]`. */
function* listedPieces(leaves: readonly Leaf[]): Iterable<Piece> {
  const columns = new Map<string, Piece[]>();
  for (const { list, key, value, start } of leaves) {
    if (list === 0) continue;
    const name = `${list} ${key}`;
    const column = columns.get(name) ?? [];
    columns.set(name, column);
    // No other group has such a number.
    const group = column[0]?.group ?? 0.5 - columns.size;
    column.push({ text: value, start, group, label: '' });
  }
  for (const column of columns.values()) {
    if (column.length > 1) yield* column;
  }
}
