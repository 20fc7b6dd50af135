/** A text as the model sees it: its passages with the marks of their form, and those in disguise. */

import { createUnitReader } from '../units.ts';
import { conceptNumber } from './concepts.ts';
import { findDisguised } from './disguises.ts';
import { findMarks, type Mark } from './markup.ts';
import { readPassages } from './passages.ts';
import { findTopics, type MarkedPassage } from './scoring.ts';

/** What the text is: a tool's description has other words than its results. */
export type TextKind = 'result' | 'tool_description' | 'prompt' | 'error' | 'question' | 'other';

export interface Examined {
  readonly passages: readonly MarkedPassage[];
  readonly topics: readonly number[];
  /** Where the text stands in the one that was given, if it stands there in disguise. */
  readonly disguise?: { readonly start: number; readonly length: number };
}

/** A disguise within a disguise, and no further. */
const MAX_DEPTH = 2;
const unitsOf = createUnitReader();
const DECODED = conceptNumber('decoded');
const DESCRIPTION = conceptNumber('description');

/** The text itself first, then what stands in it in disguise. */
export function examineText(
  text: string,
  kind: TextKind,
  toolNames: ReadonlySet<string> | undefined,
): Examined[] {
  const examined: Examined[] = [];
  const texts: {
    text: string;
    depth: number;
    disguise?: Examined['disguise'];
    isSecret: boolean;
  }[] = [{ text, depth: 0, isSecret: false }];
  // The list grows while it is read: what was decoded may hold more.
  for (const { text: current, depth, disguise, isSecret } of texts) {
    const units = unitsOf(current);
    const reading = readPassages(current, units, toolNames);
    const marked = addMarks(findMarks(current, units), reading.passages);
    const shown = isSecret
      ? marked.map((passage) => ({ ...passage, concepts: [DECODED, ...passage.concepts] }))
      : marked;
    const topics = findTopics(shown);
    if (kind === 'tool_description') topics.push(DESCRIPTION);
    examined.push({ passages: shown, topics, disguise });
    if (depth === MAX_DEPTH) continue;
    for (const { text: inner, start, length, how } of findDisguised(current, units, reading)) {
      texts.push({
        text: inner,
        depth: depth + 1,
        disguise: disguise ?? { start, length },
        // Escapes are how some formats write any text; the others hide it.
        isSecret: isSecret || how !== 'escapes',
      });
    }
  }
  return examined;
}

/** Passages with what their form shows; a mark that stands in none is a passage of its own. */
function addMarks(marks: Mark[], passages: readonly MarkedPassage[]): readonly MarkedPassage[] {
  if (marks.length === 0) return passages;
  marks.sort((one, other) => one.start - other.start);
  const marked: { start: number; end: number; concepts: number[]; wording: readonly number[] }[] =
    passages.map((passage) => ({
      ...passage,
      concepts: [...passage.concepts],
    }));
  const alone: { start: number; end: number; concepts: number[]; wording: readonly number[] }[] =
    [];
  let first = 0;
  for (const { concept, start, end } of marks) {
    while (first < passages.length && (passages[first] as MarkedPassage).end < start) first += 1;
    let isIn = false;
    for (let at = first; at < marked.length; at += 1) {
      const passage = marked[at] as (typeof marked)[number];
      if (passage.start > end) break;
      isIn = true;
      if (!passage.concepts.includes(concept)) passage.concepts.push(concept);
    }
    if (!isIn) alone.push({ start, end, concepts: [concept], wording: [] });
  }
  if (alone.length === 0) return marked;
  return [...marked, ...alone].sort((one, other) => one.start - other.start);
}
