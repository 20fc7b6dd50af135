/** Each attack on a package, and the check that finds it; and what good packages are. */
import { Readable } from 'node:stream';
import { parseCheckpoint } from '@governance/shared/evidence/checkpoint';
import { CHECK_NAMES } from '@governance/shared/evidence/checks/check';
import type { TrustAnchor } from '@governance/shared/evidence/trust-anchor';
import { cosignCheckpoint } from '@governance/shared/testing/test-evidence';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FORGERIES } from '../testing/forgeries.ts';
import { aFullStory, GOOD_PACKAGES, SELECTIVE } from '../testing/good-packages.ts';
import { aPackage, aPacked, packMembers, sealPackage } from '../testing/package-builder.ts';
import { rewriteCopy } from '../testing/rewritten-copy.ts';
import { anEd25519Key } from '../testing/test-keys.ts';
import { aStory } from '../testing/test-stories.ts';
import { SERVICE_LIMITS, verifyPackage } from './verify-package.ts';

const verify = (
  bytes: Buffer,
  anchor: TrustAnchor | null,
  issuers: { issuer: string; keys: TrustAnchor['keys'] }[] = [],
) => verifyPackage(Readable.from([bytes]), { anchor, issuers, limits: SERVICE_LIMITS });
const failedOf = ({ checks }: Awaited<ReturnType<typeof verify>>) =>
  checks.filter(({ status }) => status === 'fail').map(({ name, detail }) => `${name}: ${detail}`);
describe('an attack is found:', () => {
  it.each(
    FORGERIES.map((forgery) => [forgery.name, forgery.check, forgery] as const),
  )('%s, by %s', async (_name, check, forgery) => {
    const { bytes, anchor } = forgery.make();
    const result = await verify(bytes, anchor);
    expect(result.verdict).toBe('NOT_VERIFIED');
    expect(result.checks.find((one) => one.name === check)).toMatchObject({ status: 'fail' });
  });
});

it('of a copy where one record was changed, only the signatures do not follow', async () => {
  const { tenant } = aFullStory();
  const packed = aPacked(tenant, { anchorSizes: [3] });
  const anchor = tenant.anchor(3);
  const decided = tenant.leaves.flatMap(({ records }, leaf) =>
    records.filter((bytes) => bytes.includes('"tool_name":')).map((bytes) => ({ bytes, leaf })),
  );
  expect(decided.length).toBeGreaterThan(8);
  for (const { bytes, leaf } of decided) {
    const copy = await rewriteCopy(packed, (record) =>
      record === bytes.toString('utf8') ? record.replace('_file', '-file') : undefined,
    );
    const result = await verify(copy, anchor);
    const failed = result.checks.filter(({ status }) => status === 'fail').map(({ name }) => name);
    expect(result.verdict).toBe('NOT_VERIFIED');
    expect(failed).toEqual(
      expect.arrayContaining(['manifest.signature', 'batch.signature', 'checkpoint.signature']),
    );
    // The anchor's place belongs to another history, too.
    expect(failed.includes('log.consistency')).toBe(leaf < 3);
    const links = failed.filter((name) =>
      /^(container|json|files|events|chain|proof)\./.test(name),
    );
    expect([...links, ...failed.filter((name) => /root|inclusion/.test(name))]).toEqual([]);
  }
});

describe('a good package is verified:', () => {
  it.each(GOOD_PACKAGES.map((one) => [one.name, one] as const))('%s', async (_name, good) => {
    const { bytes, anchor } = good.make();
    const result = await verify(bytes, anchor);
    expect(failedOf(result)).toEqual([]);
    expect(result).toMatchObject({ verdict: 'VERIFIED', independence: 'independent' });
    expect(result.checks.map(({ name }) => name)).toEqual(CHECK_NAMES);
  });

  it('and says up to where it is complete, where it can', async () => {
    const { tenant } = aFullStory();
    const whole = await verify(aPacked(tenant, { anchorSizes: [3] }), tenant.anchor(3));
    expect(whole).toMatchObject({ events: 23, complete_up_to: { size: tenant.leaves.length } });
    const request = { ...SELECTIVE, anchorSizes: [3] };
    const selective = await verify(aPacked(tenant, request), tenant.anchor(3));
    expect(selective.complete_up_to).toBeNull();
  });

  it('one with a record that its receiver could not read, which it says', async () => {
    const { tenant, one } = aStory();
    tenant.decide(one);
    one.addUnreadable(Buffer.from([0xff, 0x0a, 0x7b]));
    tenant.decide(one);
    one.ship();
    const result = await verify(aPacked(tenant, { anchorSizes: [3] }), tenant.anchor(3));
    expect(failedOf(result)).toEqual([]);
    expect(result.checks.find(({ name }) => name === 'events.schema')?.status).toBe('warn');
  });

  it('one whose batches overlap', async () => {
    const { tenant, one } = aStory();
    tenant.decide(one);
    const again = [...one.waiting];
    one.ship();
    one.waiting = again;
    tenant.decide(one);
    one.ship();
    const parts = aPackage(tenant, { anchorSizes: [3] });
    const bytes = packMembers(sealPackage(parts, tenant.keys.evidence));
    expect(failedOf(await verify(bytes, tenant.anchor(3)))).toEqual([]);
  });

  it('one that more than half of the witnesses cosigned', async () => {
    const { tenant } = aStory();
    const witnesses = ['w1', 'w2', 'w3'].map((name) => ({ name, ...anEd25519Key(name) }));
    const parts = aPackage(tenant, { anchorSizes: [3] });
    const size = tenant.leaves.length;
    const { body } = parseCheckpoint(parts.checkpoints.get(size) ?? '');
    for (const witness of witnesses.slice(1)) {
      parts.witness.push({ size, cosignature: cosignCheckpoint(body, witness, 1_767_323_045) });
    }
    const named = witnesses.map(({ name, jwk }) => ({ name, key: jwk }));
    const anchor = tenant.anchor(3, { witnesses: named });
    const bytes = packMembers(sealPackage(parts, tenant.keys.evidence));
    expect(failedOf(await verify(bytes, anchor))).toEqual([]);
  });
});

