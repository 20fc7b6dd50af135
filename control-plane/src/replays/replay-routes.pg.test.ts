/** Replays through the API; the periodic work is done by hand, so that each test says when. */
import { randomBytes } from 'node:crypto';
import type { PolicyInput } from '@governance/policies/contract';
import { type PayloadContent, payloadDigest } from '@governance/shared/evidence/event-payload';
import { afterAll, describe, expect, it } from 'vitest';
import { aDataPlane, aDecision } from '../../../tests/support/a-data-plane.ts';
import { sealPayload } from '../../../tests/support/a-payload.ts';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';
import type { TestDatabase } from '../../../tests/support/test-database.ts';
import { systemScope } from '../platform/database/tenant-scope.ts';
import { LEASE_MS } from './replay-run.ts';
import { replayStore } from './replay-store.ts';
import { MAX_ATTEMPTS, type ReplayTasksDeps, runDue } from './replay-tasks.ts';

let ahead = 0;
const now = () => new Date(Date.now() + ahead);
const cp = await testControlPlane({ now, prepare: keepFromLeading });
const { call, test, controlPlane, aTenantAdmin, aColleague } = cp;

/** The leader would run replays too. */
async function keepFromLeading({ superuser }: TestDatabase): Promise<void> {
  const leader = await superuser.connect();
  await leader.query(`SELECT pg_advisory_lock(hashtext('governance.leader'))`);
  afterAll(() => leader.release(true));
}

const ALLOW_ALL = 'package everything\n\nallow := true\n';
const NO_WRITES =
  'package freeze\n\ndeny contains sprintf("no writing of %v", [input.request.parameters.path]) if input.request.action == "write"\n';
const HOLD_DELETES =
  'package freeze\n\nescalate contains "a person decides" if input.request.action == "delete"\n';
const SPAN = { from: '2026-01-01T00:00:00Z', to: '2026-02-01T00:00:00Z' };
const minute = (n: number) => new Date(Date.UTC(2026, 0, 2, 3, n)).toISOString();

function inputOf(action: PolicyInput['request']['action']): PolicyInput {
  return {
    agent: {
      ...{ id: 'a', name: 'a', agent_type: 't', owner: 'o', roles: [], permissions: [] },
      ...{ risk_tier: 'low', risk_score: 0 },
    },
    request: {
      ...{ tool_name: `${action}_file`, action, resource: '/srv/x', mcp_server: 'files' },
      ...{ parameters: { path: '/srv/x' }, method: 'tools/call' },
    },
    requester: { id: null, verified: false },
    ...{ workflow: null, delegation: null },
    dlp: { findings_count: 0, max_severity: null, patterns: [] },
    context: {
      ...{ time: minute(0), data_plane: 'd', region: null, model: null, agent_role: null },
    },
  };
}

async function aSetting(mode: PayloadContent['mode'] = 'full') {
  const { scope, token } = await aTenantAdmin();
  const { tenantId } = scope;
  const plane = await aDataPlane(test, scope);
  const { deploymentId } = plane;
  plane.boot();
  await controlPlane.ingest.ingestBatch(tenantId, deploymentId, plane.batch(0));

  const policyOf = async (body: object): Promise<string> => {
    const answer = await call('/api/v1/policies', { token, body });
    expect(answer.statusCode, answer.body).toBe(201);
    return answer.json().id;
  };
  await policyOf({ name: 'Everything', rego_content: ALLOW_ALL, status: 'active' });
  const policyId = await policyOf({ name: 'Freeze', rego_content: NO_WRITES });

  /** Records a decision and keeps what policy was asked, if that is given. */
  const record = async (fields: Parameters<typeof aDecision>[0], text?: string) => {
    const salt = randomBytes(16);
    const digest = text === undefined ? null : payloadDigest(salt, text);
    const decision = aDecision({ timestamp: minute(1), payload_digest: digest, ...fields });
    const at = plane.records.length;
    plane.append(decision);
    await controlPlane.ingest.ingestBatch(tenantId, deploymentId, plane.batch(at));
    if (text === undefined) return decision.id;
    const content = {
      ...{ tenant_id: tenantId, deployment_id: deploymentId, event_id: decision.id },
      ...{ part: 'input' as const, mode, salt: salt.toString('base64url'), text },
    };
    const sealed = await sealPayload(controlPlane, content);
    await controlPlane.payloadIngest.ingest(tenantId, deploymentId, { payloads: [sealed] });
    return decision.id;
  };
  const recordCall = (action: PolicyInput['request']['action'], fields = {}) =>
    record({ action, tool_name: `${action}_file`, ...fields }, JSON.stringify(inputOf(action)));
  const replays = `/api/v1/policies/${policyId}/replays`;
  const start = async (body: object = {}) => {
    const answer = await call(`/api/v1/policies/${policyId}/replay`, {
      ...{ token, body: { ...SPAN, ...body } },
    });
    expect(answer.statusCode, answer.body).toBe(202);
    return answer.json();
  };
  const look = async (id: string, by = token) =>
    (await call(`${replays}/${id}`, { token: by })).json();
  return { scope, token, policyId, replays, policyOf, record, recordCall, start, look };
}

