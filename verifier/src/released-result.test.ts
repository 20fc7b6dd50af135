/**
 * A result that a person released is handed over by a decision that uses the release's grant, as an
 * approved call uses its approval. Both verifiers say the same.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { recordHash } from '@governance/shared/ledger/hash-chain';
import { afterAll, describe, expect, it } from 'vitest';
import { SELECTIVE } from '../testing/good-packages.ts';
import { aPackage, packMembers, sealPackage } from '../testing/package-builder.ts';
import { findMissingPython, secondOpinions } from '../testing/second-opinion.ts';
import { idOf } from '../testing/test-keys.ts';
import { aStory } from '../testing/test-stories.ts';
import { timeOf } from '../testing/test-tenant.ts';
import { SERVICE_LIMITS, verifyPackage } from './verify-package.ts';

const folder = mkdtempSync(join(tmpdir(), 'released-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const isPythonMissing = findMissingPython() !== undefined;

interface Release {
  action?: string;
  kind?: string;
  /** The record of the hold, and what of it the release does not name. */
  held?: 'result_held' | 'hold_opened';
  named?: Record<string, unknown>;
  /** What the data plane handed over. */
  handedOver?: Record<string, unknown>;
  times?: number;
}

function aRelease({
  action = 'inbound_hold_allowed_original',
  kind = 'inbound_hold',
  held = 'result_held',
  named,
  handedOver,
  times = 1,
}: Release) {
  const { tenant, one } = aStory();
  const [holdId, grant_id] = [tenant.nextId(), tenant.nextId()];
  const instruction_hash = recordHash(Buffer.from('held'));
  const call = {
    agent_id: idOf(`${tenant.seed}/agent`),
    mcp_server: 'web',
    tool_name: 'read_page',
  };
  const event_id = tenant.decide(one, { ...call, instruction_hash });
  const hold = {
    ...{ bundle_revision: 7, escalation_id: holdId, event_id, requester_id: null },
    ...{ method: 'tools/call', target: 'read_page', risk_tier: 'high' },
    ...{ timeout_at: timeOf(1_000), ...call, instruction_hash },
  } as const;
  const result = { severity: 'high', findings: [], findings_count: 1, result_bytes: 120 } as const;
  if (held === 'result_held') one.add({ type: held, ...hold, ...result });
  else one.add({ type: held, held: 'call', reason: null, ...hold });
  one.ship();
  tenant.act(action, `${kind}/${holdId}`, {
    ...{ ...call, event_id, deployment_id: one.id, instruction_hash, notes: null },
    ...{ grant_id, grant_expires_at: timeOf(900), ...named },
  });
  for (let n = 0; n < times; n++) tenant.decide(one, { ...call, grant_id, ...handedOver });
  one.ship();
  return tenant;
}

async function approvalBindings(release: Release, name: string): Promise<string[]> {
  const tenant = aRelease(release);
  const anchor = tenant.anchor(3);
  const anchorPath = join(folder, 'anchor.json');
  writeFileSync(anchorPath, JSON.stringify(anchor));
  const found: string[] = [];
  for (const [i, scope] of [{}, SELECTIVE].entries()) {
    const parts = aPackage(tenant, { anchorSizes: [3], ...scope });
    const bytes = packMembers(sealPackage(parts, tenant.keys.evidence));
    const given = { anchor, issuers: [], limits: SERVICE_LIMITS };
    const { checks } = await verifyPackage(Readable.from([bytes]), given);
    const status = checks.find((check) => check.name === 'approval.binding')?.status ?? '';
    if (!isPythonMissing) {
      const path = join(folder, `${name}-${i}.tar.gz`);
      writeFileSync(path, bytes);
      expect(secondOpinions([path], anchorPath)[0]?.checks['approval.binding']).toBe(status);
    }
    found.push(status);
  }
  return found;
}

describe('in a contiguous and a selective package', () => {
  it.each<[string, Release, 'pass' | 'fail']>([
    ['as it came', {}, 'pass'],
    ['sanitized', { action: 'inbound_hold_allowed_sanitized' }, 'pass'],
    ['twice', { times: 2 }, 'fail'],
    ['of another tool', { handedOver: { tool_name: 'delete_page' } }, 'fail'],
    ['though it was blocked', { action: 'inbound_hold_blocked' }, 'fail'],
    ['by the release of a call', { kind: 'escalation' }, 'fail'],
    ['by an approval of a result', { action: 'escalation_approved' }, 'fail'],
    ['by the approval of its call', { action: 'escalation_approved', kind: 'escalation' }, 'fail'],
    ['though a call was held', { held: 'hold_opened' }, 'fail'],
    ['by the release of another result', { named: { event_id: 'another' } }, 'fail'],
    ['by the release of another request', { named: { instruction_hash: 'another' } }, 'fail'],
    ['by an action that objects have', { action: 'constructor' }, 'fail'],
  ])('a result is handed over %s', async (name, release, status) => {
    expect(await approvalBindings(release, name)).toEqual([status, status]);
  });
});
