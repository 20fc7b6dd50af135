/** A text as the model sees it: its passages with their marks, and those found in disguises. */

import { createUnitReader } from '../units.ts';
import { conceptNumber } from './concepts.ts';
import { findDisguised, type Unveiled } from './disguises.ts';
import { findMarks, type Mark } from './markup.ts';
import { forgetWording, readPassages } from './passages.ts';
import { findTopics, type MarkedPassage } from './scoring.ts';
import { signsIn } from './signs.ts';
import { NO_WORDING, type Wording } from './wording.ts';

/** What the text is: the words of a tool's description differ from those of its results. */
export type TextKind = 'result' | 'tool_description' | 'prompt' | 'error' | 'question' | 'other';

export interface Examined {
  readonly text: string;
  readonly passages: readonly MarkedPassage[];
  readonly topics: readonly number[];
  /** Where the text stands in the given one, if it was disguised there. */
  readonly disguise?: { readonly start: number; readonly length: number };
  /** Whether it was disguised in a way that nobody needs for an honest text. */
  readonly isVeiled: boolean;
}

/** A disguise within a disguise, but no deeper. */
const MAX_DEPTH = 2;
/** Undone twice they are the same, or the text as it was. */
const IN_ITSELF: ReadonlySet<Unveiled['how']> = new Set(['reversed', 'rot13', 'letters']);
/** Some formats escape any text, and some languages mix alphabets; other disguises hide a text. */
const OF_ANY_TEXT: ReadonlySet<Unveiled['how']> = new Set(['escapes', 'letters']);
const unitsOf = createUnitReader();
const DECODED = conceptNumber('decoded');
const DESCRIPTION = conceptNumber('description');
const NOTHING: readonly Examined[] = [];

/** A text within the given one. */
interface Inner {
  readonly text: string;
  readonly depth: number;
  readonly how: Unveiled['how'];
  readonly disguise: Examined['disguise'];
  readonly isSecret: boolean;
  readonly isVeiled: boolean;
}

const PLAIN = { depth: 0, disguise: undefined, isSecret: false, isVeiled: false };

/**
 * The text itself first, then the disguised texts in it. Texts without any passage are left out.
 */
export function examineText(text: string, kind: TextKind): readonly Examined[] {
  forgetWording();
  const hidden: Inner[] = [];
  const itself = examine(text, kind, undefined, hidden);
  if (itself === undefined && hidden.length === 0) return NOTHING;
  const examined: Examined[] = itself === undefined ? [] : [itself];
  // The list grows during the loop: decoded text may contain more.
  for (const inner of hidden) {
    const one = examine(inner.text, kind, inner, hidden);
    if (one !== undefined) examined.push(one);
  }
  return examined;
}

/** @param hidden receives the disguised texts */
function examine(
  text: string,
  kind: TextKind,
  inner: Inner | undefined,
  hidden: Inner[],
): Examined | undefined {
  const units = unitsOf(text);
  const signs = signsIn(text, units);
  const reading = readPassages(text, units);
  const marked = addMarks(findMarks(text, units, signs), reading.passages);
  const { depth, disguise, isSecret, isVeiled } = inner ?? PLAIN;
  if (depth < MAX_DEPTH) {
    for (const { text: decoded, start, length, how, ...found } of findDisguised(
      text,
      units,
      signs,
      reading,
    )) {
      // Turned twice it is the text as it was.
      if (how === inner?.how && IN_ITSELF.has(how)) continue;
      hidden.push({
        text: decoded,
        depth: depth + 1,
        how,
        disguise: disguise ?? { start, length },
        isSecret: isSecret || found.isVeiled || !OF_ANY_TEXT.has(how),
        isVeiled: isVeiled || found.isVeiled,
      });
    }
  }
  if (marked.length === 0) return undefined;
  const passages = isSecret
    ? marked.map((passage) => ({ ...passage, concepts: [DECODED, ...passage.concepts] }))
    : marked;
  const topics = findTopics(passages);
  const all = kind === 'tool_description' ? [...topics, DESCRIPTION] : topics;
  return { text, passages, topics: all, disguise, isVeiled };
}

/** Passages with their marks; a mark outside every passage becomes a passage of its own. */
function addMarks(marks: Mark[], passages: readonly MarkedPassage[]): readonly MarkedPassage[] {
  if (marks.length === 0) return passages;
  marks.sort((one, other) => one.start - other.start);
  const marked: { start: number; end: number; concepts: number[]; wording: Wording }[] =
    passages.map((passage) => ({
      ...passage,
      concepts: [...passage.concepts],
    }));
  const alone: { start: number; end: number; concepts: number[]; wording: Wording }[] = [];
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
    if (!isIn) alone.push({ start, end, concepts: [concept], wording: NO_WORDING });
  }
  if (alone.length === 0) return marked;
  return [...marked, ...alone].sort((one, other) => one.start - other.start);
}
