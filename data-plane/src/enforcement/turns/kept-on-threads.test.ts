/**
 * Large calls of a tenant that has DLP matches and fields taken out of what is kept: on a real
 * gateway, whose scan threads do it while other calls go on.
 */
import { randomBytes } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { BundleSettings } from '@governance/shared/bundle/bundle-format';
import { payloadDigest } from '@governance/shared/evidence/event-payload';
import { uuidv7 } from '@governance/shared/ids';
import type { LedgerRecord } from '@governance/shared/ledger/ledger-record';
import type { DataProtectionSettings } from '@governance/shared/settings/data-protection-settings';
import { DEFAULT_DLP_SETTINGS } from '@governance/shared/settings/dlp-settings';
import { DEFAULT_INBOUND_ACTIONS } from '@governance/shared/settings/inbound-settings';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import type { NewPayload } from '../../payloads/payload-spool.ts';
import {
  HTTP_SERVER,
  startTestPlane,
  type TestAgent,
  type TestPlane,
} from '../../testing/test-plane.ts';
import { startTestUpstream, type TestUpstream } from '../../testing/test-upstream.ts';
import { CALL_STAGES, type PassedStage } from '../call/call-stages.ts';
import { openPinnedTools } from '../pins/pinned-tools.ts';
import { definitionOf } from '../pins/tool-definition.ts';

const MAIL = 'anna.berg@nordwerk.de';
const MARK = '[REDACTED:email_address]';
const LONG = 'lorem ipsum dolor sit amet '.repeat(34_000);

const POLICY = {
  id: '0190aaaa-0000-7000-8000-0000000000e1',
  name: 'asked',
  rego: `package asked

deny contains sprintf("it is %v", [input.context.time]) if input.request.parameters.ask == "time"
escalate contains "a person decides" if input.request.parameters.ask == "person"
`,
};

let upstream: TestUpstream;
let plane: TestPlane;
let agent: TestAgent;
let kept: NewPayload['content'][] = [];
const ends: (() => unknown)[] = [];

beforeAll(async () => {
  upstream = await startTestUpstream({
    tools: [
      {
        name: 'write_file',
        handle: ({ args, result }) =>
          result({ content: [{ type: 'text', text: `${args.answer ?? 'done'}` }] }),
      },
    ],
  });
  plane = await startTestPlane({
    servers: [HTTP_SERVER('files', upstream.url)],
    keepPayload: ({ content }) => kept.push(content) > 0,
    policies: [POLICY],
    config: { holdWaitMs: 1 },
  });
  protect({});
  agent = plane.addAgent(['files:*']);
});
afterEach(async () => {
  for (const end of ends.splice(0)) end();
  await plane.records();
  kept = [];
  upstream.seen.length = 0;
});
afterAll(async () => {
  await plane?.stop();
  await upstream?.stop();
});

function protect(
  more: Partial<DataProtectionSettings>,
  settings: Partial<BundleSettings> = {},
): void {
  plane.setSettings({
    data_protection: {
      payload_mode: 'redacted',
      redact_dlp_matches: true,
      redact_fields: ['secret'],
      hash_identifiers: false,
      sealing_key: {
        ...{ kty: 'OKP', crv: 'X25519', kid: 'k' },
        x: randomBytes(32).toString('base64url'),
      },
      ...more,
    },
    ...settings,
  });
}

const call = (args: object, { basic } = agent) =>
  plane.post(
    '/mcp/v1/files',
    {
      ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
      params: { name: 'write_file', arguments: args },
    },
    { authorization: basic },
  );

/** Calls back when a call has passed a part. */
function when(wanted: string, then: (passed: PassedStage) => void, times = 1): void {
  let left = times;
  const listen = (message: unknown) => {
    const passed = message as PassedStage;
    if (passed.stage !== wanted || left-- <= 0) return;
    then(passed);
  };
  subscribe(CALL_STAGES, listen);
  ends.push(() => unsubscribe(CALL_STAGES, listen));
}

/** New records of some types, as soon as there are so many of the last one. */
async function recordsOf<T extends LedgerRecord['type']>(count: number, ...types: T[]) {
  const found: Extract<LedgerRecord, { type: T }>[] = [];
  const isOf = (record: LedgerRecord): record is Extract<LedgerRecord, { type: T }> =>
    (types as string[]).includes(record.type);
  await vi.waitFor(async () => {
    found.push(...(await plane.records()).filter(isOf));
    expect(found.filter(({ type }) => type === types.at(-1))).toHaveLength(count);
  });
  return found;
}

