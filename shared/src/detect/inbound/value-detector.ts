/** The detector over a JSON value: each of its strings, and the names of its members. */
import type { InboundFinding } from '../findings.ts';
import { atOnce, type Portioned } from '../portions.ts';
import { type DetectionOptions, detectInjection } from './detector.ts';

const MAX_FINDINGS = 50;
const MAX_PLACE = 256;
/** Strings and members that are looked at one by one; what is beyond is read as one text. */
const MAX_PARTS = 20_000;
const MAX_DEPTH = 64;
const MIN_NAME = 24;
/** A longer text is read in stretches, which overlap by more than a passage has. */
const STRETCH = 65_536;
const OVERLAP = 4_096;

/**
 * @param value foreign JSON (no cycles); strings in a list of strings are read in their order too
 * @returns at most 50 findings by place; the place is a JSON Pointer, '' for the value itself
 */
export function detectInValue(value: unknown, options: DetectionOptions = {}): InboundFinding[] {
  return atOnce(detectInPortions(value, options));
}

/** The same in portions. */
export function* detectInPortions(
  value: unknown,
  options: DetectionOptions = {},
): Portioned<InboundFinding[]> {
  const findings: InboundFinding[] = [];
  const rest: string[] = [];
  let parts = 0;

  function* inspect(text: string, place: string): Portioned<void> {
    let isKnownTail = false;
    for (const at of stretchStarts(text)) {
      const stretch = at === 0 && text.length <= STRETCH ? text : text.slice(at, at + STRETCH);
      const found = detectInjection(stretch, options).findings;
      for (const { class: kind, severity, start, length, score } of found) {
        if (findings.length >= MAX_FINDINGS) return;
        if (isKnownTail && start < OVERLAP) continue;
        findings.push({ class: kind, severity, place: place.slice(0, MAX_PLACE), length, score });
      }
      isKnownTail = found.some(({ start }) => start >= STRETCH - OVERLAP);
      yield stretch.length;
    }
  }
  function* look(text: string, place: string): Portioned<void> {
    parts += 1;
    if (parts > MAX_PARTS) rest.push(text);
    else yield* inspect(text, place);
  }
  function* walk(part: unknown, place: string, depth: number): Portioned<void> {
    if (typeof part === 'string') yield* look(part, place);
    if (typeof part !== 'object' || part === null) return;
    if (depth >= MAX_DEPTH) {
      rest.push(JSON.stringify(part));
      return;
    }
    if (Array.isArray(part)) {
      for (const [index, item] of part.entries()) {
        yield* walk(item, below(place, String(index)), depth + 1);
      }
      if (part.length > 1 && part.every((item) => typeof item === 'string')) {
        yield* lookAtWhole(part as string[], place);
      }
      return;
    }
    for (const [name, member] of Object.entries(part)) {
      const inner = below(place, name);
      if (name.length >= MIN_NAME) yield* look(name, inner);
      yield* walk(member, inner, depth + 1);
    }
  }
  /** One sentence may be split over the items of a list: it is found where no item alone was. */
  function* lookAtWhole(items: readonly string[], place: string): Portioned<void> {
    if (findings.some((finding) => finding.place.startsWith(place))) return;
    yield* look(items.join(' '), place);
  }

  yield* walk(value, '', 0);
  if (rest.length > 0) yield* inspect(rest.join('\n'), '');
  return findings;
}

/** Where the stretches of a text begin; within a run of letters at a multiple of four of them. */
function* stretchStarts(text: string): Generator<number> {
  yield 0;
  const step = STRETCH - OVERLAP;
  for (let at = step; at + OVERLAP < text.length; at += step) {
    let start = at;
    while (start > at - STRETCH && text.charCodeAt(start - 1) > 0x20) start -= 1;
    yield at - ((at - start) % 4);
  }
}

/** Place of a member, cut early: no place is longer than what a finding holds. */
function below(place: string, name: string): string {
  if (place.length >= MAX_PLACE) return place;
  return `${place}/${name.slice(0, MAX_PLACE).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}
