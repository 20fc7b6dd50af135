/**
 * What the log committed to cannot be omitted, told twice or told later, whoever signs the package.
 */
import { Readable } from 'node:stream';
import { signBatch } from '@governance/shared/ledger/audit-batch';
import { recordHash } from '@governance/shared/ledger/hash-chain';
import { expect, it } from 'vitest';
import { SELECTIVE } from '../testing/good-packages.ts';
import {
  aPackage,
  type PackageParts,
  packMembers,
  sealPackage,
} from '../testing/package-builder.ts';
import { anEd25519Key } from '../testing/test-keys.ts';
import { aDelegation, anApproval, aStory } from '../testing/test-stories.ts';
import { type TestTenant, timeOf } from '../testing/test-tenant.ts';
import { SERVICE_LIMITS, verifyPackage } from './verify-package.ts';

/** @returns the names of the checks that failed, and the verdict */
async function verdictOf(tenant: TestTenant, parts: PackageParts) {
  const bytes = packMembers(sealPackage(parts, tenant.keys.evidence));
  const trust = { anchor: tenant.anchor(3), issuers: [], limits: SERVICE_LIMITS };
  const { verdict, checks } = await verifyPackage(Readable.from([bytes]), trust);
  const failed = checks.filter(({ status }) => status === 'fail').map(({ name }) => name);
  return { verdict, failed };
}

const request = { anchorSizes: [3] };

it('a batch is not left out behind one that claims fewer than zero records', async () => {
  const { tenant, one } = aStory();
  for (let i = 0; i < 3; i++) tenant.decide(one);
  one.ship();
  const hidden = tenant.leaves.at(-1)?.records.length ?? 0;
  const place = { tenant_id: tenant.id, stream: one.id, epoch: one.epoch };
  const range = { first_seq: 100, last_seq: 99 - hidden, prev_head: one.head, head: one.head };
  const signed = signBatch(one.key.key, { ...place, ...range }, []);
  const leaves = tenant.leaves.length;
  tenant.leaves.push({ ...signed, records: [] });
  const shown = aPackage(tenant, { ...request, end: leaves - 1 });
  const parts = aPackage(tenant, request);
  parts.events = shown.events;
  parts.manifest.streams = shown.manifest.streams;
  expect(await verdictOf(tenant, parts)).toMatchObject({
    verdict: 'NOT_VERIFIED',
    failed: expect.arrayContaining(['scope.complete', 'batch.root']),
  });
});

it('another record at a stated place is not a repetition, even if nothing follows it', async () => {
  const { tenant, two } = aStory();
  const before = { seq: two.seq, head: two.head };
  const known = tenant.leaves.findLast(({ header }) => header.stream === two.id)?.records ?? [];
  two.seq -= known.length;
  two.head = JSON.parse(String(known[0])).prev_hash;
  tenant.decide(two, { tool_name: 'another' });
  two.ship();
  Object.assign(two, before);
  const parts = aPackage(tenant, request);
  expect(await verdictOf(tenant, parts)).toMatchObject({
    verdict: 'NOT_VERIFIED',
    failed: ['chain.sequence'],
  });
});

it('what the control plane wrote after its key was revoked explains no decision', async () => {
  const story = aStory();
  const { tenant } = story;
  anApproval(story);
  const revoked_at = timeOf(-30);
  const parts = aPackage(tenant, { ...request, ...SELECTIVE });
  for (const entry of parts.keys.keys) {
    if (entry.purpose === 'batch') entry.revoked_at = revoked_at;
  }
  expect(await verdictOf(tenant, parts)).toEqual({
    verdict: 'NOT_VERIFIED',
    failed: ['keys.validity'],
  });
});

it.each([
  'contiguous',
  'selective',
] as const)('an approval that came after the call let nothing pass, in a %s package', async (kind) => {
  const story = aStory();
  const { tenant, one } = story;
  tenant.wait(3_600);
  anApproval(story, { grant_expires_at: timeOf(100_000) });
  const leaf = tenant.leaves.pop();
  const { grant_id } = JSON.parse(String(leaf?.records.at(-1)));
  one.seq--;
  one.head = JSON.parse(String(leaf?.records[0])).prev_hash;
  tenant.decide(one, { tool_name: 'delete_file', grant_id, timestamp: timeOf(600) } as never);
  one.ship();
  const parts = aPackage(tenant, { ...request, ...(kind === 'selective' && SELECTIVE) });
  expect(await verdictOf(tenant, parts)).toEqual({
    verdict: 'NOT_VERIFIED',
    failed: ['approval.binding'],
  });
});

it('a delegation that was issued after the call let nothing pass', async () => {
  const story = aStory();
  const { tenant, two } = story;
  tenant.wait(3_600);
  aDelegation(story, { expires_at: timeOf(100_000) });
  const leaf = tenant.leaves.pop();
  const acted = JSON.parse(String(leaf?.records.at(-1)));
  two.seq--;
  two.head = acted.prev_hash;
  const { agent_id, workflow_session_id, delegation_chain } = acted;
  const call = { agent_id, workflow_session_id, delegation_chain, timestamp: timeOf(600) };
  tenant.decide(two, call as never);
  two.ship();
  expect(recordHash(tenant.leaves.at(-1)?.records[0] ?? Buffer.alloc(0))).toBe(two.head);
  expect(await verdictOf(tenant, aPackage(tenant, request))).toEqual({
    verdict: 'NOT_VERIFIED',
    failed: ['delegation.binding'],
  });
});

it('keys that no stream needs are tried up to a limit', async () => {
  const { tenant } = aStory();
  const parts = aPackage(tenant, request);
  const [first] = parts.batches;
  if (!first) throw new Error('there is no batch');
  const keys = Array.from({ length: 900 }, (_, i) => anEd25519Key(`batch-${i}`));
  parts.keys.keys.push(...keys.map((key) => tenant.entryOf('batch', key)));
  const forged = { ...first, signature: 'A'.repeat(86) };
  parts.batches = Array.from({ length: 5_000 }, (_, i) => ({ ...forged, leaf_index: i }));
  expect(await verdictOf(tenant, parts)).toMatchObject({ verdict: 'NOT_VERIFIED' });
}, 60_000);
