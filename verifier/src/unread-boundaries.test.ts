/** Packages and volumes that begin after unreadable records: whole ones, and forged ones. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { TrustAnchor } from '@governance/shared/evidence/trust-anchor';
import { canonicalize } from '@governance/shared/json/canonical-json';
import { afterAll, describe, expect, it } from 'vitest';
import {
  aPackage,
  type PackageParts,
  packMembers,
  sealPackage,
} from '../testing/package-builder.ts';
import { findMissingPython, opinionOf, secondOpinions } from '../testing/second-opinion.ts';
import { aStory } from '../testing/test-stories.ts';
import { type TestTenant, timeOf } from '../testing/test-tenant.ts';
import { SERVICE_LIMITS, verifyPackage } from './verify-package.ts';

const folder = mkdtempSync(join(tmpdir(), 'unread-boundaries-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const isAlone = findMissingPython() !== undefined;

/** The checks that fail; both implementations must agree. */
async function failedOf(bytes: Buffer, anchor: TrustAnchor): Promise<string[]> {
  const given = { anchor, issuers: [], limits: SERVICE_LIMITS };
  const report = await verifyPackage(Readable.from([bytes]), given);
  if (!isAlone) {
    const [path, anchorPath] = [join(folder, 'package.tar.gz'), join(folder, 'anchor.json')];
    writeFileSync(path, bytes);
    writeFileSync(anchorPath, JSON.stringify(anchor));
    expect(secondOpinions([path], anchorPath)).toEqual([opinionOf(report)]);
  }
  return report.checks.filter(({ status }) => status === 'fail').map(({ name }) => name);
}

interface Told {
  tenant: TestTenant;
  /** The stream with the unreadable records. */
  id: string;
  /** The first leaf after them, and the time from which records are requested. */
  start: number;
  from: string;
}

/**
 * A stream whose last records before the package are unreadable: two in one batch, one in the next.
 */
function told(): Told {
  const { tenant, one } = aStory();
  tenant.decide(one);
  one.addUnreadable(Buffer.from('nothing 1'));
  one.addUnreadable(Buffer.from('nothing 2'));
  one.ship();
  one.addUnreadable(Buffer.from('nothing 3'));
  one.ship();
  tenant.wait(60);
  const from = tenant.now();
  const start = tenant.leaves.length;
  tenant.decide(one);
  one.ship();
  return { tenant, id: one.id, start, from };
}

function packed({ tenant, start, from }: Told, change?: (parts: PackageParts) => void): Buffer {
  const parts = aPackage(tenant, { anchorSizes: [3], start, from });
  change?.(parts);
  return packMembers(sealPackage(parts, tenant.keys.evidence));
}

const verify = (story: Told, change?: (parts: PackageParts) => void) =>
  failedOf(packed(story, change), story.tenant.anchor(3));

describe('a package that begins behind unread records', () => {
  it('is verified where they are shown up to one that can be read', async () => {
    const story = told();
    const parts = aPackage(story.tenant, { start: story.start, from: story.from });
    expect(parts.proofs.boundaries).toHaveLength(4);
    expect(await verify(story)).toEqual([]);
  });

  it('is verified where its own first record cannot be read', async () => {
    const story = told();
    expect(await verify({ ...story, start: story.start - 1, from: timeOf(59) })).toEqual([]);
  });

  it('is verified where an epoch begins behind them', async () => {
    const { tenant, one } = aStory();
    one.addUnreadable(Buffer.from('nothing'));
    one.ship();
    const start = tenant.leaves.length;
    tenant.wait(60);
    const from = tenant.now();
    one.boot();
    one.ship();
    expect(await verify({ tenant, id: one.id, start, from })).toEqual([]);
  });

  it('is verified where the first record of an epoch, or of a stream, cannot be read', async () => {
    const { tenant, one } = aStory();
    one.boot();
    one.waiting = [];
    Object.assign(one, {
      seq: 0,
      head: tenant.leaves.findLast((leaf) => leaf.header.stream === one.id)?.header.head,
    });
    one.addUnreadable(Buffer.from('a beginning'));
    tenant.decide(one);
    one.ship();
    const plane = tenant.plane('plane-3');
    plane.waiting = [];
    Object.assign(plane, { seq: 0, head: '0'.repeat(64) });
    plane.addUnreadable(Buffer.from('another beginning'));
    plane.ship();
    const start = tenant.leaves.length;
    tenant.wait(60);
    const from = tenant.now();
    tenant.decide(plane);
    plane.ship();
    expect(await verify({ tenant, id: one.id, start: 0, from: timeOf(0) })).toEqual([]);
    expect(await verify({ tenant, id: plane.id, start, from })).toEqual([]);
  });
});

/** For the stream with the unreadable records, oldest first. */
const shownOf = ({ proofs }: PackageParts) => proofs.boundaries;
type Shown = ReturnType<typeof shownOf>;

