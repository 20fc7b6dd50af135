/**
 * Covers the texts of removed members where they stand again: in texts, as JSON writes them there,
 * in names of members and in numbers. Proven by cover-removed.test.ts.
 */
import { MAX_PAYLOAD_BYTES } from '@governance/shared/evidence/event-payload';
import {
  coverText,
  type Marks,
  MIN_COVERED,
  marksOf,
  REDACTED,
  withEscapedForms,
} from '../call/cover-texts.ts';
import type { Identified } from '../record/kept-payload.ts';

/** Each text is searched for in all of the value: texts times UTF-16 units, at most. */
const MAX_WORK = 200 * MAX_PAYLOAD_BYTES;
/** What a text or a name counts beside its units. */
const NODE = 16;

/** Levels whose names of members are the service's own: later steps read them by these names. */
const OWN_LEVELS: Readonly<Record<Identified['part'], number>> = {
  input: 2,
  members: 1,
  result: 0,
};

/**
 * @param part what the value is
 * @returns undefined where the texts are too many to search for
 */
export function coverRemoved(
  value: unknown,
  removed: Iterable<string>,
  part: Identified['part'],
): { readonly value: unknown } | undefined {
  const long = [...removed].filter((text) => text.length >= MIN_COVERED);
  if (long.length === 0) return { value };
  const marks = withEscapedForms(marksOf(long.map((text) => [text, REDACTED])));
  if (marks.size * sizeOf(value) > MAX_WORK) return undefined;
  return { value: cover(value, coverTexts(marks, inexactOf(long)), OWN_LEVELS[part]) };
}

type Cover = (text: string) => string;

function coverTexts(marks: Marks, inexact: ReadonlySet<number>): Cover {
  const ofValue = (number: string) => (inexact.has(Number(number)) ? REDACTED : number);
  if (inexact.size === 0) return (text) => coverText(text, marks);
  return (text) => coverText(text, marks).replace(NUMBER, ofValue);
}

const NUMBER = /\d+(?:\.\d+)?(?:e[+-]?\d+)?/gi;
/** Decimal digits that a double keeps of any number. */
const EXACT_DIGITS = 15;

/** Numbers among the texts that may stand elsewhere with other digits: a double keeps fewer. */
function inexactOf(texts: readonly string[]): Set<number> {
  const numbers = texts.map((text) => Math.abs(Number(text)));
  return new Set(
    numbers.filter(
      (number) =>
        Number.isFinite(number) &&
        (number > Number.MAX_SAFE_INTEGER || String(number).length > EXACT_DIGITS),
    ),
  );
}

/** UTF-16 units of a value, with something for each text and name. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length + NODE;
  if (typeof value !== 'object' || value === null) return NODE;
  let size = NODE;
  for (const [name, member] of Object.entries(value)) size += name.length + NODE + sizeOf(member);
  return size;
}

function cover(value: unknown, coverIn: Cover, ownLevels: number): unknown {
  if (typeof value === 'string') return coverIn(value);
  if (typeof value === 'number') {
    const text = String(value);
    return coverIn(text) === text ? value : REDACTED;
  }
  if (Array.isArray(value)) return value.map((item) => cover(item, coverIn, ownLevels - 1));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      ownLevels > 0 ? name : coverIn(name),
      cover(member, coverIn, ownLevels - 1),
    ]),
  );
}