const run = (deps: Partial<ReplayTasksDeps> = {}, signal = new AbortController().signal) =>
  runDue({ ...controlPlane, now, ...deps }, signal);

describe('a replay', () => {
  it('says what would change, by agent and tool, with examples', async () => {
    const { recordCall, start, look } = await aSetting();
    const written = await recordCall('write', { policy_reason: 'Everything' });
    await recordCall('read');
    await recordCall('delete', { policy_result: 'deny' });
    const { id, status, decisions_total } = await start();
    expect({ status, decisions_total }).toEqual({ status: 'queued', decisions_total: 3 });
    await run();
    const ended = await look(id);
    expect(ended).toMatchObject({
      ...{ status: 'completed', decisions_done: 3, judged: 3, changed: 2, reason: null },
      finished_at: expect.any(String),
    });
    expect(ended.result.transitions).toEqual([
      { before: 'allow', after: 'deny', count: 1 },
      { before: 'allow', after: 'allow', count: 1 },
      { before: 'deny', after: 'allow', count: 1 },
    ]);
    expect(ended.result.tools).toContainEqual({
      ...{ mcp_server: 'files', tool_name: 'write_file', before: 'allow', after: 'deny', count: 1 },
    });
    expect(ended.result.agents).toHaveLength(2);
    expect(ended.result.examples[0]).toMatchObject({
      ...{ event_id: written, before: 'allow', after: 'deny', reason_before: 'Everything' },
      ...{ reason_after: 'Freeze: no writing of /srv/x', policies_after: ['Freeze'] },
    });
  });

  it('tries another text, and leaves the policy as it is', async () => {
    const { token, policyId, recordCall, start, look } = await aSetting();
    await recordCall('delete');
    const { id } = await start({ rego: HOLD_DELETES });
    await run();
    expect((await look(id)).result.transitions).toEqual([
      { before: 'allow', after: 'escalate', count: 1 },
    ]);
    const policy = (await call(`/api/v1/policies/${policyId}`, { token })).json();
    expect(policy).toMatchObject({ rego_content: NO_WRITES, status: 'draft' });
  });

  it('counts apart what policy did not decide and what it cannot know', async () => {
    const { record, recordCall, start, look } = await aSetting();
    await recordCall('write', { decided_by: 'dlp', policy_result: 'dlp_block' });
    await recordCall('write', { decided_by: 'rate-limit', policy_result: 'deny' });
    await recordCall('write', { policy_result: 'escalate', policy_reason: 'Blast radius: many' });
    await recordCall('write', { grant_id: '0190aaaa-0000-7000-8000-0000000000aa' });
    await record({});
    await record({}, JSON.stringify(inputOf('write')).replace('/srv/x', '[REDACTED:email]'));
    const damaged = await recordCall('write');
    await test.superuser.query(
      `UPDATE event_payloads SET ciphertext = set_byte(ciphertext, 40, 255 - get_byte(ciphertext, 40))
       WHERE event_id = $1`,
      [damaged],
    );
    const { id } = await start();
    await run();
    expect(await look(id)).toMatchObject({
      ...{ status: 'completed', decisions_done: 7, judged: 0, changed: 0 },
      result: {
        skipped: { not_by_policy: 4, no_input: 1, input_altered: 1, input_unreadable: 1 },
        transitions: [],
      },
    });
  });

  it('asks policies with the time of the decision', async () => {
    const { recordCall, start, look } = await aSetting();
    await recordCall('write');
    const before2026 = 'time.now_ns() < time.parse_rfc3339_ns("2026-01-03T00:00:00Z")';
    const { id } = await start({ rego: `package p\n\ndeny contains "then" if ${before2026}\n` });
    await run();
    expect(await look(id)).toMatchObject({ judged: 1, changed: 1 });
  });

  it('takes a policy whose author made an endless loop for the denial that it is', async () => {
    const { recordCall, start, look } = await aSetting();
    await recordCall('read');
    const loop =
      'count([1 | some a in numbers.range(1, 3000); some b in numbers.range(1, 3000)]) > 0';
    const guard = 'input.agent.owner != "warm-up"';
    const { id } = await start({
      rego: `package p\n\ndeny contains "x" if { ${guard}; ${loop} }\n`,
    });
    await run();
    const { result } = await look(id);
    expect(result.examples[0].reason_after).toMatch(/^out_of_fuel/);
  });

  it('is one at a time of a tenant, recorded, and listed newest first', async () => {
    const { token, scope, policyId, replays, start } = await aSetting();
    const first = await start();
    const again = await call(`/api/v1/policies/${policyId}/replay`, { token, body: SPAN });
    expect(again.statusCode).toBe(409);
    await run();
    const second = await start();
    const listed = (await call(replays, { token })).json();
    expect(listed.total).toBe(2);
    expect(listed.replays.map(({ id }: { id: string }) => id)).toEqual([second.id, first.id]);
    expect(listed.replays[0].result).toBeUndefined();
    const { events } = (await call('/api/v1/audit/events', { token })).json();
    const started = events.filter(({ action }: { action: string }) =>
      action.startsWith('policy_replay'),
    );
    expect(started).toMatchObject([
      { action: 'policy_replay_started', actor: { username: scope.actor.username } },
      { action: 'policy_replay_ended', details: { status: 'completed', judged: 0 } },
      { action: 'policy_replay_started', details: { replay_id: first.id } },
    ]);
  });

  it('opens encrypted payloads with one record of it', async () => {
    const { token, recordCall, start, look } = await aSetting('encrypted');
    await recordCall('write');
    await recordCall('write');
    const { id } = await start();
    await run();
    expect(await look(id)).toMatchObject({ judged: 2, changed: 2 });
    const { events } = (await call('/api/v1/audit/events', { token })).json();
    const opened = events.filter(
      ({ action }: { action: string }) => action === 'PAYLOAD_DECRYPTED',
    );
    expect(opened).toMatchObject([{ details: { result: 'replayed', replay_id: id } }]);
  });

  it('does not open what was encrypted since, unrecorded', async () => {
    const { recordCall, start, look, scope } = await aSetting();
    await recordCall('write');
    const { id } = await start();
    await test.superuser.query(
      'UPDATE event_payloads SET is_encrypted = true WHERE tenant_id = $1',
      [scope.tenantId],
    );
    await run();
    expect(await look(id)).toMatchObject({ judged: 0, result: { skipped: { no_input: 1 } } });
  });

  it('shows those who may not see payloads no reason that could quote one', async () => {
    const { scope, recordCall, start, look } = await aSetting();
    await recordCall('write');
    const { id } = await start();
    await run();
    for (const role of ['auditor', 'approver'] as const) {
      const { token } = await aColleague(scope, role);
      const seen = await look(id, token);
      expect(seen.result.examples[0]).toMatchObject({ reason_after: null });
      expect(JSON.stringify(seen)).not.toContain('/srv/x');
      expect(seen.result.examples[0].policies_after).toEqual(['Freeze']);
    }
  });

  it('does not begin with a text that does not compile', async () => {
    const { token, policyId } = await aSetting();
    const answer = await call(`/api/v1/policies/${policyId}/replay`, {
      ...{ token, body: { ...SPAN, rego: 'package p\n\nallow if {\n' } },
    });
    expect(answer.statusCode).toBe(422);
    expect(answer.json().errors[0].loc).toEqual([
      ...['body', 'rego', expect.any(Number), expect.any(Number)],
    ]);
  });

  it.each([
    { from: SPAN.to, to: SPAN.from },
    { from: SPAN.from },
    { ...SPAN, rego: ALLOW_ALL, change_request_id: '0190aaaa-0000-7000-8000-0000000000aa' },
  ])('refuses %j', async (body) => {
    const { token, policyId } = await aSetting();
    const answer = await call(`/api/v1/policies/${policyId}/replay`, { token, body });
    expect(answer.statusCode).toBe(422);
  });
});

