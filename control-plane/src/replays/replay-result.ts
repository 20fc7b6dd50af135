/** The counts of a replay. Bounded: further agents and tools are counted together. */
import type { Judged } from '@governance/policies/evaluator/policy-judge';
import { z } from 'zod';

export const Verdict = z.enum(['allow', 'deny', 'escalate']);
export type Verdict = z.infer<typeof Verdict>;

const Count = z.int().nonnegative();

/** Why a decision was not evaluated again. */
const SkippedCounts = z.object({
  /** No policy decided it: DLP, a limit, standing, an approval … */
  not_by_policy: Count,
  /** The policy input is not stored, or no longer. */
  no_input: Count,
  /** Data protection removed part of it. */
  input_altered: Count,
  /** It differs from its record, or cannot be decrypted. */
  input_unreadable: Count,
});
export type Skip = keyof z.infer<typeof SkippedCounts>;

const Transition = z.object({ before: Verdict, after: Verdict, count: Count });
const AgentChanges = z.object({
  agent_id: z.string(),
  before: Verdict,
  after: Verdict,
  count: Count,
});
const ToolChanges = z.object({
  ...{ mcp_server: z.string(), tool_name: z.string() },
  ...{ before: Verdict, after: Verdict, count: Count },
});

const Example = z.object({
  event_id: z.string(),
  timestamp: z.string(),
  agent_id: z.string(),
  mcp_server: z.string(),
  tool_name: z.string(),
  before: Verdict,
  after: Verdict,
  reason_before: z.string().nullable(),
  /** May quote the call's arguments. */
  reason_after: z.string().nullable(),
  /** The names of the policies that would decide. */
  policies_after: z.array(z.string()),
});

export const ReplayResult = z.object({
  decisions: Count,
  judged: Count,
  changed: Count,
  skipped: SkippedCounts,
  /** Every pair seen, including unchanged ones. */
  transitions: z.array(Transition),
  /** Counts of changes. */
  agents: z.array(AgentChanges),
  tools: z.array(ToolChanges),
  /** Changes of agents and tools beyond those. */
  other_agents: Count,
  other_tools: Count,
  examples: z.array(Example),
});
export type ReplayResult = z.infer<typeof ReplayResult>;

const MAX_ROWS = 200;
const MAX_EXAMPLES_OF_TRANSITION = 5;

export function emptyResult(): ReplayResult {
  return {
    ...{ decisions: 0, judged: 0, changed: 0, transitions: [], agents: [], tools: [] },
    skipped: { not_by_policy: 0, no_input: 0, input_altered: 0, input_unreadable: 0 },
    ...{ other_agents: 0, other_tools: 0, examples: [] },
  };
}

export function countSkipped(result: ReplayResult, skip: Skip): void {
  result.decisions++;
  result.skipped[skip]++;
}

/** A recorded decision, as far as a replay needs it. */
export interface Recorded {
  id: string;
  timestamp: string;
  agent_id: string;
  mcp_server: string;
  tool_name: string;
  result: Verdict;
  reason: string | null;
}

export function countJudged(result: ReplayResult, recorded: Recorded, judged: Judged): void {
  const [before, after] = [recorded.result, judged.decision];
  result.decisions++;
  result.judged++;
  bump(result.transitions, { before, after });
  if (before === after) return;
  result.changed++;
  const { agent_id, mcp_server, tool_name } = recorded;
  if (!bump(result.agents, { agent_id, before, after })) result.other_agents++;
  if (!bump(result.tools, { mcp_server, tool_name, before, after })) result.other_tools++;
  const known = result.examples.filter((one) => one.before === before && one.after === after);
  if (known.length >= MAX_EXAMPLES_OF_TRANSITION) return;
  result.examples.push({
    ...{ event_id: recorded.id, timestamp: recorded.timestamp },
    ...{ agent_id, mcp_server, tool_name, before, after },
    ...{ reason_before: recorded.reason, reason_after: judged.reason },
    policies_after: judged.policies,
  });
}

/** @returns false where there is no room for another row */
function bump<K extends Record<string, string>>(rows: (K & { count: number })[], key: K): boolean {
  const names = Object.keys(key);
  const row = rows.find((one) => names.every((name) => one[name] === key[name]));
  if (row) row.count++;
  else if (rows.length < MAX_ROWS) rows.push({ ...key, count: 1 });
  else return false;
  return true;
}
