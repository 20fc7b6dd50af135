/**
 * Which of the seven classes a finding has: a linear model over the concepts of its passage and its
 * neighbours, and its wording. Only findings are classified, so its cost does not matter.
 */
import { INBOUND_CLASSES, type InboundClass } from '../findings.ts';
import { CONCEPTS, conceptNumber } from './concepts.ts';
import { eachWording, WORDING_COUNT, type Wording } from './wording.ts';

/** The wordings of a class share this many weights. */
const WORDINGS = 4_096;
const SHARING = WORDING_COUNT / WORDINGS;
const COUNT = CONCEPTS.length;
/** Weights of one class: its passage's concepts, nearby ones, and its wordings. */
export const CLASS_FEATURES = 2 * COUNT + WORDINGS;
const DECODED = conceptNumber('decoded');

interface ClassedPassage {
  readonly concepts: readonly number[];
  readonly wording: Wording;
}

/** The features of the passage at an index: numbers from 0, below `CLASS_FEATURES`. */
export function classFeatures(passages: readonly ClassedPassage[], index: number): number[] {
  const passage = passages[index] as ClassedPassage;
  const features = new Set<number>(passage.concepts);
  for (const near of [passages[index - 1], passages[index + 1]]) {
    for (const concept of near?.concepts ?? []) features.add(COUNT + concept);
  }
  eachWording(passage.wording, (wording) => {
    features.add(2 * COUNT + Math.floor(wording / SHARING));
  });
  return [...features];
}

/** @param weights `CLASS_FEATURES` for each class, in the order of `INBOUND_CLASSES` */
export function classOf(
  weights: Int8Array,
  passages: readonly ClassedPassage[],
  index: number,
): InboundClass {
  // Whatever a disguised passage says, its disguise is the class.
  if (passages[index]?.concepts.includes(DECODED)) return 'encoded_payload';
  const features = classFeatures(passages, index);
  let [best, most] = [0, Number.NEGATIVE_INFINITY];
  for (let at = 0; at < INBOUND_CLASSES.length; at += 1) {
    let sum = 0;
    for (const feature of features) sum += weights[at * CLASS_FEATURES + feature] as number;
    if (sum > most) [best, most] = [at, sum];
  }
  return INBOUND_CLASSES[best] as InboundClass;
}
