/**
 * The data plane's Prometheus metrics. Label values come from fixed sets: nothing a caller chooses
 * becomes a label.
 */

import type { InboundFinding } from '@governance/shared/detect/findings';
import type { ReachFinding } from '@governance/shared/detect/reach/reach-finding';
import type { InboundAction } from '@governance/shared/settings/inbound-settings';
import type { RateTier } from '@governance/shared/settings/rate-limit-settings';
import { Counter, Histogram, type Registry } from 'prom-client';
import { createGauges } from './core/gauges.ts';
import type { CountFinding, Unscanned } from './enforcement/dlp/dlp-watch.ts';
import type { Verdict } from './enforcement/enforcer.ts';
import type { Outcome } from './enforcement/record/outcome.ts';
import type { ServerHealth } from './upstream/health/circuit-breaker.ts';

export type GatewayMetrics = ReturnType<typeof createGatewayMetrics>;

export interface GatewayGauges {
  sessions(): number;
  answerBytes(): number;
  unreadBytes(): number;
  upstreams(): { http: number; stdio: number };
  upstreamHealth(): Record<ServerHealth, number>;
}

const JUDGING_BUCKETS = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1, 5];
const UPSTREAM_BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 120];
const VERDICTS: Verdict[] = ['allow', 'deny', 'escalate', 'unauthenticated', 'unrecorded'];

/**
 * Registers the metrics.
 *
 * @param elapsed monotonic milliseconds
 */
export function createGatewayMetrics(
  registry: Registry,
  gauges: GatewayGauges,
  elapsed: () => number,
) {
  const registers = [registry];
  const counter = (name: string, help: string, labelNames: string[] = []) =>
    new Counter({ name, help, labelNames, registers });
  const gauge = createGauges(registry);
  const calls = counter('governance_tool_calls_total', 'Tool calls by verdict.', ['verdict']);
  const judging = new Histogram({
    name: 'governance_decision_seconds',
    help: 'From the arrival of a tool call until its decision is on disk.',
    buckets: JUDGING_BUCKETS,
    registers,
  });
  const outcomes = counter('governance_tool_outcomes_total', 'What became of allowed tool calls.', [
    'outcome',
  ]);
  const upstream = new Histogram({
    name: 'governance_upstream_seconds',
    help: 'From the forwarding of a tool call until its answer.',
    buckets: UPSTREAM_BUCKETS,
    registers,
  });
  const blastRadius = counter(
    'governance_blast_radius_total',
    'Calls that reach further than one call may, by rule and verdict.',
    ['rule', 'verdict'],
  );
  const rateLimited = counter(
    'governance_rate_limited_total',
    'Calls that were refused because their agent calls too often.',
    ['risk_tier'],
  );
  const payloadsKept = counter(
    'governance_payloads_kept_total',
    'Inputs and results of calls that were kept beside their records.',
  );
  const payloadsNotKept = counter(
    'governance_payloads_not_kept_total',
    'Inputs and results of calls that had to be kept and were not, by reason.',
    ['reason'],
  );
  const refused = counter(
    'governance_unauthenticated_requests_total',
    'Requests at the gateway whose credential was refused.',
    ['reason'],
  );
  const errors = counter(
    'governance_gateway_errors_total',
    'Requests at the gateway that were refused as a whole.',
    ['status', 'code'],
  );
  const inbound = counter(
    'governance_inbound_findings_total',
    'What looks like an injection in what MCP servers say, by class, severity and what was done.',
    ['class', 'severity', 'action'],
  );
  const findings = counter(
    'governance_dlp_findings_total',
    'Sensitive data that was found, by built-in pattern (or custom), severity, direction (outbound, result) and what was done.',
    ['pattern', 'severity', 'direction', 'action'],
  );
  const dlpFinding: CountFinding = (...labels) => findings.labels(...labels).inc();
  const unscanned = counter(
    'governance_dlp_unscanned_total',
    'Calls and answers that were blocked since a scan for sensitive data had no answer, by reason.',
    ['reason'],
  );
  gauge('governance_mcp_sessions', 'Open MCP sessions of clients.', [], (set) =>
    set({}, gauges.sessions()),
  );
  gauge('governance_upstream_sessions', 'Open sessions with MCP servers.', ['transport'], (set) => {
    const { http, stdio } = gauges.upstreams();
    set({ transport: 'streamable-http' }, http);
    set({ transport: 'stdio' }, stdio);
  });
  gauge(
    'governance_upstream_health',
    'MCP servers that were asked, by how they are: ok, failing, resting (not asked for a while), probing (asked once).',
    ['state'],
    (set) => {
      for (const [state, count] of Object.entries(gauges.upstreamHealth())) set({ state }, count);
    },
  );
  gauge(
    'governance_gateway_answer_bytes',
    'Bytes of large answers that arrive or are inspected.',
    [],
    (set) => set({}, gauges.answerBytes()),
  );
  gauge(
    'governance_gateway_unread_bytes',
    'Bytes of answers that clients have not read yet, as far as they wait here.',
    [],
    (set) => set({}, gauges.unreadBytes()),
  );
  // Looked up once: finding a child by its labels costs more than counting.
  const ofVerdict = new Map(VERDICTS.map((verdict) => [verdict, calls.labels(verdict)]));
  // Tenants are few: those that one data plane serves.
  const rates = new Map<string, ReturnType<typeof createMinuteCounter>>();
  return {
    verdict(verdict: Verdict, ms: number, tenantId: string | null): void {
      ofVerdict.get(verdict)?.inc();
      judging.observe(ms / 1000);
      if (tenantId === null) return;
      let rate = rates.get(tenantId);
      if (rate === undefined) {
        rate = createMinuteCounter(elapsed);
        rates.set(tenantId, rate);
      }
      rate.count();
    },
    outcome(outcome: Outcome, ms: number): void {
      outcomes.labels(outcome).inc();
      upstream.observe(ms / 1000);
    },
    blastRadius: (rule: ReachFinding['rule'], verdict: ReachFinding['verdict']): void =>
      blastRadius.labels(rule, verdict).inc(),
    inboundFinding: (finding: InboundFinding, action: InboundAction): void =>
      inbound.labels(finding.class, finding.severity, action).inc(),
    dlpFinding,
    dlpUnscanned: (reason: Unscanned): void => unscanned.labels(reason).inc(),
    rateLimited: (tier: RateTier): void => rateLimited.labels(tier).inc(),
    payloadKept: (): void => payloadsKept.inc(),
    payloadNotKept: (reason: string): void => payloadsNotKept.labels(reason).inc(),
    unauthenticated: (reason: string): void => refused.labels(reason).inc(),
    protocolError: (status: number, code: number): void =>
      errors.labels(String(status), String(code)).inc(),
    /** Tool calls of a tenant that were judged in the last minute. */
    callsPerMinute: (tenantId: string): number => rates.get(tenantId)?.total() ?? 0,
  };
}

/** Counts events in a sliding minute of one-second buckets. */
function createMinuteCounter(elapsed: () => number) {
  const buckets = new Uint32Array(60);
  let last = Math.floor(elapsed() / 1000);
  const turn = () => {
    const second = Math.floor(elapsed() / 1000);
    const steps = Math.min(second - last, buckets.length);
    for (let step = 1; step <= steps; step++) buckets[(second - steps + step) % buckets.length] = 0;
    last = second;
    return second % buckets.length;
  };
  return {
    count() {
      const at = turn();
      buckets[at] = (buckets[at] ?? 0) + 1;
    },
    total() {
      turn();
      return buckets.reduce((sum, count) => sum + count, 0);
    },
  };
}
