/**
 * Texts that a server splits over neighbouring content blocks: its reader may put them together
 * again, so they are also scanned as one text. Only short blocks are joined; a longer one has enough
 * of the text to be judged by itself.
 */
import type { InboundFinding } from '@governance/shared/detect/findings';
import { highestRank, rankOf } from '@governance/shared/detect/gravest';
import type { DetectionOptions } from '@governance/shared/detect/inbound/detector';
import type { Portioned } from '@governance/shared/detect/portions';
import { isObject } from '../../upstream/message.ts';
import type { Detector } from './detector.ts';
import { HOLDING } from './readable.ts';

/** UTF-16 units of a block that is joined with others, at most. */
const SHORT = 256;
/** A word may have been split, or the blank between two. */
const BETWEEN = ['', ' '] as const;

/**
 * Finds injections in a value, also those that are split over blocks.
 *
 * @param value as the scan reads it (`readable`)
 */
export function* detectWhole(
  value: unknown,
  detector: Detector,
  options: DetectionOptions,
): Portioned<InboundFinding[]> {
  const findings = yield* detector.inValue(value, options);
  if (!isObject(value)) return findings;
  for (const [place, run] of runsOf(value)) {
    for (const between of BETWEEN) {
      const known = highestRank(findings);
      const joined = yield* detector.inValue(run.join(between), options);
      const [gravest] = [...joined].sort((a, b) => rankOf(b) - rankOf(a));
      if (gravest !== undefined && rankOf(gravest) > known) findings.push({ ...gravest, place });
    }
  }
  return findings;
}

/** Runs of short texts, with the place of the list that they are in. */
function* runsOf(value: Record<string, unknown>): Generator<[place: string, texts: string[]]> {
  for (const name of HOLDING) {
    const items = value[name];
    if (!Array.isArray(items)) continue;
    let run: string[] = [];
    for (const item of items) {
      const text = textOf(item);
      // An image between two texts does not part them.
      if (text === undefined) continue;
      if (text.length <= SHORT) run.push(text);
      else {
        if (run.length > 1) yield [`/${name}`, run];
        run = [];
      }
    }
    if (run.length > 1) yield [`/${name}`, run];
  }
  const { result } = value;
  if (!isObject(result)) return;
  for (const [place, run] of runsOf(result)) yield [`/result${place}`, run];
}

/** The text of a content block, of a resource in one, or of a message. */
function textOf(item: unknown): string | undefined {
  if (!isObject(item)) return undefined;
  const { text, resource, content } = item;
  if (typeof text === 'string') return text;
  const within = isObject(resource) ? resource : content;
  return isObject(within) && typeof within.text === 'string' ? within.text : undefined;
}
