import { Heartbeat, type ReportedHealth } from '@governance/shared/channel/channels';
import { expect, it } from 'vitest';
import { toServerReport } from './server-report.ts';

it('names each server once, in order, as it was found worst', () => {
  const report = toServerReport([
    ['b', 'ok'],
    ['c', 'failing'],
    ['a', 'ok'],
    ['b', 'resting'],
    ['c', 'ok'],
  ]);
  expect(report).toEqual({ resting: ['b'], failing: ['c'], ok: ['a'] });
});

it('says why, by the finding that is worst, where there is something to say', () => {
  const report = toServerReport([
    ['a', 'ok'],
    ['b', 'ok', 'two tools are left out'],
    ['b', 'failing', 'exit\u001b[2J 1'],
    ['c', 'ok', 'kept'],
    ['c', 'ok'],
    ['d', 'failing', 'x'.repeat(300)],
  ]);
  expect(report).toEqual({
    resting: [],
    failing: ['b', 'd'],
    ok: ['a', 'c'],
    reasons: { b: 'exit [2J 1', c: 'kept', d: 'x'.repeat(200) },
  });
});

it('reports as many reasons as fit, the worst first, beside its servers', () => {
  const all = Array.from({ length: 500 }, (_, i): [string, ReportedHealth, string] => [
    `server-${i}`,
    i === 499 ? 'failing' : 'ok',
    '\u{1f512}'.repeat(100),
  ]);
  const report = toServerReport(all);
  expect(Buffer.byteLength(JSON.stringify(report))).toBeLessThanOrEqual(12_000);
  expect(Object.keys(report.reasons ?? {})[0]).toBe('server-499');
  expect(Object.keys(report.reasons ?? {}).length).toBeGreaterThan(10);
  expect(report.ok.length).toBeGreaterThan(400);
  const many = toServerReport(all.map(([id, health]) => [id, health, 'short']));
  expect(Object.keys(many.reasons ?? {})).toHaveLength(100);
});

it.each([
  ['500 long names', 500, 63],
  ['more names than a tenant has servers', 5_000, 8],
])('of %s reports what fits into a heartbeat, servers that do not answer first', (_, n, length) => {
  const all = Array.from({ length: n }, (_unused, i): [string, ReportedHealth] => [
    String(i).padStart(length, 'x'),
    i % 50 === 49 ? 'resting' : 'ok',
  ]);
  const mcp_servers = toServerReport(all);
  const body = {
    deployment_id: '0190aaaa-0000-7000-8000-00000000000a',
    active_agent_count: 1_000_000,
    proxy_rpm_1m: 123_456.789,
    escalations_pending: 0,
    opa_bundle_version: '123456789',
    uptime_seconds: 1e9,
    mcp_servers,
  };
  expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThan(16_384);
  expect(Heartbeat.parse(body)).toEqual(body);
  const told = mcp_servers.resting.length + mcp_servers.ok.length;
  expect(mcp_servers.resting).toHaveLength(Math.min(n / 50, told));
  expect(told).toBeGreaterThan(150);
  expect(told).toBeLessThanOrEqual(500);
});
