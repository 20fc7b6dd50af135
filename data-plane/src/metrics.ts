/**
 * The data plane's Prometheus metrics. Label values come from fixed sets: nothing a caller chooses
 * becomes a label.
 */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Verdict } from './enforcement/enforcer.ts';
import type { Outcome } from './enforcement/forward.ts';
import type { ServerHealth } from './upstream/health.ts';

export interface GatewayMetrics {
  verdict(verdict: Verdict, ms: number, tenantId: string | null): void;
  outcome(outcome: Outcome, ms: number): void;
  unauthenticated(reason: string): void;
  protocolError(status: number, code: number): void;
  /** Tool calls of a tenant that were judged in the last minute. */
  callsPerMinute(tenantId: string): number;
}

export interface GatewayGauges {
  sessions(): number;
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
): GatewayMetrics {
  const registers = [registry];
  const calls = new Counter({
    name: 'governance_tool_calls_total',
    help: 'Tool calls by verdict.',
    labelNames: ['verdict'],
    registers,
  });
  const judging = new Histogram({
    name: 'governance_decision_seconds',
    help: 'From the arrival of a tool call until its decision is on disk.',
    buckets: JUDGING_BUCKETS,
    registers,
  });
  const outcomes = new Counter({
    name: 'governance_tool_outcomes_total',
    help: 'What became of allowed tool calls.',
    labelNames: ['outcome'],
    registers,
  });
  const upstream = new Histogram({
    name: 'governance_upstream_seconds',
    help: 'From the forwarding of a tool call until its answer.',
    buckets: UPSTREAM_BUCKETS,
    registers,
  });
  const refused = new Counter({
    name: 'governance_unauthenticated_requests_total',
    help: 'Requests at the gateway whose credential was refused.',
    labelNames: ['reason'],
    registers,
  });
  const errors = new Counter({
    name: 'governance_gateway_errors_total',
    help: 'Requests at the gateway that were refused as a whole.',
    labelNames: ['status', 'code'],
    registers,
  });
  new Gauge({
    name: 'governance_mcp_sessions',
    help: 'Open MCP sessions of clients.',
    registers,
    collect() {
      this.set(gauges.sessions());
    },
  });
  new Gauge({
    name: 'governance_upstream_sessions',
    help: 'Open sessions with MCP servers.',
    labelNames: ['transport'],
    registers,
    collect() {
      const { http, stdio } = gauges.upstreams();
      this.set({ transport: 'streamable-http' }, http);
      this.set({ transport: 'stdio' }, stdio);
    },
  });
  new Gauge({
    name: 'governance_upstream_health',
    help: 'MCP servers that were asked, by how they are: ok, failing, resting (not asked for a while), probing (asked once).',
    labelNames: ['state'],
    registers,
    collect() {
      for (const [state, count] of Object.entries(gauges.upstreamHealth())) {
        this.set({ state }, count);
      }
    },
  });
  new Gauge({
    name: 'governance_gateway_unread_bytes',
    help: 'Bytes of answers that clients have not read yet, as far as they wait here.',
    registers,
    collect() {
      this.set(gauges.unreadBytes());
    },
  });
  // Looked up once: finding a child by its labels costs more than counting.
  const ofVerdict = new Map(VERDICTS.map((verdict) => [verdict, calls.labels(verdict)]));
  // Tenants are few: those that one data plane serves.
  const rates = new Map<string, ReturnType<typeof createMinuteCounter>>();
  return {
    verdict(verdict, ms, tenantId) {
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
    outcome(outcome, ms) {
      outcomes.labels(outcome).inc();
      upstream.observe(ms / 1000);
    },
    unauthenticated: (reason) => refused.labels(reason).inc(),
    protocolError: (status, code) => errors.labels(String(status), String(code)).inc(),
    callsPerMinute: (tenantId) => rates.get(tenantId)?.total() ?? 0,
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
