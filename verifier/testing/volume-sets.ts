/**
 * Sets of volumes: whole ones, and forgeries of which every volume verifies alone or seems
 * plausible, each with the check of the set that must find it.
 */
import type { TrustAnchor } from '@governance/shared/evidence/trust-anchor';
import type { SetCheckName } from '../src/set-checks.ts';
import { aFullStory } from './good-packages.ts';
import {
  aPackage,
  digestOf,
  type Members,
  type PackageParts,
  type PackageRequest,
  packMembers,
  sealPackage,
} from './package-builder.ts';
import { idOf } from './test-keys.ts';
import { anApproval, aStory, type Story } from './test-stories.ts';
import type { TestTenant } from './test-tenant.ts';

export interface VolumeSet {
  name: string;
  /** The check that finds the forgery; absent for a whole set. */
  check?: SetCheckName;
  make(): { volumes: Buffer[]; anchor: TrustAnchor };
}

/** The anchor is from when the log had this many leaves. */
const PINNED = 3;

interface Volume extends PackageRequest {
  tenant: TestTenant;
  change?: (parts: PackageParts) => void;
}

/** Seals volumes in order, each naming the previous one. */
function seal(volumes: readonly Volume[], of = volumes.length): Members[] {
  const sealed: Members[] = [];
  for (const [i, { tenant, change, ...request }] of volumes.entries()) {
    const before = sealed.at(-1);
    const volume = { number: i + 1, of, previous: before ? digestOf(before) : null };
    const parts = aPackage(tenant, { anchorSizes: [PINNED], volume, ...request });
    change?.(parts);
    sealed.push(sealPackage(parts, tenant.keys.evidence));
  }
  return sealed;
}

/** Approvals and delegations explain calls in any volume. */
const isCause = (bytes: Buffer): boolean =>
  bytes.includes('"action":"escalation_approved"') ||
  bytes.includes('"action":"delegation_issued"');

const recordsBefore = (tenant: TestTenant, leaf: number): ReadonlySet<string> =>
  new Set(tenant.leaves.slice(0, leaf).flatMap(({ records }) => records.map(String)));

/** The whole log of a tenant, cut before these leaves. */
function cutAt(tenant: TestTenant, ...cuts: number[]): Volume[] {
  return [...cuts, tenant.leaves.length].map((end, i) => {
    const start = cuts[i - 1] ?? 0;
    const before = recordsBefore(tenant, start);
    return { tenant, start, end, causes: (bytes) => isCause(bytes) && before.has(String(bytes)) };
  });
}

const packed = (tenant: TestTenant, sealed: readonly Members[]) => ({
  volumes: sealed.map(packMembers),
  anchor: tenant.anchor(PINNED),
});

/** The volumes of a log that is cut before these leaves. */
export const whole = (tenant: TestTenant, ...cuts: number[]) =>
  packed(tenant, seal(cutAt(tenant, ...cuts)));

/** What happened after a story; the second volume has everything from `cut` on. */
function told(go: (story: Story) => void): { tenant: TestTenant; cut: number; story: Story } {
  const story = aStory();
  go(story);
  const cut = story.tenant.leaves.length;
  return { tenant: story.tenant, cut, story };
}

/** Two volumes of the decisions of a log. */
function selective(tenant: TestTenant, cut: number): Volume[] {
  const early = recordsBefore(tenant, cut);
  const isDecision = (bytes: Buffer) => bytes.includes('"type":"decision"');
  const half = (isEarly: boolean): Volume => ({
    ...{ tenant, kind: 'selective', causes: isCause },
    pick: (bytes) => isDecision(bytes) && early.has(String(bytes)) === isEarly,
  });
  return [half(true), { ...half(false), start: cut }];
}

