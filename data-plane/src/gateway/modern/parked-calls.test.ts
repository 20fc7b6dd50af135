import { expect, it } from 'vitest';
import type { AgentKey, Ask } from '../../enforcement/call/calls.ts';
import { FairBytes } from '../../upstream/shares/fair-bytes.ts';
import { createParkedCalls, type PeerCaller } from './parked-calls.ts';

const refused = { kind: 'refusal', code: -32603, message: 'not now' } as const;
const ASK: Ask = { serverId: 'up', method: 'tools/call', name: 'asks', args: {} };

/** @returns also the methods of the questions that reached clients */
function aStore(servesSeveral: boolean) {
  const asked: string[] = [];
  const parked = createParkedCalls({
    enforcer: {
      introduce: async (_caller, _serverId, params) => params,
      call: async (_caller, ask) => {
        asked.push(ask.method);
        return refused as never;
      },
    },
    room: new FairBytes(1024, () => servesSeveral),
    elapsed: () => 0,
    timeoutMs: 1_000,
    servesSeveral: () => servesSeveral,
  });
  return { parked, asked };
}

it('takes no place for a call that its client gave up, whatever its server still asks', async () => {
  const { parked, asked } = aStore(false);
  const peer = parked.peer('agent' as AgentKey, { roots: {} });
  const caller = { key: 'agent' as AgentKey, peer, serverId: 'up' } as PeerCaller;
  const session = peer.bind('up');
  const question = (id: number) => ({ id, method: 'roots/list', params: {} });
  // One agent has 64 places: as many calls that were given up leave them all free.
  for (let n = 1; n <= 64; n++) {
    const entry = parked.begin(caller, ASK);
    entry.open.abandon();
    parked.forget(entry);
    const answer = await session.ask(question(n), entry.open.send);
    expect(answer).toContain('gave the call up');
    parked.end(entry, refused as never);
  }
  expect(asked).toEqual([]);
  const last = parked.begin(caller, ASK);
  await session.ask(question(65), last.open.send);
  expect(asked).toEqual(['roots/list']);
});

it('takes for one tenant of several no more places than are left to the others', async () => {
  const { parked, asked } = aStore(true);
  const ask = async (tenantId: string, agent: number, id: number) => {
    const key = `${tenantId} ${agent}` as AgentKey;
    const peer = parked.peer(key, { roots: {} });
    const entry = parked.begin({ tenantId, key, peer, serverId: 'up' } as PeerCaller, ASK);
    await peer.bind('up').ask({ id, method: 'roots/list', params: {} }, entry.open.send);
  };
  // 10,000 places for all tenants, 64 for an agent.
  for (let n = 0; n < 5_100; n++) await ask('one', Math.floor(n / 64), n);
  expect(asked).toHaveLength(5_000);
  await ask('two', 1, 1);
  expect(asked).toHaveLength(5_001);
});
