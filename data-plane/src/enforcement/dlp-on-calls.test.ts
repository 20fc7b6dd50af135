/** DLP on the real gateway: what is sent, what comes back, what policies and records say of it. */

import { uuidv7 } from '@governance/shared/ids';
import type { LedgerRecord } from '@governance/shared/ledger/ledger-record';
import { DEFAULT_DLP_SETTINGS, type DlpSettings } from '@governance/shared/settings/dlp-settings';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  HTTP_SERVER,
  startTestPlane,
  type TestAgent,
  type TestPlane,
} from '../testing/test-plane.ts';
import { startTestUpstream, type TestUpstream } from '../testing/test-upstream.ts';

const custom = [
  { id: uuidv7(), name: 'badge', regex: 'BADGE-[0-9]{6}', severity: 'critical' as const },
  { id: uuidv7(), name: 'shelf', regex: 'SHELF-[0-9]{6}', severity: 'medium' as const },
  { id: uuidv7(), name: 'slow', regex: '1[01]{1000}x', severity: 'low' as const },
];
const BADGE = 'BADGE-123456';
const SHELF = 'SHELF-123456';
const MARK = '[REDACTED:badge]';

const POLICY = {
  id: '0190aaaa-0000-7000-8000-0000000000d1',
  name: 'no shelves for deletion',
  rego: `package shelves
deny contains "a shelf" if {
  input.dlp.findings_count == 1
  input.dlp.max_severity == "medium"
  "shelf" in input.dlp.patterns
  input.request.tool_name == "delete_thing"
}
deny contains sprintf("not %v", [input.request.parameters]) if input.request.tool_name == "quote_thing"`,
};

const logged: string[] = [];
let upstream: TestUpstream;
let plane: TestPlane;
let agent: TestAgent;

/** Answers with what it is asked to say. */
const TOOL = {
  handle: ({ args, result }: { args: Record<string, unknown>; result(value: unknown): void }) =>
    result(args.answer ?? { content: [{ type: 'text', text: String(args.say) }] }),
};

beforeAll(async () => {
  upstream = await startTestUpstream({
    capabilities: { tools: {}, resources: {}, prompts: {} },
    tools: [
      { name: 'read_thing', ...TOOL },
      { name: 'delete_thing', ...TOOL },
      { name: 'quote_thing', ...TOOL },
    ],
    methods: {
      'resources/read': ({ uri }) => ({
        contents: [
          { uri, text: `of ${BADGE}` },
          { uri, blob: Buffer.from(uri === 'doc://b' ? BADGE : 'x').toString('base64') },
        ],
      }),
      'prompts/get': ({ name }) => {
        const text = name === 'large' ? `${'word '.repeat(20_000)}${BADGE}` : BADGE;
        return { messages: [{ role: 'user', content: { type: 'text', text } }] };
      },
      'resources/list': () => ({
        resources: [{ uri: 'doc://1', name: 'one', description: `about ${BADGE}` }],
      }),
    },
  });
  plane = await startTestPlane({
    servers: [HTTP_SERVER('up', upstream.url)],
    policies: [POLICY],
    log: pino({ level: 'debug' }, { write: (line: string) => void logged.push(line) }),
  });
  agent = plane.addAgent();
});

afterAll(async () => {
  await plane?.stop();
  await upstream?.stop();
});

const setDlp = (over: Partial<DlpSettings> = {}) =>
  plane.setSettings({ dlp: { ...DEFAULT_DLP_SETTINGS, custom, ...over } });

beforeEach(() => setDlp());
afterEach(async () => {
  await plane.records();
  upstream.seen.length = 0;
});

const ask = (method: string, params: Record<string, unknown>) =>
  plane.post(
    '/mcp/v1/up',
    { jsonrpc: '2.0', id: 1, method, params },
    { authorization: agent.basic },
  );
const call = (args: Record<string, unknown>, name = 'read_thing') =>
  ask('tools/call', { name, arguments: args });

async function recordOf<T extends LedgerRecord['type']>(type: T) {
  const found = (await plane.records()).findLast((record) => record.type === type);
  return found as Extract<LedgerRecord, { type: T }> | undefined;
}

