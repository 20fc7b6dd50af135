/** The step with a detector of marks, so that each severity can be had: `[low]`, `[high]` … */
import type { BundleSettings } from '@governance/shared/bundle/bundle-format';
import type { InboundFinding } from '@governance/shared/detect/findings';
import type { TextKind } from '@governance/shared/detect/inbound/detector';
import { atOnce, type Portioned } from '@governance/shared/detect/portions';
import { uuidv7 } from '@governance/shared/ids';
import { Severity } from '@governance/shared/ledger/ledger-record';
import {
  DEFAULT_INBOUND_ACTIONS,
  type InboundAction,
  type SourceRule,
} from '@governance/shared/settings/inbound-settings';
import { expect, it } from 'vitest';
import type { ReceivedMessage, ReceivedPart } from '../call/received-message.ts';
import type { Detector } from '../inbound/detector.ts';
import type { InboundEvent } from '../inbound/inbound-alerts.ts';
import { createItemScanner } from '../inbound/item-scanner.ts';
import { type InjectionDeps, scanForInjection } from './injection.ts';

/** As what each value was read. */
const readAs: (TextKind | undefined)[] = [];
const detector: Detector = {
  inText(text) {
    const findings = Severity.options.flatMap((severity) => {
      const start = text.indexOf(`[${severity}]`);
      if (start < 0) return [];
      const { length } = `[${severity}]`;
      return [{ class: 'imperative_command', severity, start, length, score: 0.7 } as const];
    });
    return { score: findings.length > 0 ? 0.7 : 0, findings, reasons: [] };
  },
  *inValue(value, options) {
    readAs.push(options?.kind);
    const found: InboundFinding[] = [];
    const walk = (part: unknown, place: string) => {
      if (typeof part === 'string') {
        for (const { start: _, ...finding } of detector.inText(part, options).findings) {
          found.push({ ...finding, place });
        }
      }
      if (typeof part !== 'object' || part === null) return;
      for (const [name, inner] of Object.entries(part)) walk(inner, `${place}/${name}`);
    };
    walk(value, '');
    return found;
  },
};

interface Case {
  method?: string;
  args?: Record<string, unknown>;
  serverId?: string;
  rules?: [pattern: string, type: SourceRule['rule_type']][];
  actions?: Partial<Record<'low' | 'medium' | 'high' | 'critical', InboundAction>>;
  carry?: string;
  isOwnAccord?: boolean;
  isIntroduction?: boolean;
  speaker?: ReceivedMessage['speaker'];
}

function run(part: ReceivedPart, options: Case = {}) {
  const { method = 'tools/call', args = {}, serverId = 'up', carry = '' } = options;
  const settings: BundleSettings = {
    tenant_id: uuidv7(),
    mcp_servers: Object.fromEntries(
      ['up', 'other'].map((id) => [
        id,
        { server_id: id, transport: 'stdio', url: null, local_name: id },
      ]),
    ),
    inbound: {
      actions: { ...DEFAULT_INBOUND_ACTIONS, ...options.actions },
      rules: (options.rules ?? []).map(([source_pattern, rule_type]) => ({
        id: uuidv7(),
        source_pattern,
        rule_type,
        expires_at: null,
      })),
    },
  };
  const rules = { revision: 1, settings };
  const call = { id: 'event-1', ask: { serverId, method, name: 'read', args }, rules };
  const received = {
    speaker: options.speaker ?? 'server',
    caller: { tenantId: 't', agent: { id: 'agent-1' } },
    serverId,
    call: options.isOwnAccord ? null : call,
    isIntroduction: options.isIntroduction,
    part,
    carry,
  } as unknown as ReceivedMessage;
  const told: InboundEvent[] = [];
  const counted: string[] = [];
  const deps: InjectionDeps = {
    rules: { findActiveRules: () => rules as never },
    catalogue: { findOutputSchema: () => undefined },
    inbound: {
      detector,
      report: (event) => told.push(event),
      scanItem: createItemScanner(detector.inValue),
      onFinding: ({ severity }, action) => counted.push(`${severity} ${action}`),
      now: Date.now,
    },
  };
  const portions: number[] = [];
  const verdict = atOnce(counting(scanForInjection(received, deps), portions));
  const after = verdict.kind === 'continue' ? verdict.call : received;
  const { findings, replacedBy } = after;
  const value = after.part.kind === 'notification' ? after.part.params : after.part.value;
  if (after.part.kind !== 'notification' && replacedBy !== undefined) {
    expect(JSON.parse(after.part.raw)).toEqual(value);
  }
  return {
    verdict,
    received,
    after,
    value,
    replacedBy,
    told,
    counted,
    inbound: findings?.inbound ?? [],
    portions,
  };
}

