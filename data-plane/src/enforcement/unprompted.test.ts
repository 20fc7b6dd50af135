/** What servers send unprompted is counted until it was inspected, over all streams together. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { FairBytes } from '../upstream/shares/fair-bytes.ts';
import type { Caller } from './calls.ts';
import type { Said } from './said.ts';
import { createUnprompted } from './unprompted.ts';

const KIB = 1024;
const PARAMS = { data: 'x'.repeat(100 * KIB) };
const callerOf = (id: string) => ({ tenantId: 't', key: `t ${id}`, agent: { id } }) as Caller;

/** Inspections that end when the test says so, with room for ten large messages. */
function slowInspection(beginMs = 0) {
  const inspecting: (() => void)[] = [];
  const heard: string[] = [];
  const room = new FairBytes(1024 * KIB, () => false);
  const inspect = ({ part }: Said) => {
    const until = performance.now() + beginMs;
    while (performance.now() < until);
    return new Promise<{ part: Said['part'] }>((resolve) =>
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
    const { hear, end } = unprompted.listen(callerOf(id), () => heard.push(id));
    return {
      end,
      tell: (params = PARAMS) => hear('up', { method: 'notifications/message', params }),
    };
  };
  return { listen, inspecting, heard, room };
}

it('shares room out among agents, however many streams one has', async () => {
  const { listen, inspecting, heard, room } = slowInspection();
  for (let n = 0; n < 60; n++) listen('many').tell();
  expect(room.total).toBeGreaterThan(400 * KIB);
  expect(room.total).toBeLessThanOrEqual(512 * KIB);
  const other = listen('other');
  other.tell();
  expect(room.total).toBeGreaterThan(500 * KIB);
  // On a slow machine some wait for a later turn.
  await expect.poll(() => inspecting).toHaveLength(6);
  for (const end of inspecting) end();
  await expect.poll(() => room.total).toBe(0);
  expect(heard.sort()).toEqual(['many', 'many', 'many', 'many', 'many', 'other']);
});

it('drops no small message of a stream on which none waits', async () => {
  const { listen, inspecting, heard } = slowInspection();
  for (let n = 0; n < 10; n++) listen('many').tell();
  const fresh = listen('many');
  fresh.tell({ data: 'x'.repeat(15 * KIB) });
  fresh.tell();
  await expect.poll(() => inspecting).toHaveLength(6);
  for (const end of inspecting) end();
  await expect.poll(() => heard).toHaveLength(6);
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
