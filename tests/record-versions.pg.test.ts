/** Data planes of other versions than the control plane: what they write is taken, shown, verified. */
import { hash } from 'node:crypto';
import { readRecordLine } from '@governance/shared/evidence/checks/read-record';
import { uuidv7 } from '@governance/shared/ids';
import { canonicalize } from '@governance/shared/json/canonical-json';
import { parseRecord } from '@governance/shared/ledger/ledger-record';
import { verifyStream } from '@governance/verifier/verify-stream';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  aDecision,
  anAnswerStarted,
  anOutcome,
  aPolicyAlert,
  appendVersion1,
  type TestDataPlane,
} from './support/a-data-plane.ts';
import { aRegisteredWriter } from './support/a-shipping-plane.ts';
import { testControlPlane } from './support/test-control-plane.ts';

const { call, aTenantAdmin } = await testControlPlane();

let admin: string;
let agent_id: string;
let plane: TestDataPlane;
let ship: () => Promise<number>;
beforeEach(async () => {
  const made = await aTenantAdmin();
  admin = made.token;
  const agent = { name: 'reader', agent_type: 'assistant', owner: 'tests', description: '' };
  agent_id = (await call('/api/v1/agents', { token: admin, body: agent })).json().id;
  const one = await aRegisteredWriter({ call }, made);
  plane = one.writer;
  let shipped = 0;
  ship = async () => {
    const { statusCode } = await one.send(shipped);
    shipped = plane.records.length;
    return statusCode;
  };
});

const start = () =>
  ({
    type: 'epoch_start',
    id: uuidv7(),
    timestamp: new Date().toISOString(),
    bundle_revision: null,
    previous: null,
    reason: 'created',
    writer_version: '0.0.9',
  }) as const;

const eventsOf = async () =>
  (await call('/api/v1/audit/events', { token: admin }))
    .json()
    .events.filter(({ stream }: { stream: string }) => stream === plane.deploymentId);
const alerts = async () => (await call('/api/v1/monitor/alerts', { token: admin })).json().alerts;
const verify = async () => (await call('/api/v1/audit/verify?fresh=true', { token: admin })).json();

describe('a data plane that writes version 1', () => {
  it('is recorded, shown and verified, before and after its update', async () => {
    plane.head.epoch = 1;
    appendVersion1(plane, start());
    const [before, after] = [aDecision({ agent_id }), aDecision({ agent_id })];
    const outcome = { result_digest: hash('sha256', '{}', 'hex'), result_bytes: 2 };
    appendVersion1(plane, before);
    appendVersion1(plane, anOutcome(before.id, outcome));
    appendVersion1(plane, aPolicyAlert({ timestamp: before.timestamp, agent_id }));
    expect(await ship()).toBe(200);
    plane.boot();
    plane.append(after);
    plane.append(anOutcome(after.id, { ...outcome, result_action: 'allowed' }));
    expect(await ship()).toBe(200);

    expect(plane.records.map(({ bytes }) => parseRecord(bytes).v)).toEqual([1, 1, 1, 1, 2, 2, 2]);
    expect(await eventsOf()).toMatchObject([
      { id: after.id, result_digest_salted: true, result_action: 'allowed', readable: true },
      { id: before.id, result_digest_salted: false, result_action: null, readable: true },
    ]);
    expect(await alerts()).toMatchObject([{ alert_type: 'POLICY_FAILED' }]);
    expect(await verify()).toMatchObject({ valid: true, records_quarantined: 0 });
    expect(await verifyStream(plane.records)).toMatchObject({ verified: true, records: 7 });
  });

  it('may not use what came with version 2', async () => {
    plane.boot();
    const decision = aDecision({ agent_id });
    // A member of version 2 under the name of version 1.
    plane.appendRaw(({ tenant_id, stream, epoch, seq, head: prev_hash }) =>
      Buffer.from(canonicalize({ ...decision, v: 1, tenant_id, stream, epoch, seq, prev_hash })),
    );
    expect(await ship()).toBe(200);
    expect(await eventsOf()).toEqual([]);
    expect(await verify()).toMatchObject({ valid: true, records_quarantined: 1 });
  });
});

