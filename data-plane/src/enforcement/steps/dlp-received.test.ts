import { Worker } from 'node:worker_threads';
import { uuidv7 } from '@governance/shared/ids';
import { DEFAULT_DLP_SETTINGS } from '@governance/shared/settings/dlp-settings';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { ActiveRules } from '../../contracts.ts';
import type { JudgedCall } from '../call/calls.ts';
import type { ReceivedMessage } from '../call/received-message.ts';
import type { DlpWatch } from '../dlp/dlp-watch.ts';
import { createDlpScans } from '../scan-thread/dlp-scans.ts';
import { createScanJobs } from '../scan-thread/scan-jobs.ts';
import { createScanThreads } from '../scan-thread/scan-threads.ts';
import { scanReceived } from './dlp-received.ts';

const custom = [
  { id: uuidv7(), name: 'badge', regex: 'BADGE-[0-9]{6}', severity: 'critical' as const },
  { id: uuidv7(), name: 'shelf', regex: 'SHELF-[0-9]{6}', severity: 'medium' as const },
];
const BADGE = 'BADGE-123456';
const settings = {
  tenant_id: uuidv7(),
  mcp_servers: {},
  dlp: { ...DEFAULT_DLP_SETTINGS, custom },
};
const rules = { settings } as unknown as ActiveRules;
const caller = {
  tenantId: settings.tenant_id,
  agent: { id: 'agent' },
  era: 'modern',
} as unknown as ReceivedMessage['caller'];
const call = {
  id: 'event',
  caller,
  rules,
  ask: { serverId: 'up', method: 'tools/call', name: 'tool', args: {} },
} as unknown as JudgedCall;

/** What a thread does, without one. */
const runJob = createScanJobs();
const counted = vi.fn();
const deps = {
  dlp: { count: counted, gaveUp: vi.fn() } as unknown as DlpWatch,
  scans: createDlpScans({ run: async (_owner, make) => runJob(make()) }),
  rules: { findActiveRules: () => rules },
  catalogue: { findOutputSchema: () => undefined },
};
beforeEach(() => vi.clearAllMocks());

function received(
  value: Record<string, unknown>,
  over: Partial<ReceivedMessage> = {},
): ReceivedMessage {
  const part = { kind: 'result', raw: JSON.stringify(value), value } as const;
  return { speaker: 'server', caller, serverId: 'up', call, part, carry: '', ...over };
}
const badgeAt = (place: string) => expect.objectContaining({ pattern: 'badge', place });
const callOf = (method: string): JudgedCall => ({ ...call, ask: { ...call.ask, method } });
const progress = (message: string, carry = '') =>
  received(
    {},
    {
      part: { kind: 'notification', method: 'notifications/progress', params: { message } },
      carry,
    },
  );

it('blocks what has too many candidates to be looked at', async () => {
  const blocked = await scanReceived(received({ text: 'token '.repeat(10_000) }), deps);
  expect(blocked).toMatchObject({ kind: 'deny', message: /too much/ });
});

it('blocks what a thread hangs on, and says so', async () => {
  const limits = { threads: 1, waiting: 1, waitMs: 60_000, runMs: 100 };
  const threads = createScanThreads(limits, () => new Worker('for (;;);', { eval: true }));
  const unscanned = vi.fn();
  const hung = {
    ...deps,
    dlp: { unscanned } as unknown as DlpWatch,
    scans: createDlpScans(threads),
  };
  const blocked = await scanReceived(received({ text: 'word '.repeat(10_000) }), hung);
  const message = expect.stringMatching(/could not be scanned: the scan took too long/);
  expect(blocked).toMatchObject({ kind: 'deny', message });
  const place = { serverId: 'up', eventId: 'event' };
  expect(unscanned).toHaveBeenCalledWith(caller, place, 'timeout');
  await threads.close();
});

describe('what a client answers to a server', () => {
  it('follows the rules for calls', () => {
    const blocked = scanReceived(
      received({ content: { note: BADGE } }, { speaker: 'client' }),
      deps,
    );
    expect(blocked).toMatchObject({ kind: 'deny', message: /badge/ });
    // A server learns nothing of it.
    expect(blocked).not.toHaveProperty('refusal');
    const warned = received({ content: { note: 'SHELF-123456' } }, { speaker: 'client' });
    expect(scanReceived(warned, deps)).toMatchObject({
      kind: 'continue',
      call: { part: warned.part, findings: { dlp: [{ pattern: 'shelf' }] } },
    });
  });

  it('hides nothing in members that only server messages have, or behind harmless findings', () => {
    const shelves = Array.from({ length: 300 }, (_, i) => `SHELF-${100_000 + i}`).join(' ');
    const data = Buffer.from(`${shelves} ${BADGE}`).toString('base64');
    const image = (of: string) => ({ type: 'image', data: of, mimeType: 'image/png' });
    for (const value of [
      { action: 'accept', requestState: BADGE },
      { role: 'assistant', content: image(BADGE) },
      { role: 'assistant', content: image(data) },
    ]) {
      expect(scanReceived(received(value, { speaker: 'client' }), deps)).toMatchObject({
        kind: 'deny',
        message: /badge/,
      });
    }
  });
});

