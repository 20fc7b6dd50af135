import { beforeEach, expect, it } from 'vitest';
import type { Alert } from '../../alerts/alert.ts';
import { createToolAlerts, type RaiseToolAlerts, type ToolAlert } from './tool-alerts.ts';

const HOUR = 3_600_000;
let now: number;
let raised: (Alert & { tenantId: string })[];
let tell: RaiseToolAlerts;

beforeEach(() => {
  now = Date.parse('2026-03-01T10:00:00Z');
  raised = [];
  tell = createToolAlerts({
    raise: (tenantId, alert) => raised.push({ tenantId, ...alert }),
    now: () => now,
  });
});

const changes = (count: number, severity: Alert['severity'] = 'high', from = 0): ToolAlert[] =>
  Array.from({ length: count }, (_, i) => ({
    toolName: `tool-${from + i}`,
    alert: {
      alert_type: 'TOOL_DEFINITION_CHANGED',
      severity,
      title: 'changed',
      details: { seen_hash: `hash-${from + i}` },
      dedupe_key: `tool-${from + i}`,
    },
  }));

it('tells ten tools of one server each by itself, and the others together', () => {
  tell('t', 's', changes(130));
  expect(raised).toHaveLength(11);
  expect(raised[9]).toMatchObject({ dedupe_key: 'tool-9' });
  expect(raised[10]).toMatchObject({
    severity: 'high',
    dedupe_key: expect.stringMatching(/^tools-changed:s:high:/),
    details: { mcp_server: 's', tools: 120 },
  });
  const { first } = raised[10]?.details as { first: unknown[] };
  expect(first).toHaveLength(30);
  expect(first[0]).toEqual({ tool_name: 'tool-10', seen_hash: 'hash-10' });
});

it('keeps nothing back of another server, tenant or severity', () => {
  tell('t', 's', changes(100));
  raised = [];
  tell('t', 'other', changes(1));
  tell('other', 's', changes(1));
  tell('t', 's', changes(1, 'low'));
  expect(raised.map(({ dedupe_key }) => dedupe_key)).toEqual(['tool-0', 'tool-0', 'tool-0']);
});

it('tells every tool, however they come: what is left at the next look at the server', () => {
  for (let i = 0; i < 15; i++) tell('t', 's', changes(1, 'high', i));
  // Ten, and the eleventh by the alert of several.
  expect(raised).toHaveLength(11);
  now += 10 * 60_000;
  tell('t', 's', []);
  expect(raised).toHaveLength(12);
  expect(raised[11]?.details).toMatchObject({
    tools: 4,
    first: [{ tool_name: 'tool-11' }, {}, {}, {}],
  });
  now += 10 * 60_000;
  tell('t', 's', []);
  expect(raised).toHaveLength(12);
  now += HOUR;
  tell('t', 's', changes(2));
  expect(raised).toHaveLength(14);
});

it('tells further tools by an alert of its own each time, though the one before is unresolved', () => {
  tell('t', 's', changes(11));
  now += 10 * 60_000;
  tell('t', 's', changes(1, 'high', 11));
  const [first, second] = raised.slice(10);
  expect(second?.details).toMatchObject({ first: [{ tool_name: 'tool-11' }] });
  expect(second?.dedupe_key).not.toBe(first?.dedupe_key);
});

it('keeps an alert within what a list of alerts shows, whatever tools are called', () => {
  const long = changes(100).map((one) => ({ ...one, toolName: '\ud83d'.repeat(256) }));
  tell(
    't',
    's',
    long.map((one) => ({
      ...one,
      alert: { ...one.alert, details: { seen_hash: 'f'.repeat(64) } },
    })),
  );
  const { details } = raised.at(-1) as Alert;
  expect(Buffer.byteLength(JSON.stringify(details))).toBeLessThan(16 * 1024);
});
