/**
 * The model: a logistic regression over the concepts of a passage, those of its neighbours, and
 * pairs of them. Its weights are in model.json, made by `npm run inbound:train`.
 */

import { ASKING_CONCEPTS, CONCEPTS, type Concept, conceptNumber } from './concepts.ts';
import { MIN_WORDS } from './wording.ts';

const COUNT = CONCEPTS.length;
/** Passages before and after that are taken for neighbours. */
const REACH = 2;
/** A neighbour that is farther away speaks of something else. */
const MAX_DISTANCE = 500;
/** Concepts of one passage that are weighed; the rest of a passage with more is not. */
const MAX_CONCEPTS = 22;

const ALONE = 0;
const NEAR = COUNT;
const TOGETHER = 2 * COUNT;
const TOGETHER_NEAR = TOGETHER + COUNT * COUNT;
const THROUGHOUT = TOGETHER_NEAR + COUNT * COUNT;
export const FEATURE_COUNT = THROUGHOUT + COUNT;

/** What a whole text is about weighs on each of its passages. */
const TOPICS: readonly Concept[] = [
  'security-talk',
  'letter',
  'manual',
  'legal',
  'narrative',
  'tool-doc',
  'quoting',
  'description',
];
const TOPIC_NUMBERS = TOPICS.map(conceptNumber);
const MIN_TOPIC_PASSAGES = 2;
/** Of each text anew. */
const counts = new Uint32Array(COUNT);
const ASKING = new Uint8Array(COUNT);
for (const name of ASKING_CONCEPTS) ASKING[conceptNumber(name)] = 1;

/** A passage with the marks of its form. */
export interface MarkedPassage {
  readonly start: number;
  readonly end: number;
  readonly concepts: readonly number[];
  readonly wording: readonly number[];
}

/** Numbers of concepts that the text as a whole is about. */
export function findTopics(passages: readonly MarkedPassage[]): number[] {
  counts.fill(0);
  for (const { concepts } of passages)
    for (const concept of concepts) counts[concept] = (counts[concept] as number) + 1;
  return TOPIC_NUMBERS.filter((number) => (counts[number] as number) >= MIN_TOPIC_PASSAGES);
}

/** Whether a passage could ask for something: by a concept, or by its wording alone. */
export const isScored = (passage: MarkedPassage): boolean =>
  passage.wording.length >= 2 * MIN_WORDS || isAsking(passage);

const isAsking = (passage: MarkedPassage): boolean =>
  passage.concepts.some((concept) => ASKING[concept] === 1);

/** Of each passage anew: 1 for its concepts, 2 for its neighbours'. */
const own = new Uint8Array(COUNT);

/** The numbers of the features of one passage. */
export function featuresOf(
  passages: readonly MarkedPassage[],
  index: number,
  topics: readonly number[],
): number[] {
  const passage = passages[index] as MarkedPassage;
  if (!isAsking(passage)) return [];
  const { start, end, concepts: all } = passage;
  const concepts = all.length > MAX_CONCEPTS ? all.slice(0, MAX_CONCEPTS) : all;
  own.fill(0);
  const features: number[] = [];
  for (const one of concepts) {
    own[one] = 1;
    features.push(ALONE + one);
    for (const other of concepts) if (one < other) features.push(TOGETHER + one * COUNT + other);
  }
  for (let at = index - REACH; at <= index + REACH; at += 1) {
    const other = passages[at];
    if (at === index || other === undefined) continue;
    if (other.start - end > MAX_DISTANCE || start - other.end > MAX_DISTANCE) continue;
    for (const near of other.concepts.length > MAX_CONCEPTS
      ? other.concepts.slice(0, MAX_CONCEPTS)
      : other.concepts) {
      if (own[near] !== 0) continue;
      own[near] = 2;
      features.push(NEAR + near);
      for (const one of concepts) features.push(TOGETHER_NEAR + one * COUNT + near);
    }
  }
  for (const topic of topics) features.push(THROUGHOUT + topic);
  return features;
}

/** A feature in words, to say what raised a score. */
export function nameFeature(feature: number): string {
  if (feature < NEAR) return CONCEPTS[feature] as string;
  if (feature < TOGETHER) return `near ${CONCEPTS[feature - NEAR]}`;
  if (feature >= THROUGHOUT) return `throughout ${CONCEPTS[feature - THROUGHOUT]}`;
  const isNear = feature >= TOGETHER_NEAR;
  const pair = feature - (isNear ? TOGETHER_NEAR : TOGETHER);
  const [one, other] = [CONCEPTS[Math.floor(pair / COUNT)], CONCEPTS[pair % COUNT]];
  return isNear ? `${one} near ${other}` : `${one} with ${other}`;
}

/** As `nameFeature` names them. @throws Error when there is no such concept */
export function featureOf(name: string): number {
  const of = (concept: string): number => {
    const at = (CONCEPTS as readonly string[]).indexOf(concept);
    if (at < 0) throw new Error(`no such concept: ${concept}`);
    return at;
  };
  const [one = '', other] = name.split(' with ');
  if (other !== undefined) {
    const [low, high] = [of(one), of(other)].sort((a, b) => a - b) as [number, number];
    return TOGETHER + low * COUNT + high;
  }
  const [near = '', by] = name.split(' near ');
  if (by !== undefined) return TOGETHER_NEAR + of(near) * COUNT + of(by);
  if (name.startsWith('near ')) return NEAR + of(name.slice(5));
  if (name.startsWith('throughout ')) return THROUGHOUT + of(name.slice(11));
  return ALONE + of(name);
}

export function sumWeights(weights: ArrayLike<number>, features: readonly number[]): number {
  let sum = 0;
  for (const feature of features) sum += weights[feature] as number;
  return sum;
}
