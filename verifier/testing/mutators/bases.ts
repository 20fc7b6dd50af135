/** The good packages that are mutated: each kind, of several tenants. */
import { logOrigin, signCheckpoint } from '@governance/shared/evidence/checkpoint';
import type { TrustAnchor } from '@governance/shared/evidence/trust-anchor';
import { aDisputedLie } from '../disputes.ts';
import { aFullStory, callSomewhereElse, SELECTIVE } from '../good-packages.ts';
import { aPackage, type PackageRequest, sealPackage } from '../package-builder.ts';
import { anEd25519Key } from '../test-keys.ts';
import { anApproval, aStory } from '../test-stories.ts';
import { type TestTenant, timeOf } from '../test-tenant.ts';
import { cosign, WITNESSES } from '../witnessed-packages.ts';
import type { Base } from './mutator.ts';

const PINNED = 3;

function baseOf(
  name: string,
  tenant: TestTenant,
  request: PackageRequest = {},
  anchor: TrustAnchor = tenant.anchor(PINNED),
): Base {
  const parts = aPackage(tenant, { anchorSizes: [PINNED], ...request });
  const signer = tenant.keys.evidence;
  return { name, parts, members: sealPackage(parts, signer), anchor, signer };
}

function aRotated(): Base {
  const story = aStory('rotated');
  const { tenant } = story;
  const anchor = tenant.anchor(PINNED);
  for (const purpose of ['evidence', 'checkpoint', 'batch'] as const) {
    tenant.wait(600);
    tenant.rotate(purpose, anEd25519Key(`rotated-${purpose}-2`));
    tenant.rotate(purpose, anEd25519Key(`rotated-${purpose}-3`));
  }
  tenant.wait(600);
  anApproval(story, { grant_expires_at: timeOf(100_000) });
  return baseOf('keys that were rotated', tenant, {}, anchor);
}

function aRestored(): Base {
  const { tenant } = aStory('restored');
  const anchor = tenant.anchor(PINNED);
  tenant.restoreTo(4);
  callSomewhereElse(tenant);
  return baseOf('a log that was restored', tenant, {}, anchor);
}

/** Two of three witnesses cosigned: with one fewer there is no quorum. */
function aWitnessed(): Base {
  const { tenant } = aStory('witnessed');
  const [end, size] = [6, 8];
  const parts = aPackage(tenant, { end, anchorSizes: [PINNED, size] });
  const origin = logOrigin(tenant.id, tenant.logEpoch);
  const later = { origin, size, root: tenant.rootOf(size), time: timeOf(500) };
  const note = signCheckpoint(later, tenant.keys.checkpoint.key);
  parts.checkpoints.set(size, note);
  parts.witness.push(
    { size, cosignature: cosign(note, 'w1') },
    { size: end, cosignature: cosign(parts.checkpoints.get(end) ?? '', 'w2') },
  );
  const signer = tenant.keys.evidence;
  const anchor = tenant.anchor(PINNED, { witnesses: WITNESSES });
  return { name: 'witnesses', parts, members: sealPackage(parts, signer), anchor, signer };
}

/** A stream with unreadable records just before the package, and in it. */
function anUnread(): Base {
  const { tenant, one } = aStory('unread');
  tenant.decide(one);
  one.addUnreadable(Buffer.from('nothing'));
  one.ship();
  one.addUnreadable(Buffer.from('nothing more'));
  one.ship();
  tenant.wait(60);
  const request = { start: tenant.leaves.length, from: tenant.now() };
  // A statement about a writer that is not in the package could say anything.
  tenant.writers = tenant.writers.filter(({ statement }) => statement.stream === one.id);
  tenant.decide(one);
  one.addUnreadable(Buffer.from('nothing again'));
  one.ship();
  return baseOf('behind records that nobody can read', tenant, request);
}

/** Inventions of a data plane, each disputed. */
function aDisputed(): Base {
  const story = aStory('disputed');
  for (const check of ['policy.binding', 'approval.binding', 'delegation.binding'] as const) {
    aDisputedLie(story, check);
  }
  return baseOf('inventions that were disputed', story.tenant);
}

/** @returns those with which a run begins; making them costs some signatures */
export function makeBases(): Base[] {
  const { tenant } = aFullStory();
  const other = aFullStory('other').tenant;
  return [
    baseOf('contiguous', tenant, { payloads: true }),
    baseOf('selective', tenant, { ...SELECTIVE, end: tenant.leaves.length - 1 }),
    baseOf('another tenant', other, { payloads: true }),
    baseOf('the later part of a log', other, { start: 5, from: timeOf(60) }),
    baseOf('a short log', aStory('short').tenant, { end: 4 }),
    aRotated(),
    aRestored(),
    aWitnessed(),
    anUnread(),
    aDisputed(),
  ];
}
