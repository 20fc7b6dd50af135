import type { Stretch } from './builtin-pattern.ts';
import { eachLiteral, holdsLiterals } from './decode/literals.ts';
import {
  holdsTelling,
  type JoinedPieces,
  joinPieces,
  MAX_END,
  MAX_PIECE,
  MAX_RUN,
  numerousGroups,
  type Piece,
} from './decode/split.ts';
import { changedParts, type View } from './decode/view.ts';
import { decodedView, MAX_DEPTH, turnedViews } from './decode/views.ts';
import {
  type Found,
  type FoundInLeaves,
  toDlpFindings,
  toTextFinding,
  withoutDoubles,
} from './found.ts';
import { type JsonDocument, jsonDocuments, type Leaf, leafAt } from './json-document.ts';
import { createPlainScan, type PlainFinding, type PlainScan } from './plain-scan.ts';
import { redactFound } from './redaction.ts';
import { createScanBudget, type ScanBudget, ScanBudgetError } from './scan-budget.ts';
import {
  type DlpScanner,
  type DlpScannerOptions,
  MAX_FINDINGS,
  type Redaction,
} from './scan-contract.ts';
import { inStretches } from './stretches.ts';
import { cardIssuer } from './validators/payment-card.ts';

/**
 * A scanner for one set of settings, made once and used for every text.
 *
 * @throws PatternSyntaxError for a pattern of the tenant that the engine rejects
 */
export function createDlpScanner(options: DlpScannerOptions = {}): DlpScanner {
  const plain = createPlainScan(options);
  // A tenant's pattern may match anything, even ordinary field names.
  const hasAllKeys = (options.custom?.length ?? 0) > 0;
  const inValue = (value: unknown): FoundInLeaves[] => {
    const documents = jsonDocuments(value, hasAllKeys);
    const [only] = documents;
    if (only === undefined) return [];
    const found =
      documents.length === 1
        ? inDocument(plain, only)
        : documents.flatMap((document) => inDocument(plain, document));
    return found.length > MAX_FINDINGS ? found.slice(0, MAX_FINDINGS) : found;
  };
  return {
    scanText: (text) => inText(plain, text).slice(0, MAX_FINDINGS).map(toTextFinding),
    scanValue: (value) => toDlpFindings(inValue(value)),
    redactValue: (value, keep = () => false) => redact(inValue, value, keep),
    close: () => plain.close(),
  };
}

/** How often the remainder is scanned again: one finding may hide another. */
const MAX_PASSES = 4;

function redact(
  inValue: (value: unknown) => FoundInLeaves[],
  value: unknown,
  keep: (pointer: string, key: string) => boolean,
): Redaction {
  const redacted: FoundInLeaves[] = [];
  const taken = new Map<string, string>();
  let current = value;
  for (let pass = 0; pass < MAX_PASSES; pass++) {
    const pieces = redactFound(current, inValue(current), keep);
    redacted.push(...pieces.replaced);
    for (const one of pieces.replaced) taken.set(textOf(one), one.pattern);
    current = pieces.value;
    if (pieces.replaced.length > 0) continue;
    const failed = pieces.left.length > 0;
    return { value: current, redacted: toDlpFindings(redacted), taken, failed };
  }
  return { value: current, redacted: toDlpFindings(redacted), taken, failed: true };
}

/** For a finding within one leaf. */
function textOf({ start, end, leaves: [leaf] }: FoundInLeaves): string {
  return leaf ? leaf.value.slice(start - leaf.start, end - leaf.start) : '';
}

function inText(plain: PlainScan, text: string): Found[] {
  const whole = inStretches(text, (stretch) => readingsOf(plain, stretch));
  if (whole.length >= MAX_FINDINGS) return withoutDoubles(whole);
  const portions = new Portions(plain, text.length);
  eachLiteral(text, (piece) => portions.take(piece));
  const split = portions.findings().map(({ finding, touched }): Found => {
    const { pattern, severity } = finding;
    return { pattern, severity, ...spanOf(touched), disguise: ['split'] };
  });
  return withoutDoubles([...whole, ...split]);
}

function spanOf(pieces: readonly Piece[]): Stretch {
  const last = pieces.at(-1);
  return { start: pieces[0]?.start ?? 0, end: (last?.start ?? 0) + (last?.text.length ?? 0) };
}

type Origin = View['origin'];

const NO_VIEWS: readonly View[] = [];

