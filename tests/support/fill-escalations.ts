/** Calls that wait for people, as many as a test needs, without the records that opened them. */
import type { TestControlPlane } from './test-control-plane.ts';

export async function fillEscalations(
  { superuser }: Pick<TestControlPlane['test'], 'superuser'>,
  { tenantId, deploymentId }: { tenantId: string; deploymentId: string },
  count: number,
): Promise<void> {
  await superuser.query(
    `INSERT INTO escalations (tenant_id, id, deployment_id, event_id, held, agent_id, mcp_server,
       method, tool_name, target, risk_tier, instruction_hash, opened_at, timeout_at)
     SELECT $1, gen_random_uuid(), $2, gen_random_uuid(), 'call', gen_random_uuid(), 's', 'm', 't',
       '', 'low', '', now(), now() + interval '1 hour' FROM generate_series(1, $3)`,
    [tenantId, deploymentId, count],
  );
}
