/** What servers send unprompted is counted until it was inspected, over all streams together. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { FairBytes } from '../upstream/shares/fair-bytes.ts';
import type { Caller } from './call/calls.ts';
import type { ReceivedMessage } from './call/received-message.ts';
import { createUnprompted } from './unprompted.ts';

const KIB = 1024;
const PARAMS = { data: 'x'.repeat(100 * KIB) };
/** Takes more than one turn to inspect. */
const LONG = { data: 'x'.repeat(150 * KIB) };
const callerOf = (id: string) => ({ tenantId: 't', key: `t ${id}`, agent: { id } }) as Caller;

/** Inspections that end when the test says so, with room for ten large messages. */
function slowInspection(beginMs = 0) {
  const inspecting: (() => void)[] = [];
  /** What was inspected, in this order. */
  const parts: string[] = [];
  const heard: string[] = [];
  const room = new FairBytes(1024 * KIB, () => false);
  const inspect = ({ part }: ReceivedMessage) => {
    const until = performance.now() + beginMs;
    while (performance.now() < until);
    if (part.kind === 'notification') parts.push(String(part.params?.data));
    return new Promise<{ part: ReceivedMessage['part'] }>((resolve) =>
      inspecting.push(() => resolve({ part })),
    );
  };
  const log = { error: expect.unreachable, warn: () => undefined };
  const unprompted = createUnprompted(inspect, {
    room,
    log,
    onInspectionFailed: expect.unreachable,
  });
  const listen = (id: string) => {
    const { receive, end } = unprompted.listen(callerOf(id), () => heard.push(id));
    return {
      end,
      tell: (params = PARAMS) => receive('up', { method: 'notifications/message', params }),
    };
  };
  /** Ends inspections as they begin, until so many were heard. */
  const drain = (count: number) =>
    expect
      .poll(() => {
        for (const end of inspecting.splice(0)) end();
        return heard.length;
      })
      .toBe(count);
  return { listen, inspecting, parts, heard, room, drain };
}

it('shares room out among agents, however many streams one has', async () => {
  const { listen, heard, room, drain } = slowInspection();
  for (let n = 0; n < 60; n++) listen('many').tell();
  expect(room.total).toBeGreaterThan(400 * KIB);
  expect(room.total).toBeLessThanOrEqual(512 * KIB);
  const other = listen('other');
  other.tell();
  expect(room.total).toBeGreaterThan(500 * KIB);
  await drain(6);
  expect(room.total).toBe(0);
  expect(heard.sort()).toEqual(['many', 'many', 'many', 'many', 'many', 'other']);
});

it('drops no small message of a stream on which none waits', async () => {
  const { listen, drain } = slowInspection();
  for (let n = 0; n < 10; n++) listen('many').tell();
  const fresh = listen('many');
  fresh.tell({ data: 'x'.repeat(15 * KIB) });
  fresh.tell();
  await drain(6);
});

it('inspects large ones of an agent one by one, and holds up no small one of another stream', async () => {
  const { listen, inspecting, heard, room } = slowInspection();
  for (let n = 0; n < 3; n++) listen('one').tell(LONG);
  const one = listen('one');
  one.tell({ data: 'small' });
  const other = listen('other');
  other.tell(LONG);
  await expect.poll(() => inspecting).toHaveLength(3);
  inspecting[1]?.();
  inspecting[2]?.();
  await expect.poll(() => heard).toEqual(['one', 'other']);
  for (let n = 0; n < 20; n++) await nextTurn();
  // The second one begins when the first one has given back its room.
  expect(inspecting).toHaveLength(3);
  expect(room.total).toBeGreaterThan(450 * KIB);
  inspecting[0]?.();
  await expect.poll(() => inspecting).toHaveLength(4);
  expect(room.total).toBeLessThan(301 * KIB);
  inspecting[3]?.();
  await expect.poll(() => inspecting).toHaveLength(5);
  inspecting[4]?.();
  await expect.poll(() => room.total).toBe(0);
  expect(heard).toHaveLength(5);
});

it('keeps the order of a stream whose large message waits for another stream', async () => {
  const { listen, inspecting, drain, parts } = slowInspection();
  listen('one').tell(LONG);
  const stream = listen('one');
  stream.tell(LONG);
  stream.tell({ data: 'small' });
  for (let n = 0; n < 20; n++) await nextTurn();
  expect(inspecting).toHaveLength(1);
  await drain(3);
  expect(parts.map((data) => data.length)).toEqual([150 * KIB, 150 * KIB, 5]);
});

it('begins no inspection for a stream that has ended, and counts what is being inspected', async () => {
  const { listen, inspecting, heard, room } = slowInspection(10);
  await nextTurn();
  await nextTurn();
  const stream = listen('one');
  for (let n = 0; n < 4; n++) stream.tell();
  stream.end();
  for (let n = 0; n < 10; n++) await nextTurn();
  expect(inspecting).toHaveLength(1);
  expect(room.total).toBeGreaterThan(100 * KIB);
  inspecting[0]?.();
  await expect.poll(() => room.total).toBe(0);
  expect(heard).toEqual([]);
});