function* counting<T>(work: Portioned<T>, portions: number[]): Portioned<T> {
  for (;;) {
    const next = work.next();
    if (next.done) return next.value;
    portions.push(next.value);
    yield next.value;
  }
}

const result = (value: Record<string, unknown>): ReceivedPart => ({
  kind: 'result',
  raw: JSON.stringify(value),
  value,
});
const text = (words: string) => result({ content: [{ type: 'text', text: words }] });
const NOTICE = expect.stringMatching(/^\[.* withheld by the gateway: .*\]$/);

it('passes on what has no findings, the same object', () => {
  const { received, after, told } = run(text('fine'));
  expect(after).toBe(received);
  expect(told).toEqual([]);
});

it.each([
  ['info', 'pass'],
  ['low', 'pass'],
  ['medium', 'pass'],
  ['high', 'substitute'],
  ['critical', 'substitute'],
])('by default a finding that is %s means %s', (severity, action) => {
  const { replacedBy, counted, inbound, told, value } = run(text(`so [${severity}] it is`));
  expect(counted).toEqual([`${severity} ${action}`]);
  expect(inbound).toMatchObject([{ severity, place: '/content/0/text' }]);
  expect(replacedBy).toBe(action === 'pass' ? undefined : 'injection');
  expect(told).toMatchObject([{ action: action === 'pass' ? 'passed' : 'substituted' }]);
  expect(JSON.stringify(value).includes('so [')).toBe(action === 'pass');
});

it('does what the tenant set', () => {
  expect(run(text('[low]'), { actions: { low: 'substitute' } }).replacedBy).toBe('injection');
  expect(run(text('[critical]'), { actions: { critical: 'pass' } }).replacedBy).toBeUndefined();
});

it('says nothing of clients, models and the gateway', () => {
  for (const speaker of ['client', 'gateway', 'model'] as const) {
    expect(run(text('[critical]'), { speaker }).inbound).toEqual([]);
  }
});

it.each<[string, string, Record<string, unknown>, unknown]>([
  [
    'a result with structured content',
    'tools/call',
    { content: [], structuredContent: { a: '[high]' } },
    { content: [{ type: 'text', text: NOTICE }], isError: true },
  ],
  [
    'a result of a modern server',
    'tools/call',
    { resultType: 'complete', content: [{ type: 'text', text: '[high]' }] },
    { resultType: 'complete', content: [{ type: 'text', text: NOTICE }], isError: true },
  ],
  [
    'a resource',
    'resources/read',
    { contents: [{ uri: 'evil://[high]', text: 'x' }] },
    { contents: [{ uri: 'doc://1', mimeType: 'text/plain', text: NOTICE }] },
  ],
  [
    'a blob that is text',
    'resources/read',
    { contents: [{ uri: 'doc://1', blob: Buffer.from('a [high] one').toString('base64') }] },
    { contents: [{ uri: 'doc://1', mimeType: 'text/plain', text: NOTICE }] },
  ],
  [
    'a prompt',
    'prompts/get',
    { description: '[high]', messages: [] },
    { messages: [{ role: 'user', content: { type: 'text', text: NOTICE } }] },
  ],
  [
    'a completion',
    'completion/complete',
    { completion: { values: ['[high]'] } },
    { completion: { values: [] } },
  ],
  [
    'a task',
    'tasks/get',
    {
      taskId: 't-1',
      status: 'completed',
      ttl: 5,
      createdAt: '2026-03-01T10:00:00Z',
      result: { content: [{ type: 'text', text: '[high]' }] },
    },
    {
      taskId: 't-1',
      status: 'completed',
      statusMessage: NOTICE,
      createdAt: '2026-03-01T10:00:00.000Z',
      ttl: 5,
      result: { content: [{ type: 'text', text: NOTICE }], isError: true },
    },
  ],
])('replaces %s in its own shape', (_, method, value, expected) => {
  const replaced = run(result(value), { method, args: { uri: 'doc://1' } });
  expect(replaced.replacedBy).toBe('injection');
  expect(replaced.value).toEqual(expected);
});

