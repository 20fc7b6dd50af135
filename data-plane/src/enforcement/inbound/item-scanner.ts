import { hash } from 'node:crypto';
import type { InboundFinding } from '@governance/shared/detect/findings';
import type { DetectionOptions, TextKind } from '@governance/shared/detect/inbound/detector';
import type { Portioned } from '@governance/shared/detect/portions';
import { LRUCache } from 'lru-cache';

/** Items whose findings are cached, since the same lists arrive repeatedly. */
const MAX_ITEMS = 5_000;

/** Finds injections in an item of a list. Equal items are scanned once. */
export type ScanItem = (item: unknown, kind: TextKind) => Portioned<readonly InboundFinding[]>;

/** @param detect finds injections in a value; equal values have equal findings */
export function createItemScanner(
  detect: (value: unknown, options: DetectionOptions) => Portioned<InboundFinding[]>,
): ScanItem {
  const known = new LRUCache<string, readonly InboundFinding[]>({ max: MAX_ITEMS });
  return function* scanItem(item, kind) {
    const key = hash('sha256', `${kind} ${JSON.stringify(item)}`, 'base64');
    let found = known.get(key);
    if (found === undefined) {
      found = yield* detect(item, { kind });
      known.set(key, found);
    }
    return found;
  };
}
