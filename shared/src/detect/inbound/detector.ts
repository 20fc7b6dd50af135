/**
 * Whether a text addresses the assistant that reads it, and wants something from it. Pure: the same
 * text always gets the same answer. How it decides: docs/inbound-detection.md.
 */
import type { Severity } from '../../ledger/ledger-record.ts';
import type { InboundClass } from '../findings.ts';
import { rankOf } from '../gravest.ts';
import { MOST_SEQUENCES } from './calibration.ts';
import { classOf } from './class-model.ts';
import { conceptNumber } from './concepts.ts';
import { type Examined, examineText, type TextKind } from './examine.ts';
import { classWeights, weights } from './model.ts';
import { scorePassages } from './passage-scores.ts';
import { featuresOf, type MarkedPassage, nameFeature } from './scoring.ts';

export type { TextKind } from './examine.ts';

export interface DetectionOptions {
  /** What the text is; `result` by default. */
  readonly kind?: TextKind;
}

export interface TextFinding {
  readonly class: InboundClass;
  readonly severity: Severity;
  /** UTF-16 offset and length of the passage in the text; of the whole disguise if it has one. */
  readonly start: number;
  readonly length: number;
  /** 0.5 to 1, with two decimals. */
  readonly score: number;
}

export interface Detection {
  /** 0 to 1, with two decimals: the most suspicious passage's. From 0.5 on there are findings. */
  readonly score: number;
  /** All of them, by place. */
  readonly findings: readonly TextFinding[];
  /** What raised the score of the worst passage, by name, never its text; at most 8. */
  readonly reasons: readonly string[];
}

const NOTHING: Detection = { score: 0, findings: [], reasons: [] };

const MAX_REASONS = 8;
/** Shorter texts cannot contain an instruction. */
const MIN_TEXT = 6;

const HARMFUL = new Set(
  (
    ['secret', 'system-prompt', 'destroy', 'money', 'sensitive-path', 'shell', 'secrecy'] as const
  ).map(conceptNumber),
);

/** @param text foreign text of any length: the cost is linear in it */
export function detectInjection(text: string, options: DetectionOptions = {}): Detection {
  if (text.length < MIN_TEXT) return NOTHING;
  const texts = examineText(text, options.kind ?? 'result');
  if (texts.length === 0) return NOTHING;
  let worst = Number.NEGATIVE_INFINITY;
  let worstFeatures: readonly number[] = [];
  const findings: TextFinding[] = [];
  const budget = { sequences: MOST_SEQUENCES };
  for (const examined of texts) {
    const { passages, topics } = examined;
    scorePassages(examined, budget).forEach((sum, index) => {
      if (sum > worst) {
        worst = sum;
        // Reasons are not needed for a clean text.
        if (sum > 0) worstFeatures = featuresOf(passages, index, topics);
      }
      if (sum > 0) addFinding(findings, toFinding(examined, index, toScore(sum)));
    });
  }
  const score = toScore(worst);
  return { score, findings, reasons: score < 0.5 ? [] : explain(worstFeatures) };
}

function toFinding({ passages, disguise }: Examined, index: number, score: number): TextFinding {
  const { start, end, concepts } = passages[index] as MarkedPassage;
  return {
    class: classOf(classWeights, passages, index),
    severity: severityOf(score, concepts),
    start: disguise?.start ?? start,
    length: disguise?.length ?? end - start,
    score,
  };
}

/** Neighbouring sentences of one class become one passage. */
function addFinding(findings: TextFinding[], finding: TextFinding): void {
  const last = findings.at(-1);
  const isNext = last !== undefined && finding.start - (last.start + last.length) <= 3;
  if (last !== undefined && last.class === finding.class && isNext) {
    const worse = isGraver(finding, last) ? finding : last;
    const end = Math.max(last.start + last.length, finding.start + finding.length);
    findings[findings.length - 1] = { ...worse, start: last.start, length: end - last.start };
  } else findings.push(finding);
}

function isGraver(one: TextFinding, other: TextFinding): boolean {
  return (rankOf(one) - rankOf(other) || one.score - other.score) > 0;
}

function severityOf(score: number, concepts: readonly number[]): Severity {
  if (score >= 0.95) return concepts.some((concept) => HARMFUL.has(concept)) ? 'critical' : 'high';
  if (score >= 0.8) return 'high';
  return score >= 0.65 ? 'medium' : 'low';
}

function toScore(sum: number): number {
  if (sum === Number.NEGATIVE_INFINITY) return 0;
  const score = 1 / (1 + Math.exp(-sum));
  // Rounded away from the threshold: a finding never has less than 0.5, nor a clean text more.
  return sum > 0 ? Math.ceil(score * 100) / 100 : Math.min(Math.floor(score * 100) / 100, 0.49);
}

function explain(features: readonly number[]): string[] {
  return [...features]
    .map((feature) => ({ feature, weight: weights[feature] as number }))
    .filter(({ weight }) => weight > 0)
    .sort((one, other) => other.weight - one.weight || one.feature - other.feature)
    .slice(0, MAX_REASONS)
    .map(({ feature }) => nameFeature(feature));
}