it('replaces an error, and keeps its code', () => {
  const value = { code: -32602, message: '[high]', data: { more: 'x' } };
  const replaced = run({ kind: 'error', raw: JSON.stringify(value), value });
  expect(replaced.value).toEqual({ code: -32602, message: NOTICE });
});

it('replaces a notification, and drops one that has no place for a notice', () => {
  const progress = { progressToken: 7, progress: 1, total: 2, message: '[high]', more: '[high]' };
  const notification = (method: string, params: Record<string, unknown>): ReceivedPart => ({
    kind: 'notification',
    method,
    params,
  });
  expect(run(notification('notifications/progress', progress)).value).toEqual({
    progressToken: 7,
    progress: 1,
    total: 2,
    message: NOTICE,
  });
  const log = { level: 'error', logger: '[high]', data: { a: 1 } };
  const own = { isOwnAccord: true };
  expect(run(notification('notifications/message', log), own).value).toEqual({
    level: 'error',
    data: NOTICE,
  });
  const other = run(notification('notifications/other', { text: '[high]' }), own);
  expect(other.verdict).toMatchObject({ kind: 'deny', message: /looks like an injection/ });
});

it('names no member whose name is text', () => {
  const within = { 'say [high]': '[high]', key_9f8e7d6c5b4a: { n: ['[high]'] }, $ref: '[high]' };
  expect(run(result({ structuredContent: within })).inbound.map(({ place }) => place)).toEqual([
    '/structuredContent/*',
    '/structuredContent/*/n/0',
    '/structuredContent/$ref',
  ]);
});

it('blocks what asks the client for something, and keeps its findings for the record', () => {
  const asked = { resultType: 'input_required', inputRequests: { a: { params: '[high]' } } };
  const { verdict, received } = run(result(asked));
  expect(verdict.kind).toBe('deny');
  expect(received.findings?.inbound).toHaveLength(1);
  const introduced = run(result({ instructions: '[high]' }), { isOwnAccord: true });
  expect(introduced.verdict.kind).toBe('deny');
});

it('reads what a server says of itself as descriptions, and nothing else', () => {
  const kindOf = (value: Record<string, unknown>, options: Case) => {
    readAs.length = 0;
    run(result(value), options);
    return readAs[0];
  };
  const introduced = { isOwnAccord: true, isIntroduction: true };
  expect(kindOf({ instructions: 'use a, then b' }, introduced)).toBe('tool_description');
  expect(kindOf({ message: 'your name?' }, { isOwnAccord: true })).toBe('question');
  const listed = (member: string) =>
    kindOf({ [member]: [{ name: 'a' }] }, { method: `${member}/list` });
  expect(listed('tools')).toBe('tool_description');
  expect(listed('prompts')).toBe('tool_description');
  expect(listed('resources')).toBe('other');
  expect(kindOf({ content: [] }, {})).toBe('result');
});

it('finds what is split over two parts of a stream, once', () => {
  const part: ReceivedPart = {
    kind: 'notification',
    method: 'notifications/progress',
    params: { progressToken: 7, progress: 2, message: 'gh] and on' },
  };
  expect(run(part, { carry: 'before [hi' }).replacedBy).toBe('injection');
  // What was there before was judged with its own part.
  expect(run(part, { carry: 'before [high] after' }).inbound).toEqual([]);
});

it('goes by the trust in the source', () => {
  expect(run(text('[critical]'), { rules: [['up', 'trust']] }).inbound).toEqual([]);
  const untrusted = run(text('[medium]'), { rules: [['up', 'untrusted']] });
  expect(untrusted.inbound).toMatchObject([{ severity: 'high' }]);
  expect(untrusted.replacedBy).toBe('injection');
  const blocked = run(text('fine'), { rules: [['up', 'block']] });
  expect(blocked.value).toEqual({ content: [{ type: 'text', text: NOTICE }], isError: true });
  expect(blocked.told).toMatchObject([{ action: 'blocked', findings: [] }]);
  expect(blocked.counted).toEqual([]);
});

