/** The readings of a text with its disguises removed. */

import { rot13 } from '../../rot13.ts';
import { createUnitReader } from '../../units.ts';
import { evaluatedCalls } from './calls.ts';
import { foldedCharacters, mayBeEscaped } from './characters.ts';
import { escapes } from './escapes.ts';
import { type Gate, WORDS } from './gates.ts';
import { byteStrings } from './hex.ts';
import { codeLists } from './lists.ts';
import { createInflate } from './readable.ts';
import { regularlySeparated } from './regular.ts';
import { joinedRows } from './rows.ts';
import { encodedRuns } from './runs.ts';
import { separated } from './separators.ts';
import { applyEdits, type Edit, reversedView, sameLengthView, type View } from './view.ts';

const unitsOf = createUnitReader();

/** Disguises within disguises. */
export const MAX_DEPTH = 4;

/** Usually there are none. */
const both = (some: Edit[], others: Edit[]): Edit[] =>
  others.length === 0 ? some : some.concat(others);

/** The text with everything decodable decoded in place; undefined if nothing is. */
export function decodedView(text: string, gates: ReadonlySet<Gate>): View | undefined {
  const inflate = createInflate();
  // Characters first: a run only decodes when it is complete.
  const units = unitsOf(text);
  if (mayBeEscaped(text, units)) {
    const bytes = byteStrings(text, inflate);
    const characters = both(both(escapes(text), foldedCharacters(text, units)), bytes);
    if (characters.length > 0) return applyEdits(text, characters);
  }
  let edits = encodedRuns(text, units, inflate);
  if (gates.has('codes')) edits = both(edits, codeLists(text, inflate));
  if (gates.has('separated')) edits = both(edits, separated(text));
  if (gates.has('calls')) edits = both(edits, evaluatedCalls(text, inflate));
  if (gates.has('rows')) edits = both(edits, joinedRows(text));
  const all = withRegular(edits, regularlySeparated(text, units));
  return all.length > 0 ? applyEdits(text, all) : undefined;
}

/** Signs at regular places may be a meaningful list, and parts of them something else. */
function withRegular(edits: readonly Edit[], regular: readonly Edit[]): readonly Edit[] {
  if (regular.length === 0) return edits;
  const byStart = [...edits].sort((a, b) => a.start - b.start);
  const left: Edit[] = [];
  let next = 0;
  for (const one of regular) {
    while (next < byStart.length && (byStart[next]?.end ?? 0) <= one.start) {
      left.push(byStart[next++] as Edit);
    }
    const inside: Edit[] = [];
    while (next < byStart.length && (byStart[next]?.start ?? 0) < one.end) {
      inside.push(byStart[next++] as Edit);
    }
    const longest = Math.max(0, ...inside.map(({ start, end }) => end - start));
    if (longest * 10 >= (one.end - one.start) * 7) left.push(...inside);
    else left.push(one);
  }
  return [...left, ...byStart.slice(next)];
}

/** Readings of a text that is transformed as a whole. */
export function turnedViews(text: string, gates: ReadonlySet<Gate>): View[] {
  const views: View[] = [];
  if (gates.has('reversed')) views.push(reversedView(text), reversedWords(text));
  if (gates.has('rot13')) views.push(sameLengthView(rot13(text), 'rot13'));
  if (gates.has('reversed rot13')) {
    const { text: turned, origin } = reversedView(rot13(text));
    const disguise = ['reversed', 'rot13'];
    views.push({ text: turned, origin: (stretch) => ({ ...origin(stretch), disguise }) });
  }
  return views;
}

const turned = (words: readonly string[]): string =>
  words.map((word) => [...word].reverse().join('')).join('|');
const LABEL = new RegExp(`^(?:${turned(WORDS)}|yek[_ -]?ipa)$`, 'iu');

/** Labels and words with digits reversed in place: either of them may be disguised alone. */
function reversedWords(text: string): View {
  const edits: Edit[] = [];
  for (const match of text.matchAll(/yek[_ -]?ipa|\p{L}{3,40}/giu)) {
    if (!LABEL.test(match[0])) continue;
    const end = match.index + match[0].length;
    const replacement = [...match[0]].reverse().join('');
    edits.push({ start: match.index, end, replacement, disguise: ['reversed'] });
  }
  for (const match of text.matchAll(/[^\s"'<>(){}[\]]{5,300}/g)) {
    const word = match[0].replace(/[.,;:!?]+$/, '');
    if (!/\d/.test(word)) continue;
    const colon = Math.max(word.lastIndexOf(':'), word.lastIndexOf('=')) + 1;
    const start = match.index + colon;
    const replacement = [...word.slice(colon)].reverse().join('');
    edits.push({ start, end: match.index + word.length, replacement, disguise: ['reversed'] });
  }
  return applyEdits(text, edits);
}
