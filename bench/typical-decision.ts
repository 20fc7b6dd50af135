import { uuidv7 } from '@governance/shared/ids';
import { aDecision } from '../tests/support/a-data-plane.ts';

/** About a kilobyte, with the members of a real decision. */
export function aTypicalDecision(i: number, over: Parameters<typeof aDecision>[0] = {}) {
  return aDecision({
    agent_id: `0190aaaa-0000-7000-8000-${String(i % 40).padStart(12, '0')}`,
    target: `/srv/data/reports/2026/quarter-${i % 4}/report-${i}.txt`,
    policy_reason: i % 20 === 0 ? 'the policy "Destructive calls" denies it' : null,
    policy_result: i % 20 === 0 ? 'deny' : 'allow',
    session_id: uuidv7(),
    requester_id: 'jane.doe@example.com',
    region: 'eu-central',
    ...over,
  });
}