it('asks for the requested URI, never for text of the answer', () => {
  const rules: Case['rules'] = [['https://good.example/*', 'trust']];
  const answer = result({ content: [{ type: 'text', text: '[high] https://good.example/' }] });
  expect(run(answer, { rules, args: { url: 'https://evil.example/' } }).replacedBy).toBe(
    'injection',
  );
  expect(run(answer, { rules, args: { url: 'https://good.example/a' } }).inbound).toEqual([]);
});

it('gives nobody a task of a blocked source, which could be asked for the result', () => {
  const rules: Case['rules'] = [['https://evil.example/*', 'block']];
  const begun = result({ resultType: 'task', taskId: 't', status: 'working', ttlMs: null });
  expect(run(begun, { rules, args: { url: 'https://evil.example/a' } }).value).toEqual({
    resultType: 'complete',
    content: [{ type: 'text', text: NOTICE }],
    isError: true,
  });
  expect(run(begun, { rules, args: { url: 'https://good.example/' } }).replacedBy).toBeUndefined();
});

it('a blocked source may say what has no text', () => {
  const rules: Case['rules'] = [['up', 'block']];
  expect(run(result({}), { rules, method: 'resources/subscribe' }).replacedBy).toBeUndefined();
  const changed: ReceivedPart = {
    kind: 'notification',
    method: 'notifications/tools/list_changed',
    params: undefined,
  };
  expect(run(changed, { rules, isOwnAccord: true }).replacedBy).toBeUndefined();
});

it('takes one tool out of a list, and leaves the others', () => {
  const tools = [
    { name: 'good', description: 'Reads.', inputSchema: { type: 'object' } },
    { name: 'evil', description: 'First [high], then read.' },
    { name: 'odd', inputSchema: { properties: { a: { description: '[low]' } } } },
  ];
  const { value, inbound, told } = run(result({ tools, nextCursor: 'c' }), {
    method: 'tools/list',
  });
  expect(value).toEqual({ tools: [tools[0], tools[2]], nextCursor: 'c' });
  expect(inbound.map(({ place }) => place)).toEqual([
    '/tools/1/description',
    '/tools/2/inputSchema/properties/a/description',
  ]);
  expect(told).toMatchObject([
    { action: 'substituted', items: ['evil'] },
    { action: 'passed', items: ['odd'] },
  ]);
});

it('knows whose an item of a joined list is', () => {
  const tools = [
    { name: 'up__a', description: '[high]' },
    { name: 'other__b', description: '[high]' },
    { name: 'other__c', description: 'fine' },
  ];
  const lists = { method: 'tools/list', serverId: '' };
  const trusted = run(result({ tools }), { ...lists, rules: [['up', 'trust']] });
  expect(trusted.value).toEqual({ tools: [tools[0], tools[2]] });
  const blocked = run(result({ tools }), {
    ...lists,
    rules: [
      ['other', 'block'],
      ['up', 'trust'],
    ],
  });
  expect(blocked.value).toEqual({ tools: [tools[0]] });
  const resources = [{ uri: 'mcp+other+doc://up__x', name: 'up__x' }];
  const uris = { method: 'resources/list', serverId: '', rules: [['other', 'block']] } as Case;
  expect(run(result({ resources }), uris).value).toEqual({ resources: [] });
});

it('leaves out of a list what stands beside its items', () => {
  const value = { tools: [{ name: 'good' }], nextCursor: 'c', _meta: { note: '[high]' } };
  const listed = run(result(value), { method: 'tools/list' });
  expect(listed.value).toEqual({ tools: [{ name: 'good' }], nextCursor: 'c' });
});

