/** Attacks on records that are shown by their size and the end of their hash. */

import type { CheckName } from '@governance/shared/evidence/checks/check';
import { type LargeRecord, MAX_SHOWN_BYTES } from '@governance/shared/evidence/large-record';
import { canonicalize } from '@governance/shared/json/canonical-json';
import { describeLargeRecord } from '@governance/shared/testing/test-evidence';
import type { Forgery } from './forgery.ts';
import { aPackage, packMembers, sealPackage } from './package-builder.ts';
import { aStory } from './test-stories.ts';

const PINNED = 3;
const START = Buffer.from('{"large_record":');

function forged(
  name: string,
  check: CheckName,
  change: (large: LargeRecord['large_record']) => void,
): Forgery {
  const make = () => {
    const { tenant, one } = aStory();
    const anchor = tenant.anchor(PINNED);
    tenant.decide(one);
    one.addUnreadable(Buffer.alloc(MAX_SHOWN_BYTES + 10, 'x'));
    tenant.decide(one);
    one.ship();
    const parts = aPackage(tenant, { anchorSizes: [PINNED] });
    const at = parts.events.findIndex((line) => line.subarray(0, START.length).equals(START));
    const line = JSON.parse(String(parts.events[at])) as LargeRecord;
    change(line.large_record);
    parts.events[at] = Buffer.from(canonicalize(line));
    return { bytes: packMembers(sealPackage(parts, tenant.keys.evidence)), anchor };
  };
  return { name, check, make };
}

/** SHA-256 before its first block (FIPS 180-4, 5.3.3). */
const INITIAL = '6a09e667bb67ae853c6ef372a54ff53a510e527f9b05688c1f83d9ab5be0cd19';

export const LARGE_RECORD_FORGERIES: readonly Forgery[] = [
  forged('a large record of another size', 'batch.root', (large) => {
    large.size += 64;
  }),
  forged('a large record with another end', 'batch.root', (large) => {
    large.rest = Buffer.alloc(Buffer.from(large.rest, 'base64').length, 'y').toString('base64');
  }),
  forged('a large record whose end does not belong to its size', 'events.schema', (large) => {
    large.size += 1;
  }),
  forged('another large record in the place of one', 'chain.links', (large) => {
    const other = describeLargeRecord(Buffer.alloc(MAX_SHOWN_BYTES + 10, 'z'));
    Object.assign(large, other.large_record);
  }),
  forged('a record that has room, said to be too large', 'events.schema', (large) => {
    const rest = Buffer.from('\u0000nothing').toString('base64');
    Object.assign(large, { size: 'nothing'.length, state: INITIAL, rest });
  }),
];
