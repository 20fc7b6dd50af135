import { expect, it } from 'vitest';
import type { AgentKey, Ask } from '../../enforcement/calls.ts';
import { createParkedCalls, type PeerCaller } from './parked-calls.ts';

it('takes no place for a call that its client gave up, whatever its server still asks', async () => {
  const asked: string[] = [];
  const refused = { kind: 'refusal', code: -32603, message: 'not now' } as const;
  const parked = createParkedCalls({
    enforcer: {
      introduce: async (_caller, _serverId, params) => params,
      call: async (_caller, ask) => {
        asked.push(ask.method);
        return refused as never;
      },
    },
    elapsed: () => 0,
    timeoutMs: 1_000,
  });
  const peer = parked.peer('agent' as AgentKey, { roots: {} });
  const caller = { key: 'agent' as AgentKey, peer, serverId: 'up' } as PeerCaller;
  const ask: Ask = { serverId: 'up', method: 'tools/call', name: 'asks', args: {} };
  const session = peer.bind('up');
  const question = (id: number) => ({ id, method: 'roots/list', params: {} });
  // One agent has 64 places: as many calls that were given up leave them all free.
  for (let n = 1; n <= 64; n++) {
    const entry = parked.begin(caller, ask);
    entry.open.abandon();
    parked.forget(entry);
    const answer = await session.ask(question(n), entry.open.send);
    expect(answer).toContain('gave the call up');
    parked.end(entry, refused as never);
  }
  expect(asked).toEqual([]);
  const last = parked.begin(caller, ask);
  await session.ask(question(65), last.open.send);
  expect(asked).toEqual(['roots/list']);
});
