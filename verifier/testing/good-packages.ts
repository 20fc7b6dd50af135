/** One good package of each kind, with the anchor that it is verified against. */
import { MAX_SHOWN_BYTES } from '@governance/shared/evidence/large-record';
import { DISPUTED_PACKAGES } from './disputes.ts';
import { PACKAGES_WITH_LIES } from './lying-planes.ts';
import {
  aPackage,
  aPacked,
  digestOf,
  type GoodPackage,
  jsonOf,
  type PackageRequest,
  packMembers,
  sealPackage,
} from './package-builder.ts';
import { aBundleKey, anEd25519Key } from './test-keys.ts';
import { aDelegation, anApproval, aStory } from './test-stories.ts';
import { type TestTenant, timeOf } from './test-tenant.ts';
import { WITNESSED_PACKAGES } from './witnessed-packages.ts';

/** The anchor dates from when the log had this many leaves. */
const PINNED = 3;
const isDecision = (bytes: Buffer) => bytes.includes('"type":"decision"');
export const SELECTIVE: PackageRequest = {
  kind: 'selective',
  pick: isDecision,
  causes: (bytes) => !isDecision(bytes),
};

/** Uses everything that the format supports. */
export function aFullStory(seed?: string) {
  const story = aStory(seed);
  anApproval(story);
  aDelegation(story);
  return story;
}

const packed = (request: PackageRequest) => () => {
  const { tenant } = aFullStory();
  const bytes = aPacked(tenant, { anchorSizes: [PINNED], ...request });
  return { bytes, anchor: tenant.anchor(PINNED) };
};

const volume = (number: 1 | 2) => () => {
  const { tenant } = aFullStory();
  const seal = (request: PackageRequest) =>
    sealPackage(aPackage(tenant, { anchorSizes: [PINNED], ...request }), tenant.keys.evidence);
  const first = seal({ end: 5, volume: { number: 1, of: 2, previous: null } });
  if (number === 1) return { bytes: packMembers(first), anchor: tenant.anchor(PINNED) };
  const previous = digestOf(first);
  const second = seal({ start: 5, volume: { number: 2, of: 2, previous } });
  return { bytes: packMembers(second), anchor: tenant.anchor(PINNED) };
};

/** What is appended to a restored log. */
export function callSomewhereElse(tenant: TestTenant): void {
  const plane = tenant.plane('plane-3');
  for (let i = 0; i < 5; i++) {
    tenant.decide(plane);
    plane.ship();
  }
}