describe('a package that begins behind unread records is found where', () => {
  it.each<[string, string, (shown: Shown, story: Told) => Shown | undefined]>([
    ['the record that can be read is left out', 'scope.complete', (shown) => shown.slice(1)],
    ['one in the middle is left out', 'scope.complete', (shown) => shown.toSpliced(1, 1)],
    ['the last is left out', 'chain.start', (shown) => shown.slice(0, -1)],
    ['they come in another order', 'scope.complete', (shown) => shown.toReversed()],
    ['one of them is there twice', 'scope.complete', (shown) => [shown[0], ...shown] as Shown],
    ['nothing is shown', 'chain.start', () => []],
    [
      'the last has no place',
      'scope.complete',
      (shown) => [...shown.slice(0, -1), { ...shown.at(-1), place: undefined }] as Shown,
    ],
    [
      'only the last is shown, without a place',
      'chain.start',
      (shown) => [{ ...shown.at(-1), place: undefined }] as Shown,
    ],
    [
      'one is other bytes',
      'scope.complete',
      (shown) =>
        shown.with(1, {
          ...shown[1],
          record: canonicalize({ unread_record: Buffer.from('other').toString('base64') }),
        } as Shown[number]),
    ],
    [
      'one that can be read is said to be unreadable',
      'scope.complete',
      (shown) =>
        shown.with(0, {
          ...shown[0],
          record: canonicalize({
            unread_record: Buffer.from(shown[0]?.record ?? '').toString('base64'),
          }),
        } as Shown[number]),
    ],
    [
      'one is said to be elsewhere in its batch',
      'scope.complete',
      (shown) => {
        const { place } = shown[1] as Shown[number];
        if (place) place.index++;
        return shown;
      },
    ],
    [
      'one is said to be in another batch',
      'scope.complete',
      (shown) => {
        const { place } = shown[1] as Shown[number];
        if (place) place.leaf_index++;
        return shown;
      },
    ],
  ])('%s', async (_name, check, forge) => {
    const story = told();
    const failed = await verify(story, (parts) => {
      const forged = forge(structuredClone(shownOf(parts)), story);
      parts.proofs.boundaries =
        forged?.map((one) => {
          const { place, ...rest } = one;
          return place ? one : rest;
        }) ?? [];
    });
    expect(failed).toContain(check);
  });

  it('the record that can be read is of the time', async () => {
    const story = told();
    expect(await verify({ ...story, from: timeOf(0) })).toEqual(['scope.complete']);
  });

  it('the batch of one of them is not a leaf of the log', async () => {
    const story = told();
    const failed = await verify(story, (parts) => {
      parts.proofs.leaves.splice(0, 1);
    });
    expect(failed).toContain('log.inclusion');
  });

  it('a batch is said to begin behind another record than the one that is shown', async () => {
    const { tenant, one } = aStory();
    const { epoch, seq } = one;
    one.addUnreadable(Buffer.from('nothing'));
    one.ship();
    // It continues, by its own account, after another record.
    Object.assign(one, { epoch, seq: seq + 1, head: 'f'.repeat(64) });
    one.addUnreadable(Buffer.from('more'));
    one.ship();
    expect(
      await failedOf(packed({ tenant, id: one.id, start: 0, from: timeOf(0) }), tenant.anchor(3)),
    ).toContain('chain.links');
    const start = tenant.leaves.length;
    tenant.wait(60);
    const from = tenant.now();
    tenant.decide(one);
    one.ship();
    expect(await verify({ tenant, id: one.id, start, from })).toContain('scope.complete');
  });
});

describe('a record that can be read and is shown alone', () => {
  const toldPlainly = (): Told => {
    const { tenant, one } = aStory();
    tenant.wait(60);
    const [from, start] = [tenant.now(), tenant.leaves.length];
    tenant.decide(one);
    one.ship();
    return { tenant, id: one.id, start, from };
  };
  const shownAs = (change: (one: Shown[number]) => Shown[number]) => (parts: PackageParts) => {
    parts.proofs.boundaries = parts.proofs.boundaries.map(change);
  };

  it('needs no place, and is canonical', async () => {
    const story = toldPlainly();
    expect(await verify(story)).toEqual([]);
    const spaced = shownAs((one) => ({ ...one, record: ` ${one.record}` }));
    expect(await verify(story, spaced)).toContain('scope.complete');
  });

  it('is not shown with a place that proves nothing', async () => {
    const story = toldPlainly();
    for (const leaf_index of [story.start, 99_999]) {
      const placed = shownAs((one) => ({ ...one, place: { leaf_index, index: 0, path: [] } }));
      expect(await verify(story, placed)).toContain('scope.complete');
    }
  });

  it('is in no selective package', async () => {
    const { tenant, id } = toldPlainly();
    const pick = (bytes: Buffer) => bytes.includes('"type":"decision"');
    const parts = aPackage(tenant, { anchorSizes: [3], kind: 'selective', pick });
    const verdict = () =>
      failedOf(packMembers(sealPackage(parts, tenant.keys.evidence)), tenant.anchor(3));
    expect(await verdict()).toEqual([]);
    parts.proofs.boundaries.push({ stream: id, record: String(parts.events[0]) });
    expect(await verdict()).toEqual(['scope.complete']);
  });
});