interface Reading {
  readonly text: string;
  readonly origin: Origin | undefined;
  readonly depth: number;
  readonly turned: boolean;
}

function readingsOf(plain: PlainScan, text: string): Found[] {
  return readings(plain, text, createScanBudget(text.length));
}

/**
 * Levels of nested disguises that are always undone: a text for which that is impossible is not let
 * through.
 */
const SURE_DEPTH = 2;

/**
 * A text as it stands and its readings, least disguised first: all of them down to `SURE_DEPTH`,
 * deeper ones as the budget allows.
 *
 * @throws ScanBudgetError
 */
function readings(plain: PlainScan, text: string, budget: ScanBudget): Found[] {
  const found: Found[] = [];
  let seen: Set<string> | undefined;
  const queue: Reading[] = [{ text, origin: undefined, depth: 0, turned: false }];
  for (const reading of queue) {
    const { depth, turned, origin } = reading;
    const scanned =
      depth > SURE_DEPTH ? tryScan(plain, reading, budget) : plain.scan(reading.text, budget);
    if (scanned === undefined) break;
    const { findings, gates } = scanned;
    for (const finding of findings) add(found, finding, reading.text, origin, turned);
    // Of too many findings, the caller gets the first ones.
    if (found.length >= MAX_FINDINGS) break;
    if (depth >= MAX_DEPTH) continue;
    const decoded = decodedView(reading.text, gates);
    const turnedOnes = turned || gates.size === 0 ? NO_VIEWS : turnedViews(reading.text, gates);
    if (decoded === undefined && turnedOnes.length === 0) continue;
    const enqueue = (view: View, isTurned: boolean): void => {
      seen ??= new Set([text]);
      if (view.text === '' || seen.has(view.text)) return;
      seen.add(view.text);
      const places = composed(origin, view.origin);
      queue.push({ text: view.text, origin: places, depth: depth + 1, turned: isTurned });
    };
    if (decoded) enqueue(changedParts(decoded), turned);
    for (const view of turnedOnes) enqueue(changedParts(view), true);
  }
  return found;
}

function tryScan(plain: PlainScan, { text }: Reading, budget: ScanBudget) {
  try {
    return plain.scan(text, budget);
  } catch (error) {
    if (error instanceof ScanBudgetError) return undefined;
    throw error;
  }
}

/** Forms that reversed numbers have by chance. */
const NOT_TURNED = new Set(['phone_number', 'national_id']);

/** A number that begins like a card is a mistyped card, not a reversed one. */
function isMistyped(reading: string, { start, end }: Stretch): boolean {
  const digits = reading.slice(start, end).replace(/\D/g, '');
  return cardIssuer([...digits].reverse().join('')) === 'strong';
}

/** Context in which other numbers show that a number is part of a list. */
const LIST = 300;

/** One number in forty passes as a reversed card. */
function isInList(reading: string, { start, end }: Stretch): boolean {
  const near = `${reading.slice(Math.max(0, start - LIST), start)} ${reading.slice(end, end + LIST)}`;
  return (near.match(/\d{12,}/g)?.length ?? 0) > 2;
}

function add(
  found: Found[],
  finding: PlainFinding,
  reading: string,
  origin: Origin | undefined,
  turned: boolean,
): void {
  if (found.length >= MAX_FINDINGS) return;
  if (turned && NOT_TURNED.has(finding.pattern)) return;
  if (turned && finding.pattern === 'payment_card') {
    if (isMistyped(reading, finding) || isInList(reading, finding)) return;
  }
  const { pattern, severity } = finding;
  const place = origin ? origin(finding) : { start: finding.start, end: finding.end, disguise: [] };
  found.push({ pattern, severity, ...place });
}

function composed(outer: Origin | undefined, inner: Origin): Origin {
  if (!outer) return inner;
  return (stretch) => {
    const within = inner(stretch);
    const place = outer(within);
    const disguise = [...new Set([...place.disguise, ...within.disguise])];
    return { start: place.start, end: place.end, disguise };
  };
}

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

/** Numbers that neighbours in a long list form by chance. */
const CARD_FIELD = /card|karte|carte|tarjeta|\bcc|\bpan\b/i;
const BY_CHANCE = new Set(['payment_card', 'us_ssn', 'national_id']);

interface SplitFinding {
  readonly finding: PlainFinding;
  readonly touched: readonly Piece[];
}

