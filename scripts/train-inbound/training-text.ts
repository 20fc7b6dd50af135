import { createHash } from 'node:crypto';
import type { InboundClass } from '@governance/shared/detect/findings';

export interface TrainingText {
  readonly text: string;
  readonly kind: 'attack' | 'benign';
  /** Of an attack. */
  readonly class?: InboundClass;
  /** The attack itself, if generated ordinary sentences surround it. */
  readonly attack?: string;
  /** Where the attack stands, if the text was written; the rest of it is ordinary. */
  readonly spans?: readonly Span[];
  /** What a server publishes of itself: the description of a tool or parameter, its instructions. */
  readonly isDescription?: boolean;
}

/** UTF-16 offsets in a text. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** SHA-256 (hex) of the texts, their kinds, classes and spans, in order. */
export function digestTexts(texts: readonly TrainingText[]): string {
  const digest = createHash('sha256');
  for (const { text, kind, class: name, spans, isDescription } of texts) {
    if (isDescription) digest.update('description\0');
    digest.update(`${kind}\0${name}\0${text}\0${JSON.stringify(spans ?? [])}\0`);
  }
  return digest.digest('hex');
}