describe('a change request', () => {
  it('shows the replay of what it proposes', async () => {
    const { token, policyId, recordCall, start } = await aSetting();
    await recordCall('delete');
    const requests = `/api/v1/policies/${policyId}/change-requests`;
    const body = { proposed_rego_content: HOLD_DELETES };
    const request = (await call(requests, { token, body })).json();
    const seen = async () => (await call(`${requests}/${request.id}`, { token })).json().replay;
    expect(await seen()).toBeNull();
    const byText = await start({ rego: HOLD_DELETES });
    expect(await seen()).toMatchObject({ id: byText.id, status: 'queued' });
    await run();
    const byRequest = await start({ change_request_id: request.id });
    await run();
    const replay = {
      ...{ id: byRequest.id, status: 'completed', judged: 1, changed: 1 },
      transitions: [{ before: 'allow', after: 'escalate', count: 1 }],
    };
    expect(await seen()).toMatchObject(replay);
    const listed = (await call(requests, { token })).json();
    expect(listed.change_requests[0].replay).toMatchObject(replay);
  });

  it('that takes a policy out is tried without it', async () => {
    const { token, policyOf, recordCall, scope } = await aSetting();
    await recordCall('write', { policy_result: 'deny' });
    const active = await policyOf({ name: 'Active', rego_content: NO_WRITES, status: 'active' });
    const colleague = await aColleague(scope, 'admin');
    const body = { proposed_status: 'archived' };
    const url = `/api/v1/policies/${active}/change-requests`;
    const { id } = (await call(url, { token: colleague.token, body })).json();
    const started = await call(`/api/v1/policies/${active}/replay`, {
      ...{ token, body: { ...SPAN, change_request_id: id } },
    });
    expect(started.json()).toMatchObject({ is_left_out: true, change_request_id: id });
    await run();
    const replay = await call(`/api/v1/policies/${active}/replays/${started.json().id}`, { token });
    expect(replay.json().result.transitions).toEqual([
      { before: 'deny', after: 'allow', count: 1 },
    ]);
  });
});

