/**
 * The baseline of a workflow, and how a session deviates from it (specification 1, section 6).
 * Means are exponentially weighted; tools are compared by their share of calls. Proven by
 * workflow-baseline.test.ts.
 */

/** Weight of the newest session. */
const ALPHA = 0.2;
/** Sessions needed before anything counts as unusual. */
const LEARNED = 5;
/** Calls that a session needs before its tools are compared. */
const MIN_CALLS = 5;
const MIN_DIVERGENCE = 0.5;
/** The factor by which a duration is unusually long or short. */
const DURATION_FACTOR = 3;
const MIN_DURATION_SECONDS = 10;
const DEPTH_FACTOR = 2;
const MIN_DEPTH_RISE = 2;
/** Tools of a baseline; those with the smallest shares are left out. */
const MAX_TOOLS = 200;

export interface WorkflowBaseline {
  /** The number of sessions that it was learned from. */
  sessions: number;
  durationSeconds: number;
  maxDepth: number;
  /** The share of all calls by `server/tool`; about 1 in total. */
  tools: Readonly<Record<string, number>>;
}

/** One completed session. */
export interface SessionMeasures {
  durationSeconds: number;
  maxDepth: number;
  /** Calls by `server/tool`. */
  calls: Readonly<Record<string, number>>;
}

export interface Anomaly {
  alertType:
    | 'WORKFLOW_DEPTH_SPIKE'
    | 'WORKFLOW_TOOL_DISTRIBUTION_ANOMALY'
    | 'WORKFLOW_DURATION_ANOMALY';
  title: string;
  details: Record<string, number>;
}

/** The baseline updated by one session. */
export function learn(
  baseline: WorkflowBaseline | undefined,
  session: SessionMeasures,
): WorkflowBaseline {
  const { durationSeconds, maxDepth } = session;
  const parts = partsOf(session.calls);
  if (baseline === undefined) {
    return { sessions: 1, durationSeconds, maxDepth, tools: largest(parts) };
  }
  const mean = (before: number, now: number) => (1 - ALPHA) * before + ALPHA * now;
  // A session without calls says nothing about tools.
  const tools =
    parts.size === 0 ? new Map(Object.entries(baseline.tools)) : new Map<string, number>();
  if (parts.size > 0) {
    for (const name of new Set([...Object.keys(baseline.tools), ...parts.keys()])) {
      tools.set(name, mean(partIn(baseline.tools, name), parts.get(name) ?? 0));
    }
  }
  return {
    sessions: baseline.sessions + 1,
    durationSeconds: mean(baseline.durationSeconds, durationSeconds),
    maxDepth: mean(baseline.maxDepth, maxDepth),
    tools: largest(tools),
  };
}

/** How a session deviates from the baseline before it. */
export function findAnomalies(
  baseline: WorkflowBaseline | undefined,
  session: SessionMeasures,
): Anomaly[] {
  if (baseline === undefined || baseline.sessions < LEARNED) return [];
  const found: Anomaly[] = [];
  const { maxDepth, durationSeconds, calls } = session;
  const usualDepth = baseline.maxDepth;
  if (maxDepth > usualDepth * DEPTH_FACTOR && maxDepth >= usualDepth + MIN_DEPTH_RISE) {
    found.push({
      alertType: 'WORKFLOW_DEPTH_SPIKE',
      title: 'A workflow session went far deeper than usual',
      details: { max_depth: maxDepth, usual: round(usualDepth) },
    });
  }
  const parts = partsOf(calls);
  const divergence = divergenceOf(parts, baseline.tools);
  const count = Object.values(calls).reduce((sum, one) => sum + one, 0);
  if (count >= MIN_CALLS && divergence >= MIN_DIVERGENCE) {
    found.push({
      alertType: 'WORKFLOW_TOOL_DISTRIBUTION_ANOMALY',
      title: 'A workflow session used other tools than usual',
      details: { divergence: round(divergence), calls: count },
    });
  }
  const usual = baseline.durationSeconds;
  const longest = Math.max(durationSeconds, usual);
  const factor = longest / Math.max(Math.min(durationSeconds, usual), 1);
  if (factor > DURATION_FACTOR && longest >= MIN_DURATION_SECONDS) {
    found.push({
      alertType: 'WORKFLOW_DURATION_ANOMALY',
      title: 'A workflow session took far longer or shorter than usual',
      details: { duration_seconds: round(durationSeconds), usual: round(usual) },
    });
  }
  return found;
}

/** Bray–Curtis dissimilarity of shares: 0 for identical shares, 1 for no tool in common. */
function divergenceOf(
  parts: ReadonlyMap<string, number>,
  usual: Readonly<Record<string, number>>,
): number {
  let common = 0;
  for (const [name, part] of parts) common += Math.min(part, partIn(usual, name));
  const sum = (all: Iterable<number>) => [...all].reduce((total, one) => total + one, 0);
  const total = sum(parts.values()) + sum(Object.values(usual));
  return total === 0 ? 0 : 1 - (2 * common) / total;
}

function partsOf(calls: Readonly<Record<string, number>>): Map<string, number> {
  const total = Object.values(calls).reduce((sum, one) => sum + one, 0);
  return new Map(Object.entries(calls).map(([name, count]) => [name, count / total]));
}

// Servers choose tool names freely: `constructor` is a valid one.
const partIn = (tools: Readonly<Record<string, number>>, name: string): number =>
  Object.hasOwn(tools, name) ? (tools[name] ?? 0) : 0;

function largest(tools: ReadonlyMap<string, number>): Record<string, number> {
  const kept = [...tools].sort(([, a], [, b]) => b - a).slice(0, MAX_TOOLS);
  return Object.fromEntries(kept.map(([name, part]) => [name, round(part)]));
}

const round = (value: number): number => Math.round(value * 1e6) / 1e6;
