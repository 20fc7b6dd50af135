/** A data plane that lies, or was copied, is blamed for its own records, and for no other's. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { TrustAnchor } from '@governance/shared/evidence/trust-anchor';
import { afterAll, expect, it } from 'vitest';
import { LIES, PACKAGES_WITH_LIES, stealApproval } from '../testing/lying-planes.ts';
import { findMissingPython, secondOpinionOfSet, secondReports } from '../testing/second-opinion.ts';
import { aStory } from '../testing/test-stories.ts';
import { whole } from '../testing/volume-sets.ts';
import { SERVICE_LIMITS, verifyPackage } from './verify-package.ts';
import { verifySet } from './verify-set.ts';

const folder = mkdtempSync(join(tmpdir(), 'lying-planes-'));
afterAll(() => rmSync(folder, { recursive: true }));
const hasPython = findMissingPython() === undefined;

function filed(volumes: readonly Buffer[], anchor: TrustAnchor) {
  const anchorPath = join(folder, 'anchor.json');
  writeFileSync(anchorPath, JSON.stringify(anchor));
  const paths = volumes.map((bytes, i) => {
    const path = join(folder, `${i}.tar.gz`);
    writeFileSync(path, bytes);
    return path;
  });
  return [paths, anchorPath] as const;
}

const counts = ({ status, checked, total }: { status: string; checked: number; total: number }) => [
  status,
  checked,
  total,
];

/** What both verifiers say of a check: status, how many held, of how many. */
async function checked({ bytes, anchor }: { bytes: Buffer; anchor: TrustAnchor }, name: string) {
  const given = { anchor, issuers: [], limits: SERVICE_LIMITS };
  const report = await verifyPackage(Readable.from([bytes]), given);
  const own = report.checks.find((one) => one.name === name) ?? expect.unreachable();
  if (hasPython) {
    const [second] = secondReports(...filed([bytes], anchor));
    const other = second?.checks.find((one) => one.name === name) ?? expect.unreachable();
    expect(counts(other)).toEqual(counts(own));
    expect(other.detail.length > 0).toBe(own.status !== 'pass');
  }
  return { counts: counts(own), detail: own.detail };
}

const packageOf = (name: string) =>
  [...PACKAGES_WITH_LIES, ...LIES].find((one) => one.name === name)?.make() ?? expect.unreachable();

it('a use of an approval by another data plane is its own fault, and does not consume it', async () => {
  const stolen = packageOf('an approval that another data plane uses first');
  expect(await checked(stolen, 'approval.binding')).toEqual({
    counts: ['fail', 1, 2],
    detail: 'another call was approved',
  });
});

it('nor is it a second use in another volume', async () => {
  const story = aStory();
  stealApproval(story);
  const { volumes, anchor } = whole(story.tenant, story.tenant.leaves.length - 1);
  const given = { anchor, issuers: [], limits: SERVICE_LIMITS };
  const result = await verifySet(
    volumes.map((bytes) => Readable.from([bytes])),
    given,
  );
  const verdicts = result.volumes.map(({ verdict }) => verdict);
  expect(verdicts).toEqual(['NOT_VERIFIED', 'VERIFIED']);
  const uses = result.checks.find(({ name }) => name === 'set.approvals') ?? expect.unreachable();
  expect(counts(uses)).toEqual(['pass', 2, 2]);
  if (!hasPython) return;
  const second = secondOpinionOfSet(...filed(volumes, anchor));
  expect(second.volumes).toEqual(verdicts);
  expect(second.checks['set.approvals']).toEqual({ status: 'pass', checked: 2, total: 2 });
});

it.each([
  'records of a writer whose stream forked before',
  'records of a writer whose stream forked before, selected',
])('%s: the stream is named', async (name) => {
  const { counts, detail } = await checked(packageOf(name), 'keys.validity');
  expect(counts[0]).toBe('warn');
  expect(detail).toMatch(/^two writers had the key of the stream [0-9a-f-]{36}$/);
});

it('a decision by a bundle after its key was revoked is warned of where the package says so', async () => {
  const { counts, detail } = await checked(
    packageOf('a decision by a bundle whose key was revoked, which the package says'),
    'keys.validity',
  );
  expect(counts[0]).toBe('warn');
  expect(detail).toMatch(/^the stream [0-9a-f-]{36} decided by a bundle whose key was revoked$/);
});

it.each([
  ['a decision by a bundle whose key was revoked, which only the anchor says', 'fail'],
  ['a bundle whose key was revoked, and that no decision names', 'pass'],
])('%s: %s', async (name, status) => {
  const { counts } = await checked(packageOf(name), 'keys.validity');
  expect(counts[0]).toBe(status);
});
