/** Training texts as the model sees them: passages, each with its features. */
import type { InboundClass } from '@governance/shared/detect/findings';
import { strictness } from '@governance/shared/detect/inbound/calibration';
import { classFeatures } from '@governance/shared/detect/inbound/class-model';
import { conceptNumber } from '@governance/shared/detect/inbound/concepts';
import { eachContext } from '@governance/shared/detect/inbound/context';
import { type Examined, examineText } from '@governance/shared/detect/inbound/examine';
import { eachPiece } from '@governance/shared/detect/inbound/pieces';
import {
  FEATURE_COUNT,
  featuresOf,
  isScored,
  type MarkedPassage,
} from '@governance/shared/detect/inbound/scoring';
import { conceptsOf, signsOf } from '@governance/shared/detect/inbound/sequence';
import { ROWS_OF_TOKEN, readTokens, tokens } from '@governance/shared/detect/inbound/tokens';
import type { WordGroups } from '@governance/shared/detect/inbound/word-groups';
import { eachWording } from '@governance/shared/detect/inbound/wording';
import type { Sequence } from './sequence-net.ts';
import type { Span, TrainingText } from './training-text.ts';

const DECODED = conceptNumber('decoded');

export interface Passage {
  /** Concepts, then hashed features, which start at `FEATURE_COUNT`. */
  readonly features: Int32Array;
  /** By how much the weight of each counts. */
  readonly values: Float32Array;
  /** How many are concepts. */
  readonly concepts: number;
  readonly isAttack: boolean;
  /** What the detector subtracts from its score; training does not. */
  readonly strictness: number;
  readonly sequence: Sequence;
  /** Features for the class, of attacks only; empty for decoded passages. */
  readonly classed: readonly number[];
}

/** A text's passages that could contain a request. */
export interface Bag {
  readonly passages: readonly Passage[];
  readonly class: InboundClass | undefined;
  readonly isAttack: boolean;
}

/** The texts that have any such passage. */
export function toBags(texts: readonly TrainingText[], groups: WordGroups): Bag[] {
  return texts.map((text) => toBag(text, groups)).filter(({ passages }) => passages.length > 0);
}

export function toBag(training: TrainingText, groups: WordGroups): Bag {
  const { text, kind, class: name, attack, spans, isDescription } = training;
  const isAttack = kind === 'attack';
  const place = attack === undefined ? undefined : placeOf(attack, text);
  const examined = examineText(text, isDescription ? 'tool_description' : 'result');
  const passages = examined.flatMap((one) => {
    const ofText = conceptsOf(one.passages);
    return one.passages.flatMap((passage, index): Passage[] => {
      if (!isScored(passage)) return [];
      // An ordinary sentence beside an attack is not one, however suspicious it looks.
      if (place !== undefined && (passage.start >= place.end || passage.end <= place.start)) {
        return [];
      }
      const part = spans === undefined ? undefined : partWithin(spans, one.disguise, passage);
      // Less than half of it is an attack: it teaches neither.
      if (part === 'some') return [];
      return [toPassage(one, index, groups, ofText, isAttack && part !== 'none')];
    });
  });
  return { passages, class: name, isAttack };
}

/** How much of a passage belongs to an attack, or how much of an attack to the passage. */
export function partWithin(
  spans: readonly Span[],
  disguise: Examined['disguise'],
  passage: MarkedPassage,
): 'all' | 'some' | 'none' {
  const start = disguise?.start ?? passage.start;
  const end = disguise === undefined ? passage.end : disguise.start + disguise.length;
  let within = 0;
  let isMost = false;
  for (const span of spans) {
    const shared = Math.max(0, Math.min(end, span.end) - Math.max(start, span.start));
    within += shared;
    if (shared * 2 >= span.end - span.start) isMost = true;
  }
  if (isMost || within * 2 >= end - start) return 'all';
  return within > 0 ? 'some' : 'none';
}

/** Locates an attack in its text by its longest part that no carrier rewrites. */
function placeOf(attack: string, text: string): Span | undefined {
  const parts = attack.split(/["\n\\]/);
  const part = parts.reduce((longest, one) => (one.length > longest.length ? one : longest), '');
  const at = text.indexOf(part);
  if (at < 0) return undefined;
  const start = Math.max(0, at - attack.indexOf(part));
  return { start, end: start + attack.length };
}

function toPassage(
  { text, passages, topics }: Examined,
  index: number,
  groups: WordGroups,
  ofText: readonly number[],
  isAttack: boolean,
): Passage {
  const passage = passages[index] as MarkedPassage;
  const concepts = featuresOf(passages, index, topics);
  const features = [...concepts];
  const values = concepts.map(() => 1);
  const take = (feature: number, value: number) => {
    features.push(FEATURE_COUNT + feature);
    values.push(value);
  };
  eachWording(passage.wording, take);
  eachPiece(text, passage, take);
  eachContext(groups, passage, take);
  const isDecoded = passage.concepts.includes(DECODED);
  const count = readTokens(text, passage.start, passage.end);
  return {
    features: Int32Array.from(features),
    values: Float32Array.from(values),
    concepts: concepts.length,
    isAttack,
    strictness: strictness(passages.length, concepts.length),
    sequence: {
      tokens: tokens.slice(0, count * ROWS_OF_TOKEN),
      signs: signsOf(passage.concepts, ofText),
    },
    classed: isAttack && !isDecoded ? classFeatures(passages, index) : [],
  };
}