it('lets no word of a blocked source through, whatever it sends', () => {
  const secret = 'WORD';
  const rules: Case['rules'] = [['up', 'block']];
  const content = [{ type: 'text', text: secret }];
  const parts: [ReceivedPart, Case][] = [
    [result({ content, structuredContent: { a: secret }, _meta: { b: secret } }), {}],
    [result({ contents: [{ uri: secret, blob: secret }] }), { method: 'resources/read' }],
    [
      result({ messages: [{ role: 'user', content }], description: secret }),
      { method: 'prompts/get' },
    ],
    [result({ completion: { values: [secret] } }), { method: 'completion/complete' }],
    [result({ tools: [{ name: secret }], _meta: { c: secret } }), { method: 'tools/list' }],
    [result({ prompts: [], _meta: { [secret]: 1 } }), { method: 'prompts/list' }],
    [result({ resources: [{ uri: secret }], more: secret }), { method: 'resources/list' }],
    [result({ resultType: 'task', taskId: 't', status: 'working', statusMessage: secret }), {}],
    [result({ resultType: 'input_required', inputRequests: { a: { text: secret } } }), {}],
    [result({ instructions: secret }), { isOwnAccord: true }],
    [{ kind: 'error', raw: '', value: { code: -1, message: secret, data: secret } }, {}],
    ...['progress', 'message', 'resources/updated', 'elicitation/complete', secret].flatMap(
      (name): [ReceivedPart, Case][] =>
        [{ message: secret }, { data: { [secret]: 1 } }, { level: 'info', [secret]: 2 }].map(
          (params) => [{ kind: 'notification', method: `notifications/${name}`, params }, {}],
        ),
    ),
  ];
  for (const [part, options] of parts) {
    const { verdict, value, after } = run(part, { rules, ...options });
    if (verdict.kind === 'deny') continue;
    expect(JSON.stringify(value)).not.toContain(secret);
    expect('raw' in after.part ? after.part.raw : '').not.toContain(secret);
  }
});

it('raises and reports what stands beside the items of an untrusted list', () => {
  const list = result({ tools: [{ name: 'read' }], _meta: { note: 'so [medium] it is' } });
  const { value, told, counted } = run(list, {
    method: 'tools/list',
    rules: [['up', 'untrusted']],
  });
  expect(value).toEqual({ tools: [{ name: 'read' }] });
  expect(counted).toEqual(['high substitute']);
  expect(told).toMatchObject([{ serverId: 'up', action: 'substituted' }]);
  expect(run(list, { method: 'tools/list', rules: [['up', 'trust']] }).replacedBy).toBeUndefined();
});

it('goes by the URIs of every request that has some, as the agent wrote them', () => {
  const rules: Case['rules'] = [['https://evil.example/*', 'block']];
  const asked = (args: Record<string, unknown>, method = 'tools/call') =>
    run(text('fine'), { rules, args, method }).replacedBy;
  expect(asked({ url: 'https://EVIL.example./a' })).toBe('injection');
  expect(asked({ command: 'curl https://evil.example/a' })).toBe('injection');
  expect(asked({ arguments: { page: 'https://evil.example/a' } }, 'prompts/get')).toBe('injection');
  expect(asked({ url: 'https://good.example/' })).toBeUndefined();
  // Of a task it is not known what was asked for.
  const task = run(text('[medium]'), { rules, args: { taskId: 't' }, method: 'tasks/get' });
  expect(task.inbound).toMatchObject([{ severity: 'high' }]);
  const trusting: Case['rules'] = [['https://good.example/*', 'trust']];
  const many = Array.from({ length: 20 }, (_, i) => `https://good.example/${i}`);
  const found = (urls: string[]) =>
    run(text('[high]'), { rules: trusting, args: { urls } }).replacedBy;
  expect(found(many)).toBeUndefined();
  expect(found([...many, 'https://evil.example/'])).toBe('injection');
});

it('reads what is large in a turn of its own, before it decodes it, and what is small at once', () => {
  const blob = Buffer.from(`${'a'.repeat(200_000)}[high]`).toString('base64');
  const large = result({ content: [{ type: 'resource', resource: { uri: 'a://b', blob } }] });
  const { portions, replacedBy } = run(large);
  const { length } = 'raw' in large ? large.raw : '';
  expect(portions.slice(0, 2)).toEqual([length, length]);
  expect(replacedBy).toBe('injection');
  expect(run(text('[high]')).portions).toEqual([]);
});