export const GOOD_PACKAGES: readonly GoodPackage[] = [
  { name: 'contiguous', make: packed({}) },
  { name: 'contiguous with payloads', make: packed({ payloads: true }) },
  { name: 'the later part of a log', make: packed({ start: 5, from: timeOf(60) }) },
  {
    name: 'behind records that nobody can read',
    make: () => {
      const { tenant, one } = aFullStory();
      tenant.decide(one);
      one.addUnreadable(Buffer.from('nothing'));
      one.ship();
      one.addUnreadable(Buffer.from('nothing more'));
      one.ship();
      tenant.wait(60);
      const from = tenant.now();
      const start = tenant.leaves.length;
      tenant.decide(one);
      one.addUnreadable(Buffer.from('nothing again'));
      one.ship();
      const bytes = aPacked(tenant, { anchorSizes: [PINNED], start, from });
      return { bytes, anchor: tenant.anchor(PINNED) };
    },
  },
  {
    // Each matches its schema, except that a member with arbitrary content may hold anything.
    name: 'with records that no verifier would read',
    make: () => {
      const { tenant } = aFullStory();
      const deep = Array.from({ length: 40 }).reduce<unknown>((inner) => [inner], 1);
      tenant.act('policy_created', 'policy', { deep });
      tenant.act('policy_created', 'policy', { ['k'.repeat(9_000)]: 1 });
      tenant.act('policy_created', 'policy', JSON.parse('{"__proto__":{"a":1}}'));
      const bytes = aPacked(tenant, { anchorSizes: [PINNED] });
      return { bytes, anchor: tenant.anchor(PINNED) };
    },
  },
  {
    name: 'with records that are too large for a line, and behind one',
    make: () => {
      const { tenant, one } = aFullStory();
      one.addUnreadable(Buffer.alloc(MAX_SHOWN_BYTES + 1, 'x'));
      one.ship();
      tenant.wait(60);
      const [from, start] = [tenant.now(), tenant.leaves.length];
      // The end of the hash takes one block, or two.
      for (const more of [1, 54, 55, 56, 63, 64]) {
        one.addUnreadable(Buffer.alloc(MAX_SHOWN_BYTES + more, 'y'));
      }
      tenant.decide(one);
      one.ship();
      const bytes = aPacked(tenant, { anchorSizes: [PINNED], start, from });
      return { bytes, anchor: tenant.anchor(PINNED) };
    },
  },
  {
    // Version 2 took such a record once, so that it stays valid.
    name: 'with the start of an answer whose status HTTP does not know',
    make: () => {
      const { tenant, one } = aFullStory();
      const model = { name: 'm', has_system_prompt: false, has_tools: false, message_count: 1 };
      const id = tenant.decide(one, { model });
      one.add({ type: 'answer_started', bundle_revision: 7, event_id: id, status: 700 });
      one.ship();
      const bytes = aPacked(tenant, { anchorSizes: [PINNED] });
      return { bytes, anchor: tenant.anchor(PINNED) };
    },
  },
  { name: 'selective with causes', make: packed(SELECTIVE) },
  { name: 'volume 1 of 2', make: volume(1) },
  { name: 'volume 2 of 2', make: volume(2) },
  {
    name: 'as a JSON document',
    make: () => {
      const { tenant } = aFullStory();
      const parts = aPackage(tenant, { anchorSizes: [PINNED] });
      const bytes = jsonOf(sealPackage(parts, tenant.keys.evidence));
      return { bytes, anchor: tenant.anchor(PINNED) };
    },
  },
  {
    name: 'keys that follow those of the anchor',
    make: () => {
      const story = aStory();
      const { tenant } = story;
      const anchor = tenant.anchor(PINNED);
      for (const purpose of ['evidence', 'checkpoint', 'batch'] as const) {
        tenant.wait(600);
        tenant.rotate(purpose, anEd25519Key(`${purpose}-2`));
        tenant.rotate(purpose, anEd25519Key(`${purpose}-3`));
      }
      tenant.wait(600);
      anApproval(story, { grant_expires_at: timeOf(100_000) });
      return { bytes: aPacked(tenant, { anchorSizes: [PINNED] }), anchor };
    },
  },
  {
    name: 'a bundle key that follows that of the anchor',
    make: () => {
      const { tenant, one } = aStory();
      const anchor = tenant.anchor(PINNED);
      tenant.rotate('bundle', aBundleKey('bundle-2'));
      tenant.publish(8);
      tenant.decide(one, { bundle_revision: 8 });
      one.ship();
      return { bytes: aPacked(tenant, { anchorSizes: [PINNED] }), anchor };
    },
  },
  {
    name: 'a log that went on after a restore',
    make: () => {
      const { tenant } = aStory();
      const anchor = tenant.anchor(PINNED);
      tenant.restoreTo(4);
      callSomewhereElse(tenant);
      return { bytes: aPacked(tenant, { anchorSizes: [PINNED] }), anchor };
    },
  },
  {
    name: 'an anchor of what a restore lost, whose leaves came again',
    make: () => {
      const { tenant } = aStory();
      const anchor = tenant.anchor(6);
      const again = tenant.leaves.slice(4);
      tenant.restoreTo(4);
      tenant.leaves.push(...again);
      callSomewhereElse(tenant);
      return { bytes: aPacked(tenant, { anchorSizes: [6] }), anchor };
    },
  },
  {
    name: 'the part of a log before the place of a restore',
    make: () => {
      const { tenant } = aStory();
      const anchor = tenant.anchor(5);
      tenant.restoreTo(6);
      callSomewhereElse(tenant);
      return { bytes: aPacked(tenant, { end: 4, anchorSizes: [5] }), anchor };
    },
  },
  {
    name: 'two restores, of which the second lost the epoch of the first',
    make: () => {
      const { tenant } = aStory();
      const anchor = tenant.anchor(PINNED);
      tenant.restoreTo(4, { epoch: 3 });
      callSomewhereElse(tenant);
      return { bytes: aPacked(tenant, { anchorSizes: [PINNED] }), anchor };
    },
  },
  {
    name: 'two restores, of which the second kept less than the first',
    make: () => {
      const { tenant } = aStory();
      const anchor = tenant.anchor(PINNED);
      tenant.restoreTo(6);
      tenant.restoreTo(4);
      callSomewhereElse(tenant);
      return { bytes: aPacked(tenant, { anchorSizes: [PINNED] }), anchor };
    },
  },
  {
    name: 'older than the anchor, and leading to it',
    make: () => {
      const { tenant } = aStory();
      const bytes = aPacked(tenant, { end: 6, anchorSizes: [8] });
      return { bytes, anchor: tenant.anchor(8) };
    },
  },
  ...PACKAGES_WITH_LIES,
  ...DISPUTED_PACKAGES,
  ...WITNESSED_PACKAGES,
];
