/**
 * The model: a logistic regression over the concepts of a passage, those of its neighbours, and
 * pairs of them. Its weights are in model.json, made by `npm run inbound:train`.
 */

import { ASKING_CONCEPTS, CONCEPTS, type Concept, conceptNumber } from './concepts.ts';
import { MIN_WORDS, NUMBERS_OF_WORD, type Wording } from './wording.ts';

const COUNT = CONCEPTS.length;
/** How many passages before and after count as neighbours. */
const REACH = 2;
/** A neighbour farther away speaks of something else. */
const MAX_DISTANCE = 500;
/** Concepts of one passage that are weighed; further ones are not. */
const MAX_CONCEPTS = 22;

const ALONE = 0;
const NEAR = COUNT;
const TOGETHER = 2 * COUNT;
const TOGETHER_NEAR = TOGETHER + COUNT * COUNT;
const THROUGHOUT = TOGETHER_NEAR + COUNT * COUNT;
const MENTIONED = THROUGHOUT + COUNT;
export const FEATURE_COUNT = MENTIONED + COUNT;

/** What the whole text is about weighs on each of its passages. */
const TOPICS: readonly Concept[] = [
  'security-talk',
  'test-data',
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
/** Topics that weigh on the other passages, less, though one passage alone speaks of them. */
const MENTIONS: ReadonlySet<number> = new Set(
  (['security-talk', 'test-data'] as const).map(conceptNumber),
);
/** Reset for each text. */
const counts = new Uint32Array(COUNT);
const ASKING = new Uint8Array(COUNT);
for (const name of ASKING_CONCEPTS) ASKING[conceptNumber(name)] = 1;

const DISGUISES = new Set((['decoded', 'disguised'] as const).map(conceptNumber));

/** A passage, with its marks. */
export interface MarkedPassage {
  readonly start: number;
  readonly end: number;
  readonly concepts: readonly number[];
  readonly wording: Wording;
}

const NO_TOPICS: readonly number[] = [];

/** What the text as a whole is about: topics' numbers, plus `COUNT` if one passage alone speaks of it. */
export function findTopics(passages: readonly MarkedPassage[]): readonly number[] {
  if (passages.length < MIN_TOPIC_PASSAGES) return NO_TOPICS;
  counts.fill(0);
  for (const { concepts } of passages)
    for (const concept of concepts) counts[concept] = (counts[concept] as number) + 1;
  const topics: number[] = [];
  for (const number of TOPIC_NUMBERS) {
    const count = counts[number] as number;
    if (count >= MIN_TOPIC_PASSAGES) topics.push(number);
    else if (count === 1 && MENTIONS.has(number)) topics.push(COUNT + number);
  }
  return topics;
}

/** Whether a passage could ask for something: by a concept, or by its wording alone. */
export const isScored = (passage: MarkedPassage): boolean =>
  passage.wording.to - passage.wording.from >= NUMBERS_OF_WORD * MIN_WORDS || isAsking(passage);

function isAsking({ concepts }: MarkedPassage): boolean {
  for (const concept of concepts) if (ASKING[concept] === 1) return true;
  return false;
}

/** Whether it asks for something beside being disguised: what was turned by mistake does not. */
export function asksInWords({ concepts }: MarkedPassage): boolean {
  return concepts.some((concept) => ASKING[concept] === 1 && !DISGUISES.has(concept));
}

/** Reset for each passage: 1 for its concepts, 2 for its neighbours'. */
const own = new Uint8Array(COUNT);

/** The features of one passage: its own with pairs of them, its neighbours', the topics. */
const MAX_FEATURES =
  MAX_CONCEPTS ** 2 + 2 * REACH * MAX_CONCEPTS * (1 + MAX_CONCEPTS) + TOPICS.length + 1;
const features = new Uint32Array(MAX_FEATURES);

/** The numbers of the features of one passage. */
export function featuresOf(
  passages: readonly MarkedPassage[],
  index: number,
  topics: readonly number[],
): number[] {
  return Array.from(features.subarray(0, readFeatures(passages, index, topics)));
}

/** The weight of one passage's features, and their number. */
export function weigh(
  weights: ArrayLike<number>,
  passages: readonly MarkedPassage[],
  index: number,
  topics: readonly number[],
): { readonly sum: number; readonly count: number } {
  const count = readFeatures(passages, index, topics);
  let sum = 0;
  for (let at = 0; at < count; at += 1) sum += weights[features[at] as number] as number;
  return { sum, count };
}

/** @returns how many entries of `features` belong to the passage */
function readFeatures(
  passages: readonly MarkedPassage[],
  index: number,
  topics: readonly number[],
): number {
  const passage = passages[index] as MarkedPassage;
  if (!isAsking(passage)) return 0;
  const { start, end, concepts: all } = passage;
  const concepts = all.length > MAX_CONCEPTS ? all.slice(0, MAX_CONCEPTS) : all;
  own.fill(0);
  let count = 0;
  for (const one of concepts) {
    own[one] = 1;
    features[count++] = ALONE + one;
    for (const other of concepts)
      if (one < other) features[count++] = TOGETHER + one * COUNT + other;
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
      features[count++] = NEAR + near;
      for (const one of concepts) features[count++] = TOGETHER_NEAR + one * COUNT + near;
    }
  }
  for (const topic of topics) {
    // A passage's own mention says nothing of the others.
    if (topic < COUNT || own[topic - COUNT] !== 1) features[count++] = THROUGHOUT + topic;
  }
  return count;
}

/** A feature in words, to explain a score. */
export function nameFeature(feature: number): string {
  if (feature < NEAR) return CONCEPTS[feature] as string;
  if (feature < TOGETHER) return `near ${CONCEPTS[feature - NEAR]}`;
  if (feature >= MENTIONED) return `mentioned ${CONCEPTS[feature - MENTIONED]}`;
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
  if (name.startsWith('mentioned ')) return MENTIONED + of(name.slice(10));
  return ALONE + of(name);
}