it('both parts of a large call are kept without matches and fields, as their digests say', async () => {
  const args = { path: '/srv/people/hunter22x', secret: 'hunter22x', answer: `${LONG} ${MAIL}` };
  const { json } = await call(args);
  expect(json.result.content[0].text).toBe(args.answer);
  const records = await recordsOf(1, 'decision', 'outcome');
  const [input, result] = kept;
  expect(kept.map(({ part }) => part)).toEqual(['input', 'result']);
  const { request } = JSON.parse(input?.text ?? '');
  expect(request.parameters.path).toBe('/srv/people/[REDACTED]');
  const texts = [request.parameters.answer, JSON.parse(result?.text ?? '').content[0].text];
  for (const text of texts) {
    expect(text.slice(LONG.length)).toBe(` ${MARK}`);
    expect(text.startsWith(LONG)).toBe(true);
  }
  expect(kept.map(({ text }) => text).join()).not.toContain('hunter22x');
  const digests = kept.map(({ salt, text }) => payloadDigest(Buffer.from(salt, 'base64url'), text));
  expect(records).toMatchObject(digests.map((payload_digest) => ({ payload_digest })));
  // What is taken out of the arguments stands in no record either.
  expect(records[0]).toMatchObject({ protected_fields: ['target'] });
  expect(JSON.stringify(records)).not.toContain('hunter22x');
});

it('while a large call is prepared for its record, another agent is answered', async () => {
  const other = plane.addAgent(['files:*']);
  const happened: string[] = [];
  let answering: Promise<unknown> = Promise.resolve();
  when('policy', ({ call: { id } }) => {
    when('record-handed-over', (passed) => passed.call.id === id && happened.push('large'), 9);
    answering = call({ path: 'b' }, other).then(() => happened.push('small'));
  });
  await call({ path: 'a', LONG });
  await answering;
  expect(happened).toEqual(['small', 'large']);
});

const deletes = () => {
  const tool_actions = { write_file: { action: 'delete', set_id: uuidv7() } };
  plane.setServers([{ ...HTTP_SERVER('files', upstream.url), tool_actions } as never]);
};

it('what changes while an allowed call is prepared for its record holds for it', async () => {
  const args = { path: 'a', LONG };
  const nothing = () => undefined;
  const restore = () => plane.setServers([HTTP_SERVER('files', upstream.url)]);
  for (const [change, undo, code] of [
    [nothing, nothing, undefined],
    [deletes, restore, -32003],
    [(writer: TestAgent) => writer.update({ role_ids: [] }), nothing, -32003],
    [(writer: TestAgent) => writer.update({ status: 'suspended' }), nothing, -32000],
  ] as const) {
    const writer = plane.addAgent(['files:write']);
    kept = [];
    upstream.seen.length = 0;
    when('policy', () => change(writer));
    const { json } = await call(args, writer);
    undo();
    expect(json.error?.code).toBe(code);
    const [decision] = await recordsOf(1, 'decision');
    const isAllowed = code === undefined;
    expect(decision).toMatchObject({ policy_result: isAllowed ? 'allow' : 'deny' });
    expect(upstream.messages('tools/call')).toHaveLength(isAllowed ? 1 : 0);
    // Once, of what was recorded.
    const inputs = kept.filter(({ part }) => part === 'input');
    expect(inputs.map(({ event_id }) => event_id)).toEqual([decision?.id]);
  }
});

it('an escalated call is held, and not that of an agent that is suspended meanwhile', async () => {
  const args = { path: 'a', ask: 'person', LONG };
  for (const [change, wanted] of [
    [() => undefined, ['escalate', 'hold_opened']],
    [(writer: TestAgent) => writer.update({ status: 'suspended' }), ['deny']],
  ] as const) {
    const writer = plane.addAgent(['files:*']);
    when('blast-radius', () => setImmediate(() => change(writer)));
    const { json } = await call(args, writer);
    expect(json.error.code).toBe(wanted.length > 1 ? -32004 : -32000);
    // What would follow the decision is committed with it.
    const records = await recordsOf(1, 'hold_opened', 'decision');
    const said = records.map((one) => (one.type === 'decision' ? one.policy_result : one.type));
    expect(said.sort()).toEqual([...wanted].sort());
  }
});

