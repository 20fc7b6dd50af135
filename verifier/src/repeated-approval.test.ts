/**
 * An approval lets one call pass, even where an unreadable record hides that a place was written
 * twice.
 */
import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { aPackage, packMembers, sealPackage } from '../testing/package-builder.ts';
import { anApproval, aStory } from '../testing/test-stories.ts';
import { SERVICE_LIMITS, verifyPackage } from './verify-package.ts';

const isApproval = (record: Buffer) => record.includes('"action":"escalation_approved"');

it.each([
  ['another call', 'fail'],
  ['the same call', 'pass'],
])('a place that is written again by %s with a used approval: %s', async (again, status) => {
  const story = aStory();
  const { tenant, one } = story;
  anApproval(story);
  const used = JSON.parse(String(tenant.leaves.at(-1)?.records.at(-1)));
  const { agent_id, mcp_server, tool_name, grant_id } = used;
  const last = tenant.leaves.at(-1);
  if (again === 'the same call' && last) tenant.leaves.push(last);
  const { epoch, seq, head } = one;
  const unread = Buffer.from('unreadable bytes');
  tenant.decide(one);
  one.addUnreadable(unread);
  one.ship();
  if (again === 'another call') {
    Object.assign(one, { epoch, seq, head });
    tenant.decide(one, { agent_id, mcp_server, tool_name, grant_id });
    one.addUnreadable(unread);
    one.ship();
  }
  tenant.decide(one);
  one.ship();
  const parts = aPackage(tenant, { anchorSizes: [3], causes: isApproval });
  const bytes = packMembers(sealPackage(parts, tenant.keys.evidence));
  const given = { anchor: tenant.anchor(3), issuers: [], limits: SERVICE_LIMITS };
  const { checks } = await verifyPackage(Readable.from([bytes]), given);
  const check = checks.find(({ name }) => name === 'approval.binding');
  expect(check?.status).toBe(status);
});
