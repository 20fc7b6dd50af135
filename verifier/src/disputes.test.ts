/** What a dispute of the control plane excuses, and what it does not; both verifiers agree. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, expect, it } from 'vitest';
import {
  aLieBehindMany,
  anAlteredApproval,
  aRepeatedHold,
  aSecondHold,
  DISPUTE_FORGERIES,
  DISPUTED_PACKAGES,
  disputeOf,
  useAgain,
} from '../testing/disputes.ts';
import { findMissingPython, secondOpinionOfSet, secondReports } from '../testing/second-opinion.ts';
import { anApproval, aStory } from '../testing/test-stories.ts';
import type { TestTenant } from '../testing/test-tenant.ts';
import { whole } from '../testing/volume-sets.ts';
import { SERVICE_LIMITS, verifyPackage } from './verify-package.ts';
import { verifySet } from './verify-set.ts';

const folder = mkdtempSync(join(tmpdir(), 'disputes-'));
afterAll(() => rmSync(folder, { recursive: true }));
const hasPython = findMissingPython() === undefined;

function filed(volumes: readonly Buffer[], anchor: object) {
  const anchorPath = join(folder, 'anchor.json');
  writeFileSync(anchorPath, JSON.stringify(anchor));
  const paths = volumes.map((bytes, i) => {
    writeFileSync(join(folder, `${i}.tar.gz`), bytes);
    return join(folder, `${i}.tar.gz`);
  });
  return [paths, anchorPath] as const;
}

/** The verdict, and what is not as it should be; the second verifier says the same. */
async function read({ make }: (typeof DISPUTED_PACKAGES)[number]) {
  const { bytes, anchor } = make();
  const trust = { anchor, issuers: [], limits: SERVICE_LIMITS };
  const { verdict, checks } = await verifyPackage(Readable.from([bytes]), trust);
  const counts = checks.map(({ name, status, checked, total }) => [name, status, checked, total]);
  if (hasPython) {
    const [second] = secondReports(...filed([bytes], anchor));
    const others = second?.checks.map((one) => [one.name, one.status, one.checked, one.total]);
    expect(others).toEqual(counts);
  }
  const of = (status: string) => checks.filter((one) => one.status === status);
  return {
    verdict,
    fails: of('fail').map(({ name }) => name),
    warns: Object.fromEntries(of('warn').map(({ name, detail }) => [name, detail])),
  };
}

const ALL = ['policy.binding', 'approval.binding', 'delegation.binding'];

it.each(
  DISPUTED_PACKAGES.map((one) => [one.name, one] as const),
)('%s: VERIFIED, with a warning', async (name, one) => {
  const { verdict, fails, warns } = await read(one);
  expect({ verdict, fails }).toEqual({ verdict: 'VERIFIED', fails: [] });
  expect(Object.keys(warns)).toEqual(name.includes('an approval') ? ['approval.binding'] : ALL);
  for (const detail of Object.values(warns)) {
    expect(detail).toMatch(/(not shown|used twice|another hold): .* the stream [0-9a-f-]{36}$/);
  }
});

it.each(
  DISPUTE_FORGERIES.map((one) => [one.name, one] as const),
)('%s excuses nothing', async (_name, one) => {
  const { verdict, fails } = await read(one);
  expect({ verdict, fails }).toEqual({ verdict: 'NOT_VERIFIED', fails: [one.check] });
});

it('a dispute counts behind those of as many records as a volume has', async () => {
  const { verdict, warns } = await read(aLieBehindMany);
  expect({ verdict, warned: Object.keys(warns) }).toEqual({
    verdict: 'VERIFIED',
    warned: ['delegation.binding'],
  });
});

it.each([
  true,
  false,
])('a second hold of one escalation changes nothing, disputed: %s', async (isDisputed) => {
  const expected = { verdict: 'VERIFIED', fails: [], warns: {} };
  expect(await read(aSecondHold(isDisputed))).toEqual(expected);
});

it('an approval of another hold fails', async () => {
  const { fails } = await read(anAlteredApproval({ isDisputed: false }));
  expect(fails).toEqual(['approval.binding']);
});

it('a dispute of its hold hides no altered approval: it is warned of', async () => {
  const { verdict, warns } = await read(anAlteredApproval({ isDisputed: true }));
  expect({ verdict, warns }).toEqual({
    verdict: 'VERIFIED',
    warns: { 'approval.binding': expect.stringMatching(/^the approval is of another hold: /) },
  });
});

it('nor does it hide a second use', async () => {
  const { fails } = await read(anAlteredApproval({ isDisputed: true, uses: 2 }));
  expect(fails).toEqual(['approval.binding']);
});

it('a disputed hold is nothing beside the approved one', async () => {
  const { warns } = await read(anAlteredApproval({ isDisputed: true, beside: 'the approved one' }));
  expect(warns).toEqual({});
});

it('an approved hold counts also where it is only repeated behind a disputed one', async () => {
  const expected = { verdict: 'VERIFIED', fails: [], warns: {} };
  expect(await read(aRepeatedHold)).toEqual(expected);
});

/** The verdict of both verifiers on volumes, and what they say of the uses of approvals. */
async function readSet(tenant: TestTenant, cut: number) {
  const { volumes, anchor } = whole(tenant, cut);
  const given = { anchor, issuers: [], limits: SERVICE_LIMITS };
  const streams = volumes.map((bytes) => Readable.from([bytes]));
  const { checks, verdict } = await verifySet(streams, given);
  const uses = checks.find(({ name }) => name === 'set.approvals') ?? expect.unreachable();
  const { status, checked, total } = uses;
  if (hasPython) {
    const second = secondOpinionOfSet(...filed(volumes, anchor));
    expect(second.checks['set.approvals']).toEqual({ status, checked, total });
  }
  return { verdict, status };
}

it.each([
  [true, 'VERIFIED', 'warn'],
  [false, 'NOT_VERIFIED', 'fail'],
])('a second use of an approval in another volume, disputed: %s', async (isDisputed, verdict, status) => {
  const story = aStory();
  const { tenant, one } = story;
  anApproval(story);
  const cut = tenant.leaves.length;
  useAgain(story);
  if (isDisputed) tenant.act(...disputeOf(one, 'approval.binding'));
  one.ship();
  expect(await readSet(tenant, cut)).toEqual({ verdict, status });
});

it('a disputed use hides no undisputed one behind it from a later volume', async () => {
  const story = aStory();
  const { tenant, one } = story;
  anApproval(story);
  one.waiting = tenant.leaves.splice(-1).flatMap(({ records }) => records);
  tenant.act(...disputeOf(one, 'approval.binding'));
  one.ship();
  useAgain(story);
  one.ship();
  const cut = tenant.leaves.length;
  useAgain(story);
  one.ship();
  const expected = { verdict: 'NOT_VERIFIED', status: 'fail' };
  expect(await readSet(tenant, cut)).toEqual(expected);
});
