/** A text as it stands and with its disguises removed. */
import type { Severity } from '../../ledger/ledger-record.ts';
import type { Stretch } from './builtin-pattern.ts';
import { joinedPartsView } from './decode/parts.ts';
import { changedParts, type View } from './decode/view.ts';
import { decodedView, MAX_DEPTH, turnedViews } from './decode/views.ts';
import type { Found } from './found.ts';
import { isInUuid } from './judges.ts';
import { isSealed } from './patterns/references.ts';
import type { PlainFinding, PlainScan } from './plain-scan.ts';
import { createScanBudget, type ScanBudget, ScanBudgetError } from './scan-budget.ts';
import { cardIssuer } from './validators/payment-card.ts';

type Origin = View['origin'];

const NO_VIEWS: readonly View[] = [];

/** Where findings go. */
export interface Taker {
  /** Whether findings of a severity are no longer taken. */
  isFull(severity: Severity): boolean;
  take(found: Found): void;
}

interface Reading {
  readonly text: string;
  readonly origin: Origin | undefined;
  readonly depth: number;
  readonly turned: boolean;
}

/**
 * Levels of nested disguises that are always undone: a text for which that is impossible is not let
 * through.
 */
const SURE_DEPTH = 2;

/**
 * Finds in a text as it stands and in its readings, least disguised first: all of them down to
 * `SURE_DEPTH`, deeper ones as the budget allows.
 *
 * @throws ScanBudgetError
 */
export function findInReadings(plain: PlainScan, text: string, taker: Taker): void {
  const budget = createScanBudget(text.length);
  let seen: Set<string> | undefined;
  const queue: Reading[] = [{ text, origin: undefined, depth: 0, turned: false }];
  for (const reading of queue) {
    const { depth, turned, origin } = reading;
    const scanned = scanReading(plain, reading, budget, taker);
    if (scanned === undefined) break;
    const { findings, gates } = scanned;
    for (const finding of findings) {
      if (taker.isFull(finding.severity) || isByChance(finding, reading)) continue;
      const { pattern, severity, start, end } = finding;
      const place = origin ? origin(finding) : { start, end, disguise: [] };
      if (OF_DIGITS.has(pattern) && isTableRow(text, place)) continue;
      if (severity !== 'critical' && isRowOfNumbers(text, place)) continue;
      // Without its separators, or backwards, it is not recognised as one.
      if (pattern === 'record_number' && origin && isInUuid(text, place)) continue;
      // Some bytes of a ciphertext are letters.
      if (pattern === 'secret_assignment' && origin && isSealed(text, place)) continue;
      const isRot13 = pattern === 'secret_assignment' && place.disguise.includes('rot13');
      if (isRot13 && isShortLabel(reading.text, finding)) continue;
      if (pattern === 'secret_assignment' && turned && isCode(text, place, reading, finding))
        continue;
      taker.take({ pattern, severity, ...place });
    }
    if (depth >= MAX_DEPTH) continue;
    const decoded = decodedView(reading.text, gates);
    const turnedOnes = turned || gates.size === 0 ? NO_VIEWS : turnedViews(reading.text, gates);
    const joined = gates.has('parts') ? joinedPartsView(reading.text) : undefined;
    if (decoded === undefined && joined === undefined && turnedOnes.length === 0) continue;
    const enqueue = (view: View, isTurned: boolean): void => {
      seen ??= new Set([text]);
      if (view.text === '' || seen.has(view.text)) return;
      seen.add(view.text);
      const places = composed(origin, view.origin);
      queue.push({ text: view.text, origin: places, depth: depth + 1, turned: isTurned });
    };
    if (decoded) enqueue(changedParts(decoded), turned);
    if (joined) enqueue(changedParts(joined), turned);
    for (const view of turnedOnes) enqueue(changedParts(view), true);
  }
}

/** @returns undefined for a deeper reading that the budget does not allow */
function scanReading(
  plain: PlainScan,
  { text, depth }: Reading,
  budget: ScanBudget,
  { isFull }: Taker,
) {
  try {
    return plain.scan(text, budget, isFull);
  } catch (error) {
    if (depth > SURE_DEPTH && error instanceof ScanBudgetError) return undefined;
    throw error;
  }
}

/** Forms that reversed numbers have by chance. */

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

const OTHER =
  '(?:id|no|nr|number|batch|ref|reference|serial|sku|ean|gtin|isbn|points|tracking|invoice|order|time|timestamp|ts|nanos|micros)';
