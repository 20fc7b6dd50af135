/**
 * The trace of a workflow session: its events under those that caused them, with a summary per
 * agent. Linear in the events. An event whose parent is not in the session, or leads back to the
 * event, or is too deep, becomes a root, with `parent_ignored` set. Proven by trace.test.ts (each
 * event once, depth one more than its parent's).
 */

/** Deeper than any workflow allows: a data plane invented such an event. */
const MAX_DEPTH = 128;

export interface TraceEvent {
  eventId: string;
  eventTime: Date;
  agentId: string;
  action: string;
  toolName: string;
  mcpServer: string;
  policyResult: string;
  /** As the data plane recorded it. */
  parentEventId: string | null;
}

export interface TraceNode {
  event_id: string;
  timestamp: string;
  agent_id: string;
  action: string;
  tool_name: string;
  mcp_server: string;
  policy_result: string;
  causal_depth: number;
  parent_event_id: string | null;
  /** The event named an impossible parent. */
  parent_ignored: boolean;
  children: TraceNode[];
}

export interface AgentSummary {
  event_count: number;
  /** By result: allow, deny, escalate, dlp_block. */
  results: Record<string, number>;
  /** By `server/tool`. */
  tools: Record<string, number>;
  max_causal_depth: number;
  first_event_at: string;
  last_event_at: string;
}

/** @param events ordered by time */
export function buildTrace(events: readonly TraceEvent[]): {
  nodes: TraceNode[];
  agent_summaries: Record<string, AgentSummary>;
} {
  const byId = new Map(events.map((event) => [event.eventId, toNode(event)]));
  const below = new Map<string, TraceNode[]>();
  for (const node of byId.values()) {
    const { parent_event_id: parent } = node;
    if (parent === null || !byId.has(parent) || parent === node.event_id) continue;
    const siblings = below.get(parent);
    if (siblings) siblings.push(node);
    else below.set(parent, [node]);
  }
  const placed = new Set<TraceNode>();
  const nodes: TraceNode[] = [];
  const beginAt = (node: TraceNode) => {
    node.parent_ignored = node.parent_event_id !== null;
    node.parent_event_id = null;
    nodes.push(node);
    placeTree(node, below, placed);
  };
  for (const node of byId.values()) {
    const parent = node.parent_event_id;
    if (parent === null || !byId.has(parent) || parent === node.event_id) beginAt(node);
  }
  // The remaining events form a cycle, or are too deep.
  for (const node of byId.values()) if (!placed.has(node)) beginAt(node);
  return { nodes, agent_summaries: summarise([...byId.values()]) };
}

function placeTree(
  root: TraceNode,
  below: ReadonlyMap<string, TraceNode[]>,
  placed: Set<TraceNode>,
): void {
  placed.add(root);
  const open = [root];
  // Breadth first: the loop appends to the array that it iterates.
  for (const node of open) {
    if (node.causal_depth >= MAX_DEPTH) continue;
    for (const child of below.get(node.event_id) ?? []) {
      if (placed.has(child)) continue;
      placed.add(child);
      child.causal_depth = node.causal_depth + 1;
      node.children.push(child);
      open.push(child);
    }
  }
}

function toNode(event: TraceEvent): TraceNode {
  return {
    event_id: event.eventId,
    timestamp: event.eventTime.toISOString(),
    agent_id: event.agentId,
    action: event.action,
    tool_name: event.toolName,
    mcp_server: event.mcpServer,
    policy_result: event.policyResult,
    causal_depth: 0,
    parent_event_id: event.parentEventId,
    parent_ignored: false,
    children: [],
  };
}

function summarise(nodes: readonly TraceNode[]): Record<string, AgentSummary> {
  const summaries = new Map<string, { summary: AgentSummary; tools: Map<string, number> }>();
  for (const node of nodes) {
    let known = summaries.get(node.agent_id);
    if (known === undefined) {
      known = { summary: emptySummary(node.timestamp), tools: new Map() };
      summaries.set(node.agent_id, known);
    }
    const { summary, tools } = known;
    summary.event_count += 1;
    summary.results[node.policy_result] = (summary.results[node.policy_result] ?? 0) + 1;
    summary.max_causal_depth = Math.max(summary.max_causal_depth, node.causal_depth);
    if (node.timestamp < summary.first_event_at) summary.first_event_at = node.timestamp;
    if (node.timestamp > summary.last_event_at) summary.last_event_at = node.timestamp;
    const tool = `${node.mcp_server}/${node.tool_name}`;
    tools.set(tool, (tools.get(tool) ?? 0) + 1);
  }
  return Object.fromEntries(
    [...summaries].map(([agentId, { summary, tools }]) => [
      agentId,
      // Servers choose tool names freely: `__proto__` is a valid one.
      { ...summary, tools: Object.fromEntries(tools) },
    ]),
  );
}

function emptySummary(at: string): AgentSummary {
  return {
    event_count: 0,
    results: {},
    tools: {},
    max_causal_depth: 0,
    first_event_at: at,
    last_event_at: at,
  };
}
