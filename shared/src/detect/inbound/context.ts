/**
 * What a passage's words mean together: groups of words with similar meanings, the order of the
 * concepts, and the words beside the mention of an assistant. Only passages that could be findings
 * are read this far. The words of neighbouring passages are left out: an attacker could choose them.
 */
import { conceptNumber } from './concepts.ts';
import { addFeature, beginFeatures, featureCount, features, sumFeatures } from './feature-set.ts';
import type { WordGroups } from './word-groups.ts';
import { MAX_WORDS, type Wording } from './wording.ts';

/** The number of features of a passage that count in full. */
const FEW = 64;
/** Words whose place in the passage counts. */
const FIRST_WORDS = 3;
const MAX_CONCEPTS = 22;
const AI = conceptNumber('ai');
const AGENT = conceptNumber('agent');
/** Of a word without a group, so that two of them in sequence are not the same pair. */
const UNGROUPED = 0x10000;
const START = 0x777;

const GROUP = 51;
const GROUPS = 52;
const GROUPS_APART = 53;
const FIRST_GROUP = 60;
const ORDER = 31;
const ORDER_OF_THREE = 32;
const BESIDE_READER = 41;

interface ContextPassage {
  readonly concepts: readonly number[];
  readonly wording: Wording;
}

/** @param told receives the number of each feature once, from 0, below `WORDING_COUNT` */
export function eachContext(
  groups: WordGroups,
  passage: ContextPassage,
  told: (feature: number) => void,
): void {
  readContext(groups, passage);
  for (let at = 0; at < featureCount(); at += 1) told(features[at] as number);
}

/** The weight of a passage's context, in units of the weights. */
export function sumContext(
  weights: Int8Array,
  groups: WordGroups,
  passage: ContextPassage,
): number {
  readContext(groups, passage);
  return sumFeatures(weights) * contextShareOf(featureCount());
}

/** How much each feature of a context counts. */
export function contextShareOf(count: number): number {
  return count <= FEW ? 1 : Math.sqrt(FEW / count);
}

function readContext(groups: WordGroups, { wording, concepts }: ContextPassage): void {
  beginFeatures();
  readGroups(groups, wording);
  readOrder(concepts);
  if (concepts.includes(AI) || concepts.includes(AGENT)) {
    readStems(wording);
  }
}

function readGroups(groups: WordGroups, { words, from, to }: Wording): void {
  let second = START + 1;
  let last = START;
  const end = Math.min(to, from + 2 * MAX_WORDS);
  for (let at = from; at < end; at += 2) {
    const known = groups.find(words[at] as number);
    const group = known < 0 ? UNGROUPED + ((words[at + 1] as number) & 0xffff) : known;
    if (known >= 0) addFeature(group, GROUP);
    addFeature(Math.imul(last, 0x2c1b3c6d) ^ group, GROUPS);
    addFeature(Math.imul(second, 0x1b56c4e9) ^ group, GROUPS_APART);
    const place = (at - from) >> 1;
    if (place < FIRST_WORDS) addFeature(group, FIRST_GROUP + place);
    second = last;
    last = group;
  }
}

/** `approved` before `ai` says something else than after it. */
function readOrder(concepts: readonly number[]): void {
  let second = -1;
  let last = -1;
  const end = Math.min(concepts.length, MAX_CONCEPTS);
  for (let at = 0; at < end; at += 1) {
    const concept = concepts[at] as number;
    const two = Math.imul(last + 2, 0x2c1b3c6d) ^ concept;
    addFeature(two, ORDER);
    if (second >= 0) addFeature(Math.imul(second + 2, 0x297a2d39) ^ two, ORDER_OF_THREE);
    second = last;
    last = concept;
  }
}

function readStems({ words, from, to }: Wording): void {
  const end = Math.min(to, from + 2 * MAX_WORDS);
  for (let at = from; at < end; at += 2) addFeature(words[at + 1] as number, BESIDE_READER);
}
