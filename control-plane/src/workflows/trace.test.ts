import { uuidv7 } from '@governance/shared/ids';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildTrace, type TraceEvent, type TraceNode } from './trace.ts';

const anEvent = (n: number, over: Partial<TraceEvent> = {}): TraceEvent => ({
  eventId: `e${n}`,
  eventTime: new Date(1_000 * n),
  agentId: 'a',
  action: 'read',
  toolName: 'read_file',
  mcpServer: 'files',
  policyResult: 'allow',
  parentEventId: null,
  ...over,
});

function flat(nodes: readonly TraceNode[]): TraceNode[] {
  const all = [...nodes];
  for (const node of all) all.push(...node.children);
  return all;
}

describe('a trace', () => {
  it('puts events below those that caused them', () => {
    const events = [
      anEvent(0),
      anEvent(1, { parentEventId: 'e0', agentId: 'b' }),
      anEvent(2, { parentEventId: 'e1', agentId: 'b', policyResult: 'deny' }),
      anEvent(3, { parentEventId: 'e0' }),
    ];
    const { nodes, agent_summaries } = buildTrace(events);
    expect(nodes).toMatchObject([
      {
        event_id: 'e0',
        causal_depth: 0,
        children: [
          { event_id: 'e1', causal_depth: 1, children: [{ event_id: 'e2', causal_depth: 2 }] },
          { event_id: 'e3', causal_depth: 1, children: [] },
        ],
      },
    ]);
    expect(agent_summaries).toEqual({
      a: {
        event_count: 2,
        results: { allow: 2 },
        tools: { 'files/read_file': 2 },
        max_causal_depth: 1,
        first_event_at: new Date(0).toISOString(),
        last_event_at: new Date(3_000).toISOString(),
      },
      b: expect.objectContaining({
        event_count: 2,
        results: { allow: 1, deny: 1 },
        max_causal_depth: 2,
      }),
    });
  });

  it('ignores a parent that is not in the session, and says so', () => {
    const { nodes } = buildTrace([anEvent(0, { parentEventId: uuidv7() })]);
    expect(nodes).toMatchObject([{ parent_event_id: null, parent_ignored: true }]);
  });

  it('has each event once, one deeper than its parent, whatever is claimed', () => {
    const parents = fc.array(fc.option(fc.integer({ min: 0, max: 300 })), { maxLength: 200 });
    fc.assert(
      fc.property(parents, (claimed) => {
        const events = claimed.map((parent, n) =>
          anEvent(n, { parentEventId: parent === null ? null : `e${parent}` }),
        );
        const { nodes } = buildTrace(events);
        const all = flat(nodes);
        expect(all.map((node) => node.event_id).sort()).toEqual(
          events.map(({ eventId }) => eventId).sort(),
        );
        for (const node of all) {
          for (const child of node.children) {
            expect(child.causal_depth).toBe(node.causal_depth + 1);
            expect(child.parent_event_id).toBe(node.event_id);
          }
        }
        expect(nodes.every((node) => node.causal_depth === 0)).toBe(true);
      }),
    );
  });

  it('takes a chain of 10,000 events, and can be written', () => {
    const chain = Array.from({ length: 10_000 }, (_, n) =>
      anEvent(n, { parentEventId: n === 0 ? null : `e${n - 1}` }),
    );
    const { nodes } = buildTrace(chain);
    expect(flat(nodes)).toHaveLength(10_000);
    expect(JSON.stringify(nodes).length).toBeGreaterThan(1_000_000);
  });
});
