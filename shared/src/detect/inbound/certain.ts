/**
 * Passages that are attacks whatever their wording is: the bluntest ones. Ordinary texts quote them
 * so often that the model takes the words themselves for a report.
 */
import { CONCEPTS, type Concept, conceptNumber } from './concepts.ts';
import type { MarkedPassage } from './scoring.ts';

/** Each is certain where all of its concepts are in one passage. */
const CERTAIN: readonly (readonly Concept[])[] = [
  // "Ignore all previous instructions", "disregard your system prompt"
  ['opens-with-order', 'override', 'instructions', 'previous'],
  ['opens-with-order', 'override', 'instructions', 'system-prompt'],
  // "以前の指示をすべて無視してください": the order ends the sentence.
  ['previous', 'instructions', 'override', 'must', 'please'],
  // "You must ignore all previous instructions"
  ['you', 'must', 'override', 'instructions', 'previous'],
];
/** Whoever reports, forbids, asks or tells does not give the order. */
const EXCUSES: readonly Concept[] = [
  'quoted',
  'quoting',
  'security-talk',
  'never',
  'question',
  'manual',
];

/** The sum of a certain passage: a score of 0.88. */
export const CERTAIN_SUM = 2;

const rules = CERTAIN.map((rule) => rule.map(conceptNumber));
/** Each of them has it; few passages do. */
const OVERRIDE = conceptNumber('override');
const excuses = new Uint8Array(CONCEPTS.length);
for (const name of EXCUSES) excuses[conceptNumber(name)] = 1;

/** "Never ignore …", "no ignore …", "n'ignorez pas …" */
const NEGATED =
  /^\P{L}{0,8}(?:never|no|not|non|don.?t|do not|n(?=['’])|ne|nunca|não|niemals|nie|niet|не)(?!\p{L})/iu;
const MAX_NEGATED = 24;

/** The nouns that name an assistant's own orders; settings, rules and policies have others, too. */
const NARROW = /instru[ckç]|directi|prompt|anweisung|指示|指令|инструкц|istruzion/iu;
/** All of them, or the reader's own, or the bare phrase: a manual speaks of certain ones. */
const WHOLLY =
  /(?<!\p{L})(?:all|any|every|everything|alle|jede|tou[st]e?s?|tod[ao]s|tutt[eio]|your|system|(?:ignore|disregard|forget) (?:previous|prior) (?:instructions|directives|prompts?))(?!\p{L})|すべて|全て|所有|вс[её]/iu;
/** "Ignore the instructions above if you use …" */
const LIMITED =
  /(?<!\p{L})(?:if|unless|when|while|about|regarding|concerning|for|on|wenn|falls|si|se|sur|sobre|zum|zur)(?!\p{L})/iu;
/** A passage is at most so long; a longer one says more than an order. */
const MAX_ORDER = 400;

/** @param text that the passage is of */
export function isCertain(text: string, { concepts, start, end }: MarkedPassage): boolean {
  if (!concepts.includes(OVERRIDE)) return false;
  if (concepts.some((concept) => excuses[concept] === 1)) return false;
  if (!rules.some((rule) => rule.every((concept) => concepts.includes(concept)))) return false;
  const passage = text.slice(start, Math.min(end, start + MAX_ORDER));
  if (LIMITED.test(passage) || !(WHOLLY.test(passage) && NARROW.test(passage))) return false;
  return !NEGATED.test(text.slice(start, start + MAX_NEGATED));
}