it('calls that a rate limit refused are stored and verified, and are no events', async () => {
  plane.boot();
  const at = new Date().toISOString();
  plane.append({
    ...{ type: 'rate_limited', id: uuidv7(), timestamp: at, bundle_revision: 1, agent_id },
    ...{ refused: 7, since: at, until: at, limit: 600, window_seconds: 60, risk_tier: 'critical' },
  });
  expect(await ship()).toBe(200);
  expect(await eventsOf()).toEqual([]);
  expect(await verify()).toMatchObject({ valid: true, records_quarantined: 0 });
  expect(await verifyStream(plane.records)).toMatchObject({ verified: true, records: 2 });
});

it('a model’s answer that begins is stored and verified, and is part of its call’s event', async () => {
  plane.boot();
  const model = { name: 'm', has_system_prompt: false, has_tools: false, message_count: 1 };
  const [decision, stranger] = [aDecision({ agent_id, model }), aDecision({ agent_id, model })];
  plane.append(decision);
  plane.append(anAnswerStarted(decision.id, { status: 503 }));
  plane.append(stranger);
  expect(await ship()).toBe(200);
  expect(await eventsOf()).toMatchObject([
    { id: stranger.id, outcome: null, model_usage: null },
    { id: decision.id, outcome: null, model_usage: { status: 503 } },
  ]);
  expect(await alerts()).toEqual([]);
  expect(await verify()).toMatchObject({ valid: true, records_quarantined: 0 });
  expect(await verifyStream(plane.records)).toMatchObject({ verified: true, records: 4 });
});

describe('a data plane that writes a later version', () => {
  it('loses nothing: its record is kept in its place, an alert says so, the stream goes on', async () => {
    plane.boot();
    const later = aDecision({ agent_id });
    plane.appendRaw(({ tenant_id, stream, epoch, seq, head: prev_hash }) =>
      Buffer.from(
        canonicalize({ ...later, mood: 'good', v: 3, tenant_id, stream, epoch, seq, prev_hash }),
      ),
    );
    const known = aDecision({ agent_id });
    plane.append(known);
    expect(await ship()).toBe(200);
    expect(await eventsOf()).toMatchObject([{ id: known.id }]);
    expect(JSON.stringify(await alerts())).toContain('is of version 3');
    expect(await verify()).toMatchObject({ valid: true, records_quarantined: 1 });
    expect(await verifyStream(plane.records)).toMatchObject({
      breaks: [{ kind: 'unreadable', actual: 'UnknownRecordVersion' }],
    });
  });
});

it.each([
  ['a type of record', { type: 'tool_renamed' }],
  ['a member', { mood: 'good' }],
])('an addition within version 2, %s, is kept like a record of a later version', async (_what, addition) => {
  plane.boot();
  const decision = { ...aDecision({ agent_id }), ...addition };
  plane.appendRaw(({ tenant_id, stream, epoch, seq, head: prev_hash }) =>
    Buffer.from(canonicalize({ ...decision, v: 2, tenant_id, stream, epoch, seq, prev_hash })),
  );
  const known = aDecision({ agent_id });
  plane.append(known);
  expect(await ship()).toBe(200);
  expect(await eventsOf()).toMatchObject([{ id: known.id }]);
  expect(JSON.stringify(await alerts())).toContain('is no valid record (ZodError');
  expect(await verify()).toMatchObject({ valid: true, records_quarantined: 1 });
  expect(await verifyStream(plane.records)).toMatchObject({
    breaks: [{ kind: 'unreadable', actual: 'ZodError' }],
  });
  const added = plane.records.at(-2)?.bytes ?? Buffer.alloc(0);
  expect(readRecordLine(added).faults).toEqual({ schema: 'it is no record of a known version' });
});