it('what a call is counted and raised for happens once, however often it is judged', async () => {
  plane.registry.resetMetrics();
  let judged = 0;
  const change = () => plane.setServers([HTTP_SERVER('files', upstream.url)]);
  when('blast-radius', () => judged++ < 2 && setImmediate(change), 9);
  await call({ path: '/etc/hosts', by: MAIL, LONG });
  expect(judged).toBe(3);
  const metrics = (await plane.registry.metrics()).split('\n');
  expect(metrics.filter((line) => /^governance_(blast_radius|dlp_findings)/.test(line))).toEqual([
    expect.stringMatching(/^governance_blast_radius_total\{rule="config_path".* 1$/),
    expect.stringMatching(/^governance_dlp_findings_total\{pattern="email_address".* 1$/),
  ]);
  expect(await recordsOf(1, 'alert', 'decision')).toMatchObject([
    { alert_type: 'BLAST_RADIUS_ESCALATION' },
    { policy_result: 'escalate' },
  ]);
});

it('what is kept has the time that the policies saw', async () => {
  expect((await call({ path: 'a', ask: 'time', LONG })).json.error.code).toBe(-32003);
  const [decision] = await recordsOf(1, 'decision');
  const { context } = JSON.parse(kept[0]?.text ?? '');
  expect(decision).toMatchObject({ policy_reason: expect.stringContaining(context.time) });
});

it('a call with more findings than can be told apart is covered as a whole in its record', async () => {
  const custom = [
    { id: uuidv7(), name: 'shelf', regex: 'SHELF-[0-9]{6}', severity: 'medium' as const },
  ];
  protect(
    { payload_mode: 'full', redact_dlp_matches: false, redact_fields: [] },
    { dlp: { ...DEFAULT_DLP_SETTINGS, custom } },
  );
  const shelves = Array.from({ length: 250 }, (_, i) => [`SHELF-${100_000 + i}`, i] as const);
  for (const [some, target] of [
    [shelves.slice(0, 2), '/srv/a'],
    [shelves, '[REDACTED]'],
  ] as const) {
    await call({ path: '/srv/a', ...Object.fromEntries(some) });
    const [decision] = await recordsOf(1, 'decision');
    expect(decision).toMatchObject({ dlp_action: 'warned', target });
  }
  protect({}, { dlp: DEFAULT_DLP_SETTINGS });
});

it('rules that change again and again are no permission', async () => {
  when('policy', () => plane.setServers([HTTP_SERVER('files', upstream.url)]), 99);
  expect((await call({ path: 'a', LONG })).json.error).toMatchObject({
    code: -32003,
    message: expect.stringContaining('changed again and again'),
  });
  expect(upstream.messages('tools/call')).toEqual([]);
});

it('what is to be removed from now on stands in no record of a denied call that waited', async () => {
  const reader = plane.addAgent(['files:read']);
  when('scope-probe', () => setImmediate(() => protect({ redact_fields: ['secret', 'customer'] })));
  const args = { path: '/srv/nordwerk-anna', customer: 'nordwerk-anna', LONG };
  expect((await call(args, reader)).json.error?.code).toBe(-32003);
  const records = await recordsOf(1, 'alert', 'decision');
  expect(records).toMatchObject([
    { alert_type: 'PAYLOAD_NOT_KEPT', details: { reason: 'settings_changed' } },
    { policy_result: 'deny', target: '[REDACTED]', payload_digest: null },
  ]);
  expect(JSON.stringify([records, kept])).not.toContain('anna');
  protect({});
});

it('a tool whose definition changes while its call is prepared is not called', async () => {
  const listed = await plane.post(
    '/mcp/v1/files',
    { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} },
    { authorization: agent.basic },
  );
  const [tool] = listed.json.result.tools;
  const pin = { server_id: 'files', tool_name: 'write_file', hash: definitionOf(tool).digest };
  const inbound = {
    actions: DEFAULT_INBOUND_ACTIONS,
    rules: [],
    pinned_tools: { require_approval: true, pins: [pin] },
  };
  protect({}, { inbound } as Partial<BundleSettings>);
  expect((await call({ path: 'a', LONG })).json.error).toBeUndefined();
  // The list's too.
  await recordsOf(2, 'outcome');
  upstream.seen.length = 0;
  // As another worker of the data plane would.
  const worker = openPinnedTools(`${plane.place.dataDir}/tool-pins.db`, {
    onObserved: () => undefined,
    onNews: () => undefined,
    now: Date.now,
    log: { error: () => undefined },
  } as never);
  ends.push(() => worker.close());
  when('policy', () =>
    setImmediate(() =>
      worker.observe(plane.tenantId, 'files', [{ ...tool, description: 'Changed.' }], null),
    ),
  );
  const { json } = await call({ path: 'a', LONG });
  expect(json.error?.message).toContain('has changed and waits for approval');
  expect(upstream.messages('tools/call')).toEqual([]);
});
