/** What data loss prevention blocked, found by the result that exports give it. */
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { aDataPlane, aDecision } from '../../../tests/support/a-data-plane.ts';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';
import type { AuditEvent } from './audit-event.ts';

const { call, test, controlPlane, aTenantAdmin } = await testControlPlane();

const minute = (n: number) => new Date(Date.UTC(2026, 0, 2, 3, n)).toISOString();

it('the list finds it by dlp_block, and nothing that only reads like it', async () => {
  const { scope, token } = await aTenantAdmin();
  const plane = await aDataPlane(test, scope);
  plane.boot();
  const [one, two] = [randomUUID(), randomUUID()];
  const blocked = { policy_result: 'deny', decided_by: 'dlp', dlp_action: 'blocked' } as const;
  const text = '"dlp_action":"blocked"';
  for (const [n, decision] of [
    { ...blocked, agent_id: one },
    { ...blocked, agent_id: two, action: text, target: text },
    { policy_result: 'deny', decided_by: 'policy', dlp_action: null },
    { policy_result: 'deny', decided_by: text, dlp_action: 'warned', tool_name: text },
    // What a finding has beside its severity is up to the data plane.
    {
      policy_result: 'deny',
      dlp_action: 'logged',
      dlp_findings: [{ severity: 'low', dlp_action: 'blocked' }],
    },
    { policy_result: 'allow', dlp_action: 'blocked' },
    // As the first version's format allows.
    { policy_result: 'dlp_block', dlp_action: null, agent_id: one },
  ].entries()) {
    plane.append(
      aDecision({ ...decision, timestamp: minute(n) } as Parameters<typeof aDecision>[0]),
    );
  }
  await controlPlane.ingest.ingestBatch(scope.tenantId, plane.deploymentId, plane.batch(0));

  const minutes = async (query: string) => {
    const answer = await call(`/api/v1/audit/events?${query}`, { token });
    expect(answer.statusCode, answer.body).toBe(200);
    const { events, total } = answer.json() as { events: AuditEvent[]; total: number };
    expect(total).toBe(events.length);
    return events.map((event) => new Date(event.timestamp).getUTCMinutes());
  };
  expect(await minutes('policy_result=dlp_block')).toEqual([6, 1, 0]);
  expect(await minutes(`policy_result=dlp_block&agent_id=${one}`)).toEqual([6, 0]);
  expect(await minutes(`policy_result=dlp_block&from=${minute(1)}&to=${minute(6)}`)).toEqual([1]);
  // As the records say.
  expect(await minutes('policy_result=deny')).toEqual([4, 3, 2, 1, 0]);

  // The export calls the same events so.
  const exported = await call('/api/v1/audit/export?format=json', { token });
  const { events } = exported.json() as { events: { timestamp: string; policy_result: string }[] };
  const named = events.filter((event) => event.policy_result === 'dlp_block');
  expect(named.map((event) => new Date(event.timestamp).getUTCMinutes())).toEqual([0, 1, 6]);
});