describe('what an agent sends', () => {
  it('is denied before policy where a finding is critical, and nothing is sent', async () => {
    const { json, text } = await call({ say: `it is ${BADGE}` });
    expect(json.error.code).toBe(-32003);
    expect(json.error.message).toMatch(/^Denied by policy: .*badge/);
    expect(json.error.data.reasons).toMatchObject([{ policy_id: 'dlp', rule: 'deny' }]);
    expect(text).not.toContain('123456');
    expect(upstream.messages('tools/call')).toEqual([]);
    const decision = await recordOf('decision');
    expect(decision).toMatchObject({
      policy_result: 'deny',
      decided_by: 'dlp',
      dlp_action: 'blocked',
      dlp_findings_count: 1,
      dlp_findings: [{ pattern: 'badge', severity: 'critical', place: '/arguments/say' }],
    });
    expect(JSON.stringify(decision)).not.toContain('123456');
  });

  it.each([
    ['warned of', 'warned', {}],
    ['logged', 'logged', { outbound: { ...DEFAULT_DLP_SETTINGS.outbound, medium: 'log' } }],
  ] as const)('is %s where the tenant says so', async (_, action, over) => {
    setDlp(over);
    expect((await call({ say: SHELF })).json.result).toBeDefined();
    expect(await recordOf('decision')).toMatchObject({
      policy_result: 'allow',
      dlp_action: action,
      dlp_findings_count: 1,
    });
  });

  it('is blocked below critical where the tenant says so', async () => {
    setDlp({ outbound: { ...DEFAULT_DLP_SETTINGS.outbound, medium: 'block' } });
    expect((await call({ say: SHELF })).json.error.code).toBe(-32003);
  });

  it('is shown to policies', async () => {
    expect((await call({ say: SHELF })).json.result).toBeDefined();
    const { json } = await call({ say: SHELF }, 'delete_thing');
    expect(json.error).toMatchObject({ code: -32003, message: /a shelf/ });
  });

  it('is looked at in keys, numbers and the names of things, whatever the method', async () => {
    for (const args of [{ [BADGE]: { x: BADGE } }, { deep: [{ er: [BADGE] }] }]) {
      expect((await call(args)).json.error.code).toBe(-32003);
    }
    expect(JSON.stringify(await plane.records())).not.toContain('123456');
    expect((await ask('resources/read', { uri: `doc://${BADGE}` })).json.error.code).toBe(-32003);
    expect((await ask('prompts/get', { name: BADGE })).json.error.code).toBe(-32003);
  });

  it.each([
    ['small', {}],
    ['large', { content: 'word '.repeat(5_000) }],
  ])('is in no record, log line or alert, with the tenant’s first settings, where the call is %s', async (_, more) => {
    await plane.records();
    await call({ path: `/srv/${BADGE}`, ...more });
    await call({ path: `/srv/${SHELF}`, note: SHELF, ...more });
    await call({ path: '/srv/4111111111111111', card: 4111111111111111, ...more });
    await call({ [`of ${SHELF}`]: { path: 'x', to: { path: '/etc/hosts', say: SHELF } } });
    await call({}, `read_${BADGE}`);
    await ask('resources/read', { uri: `doc://${BADGE}` });
    expect(logged.join('')).toContain(`read_${MARK}`);
    expect(logged.join('')).not.toMatch(/123456|41111/);
    const records = await plane.records();
    expect(JSON.stringify(records)).not.toMatch(/123456|41111/);
    const decisions = records.filter((record) => record.type === 'decision');
    expect(decisions.map((one) => one.v === 2 && [one.target, one.protected_fields])).toEqual([
      [`/srv/${MARK}`, ['target']],
      ['/srv/[REDACTED:shelf]', ['target']],
      ['/srv/[REDACTED:payment_card]', ['target']],
      ['read_thing', []],
      [`read_${MARK}`, ['target']],
      [`doc://${MARK}`, ['target']],
    ]);
  });

  it('is covered in what a policy says of the call, not where it is only logged', async () => {
    await plane.records();
    await call({ say: `a "${SHELF}"`, path: 'x' }, 'quote_thing');
    expect(await recordOf('decision')).toMatchObject({
      policy_reason: expect.stringContaining('[REDACTED:shelf]'),
      protected_fields: ['policy_reason'],
    });
    setDlp({ outbound: { ...DEFAULT_DLP_SETTINGS.outbound, medium: 'log' } });
    await call({ path: `/srv/${SHELF}` });
    expect(await recordOf('decision')).toMatchObject({
      target: `/srv/${SHELF}`,
      protected_fields: [],
    });
  });

  it('is not hidden by any number of harmless findings before it', async () => {
    const many = Array.from({ length: 300 }, (_, i) => `SHELF-${100_000 + i}`);
    const { json } = await call({ many, say: BADGE });
    expect(json.error).toMatchObject({ code: -32003, message: /badge/ });
  });

  it('is denied where a pattern of the tenant takes too long, and that is an alert', async () => {
    let state = 1;
    const bits = Array.from({ length: 20_000 }, () => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return state > 1_073_741_824 ? '1' : '0';
    }).join('');
    const { json } = await call({ say: bits });
    expect(json.error).toMatchObject({ code: -32003, message: /too long/ });
    expect(upstream.messages('tools/call')).toEqual([]);
    expect(await recordOf('alert')).toMatchObject({ alert_type: 'DLP_PATTERNS_GAVE_UP' });
  });
});

