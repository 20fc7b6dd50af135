/** A model streams its answer: its event has the status at once, in the list and in the stream. */
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { aDecision, anAnswerStarted, anOutcome } from '../../../tests/support/a-data-plane.ts';
import { aShippingPlane } from '../../../tests/support/a-shipping-plane.ts';
import { createEvidenceExports } from '../../../tests/support/evidence-exports.ts';
import { createEvidenceReader } from '../../../tests/support/evidence-reader.ts';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';
import { createAuditStream } from './audit-stream.ts';

vi.setConfig({ testTimeout: 60_000 });

const cp = await testControlPlane({ env: { SERVICE_CHECKPOINT_SECONDS: '1' } });
const { call, test, controlPlane, aTenantAdmin } = cp;
const HOUR = 3_600_000;
const at = (ms: number) => new Date(Date.now() + ms).toISOString();
const exports = createEvidenceExports(cp, { from: at(-HOUR), to: at(HOUR) });
const reader = createEvidenceReader();

const model = { name: 'm', has_system_prompt: false, has_tools: false, message_count: 1 };
const ofModel = { model, mcp_server: 'localmodel-proxy' };
const UNKNOWN = { input_tokens: null, output_tokens: null, finish_reason: null };
const STARTED = { status: 200, ...UNKNOWN };

let one: Awaited<ReturnType<typeof aPlane>>;
beforeEach(async () => {
  one = await aPlane();
});

async function aPlane() {
  const admin = await aTenantAdmin();
  const { token, scope } = admin;
  const body = { name: 'a', agent_type: 't', owner: 'o', description: '' };
  const agent_id: string = (await call('/api/v1/agents', { token, body })).json().id;
  const shipping = await aShippingPlane(cp, admin);
  const eventsOf = async (id: string) => {
    const { events } = (await call('/api/v1/audit/events', { token })).json();
    return events.filter((event: { id: string }) => event.id === id);
  };
  return {
    ...{ ...shipping, token, scope, agent_id },
    decide: (over: Parameters<typeof shipping.decide>[0] = {}) =>
      shipping.decide({ agent_id, ...ofModel, ...over }),
    eventOf: async (id: string) => (await eventsOf(id))[0],
    eventsOf,
  };
}

describe('the list', () => {
  it('has the status before the outcome, which completes it', async () => {
    const { id } = one.decide();
    await one.ship();
    expect(await one.eventOf(id)).toMatchObject({ outcome: null, model_usage: null });
    one.writer.append(anAnswerStarted(id));
    await one.ship();
    expect(await one.eventOf(id)).toMatchObject({ outcome: null, model_usage: STARTED });
    const usage = { status: 200, input_tokens: 7, output_tokens: 9, finish_reason: 'stop' };
    one.writer.append(anOutcome(id, { model_usage: usage }));
    await one.ship();
    expect(await one.eventOf(id)).toMatchObject({ outcome: 'forwarded', model_usage: usage });
  });

  it('keeps the status of a call whose data plane died in the middle of the answer', async () => {
    const { id } = one.decide();
    one.writer.append(anAnswerStarted(id, { status: 503 }));
    await one.ship();
    one.writer.boot();
    one.writer.append(anOutcome(id, { outcome: 'outcome_unknown', latency_ms: null }));
    await one.ship();
    expect(await one.eventOf(id)).toMatchObject({
      ...{ outcome: 'outcome_unknown', model_usage: { status: 503, ...UNKNOWN } },
    });
  });

  it('takes it from the call’s own data plane only', async () => {
    const { id } = one.decide();
    await one.ship();
    const other = await aShippingPlane(cp, one);
    other.writer.append(anAnswerStarted(id));
    await other.ship();
    expect(await one.eventOf(id)).toMatchObject({ model_usage: null });
    expect(await streamed()).toEqual([expect.objectContaining({ id, model_usage: null })]);
  });
});