const reversed = (words: string): string => [...words].reverse().join('');
const OTHER_BEFORE = new RegExp(`${OTHER}["'\\\\]{0,3} ?[:=#] ?["'\\\\]{0,3}$`, 'i');
const OTHER_BEHIND = new RegExp(
  `^["'\\\\]{0,3} ?[:=#] ?["'\\\\]{0,3}(?:${OTHER.slice(3, -1).split('|').map(reversed).join('|')})`,
  'i',
);
const OF_A_CARD = /card|karte|pan\b|tarjeta|drac|etrak|\bnap|atejrat/i;

/** `"orderId": "…"`: what is labelled as some other number is no reversed card. */
function isLabelledOtherwise(reading: string, { start, end }: Stretch): boolean {
  const before = reading.slice(Math.max(0, start - 32), start);
  const behind = reading.slice(end, end + 32);
  if (OF_A_CARD.test(before) || OF_A_CARD.test(behind)) return false;
  return OTHER_BEFORE.test(before) || OTHER_BEHIND.test(behind);
}

/** Turned around, or in rot13, the form of an address is still one. */
const TOP_LEVEL =
  /\.(?:com|org|net|edu|gov|mil|info|biz|io|ai|app|dev|co|me|eu|uk|de|fr|es|it|nl|be|at|ch|pl|pt|br|mx|ar|us|ca|au|nz|in|jp|cn|kr|tw|ru|ua|se|no|dk|fi|cz|ie|za|gr|hu|ro|tr|il|sg|hk|lu|bg|hr|sk|si|lt|lv|ee|xyz|tech|online|cloud|shop|site|store)$/i;

/** Whether what a turned reading holds is a number or an address by coincidence. */
function isByChance(finding: PlainFinding, { text, turned }: Reading): boolean {
  if (!turned) return false;
  const { pattern, start, end } = finding;
  if (pattern === 'email_address') return !TOP_LEVEL.test(text.slice(start, end));
  return (
    pattern === 'payment_card' &&
    (isMistyped(text, finding) || isInList(text, finding) || isLabelledOtherwise(text, finding))
  );
}

const SHORT_LABEL = /(?:^|[^A-Za-z])[A-Za-z]{1,3}["']?[ \t]{0,4}[:=#][ \t]{0,4}["']?$/;

/** A number is the same in rot13, and any three letters are three others: `BGC: 4711`. */
function isShortLabel(reading: string, { start, end }: Stretch): boolean {
  if (/\p{L}/u.test(reading.slice(start, Math.min(end, start + LIST)))) return false;
  return SHORT_LABEL.test(reading.slice(Math.max(0, start - 16), start));
}

const PW = /(?:^|[^A-Za-z])pw["'`]?[ \t:=]{1,3}["'`]?$/i;
const CODE = /[({;]|^[A-Za-z]*[a-z][A-Z][A-Za-z]*$/;
const LETTERS = /^[A-Za-z]+$/;
const IS_CASE = /^["'`]:wp\.[a-z]\w*\(/i;

/**
 * `hostContext:Wp.describe(`, case`drop`:wp.delete(`: two letters of minified code, which are `pw`
 * backwards.
 */
function isCode(text: string, place: Stretch, reading: Reading, { start }: Stretch): boolean {
  if (!PW.test(reading.text.slice(Math.max(0, start - 8), start))) return false;
  const value = text.slice(place.start, Math.min(place.end, place.start + LIST));
  if (CODE.test(value)) return true;
  return LETTERS.test(value) && IS_CASE.test(text.slice(place.end, place.end + 48));
}

/** What the numbers of a row may be by chance when they are joined. */
const OF_DIGITS: ReadonlySet<string> = new Set(['payment_card', 'national_id', 'bank_account']);
const DECIMAL_CELL = /(?:^|[|,;])[ \t]*\d+\.\d+[ \t]*(?:[|,;]|$)/;

/** Whether a number in groups is a row of numbers, one of which has decimals. */
function isTableRow(text: string, place: Stretch & { disguise: readonly string[] }): boolean {
  const { start, end, disguise } = place;
  return disguise.includes('separators') && DECIMAL_CELL.test(text.slice(start, end));
}

/** Whether numbers in a row, joined, happen to be hex of a short number with a label. */
function isRowOfNumbers(text: string, place: Stretch & { disguise: readonly string[] }): boolean {
  const { start, end, disguise } = place;
  if (!disguise.includes('separators') || !disguise.includes('hex')) return false;
  return /^[\d\s|;,.]+$/.test(text.slice(start, end));
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