describe('an interrupted replay', () => {
  /** Stops the replica while the first of several steps is judged. */
  const whileJudging = (act: () => unknown): Partial<ReplayTasksDeps> => ({
    step: 2,
    dataKeys: {
      find: async (...asked) => {
        await act();
        return controlPlane.dataKeys.find(...asked);
      },
    },
  });

  it('goes on where it was, and counts each decision once', async () => {
    const { recordCall, start, look } = await aSetting();
    for (let n = 0; n < 5; n++) await recordCall('write');
    const { id } = await start();
    const stop = new AbortController();
    await run(
      whileJudging(() => stop.abort()),
      stop.signal,
    );
    expect(await look(id)).toMatchObject({ status: 'running', decisions_done: 2, judged: 2 });
    await run({ step: 2 });
    expect(await look(id)).toMatchObject({ status: 'completed', decisions_done: 5, changed: 5 });
  });

  it('that was set aside for others that wait goes on behind them, as often as it takes', async () => {
    const settings = [await aSetting(), await aSetting()];
    const decisions = 2 * MAX_ATTEMPTS + 2;
    const started: string[] = [];
    for (const { recordCall, start } of settings) {
      for (let n = 0; n < decisions; n++) await recordCall('write');
      started.push((await start()).id);
    }
    const turns: string[] = [];
    await run({
      ...{ step: 2, turnMs: 0 },
      readSettings: (tx) => {
        turns.push(tx.scope.tenantId);
        return controlPlane.readSettings(tx);
      },
    });
    for (const [n, { look }] of settings.entries()) {
      expect(await look(started[n] ?? '')).toMatchObject({
        ...{ status: 'completed', decisions_done: decisions, changed: decisions },
      });
    }
    const [first, second] = settings.map(({ scope }) => scope.tenantId);
    expect(turns.slice(0, 8)).toEqual([1, 2, 3, 4].flatMap(() => [first, second]));
    expect(turns.filter((tenantId) => tenantId === first).length).toBeGreaterThan(MAX_ATTEMPTS);
  });

  it('keeps its turn while nobody waits', async () => {
    const { recordCall, start, look } = await aSetting();
    for (let n = 0; n < 6; n++) await recordCall('write');
    const { id } = await start();
    let turns = 0;
    await run({
      ...{ step: 2, turnMs: 0 },
      readSettings: (tx) => {
        turns++;
        return controlPlane.readSettings(tx);
      },
    });
    expect([turns, (await look(id)).status]).toEqual([1, 'completed']);
  });

  it('is taken over when the lease of a dead replica ends, not before', async () => {
    const { scope, recordCall, start, look } = await aSetting();
    await recordCall('write');
    const { id } = await start();
    const leaseUntil = new Date(now().getTime() + LEASE_MS);
    await test.db.inTenant(systemScope(scope.tenantId), (tx) =>
      replayStore(tx).claim(id, now(), leaseUntil),
    );
    await run();
    expect(await look(id)).toMatchObject({ status: 'running', decisions_done: 0 });
    ahead += LEASE_MS + 1;
    await run();
    expect(await look(id)).toMatchObject({ status: 'completed', judged: 1 });
  });

  it('fails with a reason where the policies have changed since', async () => {
    const { policyOf, recordCall, start, look } = await aSetting();
    await recordCall('write');
    const { id } = await start();
    await policyOf({ name: 'Another', rego_content: HOLD_DELETES, status: 'active' });
    await run();
    expect(await look(id)).toMatchObject({
      status: 'failed',
      reason: expect.stringMatching(/have changed since/),
    });
  });

  it('that cannot be read keeps no other waiting, and fails after too many attempts', async () => {
    const [broken, other] = [await aSetting(), await aSetting()];
    const { id } = await broken.start();
    const change = `UPDATE policy_replays SET attempts = 9, result = '7' WHERE id = $1`;
    await test.superuser.query(change, [id]);
    const waiting = await other.start();
    await expect(run()).rejects.toThrow(/expected object/);
    expect(await other.look(waiting.id)).toMatchObject({ status: 'completed' });
    ahead += LEASE_MS + 1;
    await run();
    await test.superuser.query(
      'UPDATE policy_replays SET result = (SELECT result FROM policy_replays WHERE id = $2) WHERE id = $1',
      [id, waiting.id],
    );
    expect(await broken.look(id)).toMatchObject({
      status: 'failed',
      reason: expect.stringMatching(/interrupted too often/),
    });
  });

  it('that is cancelled stays so, also while it is judged', async () => {
    const { token, replays, recordCall, start, look } = await aSetting();
    for (let n = 0; n < 5; n++) await recordCall('write');
    const { id } = await start();
    const cancel = () => call(`${replays}/${id}`, { token, method: 'DELETE' });
    let answered = 0;
    await run(
      whileJudging(async () => {
        answered ||= (await cancel()).statusCode;
      }),
    );
    expect(answered).toBe(204);
    expect(await look(id)).toMatchObject({ status: 'cancelled', finished_at: expect.any(String) });
    expect((await cancel()).statusCode).toBe(409);
    // Another may begin.
    await start();
    await run();
  });
});
