/** Sentences in a row, as examples for the reader of sequences. */
import { examineText } from '@governance/shared/detect/inbound/examine';
import { isScored, type MarkedPassage } from '@governance/shared/detect/inbound/scoring';
import { conceptsOf, signsOf } from '@governance/shared/detect/inbound/sequence';
import { ROWS_OF_TOKEN, readTokens, tokens } from '@governance/shared/detect/inbound/tokens';
import { joinWindow, type Window, windowAt } from '@governance/shared/detect/inbound/windows';
import { partWithin } from './bags.ts';
import type { Sequence } from './sequence-net.ts';
import type { Example } from './train-sequence.ts';
import type { TrainingText } from './training-text.ts';

/** How much a window counts beside a passage. */
const WORTH = 0.7;

interface Read extends Sequence {
  readonly isAttack: boolean;
}

/** @param weight how much the text counts */
export function windowExamplesOf(text: TrainingText, weight: number): Example[] {
  const windows = windowsOf(text);
  const attacks = windows.filter(({ isAttack }) => isAttack).length;
  const share = 1 / Math.sqrt(Math.max(1, attacks));
  return windows.map((window) => ({
    ...window,
    weight: WORTH * (window.isAttack ? weight * share : weight),
  }));
}

/**
 * Of an attack's passages each one's window, of the others each sentence about once: they are many
 * more. Only a written text tells which of its windows are attacks: its marks do.
 */
export function windowsOf({ text, spans, isDescription }: TrainingText): Read[] {
  const examined = examineText(text, isDescription ? 'tool_description' : 'result');
  return examined.flatMap(({ text: read, passages, disguise }) => {
    const ofText = conceptsOf(passages);
    const parts = passages.map((passage) => partWithin(spans ?? [], disguise, passage));
    const seen = new Set<number>();
    let next = 0;
    return passages.flatMap((passage, index): Read[] => {
      const isAttack = parts[index] === 'all';
      if (!isScored(passage) || (!isAttack && index < next)) return [];
      const window = windowAt(passages, index);
      if (window === undefined || seen.has(window.first * passages.length + window.last)) return [];
      seen.add(window.first * passages.length + window.last);
      next = window.last + 1;
      const within = parts.slice(window.first, window.last + 1);
      // Less than half of an attack: it teaches neither.
      if (!within.includes('all') && within.includes('some')) return [];
      return [{ ...sequenceOf(read, passages, window, ofText), isAttack: within.includes('all') }];
    });
  });
}

function sequenceOf(
  text: string,
  passages: readonly MarkedPassage[],
  window: Window,
  ofText: readonly number[],
): Sequence {
  const { start, end, within } = joinWindow(passages, window);
  const count = readTokens(text, start, end);
  return {
    tokens: tokens.slice(0, count * ROWS_OF_TOKEN),
    signs: signsOf(conceptsOf(within), ofText),
  };
}
