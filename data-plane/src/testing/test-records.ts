/** Records for the tests of ledger and sync: two tests that write the same one get the same bytes. */
import {
  anAlert as alert,
  aDecision as decision,
  anOutcome as outcome,
  type Unchained,
} from '@governance/shared/testing/test-records';

export { anAnswerStarted } from '@governance/shared/testing/test-records';

export const aDecision = (over: Partial<Unchained<'decision'>> = {}) =>
  decision({
    timestamp: '2026-01-02T03:04:05.678Z',
    target: '/srv/reports/2026-q3.csv',
    mcp_server: 'filesystem',
    policy_reason: 'baseline: a permission covers the call',
    ...over,
  });

export const anOutcome = (eventId: string, over: Partial<Unchained<'outcome'>> = {}) =>
  outcome(eventId, {
    timestamp: '2026-01-02T03:04:06.000Z',
    result_digest: 'cd'.repeat(32),
    result_bytes: 750,
    result_action: 'allowed',
    ...over,
  });

export const anAlert = (over: Partial<Unchained<'alert'>> = {}) =>
  alert({ timestamp: '2026-01-02T03:04:06.000Z', alert_type: 'POLICY_OUT_OF_FUEL', ...over });
