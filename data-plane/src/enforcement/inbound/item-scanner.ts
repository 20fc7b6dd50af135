import { hash } from 'node:crypto';
import type { InboundFinding } from '@governance/shared/detect/findings';
import { highestRank, rankOf } from '@governance/shared/detect/gravest';
import type { DetectionOptions, TextKind } from '@governance/shared/detect/inbound/detector';
import type { Portioned } from '@governance/shared/detect/portions';
import { LRUCache } from 'lru-cache';
import { isObject } from '../../upstream/message.ts';

/** Items whose findings are cached, since the same lists arrive repeatedly. */
const MAX_ITEMS = 5_000;

/** Shorter names say too little. */
const MIN_NAME = 20;
const JOINTS = /[_\-.:/]+|(?<=[a-z])(?=[A-Z])/g;

/** Finds injections in an item of a list. Equal items are scanned once. */
export type ScanItem = (item: unknown, kind: TextKind) => Portioned<readonly InboundFinding[]>;

/** @param detect finds injections in a value; equal values have equal findings */
export function createItemScanner(
  detect: (value: unknown, options: DetectionOptions) => Portioned<InboundFinding[]>,
): ScanItem {
  const cache = new LRUCache<string, readonly InboundFinding[]>({ max: MAX_ITEMS });
  return function* scanItem(item, kind) {
    const key = hash('sha256', `${kind} ${JSON.stringify(item)}`, 'base64');
    let found = cache.get(key);
    if (found === undefined) {
      const ofItem = yield* detect(item, { kind });
      const words = spacedName(item);
      const ofName = words === null ? [] : yield* detect(words, { kind });
      const known = highestRank(ofItem);
      const news = ofName.filter((one) => rankOf(one) > known);
      found = [...ofItem, ...news.map((one) => ({ ...one, place: '/name' }))];
      cache.set(key, found);
    }
    return found;
  };
}

/**
 * An item's name with blanks between its words, numbers and addresses kept; null where it is no other
 * text.
 */
function spacedName(item: unknown): string | null {
  const { name } = isObject(item) ? item : {};
  if (typeof name !== 'string' || name.length < MIN_NAME) return null;
  const words = name.replace(JOINTS, ' ');
  return words === name ? null : words;
}
