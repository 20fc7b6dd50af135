/** A text made from another by replacing stretches; it remembers where everything came from. */
import type { Stretch } from '../builtin-pattern.ts';

export interface Edit extends Stretch {
  readonly replacement: string;
  /** Names of the disguises that were removed, outermost first. */
  readonly disguise: readonly string[];
  /** Those removed from a place of the replacement on, if they are more. */
  readonly deeper?: { readonly from: number; readonly disguise: readonly string[] };
}

export interface View {
  readonly text: string;
  /** The stretch of the original text for a stretch of this view, and its disguises. */
  readonly origin: (stretch: Stretch) => Stretch & { readonly disguise: readonly string[] };
  /** Where it differs from the original, in its own offsets; absent if it does everywhere. */
  readonly eachChange?: (take: (start: number, end: number) => void) => void;
}

/** @param edits in any order; of overlapping ones, the one that begins first is kept */
export function applyEdits(text: string, edits: readonly Edit[]): View {
  const kept = inRow(edits);
  // A text may have an edit every few characters: one number is remembered for each.
  const viewStarts = new Uint32Array(kept.length);
  const pieces: string[] = [];
  let at = 0;
  let length = 0;
  for (let i = 0; i < kept.length; i++) {
    const { start, end, replacement } = kept[i] as Edit;
    if (start > at) pieces.push(text.slice(at, start));
    pieces.push(replacement);
    length += start - at;
    viewStarts[i] = length;
    length += replacement.length;
    at = end;
  }
  pieces.push(text.slice(at));
  /** The index of the last edit that begins at or before a place; -1 if there is none. */
  const editBefore = (place: number): number => {
    let low = 0;
    let high = viewStarts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((viewStarts[middle] ?? 0) <= place) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  };
  const originOf = (place: number, side: 'start' | 'end'): number => {
    const index = editBefore(place);
    const edit = kept[index];
    if (!edit) return side === 'start' ? place : place + 1;
    const viewEnd = (viewStarts[index] ?? 0) + edit.replacement.length;
    if (place < viewEnd) return side === 'start' ? edit.start : edit.end;
    return edit.end + (place - viewEnd) + (side === 'start' ? 0 : 1);
  };
  const disguiseOf = ({ start, end }: Stretch): readonly string[] => {
    const names: string[] = [];
    const last = editBefore(end - 1);
    // A long stretch may contain thousands of edits, but few names.
    for (let i = Math.max(0, editBefore(start)); i <= last && i < editBefore(start) + 200; i++) {
      const edit = kept[i];
      if (!edit) break;
      const from = viewStarts[i] ?? 0;
      const isInside = from >= start || from + edit.replacement.length > start;
      if (!isInside) continue;
      const { deeper } = edit;
      const disguise = deeper && end > from + deeper.from ? deeper.disguise : edit.disguise;
      for (const name of disguise) if (!names.includes(name)) names.push(name);
    }
    return names.length > 0 ? names : (kept[0]?.disguise ?? []);
  };
  return {
    text: pieces.join(''),
    eachChange(take) {
      kept.forEach(({ replacement }, i) => {
        const start = viewStarts[i] ?? 0;
        take(start, start + replacement.length);
      });
    },
    origin: (stretch) => ({
      start: originOf(stretch.start, 'start'),
      end: originOf(stretch.end - 1, 'end'),
      disguise: disguiseOf(stretch),
    }),
  };
}

/** Edits that do not overlap, in order; usually just the given ones. */
function inRow(edits: readonly Edit[]): readonly Edit[] {
  const isBehind = (edit: Edit, i: number) => i === 0 || edit.start >= (edits[i - 1] as Edit).end;
  if (edits.every(isBehind)) return edits;
  let end = 0;
  return [...edits]
    .sort((a, b) => a.start - b.start || b.end - a.end)
    .filter((edit) => {
      if (edit.start < end) return false;
      end = edit.end;
      return true;
    });
}

/** A view up to this length is read whole. */
const SHORT = 4096;
/** Context on both sides of a change, which may tell what it is. */
const CONTEXT = 600;
/** Between two parts. No pattern crosses it. */
export const PART_END = '\n\u2028\n';

/** The parts of a long view that differ from its original, with their context. */
export function changedParts(view: View): View {
  const { text, eachChange } = view;
  if (!eachChange || text.length <= SHORT) return view;
  const gaps: Edit[] = [];
  let at = 0;
  const skipTo = (end: number): void => {
    if (end - at > PART_END.length) {
      gaps.push({ start: at, end, replacement: PART_END, disguise: [] });
    }
  };
  eachChange((start, end) => {
    skipTo(start - CONTEXT);
    at = Math.max(at, end + CONTEXT);
  });
  skipTo(text.length);
  if (gaps.length === 0) return view;
  const parts = applyEdits(text, gaps);
  return {
    text: parts.text,
    origin: (stretch) => {
      const { start, end } = parts.origin(stretch);
      return view.origin({ start, end });
    },
  };
}

/** The text reversed. */
export function reversedView(text: string): View {
  return {
    text: reversed(text),
    origin: ({ start, end }) => ({
      start: text.length - end,
      end: text.length - start,
      disguise: ['reversed'],
    }),
  };
}

export function reversed(text: string): string {
  // Appending sign by sign, a text of megabytes would be a chain of as many strings.
  const encoding = /[\u0100-\uffff]/.test(text) ? 'utf16le' : 'latin1';
  const bytes = Buffer.from(text, encoding).reverse();
  return (encoding === 'utf16le' ? bytes.swap16() : bytes).toString(encoding);
}

/** A text of the same length, letter by letter. */
export function sameLengthView(text: string, disguise: string): View {
  return { text, origin: ({ start, end }) => ({ start, end, disguise: [disguise] }) };
}