/** Both are asked, so that neither believes more than the other. */
describe('a start that is not believed', () => {
  it.each([
    ['of a call that was not allowed', { policy_result: 'deny' as const }],
    ['of a call that waits for a person', { policy_result: 'escalate' as const }],
    ['of a call of a tool', { model: null }],
  ])('is one %s', async (_what, over) => {
    const { id } = one.decide(over);
    one.writer.append(anAnswerStarted(id));
    await one.ship();
    expect(await one.eventOf(id)).toMatchObject({ id, model_usage: null });
    expect(await streamed()).toMatchObject([{ id, model_usage: null }]);
  });

  it('is one that was received after the outcome', async () => {
    const { id } = one.decide();
    one.writer.append(anOutcome(id, { outcome: 'upstream_error' }));
    one.writer.append(anAnswerStarted(id));
    await one.ship();
    one.writer.append(anAnswerStarted(id));
    await one.ship();
    expect(await one.eventOf(id)).toMatchObject({ outcome: 'upstream_error', model_usage: null });
    expect(await streamed()).toMatchObject([{ id, model_usage: null }]);
  });

  it('is one that was received before its decision', async () => {
    const late = aDecision({ agent_id: one.agent_id, bundle_revision: one.revision, ...ofModel });
    one.writer.append(anAnswerStarted(late.id));
    await one.ship();
    one.writer.append(late);
    await one.ship();
    one.writer.append(anAnswerStarted(late.id));
    await one.ship();
    expect(await one.eventOf(late.id)).toMatchObject({ id: late.id, model_usage: null });
    expect(await streamed()).toMatchObject([{ id: late.id, model_usage: null }]);
  });

  it('is one of another decision with the same id, which was received before it', async () => {
    const { id } = one.decide({ model: null });
    one.writer.append(anAnswerStarted(id));
    await one.ship();
    one.decide({ id });
    await one.ship();
    const unknown = { id, model_usage: null };
    expect(await one.eventsOf(id)).toMatchObject([unknown, unknown]);
    expect(await streamed()).toMatchObject([unknown, unknown]);
  });

  it.each([99, 700])('is one with the status %d, which is valid all the same', async (status) => {
    const { id } = one.decide();
    one.writer.append(anAnswerStarted(id, { status }));
    await one.ship();
    expect(await one.eventOf(id)).toMatchObject({ id, model_usage: null });
    expect(await streamed()).toMatchObject([{ id, model_usage: null }]);
    const verified = await call('/api/v1/audit/verify?fresh=true', { token: one.token });
    expect(verified.json()).toMatchObject({ valid: true, records_quarantined: 0 });
  });

  it('is each but the first, however large the call and many the records', async () => {
    const { id } = one.decide({ target: 't'.repeat(240_000) });
    await one.ship();
    one.writer.append(anAnswerStarted(id, { status: 201 }));
    for (let i = 0; i < 120; i++) one.writer.append(anAnswerStarted(id, { status: 500 }));
    await one.ship();
    const model_usage = { status: 201, ...UNKNOWN };
    expect(await one.eventOf(id)).toMatchObject({ id, model_usage });
    const events = await streamed();
    expect(events).toHaveLength(2);
    expect(events).toMatchObject([
      { id, model_usage: null },
      { id, model_usage },
    ]);
  });
});

/** Whoever knows a call's id and has a data plane's key may write about it. */
describe('a call about which others write', () => {
  it('shows its start, however many records of another data plane came before or after', async () => {
    const { id } = one.decide();
    await one.ship();
    const other = await aShippingPlane(cp, one);
    const write = async () => {
      for (let i = 0; i < 120; i++) other.writer.append(anAnswerStarted(id));
      await other.ship();
    };
    await write();
    one.writer.append(anAnswerStarted(id, { status: 503 }));
    await one.ship();
    await write();
    const model_usage = { status: 503, ...UNKNOWN };
    expect(await one.eventOf(id)).toMatchObject({ model_usage });
    expect((await streamed()).at(-1)).toMatchObject({ id, model_usage });
  });
});

