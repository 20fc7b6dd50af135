/**
 * What a passage's words mean together: groups of words with similar meanings, the order of the
 * concepts, and the words beside the mention of an assistant. Only passages that could be findings
 * are read this far. The words of neighbouring passages are left out: an attacker could choose them.
 */
import { conceptNumber } from './concepts.ts';
import {
  addFeature,
  beginFeatures,
  featureCount,
  sumFeatures,
  type Told,
  tellFeatures,
} from './feature-set.ts';
import type { WordGroups } from './word-groups.ts';
import { endOf, NUMBERS_OF_WORD, type Wording } from './wording.ts';

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

/** How much each kind counts, as measured on authors left out of the training. */
const VALUES = {
  group: 1.6,
  groups: 1,
  groupsApart: 0.9,
  firstGroup: 0.85,
  order: 1.1,
  orderOfThree: 1.3,
  besideReader: 0.3,
} as const;

interface ContextPassage {
  readonly concepts: readonly number[];
  readonly wording: Wording;
}

export function eachContext(groups: WordGroups, passage: ContextPassage, told: Told): void {
  readContext(groups, passage);
  tellFeatures(told, shareOf(featureCount()));
}

/** The weight of a passage's context, in units of the weights. */
export function sumContext(
  weights: Int8Array,
  groups: WordGroups,
  passage: ContextPassage,
): number {
  readContext(groups, passage);
  return sumFeatures(weights) * shareOf(featureCount());
}

/** How much each feature of a context counts. */
function shareOf(count: number): number {
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

function readGroups(groups: WordGroups, wording: Wording): void {
  const { words, from } = wording;
  let second = START + 1;
  let last = START;
  const end = endOf(wording);
  for (let at = from; at < end; at += NUMBERS_OF_WORD) {
    const known = groups.find(words[at] as number);
    const group = known < 0 ? UNGROUPED + ((words[at + 1] as number) & 0xffff) : known;
    if (known >= 0) addFeature(group, GROUP, VALUES.group);
    addFeature(Math.imul(last, 0x2c1b3c6d) ^ group, GROUPS, VALUES.groups);
    addFeature(Math.imul(second, 0x1b56c4e9) ^ group, GROUPS_APART, VALUES.groupsApart);
    const place = (at - from) / NUMBERS_OF_WORD;
    if (place < FIRST_WORDS) addFeature(group, FIRST_GROUP + place, VALUES.firstGroup);
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
    addFeature(two, ORDER, VALUES.order);
    if (second >= 0) {
      addFeature(Math.imul(second + 2, 0x297a2d39) ^ two, ORDER_OF_THREE, VALUES.orderOfThree);
    }
    second = last;
    last = concept;
  }
}

function readStems(wording: Wording): void {
  const { words, from } = wording;
  const end = endOf(wording);
  for (let at = from; at < end; at += NUMBERS_OF_WORD) {
    addFeature(words[at + 1] as number, BESIDE_READER, VALUES.besideReader);
  }
}