describe('what is large', () => {
  const large = `${'word '.repeat(20_000)}${BADGE}`;

  it('is denied, and redacted, as what is small', async () => {
    const { json } = await call({ say: large });
    expect(json.error).toMatchObject({ code: -32003, message: /badge/ });
    const answered = await ask('prompts/get', { name: 'large' });
    expect(answered.text).toContain(MARK);
    expect(answered.text).not.toContain('BADGE-1');
    expect(answered.text.length).toBeGreaterThan(100_000);
  });
});

describe('what a server says', () => {
  it.each([
    ['a resource', 'resources/read', { uri: 'doc://a' }],
    ['a prompt', 'prompts/get', { name: 'one' }],
    ['a list', 'resources/list', {}],
  ])('is redacted in %s', async (_, method, params) => {
    const { json, text } = await ask(method, params);
    expect(json.result, text).toBeDefined();
    expect(text).toContain(MARK);
    expect(text).not.toContain('BADGE-1');
    expect(await recordOf('outcome')).toMatchObject({
      outcome: 'forwarded',
      result_action: 'replaced',
      inspection: { step: 'dlp', dlp_findings_count: 1, dlp_findings: [{ pattern: 'badge' }] },
    });
  });

  it('is blocked where it cannot be redacted, saying that the call was made', async () => {
    const { json, text } = await ask('resources/read', { uri: 'doc://b' });
    expect(text).not.toContain(BADGE);
    expect(json.error).toMatchObject({
      code: -32603,
      message: /^The server was asked, and the gateway blocked its answer/,
      data: { failure: 'blocked', dlp_patterns: ['badge'] },
    });
    expect(await recordOf('outcome')).toMatchObject({
      outcome: 'blocked',
      result_action: 'blocked',
      inspection: { step: 'dlp', dlp_findings_count: 2 },
    });
  });

  it('is blocked, or passed on and logged, where the tenant says so', async () => {
    setDlp({ results: { ...DEFAULT_DLP_SETTINGS.results, critical: 'block' } });
    const blocked = await ask('prompts/get', { name: 'one' });
    expect(blocked.json.error).toMatchObject({ code: -32603, data: { failure: 'blocked' } });
    await plane.records();
    setDlp({ results: { ...DEFAULT_DLP_SETTINGS.results, critical: 'log' } });
    expect((await ask('prompts/get', { name: 'one' })).text).toContain(BADGE);
    expect(await recordOf('outcome')).toMatchObject({
      result_action: 'allowed',
      inspection: { step: null, dlp_findings_count: 1 },
    });
  });

  it('passes as it was written where nothing is found', async () => {
    const answer = { content: [{ type: 'text', text: 'fine' }], structuredContent: { n: 1 } };
    expect((await call({ answer })).json.result).toMatchObject(answer);
    expect(await recordOf('outcome')).toMatchObject({ result_action: 'allowed', inspection: null });
  });
});

it('is counted', async () => {
  await call({ say: BADGE });
  const shown = await plane.registry.metrics();
  expect(shown).toMatch(
    /governance_dlp_findings_total\{pattern="custom",severity="critical",direction="outbound",action="blocked"\} \d/,
  );
});
