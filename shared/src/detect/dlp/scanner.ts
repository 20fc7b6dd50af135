import { rankOf } from '../gravest.ts';
import { eachLiteral } from './decode/literals.ts';
import {
  type Found,
  type FoundInLeaves,
  FoundList,
  toDlpFindings,
  toTextFinding,
  withoutDoubles,
} from './found.ts';
import { type JsonDocument, jsonDocuments, type Leaf, leafAt } from './json-document.ts';
import { createPlainScan, type PlainScan } from './plain-scan.ts';
import { findInReadings } from './readings.ts';
import { redactFound } from './redaction.ts';
import {
  type DlpScanner,
  type DlpScannerOptions,
  MAX_FINDINGS,
  type Redaction,
} from './scan-contract.ts';
import { eachPiece, mayMakeRun, Portions, spanOf } from './split-scan.ts';
import { inStretches } from './stretches.ts';

/**
 * A scanner for one set of settings, made once and used for every text.
 *
 * @throws PatternSyntaxError for a pattern of the tenant that the engine rejects
 */
export function createDlpScanner(options: DlpScannerOptions = {}): DlpScanner {
  const plain = createPlainScan(options);
  // A tenant's pattern may match anything, even ordinary field names.
  const hasAllKeys = (options.custom?.length ?? 0) > 0;
  const inValue = (value: unknown): readonly FoundInLeaves[] => {
    const list = new FoundList<FoundInLeaves>();
    for (const document of jsonDocuments(value, hasAllKeys)) {
      for (const one of inDocument(plain, document)) list.add(one);
    }
    return list.all;
  };
  return {
    scanText: (text) => inText(plain, text).map(toTextFinding),
    scanValue: (value) => toDlpFindings(inValue(value)),
    redactValue: (value, keep = () => false) => redact(inValue, value, keep),
    close: () => plain.close(),
  };
}

/** How often the remainder is scanned again: one finding may hide another. */
const MAX_PASSES = 4;

function redact(
  inValue: (value: unknown) => readonly FoundInLeaves[],
  value: unknown,
  keep: (pointer: string, key: string) => boolean,
): Redaction {
  const redacted: FoundInLeaves[] = [];
  const taken = new Map<string, string>();
  let left: readonly FoundInLeaves[] = [];
  let current = value;
  let isDone = false;
  for (let pass = 0; pass < MAX_PASSES && !isDone; pass++) {
    const pieces = redactFound(current, inValue(current), keep);
    redacted.push(...pieces.replaced);
    addTexts(pieces.replaced, taken);
    current = pieces.value;
    left = pieces.left;
    isDone = pieces.replaced.length === 0;
  }
  const remaining = new Map<string, string>();
  addTexts(left, remaining);
  return {
    value: current,
    redacted: toDlpFindings(redacted),
    taken,
    left: remaining,
    failed: !isDone || left.length > 0,
    isCut: !isDone || left.length >= MAX_FINDINGS,
  };
}

/** Adds the texts that findings cover; of a split value its parts, without the keys between. */
function addTexts(found: readonly FoundInLeaves[], texts: Map<string, string>): void {
  for (const { start, end, leaves, pattern } of found) {
    for (const leaf of leaves) {
      if (leaf.kind === 'key' && leaves.length > 1) continue;
      texts.set(leaf.value.slice(Math.max(0, start - leaf.start), end - leaf.start), pattern);
    }
  }
}

function inText(plain: PlainScan, text: string): readonly Found[] {
  const list = new FoundList();
  inStretches(text, (stretch, at) => {
    findInReadings(plain, stretch, {
      isFull: list.isFull,
      take: (one) => list.add({ ...one, start: one.start + at, end: one.end + at }),
    });
  });
  const portions = new Portions(plain, text.length, list.isFull);
  eachLiteral(text, (piece) => portions.take(piece));
  for (const { finding, touched } of portions.findings()) {
    const { pattern, severity } = finding;
    list.add({ pattern, severity, ...spanOf(touched), disguise: ['split'] });
  }
  return withoutDoubles(list.all);
}

function inDocument(plain: PlainScan, document: JsonDocument): readonly FoundInLeaves[] {
  const { leaves, text } = document;
  const list = new FoundList<FoundInLeaves>();
  inStretches(text, (stretch, at) => {
    findInReadings(plain, stretch, {
      isFull: list.isFull,
      take(one) {
        const placed = inLeaves({ ...one, start: one.start + at, end: one.end + at }, leaves);
        if (placed) list.add(placed);
      },
    });
  });
  const whole = withoutDoubles(list.all);
  if (!mayMakeRun(leaves)) return whole;
  return [...whole, ...splitIn(document, new Portions(plain, text.length, list.isFull), whole)];
}

/** The finding in the values that it touches; undefined for one in field names only. */
function inLeaves(one: Found, leaves: readonly Leaf[]): FoundInLeaves | undefined {
  const leaf = leafAt(leaves, one.end - 1);
  const first = leafAt(leaves, one.start) ?? leaf;
  if (!leaf || !first) return undefined;
  // What is found in the words before a value belongs to the value.
  const isInside = one.start < first.start + first.value.length;
  const from = isInside ? first : leaf;
  const start = Math.max(one.start, from.start);
  const end = Math.min(one.end, leaf.start + leaf.value.length);
  if (end <= start) return undefined;
  const touched =
    from === leaf ? [leaf] : leaves.slice(leaves.indexOf(from), leaves.indexOf(leaf) + 1);
  return { ...one, start, end, leaves: touched };
}

/** Values in several leaves, unless one of these holds a finding at least as severe. */
function splitIn(
  document: JsonDocument,
  portions: Portions,
  whole: readonly FoundInLeaves[],
): readonly FoundInLeaves[] {
  const { leaves } = document;
  const list = new FoundList<FoundInLeaves>();
  const known = new Map<Leaf, number>();
  const note = (one: FoundInLeaves): void => {
    for (const leaf of one.leaves) known.set(leaf, Math.max(rankOf(one), known.get(leaf) ?? 0));
  };
  whole.forEach(note);
  eachPiece(document, (piece) => portions.take(piece));
  for (const { finding, touched } of portions.findings()) {
    const split = [...new Set(touched.map((piece) => leafAt(leaves, piece.start)))].filter(
      (leaf) => leaf !== undefined,
    );
    if (split.some((leaf) => (known.get(leaf) ?? -1) >= rankOf(finding))) continue;
    const { pattern, severity } = finding;
    const one = { pattern, severity, ...spanOf(touched), disguise: ['split'], leaves: split };
    list.add(one);
    note(one);
  }
  return list.all;
}