/** Pieces that are joined at once: for nearly all texts, all of them. */
const MAX_PIECES = 100_000;

/** Looks for values in consecutive pieces. */
class Portions {
  readonly #plain: PlainScan;
  readonly #budget: ScanBudget;
  readonly #found: SplitFinding[] = [];
  #pieces: Piece[] = [];

  /** @param length of the text that contains the pieces; joined pieces are longer than it */
  constructor(plain: PlainScan, length: number) {
    this.#plain = plain;
    this.#budget = createScanBudget(2 * length);
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
      const { findings } = this.#plain.scan(joined.text, this.#budget);
      for (const one of splitFindings(joined, findings)) {
        const [first] = one.touched;
        if (first && BY_CHANCE.has(one.finding.pattern)) {
          numerous ??= numerousGroups(this.#pieces);
          if (numerous.has(first.group) && !CARD_FIELD.test(first.label)) continue;
        }
        this.#found.push(one);
      }
    });
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
    const isSure = !SPLIT_OPEN.has(finding.pattern) && !WHOLE_PIECES.has(finding.pattern);
    if (!isSure && touched.some(({ isEnd }) => isEnd)) continue;
    const together = touched.reduce((sum, piece) => sum + piece.text.length, 0);
    const isWhole = Math.abs(finding.end - finding.start - together) <= 1;
    if (SPLIT_OPEN.has(finding.pattern) && !(WHOLE_PIECES.has(finding.pattern) && isWhole))
      continue;
    if (WHOLE_PIECES.has(finding.pattern) && !isWhole) continue;
    const isDecimal = touched.some((piece) => /\d\.\d/.test(piece.text));
    if (finding.pattern === 'payment_card' && isDecimal) continue;
    found.push({ finding, touched });
  }
  return found;
}

function inDocument(plain: PlainScan, document: JsonDocument): FoundInLeaves[] {
  const { leaves, text } = document;
  const found: FoundInLeaves[] = [];
  const read = inStretches(text, (stretch) => readingsOf(plain, stretch));
  for (const one of withoutDoubles(read)) {
    const leaf = leafAt(leaves, one.end - 1);
    const first = leafAt(leaves, one.start) ?? leaf;
    if (!leaf || !first) continue;
    // What is found in the words before a value belongs to the value.
    const isInside = one.start < first.start + first.value.length;
    const from = isInside ? first : leaf;
    const touched = leaves.slice(leaves.indexOf(from), leaves.indexOf(leaf) + 1);
    const start = Math.max(one.start, from.start);
    const end = Math.min(one.end, leaf.start + leaf.value.length);
    if (end > start) found.push({ ...one, start, end, leaves: touched });
  }
  if (found.length >= MAX_FINDINGS || !mayMakeRun(leaves)) return found;
  const portions = new Portions(plain, text.length);
  eachPiece(document, (piece) => portions.take(piece));
  for (const { finding, touched } of portions.findings()) {
    const stretch = spanOf(touched);
    const split = [...new Set(touched.map((piece) => leafAt(leaves, piece.start)))].filter(
      (leaf) => leaf !== undefined,
    );
    const isKnown = found.some((one) => one.leaves.some((leaf) => split.includes(leaf)));
    if (isKnown) continue;
    const { pattern, severity } = finding;
    found.push({ pattern, severity, ...stretch, disguise: ['split'], leaves: split });
  }
  return found;
}

/** Whether leaves, or the strings in one, could form a run of pieces that is examined. */
function mayMakeRun(leaves: readonly Leaf[]): boolean {
  return mayBeNeighbours(leaves, false) || mayBeNeighbours(leaves, true);
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

/** Only the ends of a longer text are joined with others. */
function mayBeTelling(text: string): boolean {
  if (text.length <= MAX_PIECE) return holdsTelling(text);
  return holdsTelling(text.slice(0, MAX_END)) || holdsTelling(text.slice(-MAX_END));
}

/** The fields of each object, the items of each array, and the strings in each string. */
function eachPiece({ leaves }: JsonDocument, take: (piece: Piece) => void): void {
  for (const { kind, value, start, parent, key } of leaves) {
    if (kind !== 'key') take({ text: value, start, group: parent, label: key });
  }
  for (const { kind, value, start, parent } of leaves) {
    if (kind === 'key') take({ text: value, start, group: parent, label: '' });
  }
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