export const VOLUME_SETS: readonly VolumeSet[] = [
  { name: 'three volumes', make: () => whole(aFullStory().tenant, 4, 9) },
  {
    name: 'an approval in one volume and its call in the next',
    make: () => whole(aFullStory().tenant, 10),
  },
  {
    name: 'selective volumes',
    make: () => {
      const { tenant } = aFullStory();
      return packed(tenant, seal(selective(tenant, 7)));
    },
  },
  {
    name: 'a volume that repeats records of the one before',
    make: () => {
      const { tenant, cut, story } = told(({ tenant, one }) => {
        tenant.decide(one);
        tenant.decide(one);
        const again = [...one.waiting];
        one.ship();
        one.waiting = again;
      });
      tenant.decide(story.one);
      story.one.ship();
      return whole(tenant, cut);
    },
  },
  {
    name: 'volumes that are cut behind records that nobody can read',
    make: () => {
      const { tenant, cut, story } = told(unreadEnd);
      story.one.addUnreadable(Buffer.from('nothing, once more'));
      story.one.ship();
      tenant.decide(story.one);
      story.one.ship();
      return whole(tenant, cut, cut + 1);
    },
  },
  {
    name: 'a volume that repeats records that nobody can read',
    make: () => {
      const { tenant, cut, story } = told(({ tenant, one }) => {
        unreadEnd({ tenant, one });
        one.waiting = tenant.leaves.at(-1)?.records.slice(1) ?? [];
      });
      tenant.decide(story.one);
      story.one.ship();
      return whole(tenant, cut);
    },
  },
  {
    name: 'a volume that is missing',
    check: 'set.volumes',
    make: () => {
      const { tenant } = aFullStory();
      const [first, , last] = seal(cutAt(tenant, 4, 9));
      return packed(tenant, [first as Members, last as Members]);
    },
  },
  {
    name: 'a volume that was left out, and the others numbered anew',
    check: 'set.log',
    make: () => {
      const { tenant } = aFullStory();
      const [first, , last] = cutAt(tenant, 4, 9);
      return packed(tenant, seal([first as Volume, last as Volume]));
    },
  },
  {
    name: 'volumes in another order',
    check: 'set.volumes',
    make: () => {
      const { tenant } = aFullStory();
      return packed(tenant, seal(cutAt(tenant, 4, 9)).reverse());
    },
  },
  {
    name: 'a volume of another export',
    check: 'set.volumes',
    make: () => {
      const { tenant } = aFullStory();
      const [first, second] = cutAt(tenant, 6) as [Volume, Volume];
      const change = ({ manifest }: PackageParts) => {
        manifest.set_id = idOf('another export');
      };
      return packed(tenant, seal([first, { ...second, change }]));
    },
  },
  {
    // Both continue what the anchor pins, and each signature is the issuer's.
    name: 'a volume of another log of the same issuer',
    check: 'set.log',
    make: () => {
      const { tenant } = aFullStory();
      const other = aFullStory().tenant;
      const [four, five] = other.leaves.slice(4, 6);
      if (four && five) other.leaves.splice(4, 2, five, four);
      const [first] = cutAt(tenant, 6);
      const [, second] = cutAt(other, 6);
      return packed(tenant, seal([first as Volume, second as Volume]));
    },
  },
  {
    name: 'a volume of the log epoch after',
    check: 'set.log',
    make: () => {
      const { tenant } = aStory();
      const anchor = tenant.anchor(PINNED);
      const [first] = seal([{ tenant, end: 6 }], 2);
      tenant.restoreTo(6);
      const plane = tenant.plane('plane-3');
      tenant.decide(plane);
      plane.ship();
      const volume = { number: 2, of: 2, previous: digestOf(first as Members) };
      const parts = aPackage(tenant, { anchorSizes: [PINNED], start: 6, volume });
      const second = sealPackage(parts, tenant.keys.evidence);
      return { ...packed(tenant, [first as Members, second]), anchor };
    },
  },
  {
    name: 'a record that was never given to the log, between two volumes',
    check: 'set.streams',
    make: () => {
      const { tenant, cut, story } = told(() => undefined);
      const { one } = story;
      tenant.decide(one);
      const [hidden] = one.waiting.splice(0);
      tenant.decide(one);
      one.ship();
      return packed(tenant, seal(showing(cutAt(tenant, cut), one.id, hidden)));
    },
  },
  {
    name: 'a stream whose first records no volume has',
    check: 'set.streams',
    make: () => {
      const { tenant, cut } = told(() => undefined);
      const plane = tenant.plane('plane-3');
      const [hidden] = plane.waiting.splice(0);
      tenant.decide(plane);
      plane.ship();
      return packed(tenant, seal(showing(cutAt(tenant, cut), plane.id, hidden)));
    },
  },
  {
    name: 'a stream that goes another way in the next volume',
    check: 'set.streams',
    make: () => {
      let place = { seq: 0, head: '' };
      const { tenant, cut, story } = told(({ tenant, one }) => {
        place = { seq: one.seq, head: one.head };
        tenant.decide(one);
        one.ship();
      });
      Object.assign(story.one, place);
      tenant.decide(story.one, { tool_name: 'delete_file' });
      tenant.decide(story.one);
      story.one.ship();
      return whole(tenant, cut);
    },
  },
  {
    // The repeated record names no hash, so its own hash does not show what was before it.
    name: 'a stream that went another way before a record that nobody can read',
    check: 'set.streams',
    make: () => {
      let place = { seq: 0, head: '' };
      const { tenant, cut, story } = told((told) => {
        place = { seq: told.one.seq, head: told.one.head };
        unreadEnd(told);
      });
      Object.assign(story.one, place);
      unreadEnd(story, { tool_name: 'delete_file' });
      const again = tenant.leaves.pop();
      story.one.waiting = again?.records ?? [];
      tenant.decide(story.one);
      story.one.ship();
      return whole(tenant, cut);
    },
  },
  {
    name: 'a record that nobody can read, repeated behind another one',
    check: 'set.streams',
    make: () => {
      const { tenant, cut, story } = told(unreadEnd);
      const { one } = story;
      const { seq } = one;
      // As if another call had come before it, of which its writer signed only the hash.
      Object.assign(one, { seq: seq - 2, head: tenant.leaves.at(-1)?.header.prev_head });
      tenant.decide(one, { tool_name: 'delete_file' });
      const [other] = one.waiting.splice(0);
      one.addUnreadable(Buffer.from('nothing'));
      tenant.decide(one);
      one.ship();
      return packed(tenant, seal(showing(cutAt(tenant, cut), one.id, other)));
    },
  },
  {
    name: 'a stream that went another way behind the beginning of an export',
    check: 'set.streams',
    make: () => {
      const { tenant, one } = aStory();
      const before = { seq: one.seq, head: one.head };
      unreadEnd({ tenant, one });
      tenant.wait(60);
      const [from, start] = [tenant.now(), tenant.leaves.length];
      tenant.decide(one);
      const [later] = one.waiting;
      const { seq, head } = one;
      one.ship();
      Object.assign(one, before);
      tenant.decide(one, { tool_name: 'delete_file' });
      one.addUnreadable(Buffer.from('nothing'));
      one.waiting.push(later as Buffer);
      Object.assign(one, { seq, head });
      one.ship();
      const cut = start + 1;
      return packed(
        tenant,
        seal([
          { tenant, start, end: cut, from },
          { tenant, start: cut, from },
        ]),
      );
    },
  },
  {
    name: 'an approval that is used in two volumes',
    check: 'set.approvals',
    make: () => useTwice((tenant, cut) => cutAt(tenant, cut)),
  },
  {
    name: 'an approval that is used in two selective volumes',
    check: 'set.approvals',
    make: () => useTwice(selective),
  },
];

/** A batch that ends with an unreadable record. */
function unreadEnd(
  { tenant, one }: Pick<Story, 'tenant' | 'one'>,
  given: Parameters<TestTenant['decide']>[1] = {},
): void {
  tenant.decide(one, given);
  one.addUnreadable(Buffer.from('nothing'));
  one.ship();
}

/** Each call could be the approved one; together they are one too many. */
function useTwice(cut: (tenant: TestTenant, cut: number) => Volume[]) {
  const { tenant, cut: at, story } = told(anApproval);
  const used = story.tenant.leaves.at(-1)?.records.map((bytes) => JSON.parse(String(bytes)));
  const { agent_id, mcp_server, tool_name, grant_id } = used?.at(-1) ?? {};
  tenant.decide(story.one, { agent_id, mcp_server, tool_name, grant_id });
  story.one.ship();
  return packed(tenant, seal(cut(tenant, at)));
}

/** The last volume says which record came before. */
function showing(volumes: Volume[], stream: string, record: Buffer | undefined): Volume[] {
  const change = ({ proofs }: PackageParts) => {
    proofs.boundaries.push({ stream, record: String(record) });
  };
  return volumes.map((one, i) => (i === volumes.length - 1 ? { ...one, change } : one));
}
