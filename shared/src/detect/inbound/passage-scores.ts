/** How suspicious each passage of a text is: by its words, then by their order where it matters. */
import {
  LEAST_OF_CONTEXT,
  LEAST_OF_SEQUENCE,
  MOST_OF_CONTEXT,
  MOST_OF_PIECES,
  MOST_OF_SEQUENCE,
  SURE,
  strictness,
} from './calibration.ts';
import { CERTAIN_SUM, isCertain } from './certain.ts';
import { sumContext } from './context.ts';
import type { Examined } from './examine.ts';
import { model, sequenceWeights, weights, wordGroups, wordingWeights } from './model.ts';
import { sumPieces } from './pieces.ts';
import { asksInWords, isScored, type MarkedPassage, weigh } from './scoring.ts';
import { conceptsOf, readSequence } from './sequence.ts';
import { isSpelled } from './spelled-letters.ts';
import { joinWindow, type Window, windowAt } from './windows.ts';
import { sumWording } from './wording.ts';

/** What a disguise that no honest text needs adds to a passage that asks for something. */
const VEILED = 4;
const NOT_SCORED = Number.NEGATIVE_INFINITY;

/** How often words are still read in their order. */
export interface Budget {
  sequences: number;
}

/**
 * @param budget counted down
 * @returns by passage, log-odds: above 0 it is a finding; -Infinity where it is not scored
 */
export function scorePassages(examined: Examined, budget: Budget): Float64Array {
  const { text, passages } = examined;
  const linear = Float64Array.from(passages, (_passage, index) => sumAt(examined, index));
  const scores = linear.slice();
  let ofText: readonly number[] | undefined;
  for (let index = 0; index < passages.length; index += 1) {
    const sum = linear[index] as number;
    if (sum === NOT_SCORED) continue;
    const passage = passages[index] as MarkedPassage;
    if (sum > -MOST_OF_SEQUENCE && sum < SURE && budget.sequences > 0) {
      ofText ??= conceptsOf(passages);
      scores[index] = sum + orderAt(examined, index, linear, ofText, budget);
    }
    if ((scores[index] as number) < CERTAIN_SUM && isCertain(text, passage)) {
      scores[index] = CERTAIN_SUM;
    }
  }
  return scores;
}

/** What a passage's words, pieces and context add up to. */
function sumAt({ text, passages, topics, isVeiled }: Examined, index: number): number {
  const passage = passages[index] as MarkedPassage;
  if (!isScored(passage) || isSpelled(passage.wording)) return NOT_SCORED;
  const features = weigh(weights, passages, index, topics);
  let sum =
    model.bias +
    features.sum +
    sumWording(wordingWeights, passage.wording) * model.wording_unit -
    strictness(passages.length, features.count) +
    (isVeiled && asksInWords(passage) ? VEILED : 0);
  if (sum > -MOST_OF_PIECES) {
    sum += sumPieces(wordingWeights, text, passage) * model.wording_unit;
  }
  if (sum > -MOST_OF_CONTEXT) {
    const context = sumContext(wordingWeights, wordGroups, passage) * model.wording_unit;
    sum += Math.max(LEAST_OF_CONTEXT, context);
  }
  return sum;
}

/** What the order of the words adds: of the passage, or of the sentences around it if that is more. */
function orderAt(
  { text, passages }: Examined,
  index: number,
  sums: Float64Array,
  ofText: readonly number[],
  budget: Budget,
): number {
  const passage = passages[index] as MarkedPassage;
  budget.sequences -= 1;
  let most = readSequence(sequenceWeights, text, passage, ofText);
  const window = windowAt(passages, index);
  // The worst passage alone answers for its neighbours: otherwise each of them would be a finding.
  if (window !== undefined && isWorst(sums, index, window) && budget.sequences > 0) {
    budget.sequences -= 1;
    const { start, end, within } = joinWindow(passages, window);
    const joined = { start, end, concepts: conceptsOf(within) };
    most = Math.max(most, readSequence(sequenceWeights, text, joined, ofText));
  }
  return Math.max(LEAST_OF_SEQUENCE, Math.min(MOST_OF_SEQUENCE, most));
}

function isWorst(sums: Float64Array, index: number, { first, last }: Window): boolean {
  const sum = sums[index] as number;
  for (let other = first; other <= last; other += 1) {
    if ((sums[other] as number) > sum) return false;
  }
  return true;
}