describe('several decisions with one id', () => {
  it.each([
    ['the newer of two', ['allow', 'allow'], [503, null]],
    ['none where the newer was denied', ['allow', 'deny'], [null, null]],
    ['the newer where the older was denied', ['deny', 'allow'], [503, null]],
  ] as const)('have the start at %s, in the list and in the stream', async (_what, made, shown) => {
    const [first, second] = made;
    const { id } = one.decide({ policy_result: first });
    one.decide({ id, policy_result: second });
    one.writer.append(anAnswerStarted(id, { status: 503 }));
    await one.ship();
    one.decide({ id });
    await one.ship();
    const statusOf = (event: Record<string, unknown>) =>
      (event.model_usage as { status: number } | null)?.status ?? null;
    // Newest first, and the decision behind the start.
    expect((await one.eventsOf(id)).map(statusOf)).toEqual([null, ...shown]);
    const told = (await streamed()).map(statusOf).filter((status) => status !== null);
    expect(told).toEqual(shown.filter((status) => status !== null));
  });
});

/** The events of calls in the stream so far, as a reader gets them who begins at the beginning. */
async function streamed(): Promise<Record<string, unknown>[]> {
  const stream = createAuditStream({
    ...{ db: controlPlane.db, changes: test.changes, keepaliveMs: 1_000, now: () => new Date() },
  });
  const gone = new AbortController();
  const chunks = stream.open({
    ...{ scope: one.scope, lastEventId: 0, signal: gone.signal },
    ...{ drop: () => undefined, authorize: async () => undefined },
  });
  const ended = stream.stop('the test is over');
  let text = '';
  for await (const chunk of chunks) text += chunk;
  await ended;
  const events = (text.match(/^data: .*$/gm) ?? []).map((line) => JSON.parse(line.slice(6)));
  return events.filter(({ mcp_server }) => mcp_server === 'localmodel-proxy');
}

describe('the stream', () => {
  it('sends the event again, with the status, when the answer begins', async () => {
    const decided = one.decide();
    await one.ship();
    one.writer.append(anAnswerStarted(decided.id, { status: 503 }));
    await one.ship();
    const [first, second, ...more] = await streamed();
    expect(more).toEqual([]);
    expect(first).toMatchObject({ event_type: 'tool_call', id: decided.id, model_usage: null });
    const model_usage = { status: 503, ...UNKNOWN };
    expect(second).toEqual({ ...first, model_usage });
  });

  it('sends it also where many calls begin to be answered in one batch', async () => {
    const calls = Array.from({ length: 60 }, () => one.decide());
    for (const { id } of calls) one.writer.append(anAnswerStarted(id));
    await one.ship();
    const events = await streamed();
    expect(events).toHaveLength(120);
    expect(events.slice(60).map(({ id }) => id)).toEqual(calls.map(({ id }) => id));
    for (const event of events.slice(60)) expect(event.model_usage).toEqual(STARTED);
  });

  it('sends nothing for a call that was not allowed, or is unknown here', async () => {
    const { id } = one.decide({ policy_result: 'deny' });
    one.writer.append(anAnswerStarted(id));
    one.writer.append(anAnswerStarted('01890000-0000-7000-8000-000000000001'));
    await one.ship();
    expect(await streamed()).toMatchObject([{ event_type: 'policy_deny', model_usage: null }]);
  });
});

it('packages have the record, whole and selective ones, and both verifiers take it', async () => {
  const { id } = one.decide();
  one.writer.append(anAnswerStarted(id));
  one.writer.append(anOutcome(id));
  await one.ship();
  const anchor = await exports.anchorOf(one.token);
  for (const filter of [{}, { agent_ids: [one.agent_id] }]) {
    const [volume = expect.unreachable()] = await exports.exported(one.token, filter);
    const read = await reader.read(volume, anchor);
    expect(read).toMatchObject({ verdict: 'VERIFIED', fails: [], warns: {} });
  }
});
