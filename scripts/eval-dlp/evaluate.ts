import { createDlpScanner } from '@governance/shared/detect/dlp/scanner';
import type { LabelledText } from './labelled-text.ts';

export interface Score {
  positives: number;
  found: number;
  negatives: number;
  alarms: number;
}

export interface Evaluation {
  readonly overall: Score;
  readonly byCategory: ReadonlyMap<string, Score>;
  /** By pattern name: texts with such a finding, and how many of them are positive. */
  readonly byPattern: ReadonlyMap<string, { texts: number; right: number }>;
  readonly misses: readonly LabelledText[];
  readonly alarms: readonly { readonly text: LabelledText; readonly patterns: readonly string[] }[];
}

const none = (): Score => ({ positives: 0, found: 0, negatives: 0, alarms: 0 });

/** Any finding detects a positive text; any finding in a negative text is a false alarm. */
export function evaluate(texts: Iterable<LabelledText>): Evaluation {
  const scanner = createDlpScanner();
  const overall = none();
  const byCategory = new Map<string, Score>();
  const byPattern = new Map<string, { texts: number; right: number }>();
  const misses: LabelledText[] = [];
  const alarms: { text: LabelledText; patterns: string[] }[] = [];
  for (const text of texts) {
    const patterns = [...new Set(scanner.scanText(text.text).map((finding) => finding.pattern))];
    const category = byCategory.get(text.category) ?? none();
    byCategory.set(text.category, category);
    for (const score of [overall, category]) count(score, text.kind, patterns.length > 0);
    for (const pattern of patterns) {
      const known = byPattern.get(pattern) ?? { texts: 0, right: 0 };
      known.texts++;
      if (text.kind === 'positive') known.right++;
      byPattern.set(pattern, known);
    }
    if (text.kind === 'positive' && patterns.length === 0) misses.push(text);
    if (text.kind === 'negative' && patterns.length > 0) alarms.push({ text, patterns });
  }
  scanner.close();
  return { overall, byCategory, byPattern, misses, alarms };
}

function count(score: Score, kind: LabelledText['kind'], isFound: boolean): void {
  if (kind === 'positive') {
    score.positives++;
    if (isFound) score.found++;
  } else {
    score.negatives++;
    if (isFound) score.alarms++;
  }
}

/** Recall: detected positives among the positives; 1 if there are none. */
export const recall = ({ found, positives }: Score): number => (positives ? found / positives : 1);

/** Precision: true detections among all; 1 if nothing was found. */
export const precision = ({ found, alarms }: Score): number =>
  found + alarms ? found / (found + alarms) : 1;
