/** Detectors after a clock that was ahead, or behind, was put right: what is new is seen. */
import type { UnchainedRecord } from '@governance/shared/ledger/ledger-record';
import { beforeEach, expect, it } from 'vitest';
import { aDataPlane, aDecision } from '../../../tests/support/a-data-plane.ts';
import { anAgent } from '../../../tests/support/an-agent.ts';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';
import { listBuiltins } from '../dlp/dlp-pattern.ts';
import { createDispositionFlush } from './disposition-flush.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

let time = Date.now();
/** By how much the clocks of both planes are ahead. */
let ahead = 0;
const now = () => new Date(time + ahead);
/** By how much the clock that never runs back stays ahead, after a jump that lasted for long. */
let stays = 0;
const tokenNow = () => new Date(time + Math.max(ahead, stays, 0));
const { test, controlPlane, aTenantAdmin } = await testControlPlane({ now });

type Decision = Partial<Extract<UnchainedRecord, { type: 'decision' }>>;

let scope: Awaited<ReturnType<typeof aTenantAdmin>>['scope'];
let agent_id: string;
let plane: Awaited<ReturnType<typeof aDataPlane>>;
let shipped: number;

beforeEach(async () => {
  [time, ahead, stays, shipped] = [Date.now(), 0, 0, 0];
  ({ scope } = await aTenantAdmin());
  agent_id = (await anAgent(test, scope)).id;
  plane = await aDataPlane(test, scope);
  plane.boot();
});

const decide = (over: Decision) =>
  plane.append(aDecision({ timestamp: now().toISOString(), agent_id, ...over }));

async function examine(): Promise<void> {
  for (; shipped < plane.records.length; shipped += 200) {
    const batch = plane.batch(shipped, Math.min(shipped + 200, plane.records.length));
    await controlPlane.ingest.ingestBatch(scope.tenantId, plane.deploymentId, batch);
  }
  shipped = plane.records.length;
  await createDispositionFlush({
    ...{ db: controlPlane.db, now, tokenNow, everyMs: MINUTE },
    // The clock that is ahead has not shown it for ten minutes.
    settledNow: () => new Date(time + Math.min(ahead, 0)),
  }).run(new AbortController().signal);
}

async function alertsOf(type: string): Promise<number> {
  const { rows } = await test.superuser.query(
    'SELECT 1 FROM alerts WHERE tenant_id = $1 AND alert_type = $2',
    [scope.tenantId, type],
  );
  return rows.length;
}

const OTHERS = listBuiltins({})
  .map(({ name }) => name)
  .filter((name) => name !== 'iban')
  .slice(0, 25);

const send = (session_id: string, patterns: readonly string[]) => {
  const place = { severity: 'high' as const, place: '/arguments/text', length: 20 };
  decide({
    ...{ session_id, dlp_action: 'warned', dlp_findings_count: patterns.length },
    dlp_findings: patterns.map((pattern) => ({ pattern, ...place })),
  });
};

it.each([
  ['for a moment', 0],
  ['for long', 365 * DAY],
])('finds one pattern in several sessions after 200 findings of a year ahead %s', async (_, left) => {
  ahead = 365 * DAY;
  for (let call = 0; call < 9; call++) send(`ahead ${call % 2}`, OTHERS);
  await examine();
  [ahead, stays] = [0, left];
  for (const session of ['a', 'b', 'c']) {
    time += 10 * MINUTE;
    send(session, ['iban']);
    await examine();
  }
  expect(await alertsOf('DLP_CROSS_SESSION')).toBe(1);
});

it('remembers what one call of a year ahead held as of when it was put back', async () => {
  ahead = 365 * DAY;
  send('a', ['iban']);
  send('b', ['iban']);
  await examine();
  ahead = 0;
  send('c', ['iban']);
  await examine();
  expect(await alertsOf('DLP_CROSS_SESSION')).toBe(1);
});

it('goes on where a data plane repeated an id while the clock was ahead', async () => {
  ahead = 365 * DAY;
  const id = aDecision({}).id;
  for (const seconds of [0, 1]) {
    const timestamp = new Date(now().getTime() + seconds * 1_000).toISOString();
    const dlp_findings = [
      { pattern: 'iban', severity: 'high' as const, place: '/arguments/text', length: 20 },
    ];
    decide({ id, timestamp, session_id: 'a', dlp_findings, dlp_findings_count: 1 });
  }
  await examine();
  ahead = 0;
  for (const session of ['b', 'c']) send(session, ['iban']);
  await examine();
  expect(await alertsOf('DLP_CROSS_SESSION')).toBe(1);
});

it.each([
  ['for a moment', 0],
  ['for long', 365 * DAY],
])('finds a reversal after a thousand actions of a year ahead %s', async (_, left) => {
  ahead = 365 * DAY;
  for (let call = 0; call < 1_000; call++) decide({ requester_id: 'ann', tool_name: `t${call}` });
  await examine();
  [ahead, stays] = [0, left];
  for (const policy_result of ['deny', 'deny', 'deny', 'allow'] as const) {
    time += MINUTE;
    decide({ requester_id: 'ann', session_id: 's', tool_name: 'rm', policy_result });
    await examine();
  }
  expect(await alertsOf('BEHAVIOR_REVERSAL')).toBe(1);
});

it('finds a reversal by a clock that is two days behind, and one that began before', async () => {
  const of = (tool_name: string, policy_result: 'allow' | 'deny') =>
    decide({ requester_id: 'ann', session_id: 's', tool_name, policy_result });
  for (let call = 0; call < 1_000; call++) decide({ requester_id: 'ann', tool_name: `t${call}` });
  await examine();
  ahead = -2 * DAY;
  for (const policy_result of ['deny', 'deny', 'deny'] as const) {
    time += MINUTE;
    of('rm', policy_result);
    await examine();
  }
  ahead = 0;
  of('rm', 'allow');
  await examine();
  expect(await alertsOf('BEHAVIOR_REVERSAL')).toBe(1);
});