describe('what a server says', () => {
  it('is redacted in an error and in a notification', () => {
    const error = { code: -32000, message: `no ${BADGE}`, data: { at: BADGE } };
    const part = { kind: 'error', raw: JSON.stringify(error), value: error } as const;
    expect(scanReceived(received({}, { part }), deps)).toMatchObject({
      kind: 'continue',
      call: {
        replacedBy: 'dlp',
        part: {
          value: { code: -32000, message: 'no [REDACTED:badge]', data: { at: '[REDACTED:badge]' } },
          raw: expect.not.stringContaining(BADGE),
        },
      },
    });
    expect(scanReceived(progress(`at ${BADGE}`), deps)).toMatchObject({
      call: { part: { params: { message: 'at [REDACTED:badge]' } } },
    });
  });

  it('is dropped where it completes what the part before began', () => {
    expect(scanReceived(progress('123456 it is', 'the one of BADGE-'), deps)).toMatchObject({
      kind: 'deny',
      message: /badge/,
    });
    expect(scanReceived(progress('12345 it is', 'the one of BADGE-'), deps)).toMatchObject({
      kind: 'continue',
    });
    const params = { level: 'info', logger: 'up', data: ['123456 it is'] };
    const part = { kind: 'notification', method: 'notifications/message', params } as const;
    expect(scanReceived(received({}, { part, carry: 'the one of BADGE-' }), deps)).toMatchObject({
      kind: 'deny',
    });
    const key = '2KQ5B4T';
    const begun = { carry: 'doneAKIAQ3EGRJ7HX', carriedLast: 13 };
    const last = {
      kind: 'notification',
      method: 'notifications/progress',
      params: { message: key },
    } as const;
    expect(scanReceived(received({}, { part: last, ...begun }), deps)).toMatchObject({
      kind: 'deny',
    });
    const whole = { ...begun, carriedLast: 17 };
    expect(scanReceived(received({}, { part: last, ...whole }), deps)).toMatchObject({
      kind: 'continue',
    });
    const content = [{ type: 'text', text: '123456 it is' }];
    expect(scanReceived(received({ content }, { carry: 'the one of BADGE-' }), deps)).toMatchObject(
      {
        kind: 'deny',
      },
    );
  });

  it('keeps its findings where it is blocked', () => {
    const one = received({ contents: [{ uri: `a:${BADGE}`, text: 'x' }] });
    expect(scanReceived(one, deps)).toMatchObject({
      kind: 'deny',
      refusal: { code: -32603, message: /^The tool was called/, data: { event_id: 'event' } },
    });
    expect(one.findings?.dlp).toMatchObject([{ pattern: 'badge' }]);
  });

  it.each<[string, string, string, object]>([
    ['a cursor', 'tools/list', 'nextCursor', { tools: [] }],
    ['a state', 'tools/call', 'requestState', { resultType: 'input_required' }],
    ["a task's id", 'tools/call', 'taskId', { resultType: 'task' }],
    ["a task's id", 'tasks/get', 'taskId', { status: 'working' }],
  ])('keeps %s of %s', (_, method, member, value) => {
    const one = received({ ...value, [member]: BADGE }, { call: callOf(method) });
    expect(scanReceived(one, deps)).toMatchObject({ kind: 'continue', call: { part: one.part } });
  });

  it.each<[string, string, object]>([
    ['tasks/get', 'nextCursor', { status: 'working' }],
    ['tasks/get', 'requestState', { status: 'input_required', inputRequests: {} }],
    ['tasks/get', 'progressToken', { status: 'working' }],
    ['tools/call', 'nextCursor', { content: [] }],
    ['tools/call', 'requestState', { content: [] }],
    ['tools/call', 'taskId', { content: [] }],
    ['tools/list', 'requestState', { resultType: 'input_required', tools: [] }],
    ['prompts/get', 'taskId', { resultType: 'task' }],
  ])('hides nothing in a result of %s as its %s', async (method, member, value) => {
    const one = received({ ...value, [member]: BADGE }, { call: callOf(method) });
    const passed = await scanReceived(one, deps);
    expect(one.findings?.dlp).toContainEqual(badgeAt(`/${member}`));
    const shown = passed.kind === 'continue' ? passed.call.part : null;
    expect(JSON.stringify(shown)).not.toContain(BADGE);
  });

  it('hides nothing in a result for a legacy client, which knows no states and tasks', () => {
    const legacy = { ...caller, era: 'legacy' } as const;
    const one = received({ resultType: 'task', taskId: BADGE }, { caller: legacy });
    scanReceived(one, deps);
    expect(one.findings?.dlp).toContainEqual(badgeAt('/taskId'));
  });

  it('keeps the token of progress, and hides nothing in that of another message', () => {
    const params = { progressToken: BADGE, progress: 1 };
    const part = { kind: 'notification', method: 'notifications/progress', params } as const;
    expect(scanReceived(received({}, { part }), deps)).toMatchObject({
      call: { part: { params } },
    });
    const other = received({}, { part: { ...part, method: 'notifications/message' } });
    scanReceived(other, deps);
    expect(other.findings?.dlp).toContainEqual(badgeAt('/progressToken'));
  });

  it('is not looked at where the gateway says it', () => {
    const own = received({ note: BADGE }, { speaker: 'gateway' });
    expect(scanReceived(own, deps)).toMatchObject({ kind: 'continue', call: { part: own.part } });
    expect(counted).not.toHaveBeenCalled();
  });
});
