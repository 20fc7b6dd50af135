/**
 * Always: a log as writers write it, with unreadable records anywhere, epochs and overlapping
 * batches, is VERIFIED however it is cut into volumes; with a record or a batch swapped or removed
 * it is not. Both implementations agree.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { TrustAnchor } from '@governance/shared/evidence/trust-anchor';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findMissingPython, secondOpinionOfSet } from '../testing/second-opinion.ts';
import { type TestStream, TestTenant } from '../testing/test-tenant.ts';
import { whole } from '../testing/volume-sets.ts';
import { SERVICE_LIMITS } from './verify-package.ts';
import { verifySet } from './verify-set.ts';

type Step = 'decide' | 'unread' | 'ship' | 'boot' | { back: number };

const step = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Step>('decide') },
  { weight: 4, arbitrary: fc.constant<Step>('unread') },
  { weight: 4, arbitrary: fc.constant<Step>('ship') },
  { weight: 1, arbitrary: fc.constant<Step>('boot') },
  { weight: 2, arbitrary: fc.record({ back: fc.integer({ min: 1, max: 6 }) }) },
);
const story = fc.record({
  steps: fc.array(fc.tuple(fc.boolean(), step), { maxLength: 25 }),
  cuts: fc.array(fc.nat(40), { maxLength: 4 }),
});
type Told = typeof story extends fc.Arbitrary<infer T> ? T : never;

function take(tenant: TestTenant, plane: TestStream, shipped: Buffer[], one: Step): void {
  const ship = () => {
    if (plane.waiting.length === 0) return;
    shipped.push(...plane.waiting);
    plane.ship();
  };
  if (one === 'decide') tenant.decide(plane);
  // The same bytes repeated do not make the same record.
  else if (one === 'unread') plane.addUnreadable(Buffer.from('nothing'));
  else if (one === 'ship') ship();
  else if (one === 'boot') {
    ship();
    shipped.length = 0;
    plane.boot();
  } else if (plane.waiting.length > 0) {
    // Of the same epoch: shipped records come again before new ones.
    const again = shipped.slice(-one.back);
    shipped.push(...plane.waiting);
    plane.waiting = [...again, ...plane.waiting];
    plane.ship();
  }
}

function tell({ steps, cuts }: Told) {
  const tenant = new TestTenant('any');
  // The place that the anchor of a set pins.
  for (const action of ['tenant_created', 'user_created', 'user_created']) {
    tenant.act(action, 'tenant', {});
  }
  const planes = [true, false].map((isFirst) => ({
    isFirst,
    plane: tenant.plane(isFirst ? 'plane-1' : 'plane-2'),
    shipped: [] as Buffer[],
  }));
  for (const [isFirst, one] of steps) {
    const { plane, shipped } = planes.find((each) => each.isFirst === isFirst) ?? {};
    if (plane && shipped) take(tenant, plane, shipped, one);
  }
  tenant.act('policy_created', 'policy', {});
  const size = tenant.leaves.length;
  const places = cuts.map((at) => at % size).filter((at) => at > 0);
  return { tenant, cuts: [...new Set(places)].sort((a, b) => a - b) };
}

const verify = (volumes: readonly Buffer[], anchor: TrustAnchor) =>
  verifySet(
    volumes.map((bytes) => Readable.from([bytes])),
    { anchor, issuers: [], limits: SERVICE_LIMITS },
  );

const failedOf = ({ checks, volumes }: Awaited<ReturnType<typeof verify>>) =>
  [...checks, ...volumes.flatMap((one) => one.checks)].filter(({ status }) => status === 'fail');

function secondVerdict(volumes: readonly Buffer[], anchor: TrustAnchor): string {
  const folder = mkdtempSync(join(tmpdir(), 'honest-log-'));
  try {
    const paths = volumes.map((bytes, n) => {
      writeFileSync(join(folder, `${n}.tar.gz`), bytes);
      return join(folder, `${n}.tar.gz`);
    });
    writeFileSync(join(folder, 'anchor.json'), JSON.stringify(anchor));
    return secondOpinionOfSet(paths, join(folder, 'anchor.json')).verdict;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A change to the log that whoever stores it can make, without signing for any writer. */
const harm = fc.record({
  what: fc.constantFrom('swap records', 'take a record', 'swap batches', 'take a batch'),
  leaf: fc.nat(),
  record: fc.nat(),
});
type Harm = typeof harm extends fc.Arbitrary<infer T> ? T : never;

/** @returns whether anything has changed */
function doHarm(tenant: TestTenant, { what, leaf, record }: Harm): boolean {
  const { leaves } = tenant;
  const before = JSON.stringify(leaves);
  const at = leaf % leaves.length;
  const { records = [] } = leaves[at] ?? {};
  const n = record % records.length;
  if (what === 'take a record') records.splice(n, 1);
  else if (what === 'swap records') {
    const [one, other] = records.slice(n, n + 2);
    if (one && other) records.splice(n, 2, other, one);
  } else if (what === 'take a batch') leaves.splice(at, 1);
  else {
    const [one, other] = leaves.slice(at, at + 2);
    if (one && other) leaves.splice(at, 2, other, one);
  }
  return JSON.stringify(leaves) !== before;
}

describe('any log that writers write', () => {
  it('is verified however it is cut', async () => {
    await fc.assert(
      fc.asyncProperty(story, async (given) => {
        const { tenant, cuts } = tell(given);
        const { volumes, anchor } = whole(tenant, ...cuts);
        const result = await verify(volumes, anchor);
        expect(failedOf(result)).toEqual([]);
        expect(result.verdict).toBe('VERIFIED');
      }),
      { numRuns: 30 },
    );
  });

  it('is not with a record or a batch exchanged or taken out', async () => {
    await fc.assert(
      fc.asyncProperty(story, harm, async (given, done) => {
        const { tenant, cuts } = tell(given);
        const size = tenant.leaves.length;
        const anchor = tenant.anchor(size);
        fc.pre(doHarm(tenant, done));
        fc.pre(cuts.every((at) => at < tenant.leaves.length));
        const { volumes } = whole(tenant, ...cuts);
        expect((await verify(volumes, anchor)).verdict).not.toBe('VERIFIED');
      }),
      { numRuns: 30 },
    );
  });

  it.skipIf(findMissingPython() !== undefined)('gets the same verdict of both', () => {
    for (const given of fc.sample(story, { numRuns: 4, seed: 7 })) {
      const { tenant, cuts } = tell(given);
      const { volumes, anchor } = whole(tenant, ...cuts);
      expect(secondVerdict(volumes, anchor)).toBe('VERIFIED');
    }
    for (const [given, done] of fc.sample(fc.tuple(story, harm), { numRuns: 3, seed: 8 })) {
      const { tenant, cuts } = tell(given);
      const anchor = tenant.anchor(tenant.leaves.length);
      const isHarmed = doHarm(tenant, done);
      const { volumes } = whole(tenant, ...cuts.filter((at) => at < tenant.leaves.length));
      const verdict = secondVerdict(volumes, anchor);
      if (isHarmed) expect(verdict).not.toBe('VERIFIED');
    }
  });
});
