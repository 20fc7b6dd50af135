import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MAX_EXCEPTIONS } from '@governance/shared/channel/exceptions';
import type { ExceptionFact, FeedEntry } from '@governance/shared/channel/facts';
import { uuidv7 } from '@governance/shared/ids';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createReplica, type LocalReplica } from '../replica.ts';

const tenantId = uuidv7();
const agent = uuidv7();
let dataDir: string;
let replica: LocalReplica;
let seq: number;
let refused: string[];

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'governance-exceptions-'));
  refused = [];
  seq = 0;
  open();
});

afterEach(() => {
  replica.close();
  rmSync(dataDir, { recursive: true });
});

function open(): void {
  replica = createReplica({ dataDir, onRefused: ({ key }) => refused.push(key) });
  replica.addTenant(tenantId, uuidv7());
}

function apply(...facts: [string, unknown][]): void {
  const entries = facts.map(([key, value]): FeedEntry => {
    seq += 1;
    return { seq, kind: 'optional.exception', key, value };
  });
  replica.apply(tenantId, entries, seq);
}

const aFact = (over: Partial<ExceptionFact> = {}): ExceptionFact => ({
  id: uuidv7(),
  lifts: 'escalation',
  ...{ agent_id: agent, mcp_server: 'files', tool_name: null, resource: null, policy_id: null },
  expires_at: '2030-01-01T00:00:00.000Z',
  ...over,
});
const entryOf = (fact: ExceptionFact): [string, unknown] => [fact.id, fact];
const find = (agentId = agent, serverId = 'files', toolName = 'read') =>
  replica
    .findExceptions(tenantId, { agentId, serverId, toolName })
    .map(({ id }) => id)
    .sort();

describe('exceptions of the replica', () => {
  it('are found by the agent, server and tool that they name', () => {
    const facts = [
      aFact(),
      aFact({ tool_name: 'read' }),
      aFact({ tool_name: 'write' }),
      aFact({ agent_id: null }),
      aFact({ agent_id: uuidv7() }),
      aFact({ mcp_server: 'mail' }),
      aFact({ agent_id: null, mcp_server: null, resource: '/srv/**' }),
    ];
    apply(...facts.map(entryOf));
    const ids = (...at: number[]) => at.map((n) => facts[n]?.id).sort();
    expect(find()).toEqual(ids(0, 1, 3, 6));
    expect(find(agent, 'files', 'write')).toEqual(ids(0, 2, 3, 6));
    expect(find(agent, 'mail')).toEqual(ids(5, 6));
    expect(find(uuidv7())).toEqual(ids(3, 6));
    expect(
      replica.findExceptions(uuidv7(), { agentId: agent, serverId: 'files', toolName: 'read' }),
    ).toEqual([]);
  });

  it('change and end with the feed, and survive a restart', () => {
    const [first, second] = [aFact(), aFact()];
    apply(entryOf(first), entryOf(second));
    expect(find()).toEqual([first.id, second.id].sort());
    apply(entryOf({ ...first, mcp_server: 'mail' }), [second.id, null]);
    expect(find()).toEqual([]);
    expect(find(agent, 'mail')).toEqual([first.id]);
    replica.close();
    open();
    expect(find(agent, 'mail')).toEqual([first.id]);
    replica.removeTenant(tenantId);
    expect(find(agent, 'mail')).toEqual([]);
  });

  it('that cannot be read, or are stored under another key, are ignored', () => {
    const good = aFact();
    const [other, bad, wide] = [uuidv7(), uuidv7(), uuidv7()];
    const narrow = { agent_id: null, mcp_server: null };
    apply(
      entryOf(good),
      [other, aFact()],
      [bad, { ...aFact({ id: bad }), more: 1 }],
      [wide, { ...aFact({ id: wide }), ...narrow }],
    );
    expect(find()).toEqual([good.id]);
    expect(refused.sort()).toEqual([bad, wide].sort());
  });

  it('are bounded in number', () => {
    const facts = Array.from({ length: 2 * MAX_EXCEPTIONS + 1 }, () => aFact());
    expect(find()).toEqual([]);
    apply(...facts.map(entryOf));
    expect(find()).toHaveLength(2 * MAX_EXCEPTIONS);
  });
});
