/** Servers' questions to clients count in the room for answers, from their arrival until they are over. */
import { expect, it } from 'vitest';
import type { Answer } from '../enforcement/call/answer.ts';
import type { Caller } from '../enforcement/call/calls.ts';
import { FairBytes } from '../upstream/shares/fair-bytes.ts';
import { bindClient } from './client-questions.ts';

const KIB = 1024;
const RESULT: Answer = { kind: 'result', raw: '{}', value: {} };
const BUSY = { code: -32603, message: expect.stringMatching(/^Busy: .* Try again later\.$/) };

/** A client's end, with room for ten large questions of one agent and others. */
function slowClient(agent = 'a', room = new FairBytes(1024 * KIB, () => false)) {
  /** Ends the inspections, and the questions, that wait. */
  const inspecting: ((isPassed: boolean) => void)[] = [];
  const asking: (() => void)[] = [];
  const caller = { tenantId: 't', key: `t ${agent}` } as Caller;
  const target = { sender: () => caller, deliver: () => expect.unreachable() };
  const client = { capabilities: { sampling: {} }, needsStream: true, findTarget: () => target };
  const session = bindClient(client, 'up', {
    enforcer: {
      introduce: (_caller, _serverId, said) =>
        new Promise((resolve) => inspecting.push((isPassed) => resolve(isPassed ? said : null))),
      call: () => new Promise((resolve) => asking.push(() => resolve(RESULT))),
    },
    room,
    elapsed: () => 0,
    timeoutMs: 1_000,
  });
  const ask = async (id: number, length: number) => {
    const params = { text: 'x'.repeat(length) };
    const text = await session.ask({ id, method: 'sampling/createMessage', params }, undefined);
    return JSON.parse(text ?? 'null');
  };
  return { ask, inspecting, asking, room };
}

it('of one agent leave half to others, and those without room are refused', async () => {
  const { ask, inspecting, asking, room } = slowClient();
  const asked = Array.from({ length: 60 }, (_, id) => ask(id, 100 * KIB));
  expect(inspecting).toHaveLength(5);
  expect(room.total).toBeGreaterThan(500 * KIB);
  expect(room.total).toBeLessThanOrEqual(512 * KIB);
  const other = slowClient('other', room);
  void other.ask(0, 100 * KIB);
  expect(other.inspecting).toHaveLength(1);
  for (const refused of await Promise.all(asked.slice(5))) {
    expect(refused).toMatchObject({ error: BUSY });
  }
  // A client that thinks about it still keeps it in memory.
  for (const end of inspecting) end(true);
  await expect.poll(() => asking).toHaveLength(5);
  expect(room.total).toBeGreaterThan(600 * KIB);
  for (const end of asking) end();
  await Promise.all(asked.slice(0, 5));
  expect(room.total).toBeLessThan(101 * KIB);
});

it('give back their room where they are refused', async () => {
  const { ask, inspecting, room } = slowClient();
  const asked = ask(1, 100 * KIB);
  inspecting[0]?.(false);
  expect(await asked).toMatchObject({ error: { message: expect.stringMatching(/refused/) } });
  expect(room.total).toBe(0);
});

it('need no room where they are small and nothing else is asked', async () => {
  const { ask, inspecting, room } = slowClient();
  room.add({ tenantId: 't', key: 't b' }, 1024 * KIB);
  const first = ask(1, 15 * KIB);
  expect(await ask(2, 15 * KIB)).toMatchObject({ error: BUSY });
  inspecting[0]?.(false);
  await first;
  void ask(3, 15 * KIB);
  expect(inspecting).toHaveLength(2);
});