describe('what is trusted decides the verdict:', () => {
  it('nothing: the package speaks for itself, and is INCONCLUSIVE', async () => {
    const { tenant } = aStory();
    const result = await verify(aPacked(tenant), null);
    expect(failedOf(result)).toEqual([]);
    expect(result).toMatchObject({ verdict: 'INCONCLUSIVE', independence: 'self-asserted' });
  });

  it('a configured issuer', async () => {
    const { tenant } = aStory();
    const issuers = [{ issuer: tenant.issuer, keys: tenant.entries }];
    const known = await verify(aPacked(tenant), null, issuers);
    expect(known).toMatchObject({ verdict: 'VERIFIED', independence: 'issuer-anchored' });
    const others = [{ issuer: tenant.issuer, keys: aStory('other').tenant.entries }];
    expect(failedOf(await verify(aPacked(tenant), null, others))).not.toEqual([]);
  });

  it('an anchor that is newer than a package which does not lead to it: INCONCLUSIVE', async () => {
    const { tenant } = aStory();
    const result = await verify(aPacked(tenant, { end: 6 }), tenant.anchor(8));
    expect(failedOf(result)).toEqual([]);
    expect(result.verdict).toBe('INCONCLUSIVE');
  });
});

describe('what is not a package', () => {
  it.each([
    ['nothing', Buffer.alloc(0)],
    ['a text', Buffer.from('hello')],
    ['a package without its manifest', packMembers([['keys.json', Buffer.from('{}')]])],
    ['JSON of something else', Buffer.from('{"a":1}')],
    ['a gzip of something else', packMembers([['a.txt', Buffer.from('a')]])],
    ['a gzip that is cut off', aPacked(aStory().tenant).subarray(0, 60)],
  ])('%s is UNREADABLE', async (_what, bytes) => {
    expect(await verify(bytes, null)).toMatchObject({ verdict: 'UNREADABLE', package: null });
  });

  it('a package that is cut off later is NOT_VERIFIED', async () => {
    const { tenant } = aStory();
    const bytes = aPacked(tenant, { anchorSizes: [3] });
    const result = await verify(bytes.subarray(0, -400), tenant.anchor(3));
    expect(['NOT_VERIFIED', 'UNREADABLE']).toContain(result.verdict);
  });
});

it('a source that fails gives no verdict', async () => {
  async function* failing() {
    yield aPacked(aStory().tenant).subarray(0, 100);
    throw new Error('the disk');
  }
  const given = { anchor: null, issuers: [], limits: SERVICE_LIMITS };
  await expect(verifyPackage(failing(), given)).rejects.toThrow('the disk');
});

it('no edit of one byte of any member is verified', async () => {
  const { tenant } = aFullStory();
  const anchor = tenant.anchor(3);
  const parts = aPackage(tenant, { anchorSizes: [3], payloads: true });
  const members = sealPackage(parts, tenant.keys.evidence);
  await fc.assert(
    fc.asyncProperty(
      fc.nat(members.length - 1),
      fc.nat(),
      fc.integer({ min: 1, max: 255 }),
      async (which, place, bits) => {
        const [name, content] = members[which] as (typeof members)[number];
        const edited = Buffer.from(content);
        const at = place % edited.length;
        edited[at] = (edited[at] as number) ^ bits;
        const result = await verify(packMembers(members.with(which, [name, edited])), anchor);
        expect(result.verdict).not.toBe('VERIFIED');
      },
    ),
    { numRuns: 60 },
  );
});
