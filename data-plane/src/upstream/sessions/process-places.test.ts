import { expect, it } from 'vitest';
import { createProcessPlaces } from './process-places.ts';
import { createSessionLimits, type SessionOwner } from './session-limits.ts';

const owner = (over: Partial<SessionOwner> = {}): SessionOwner => ({
  tenantId: 't',
  agentId: 'a',
  peerId: '1',
  transport: 'stdio',
  ...over,
});

function placesFor(isSeveral = false, waitMs?: number) {
  const numbers = { maxSessions: 9, maxProcesses: 4, maxOwnProcesses: 2 };
  const places = createProcessPlaces(
    createSessionLimits(numbers, () => isSeveral),
    waitMs,
  );
  const admitted: string[] = [];
  const take = async (name: string, over?: Partial<SessionOwner>) => {
    const leave = await places.take(owner(over));
    admitted.push(name);
    return leave;
  };
  return { places, admitted, take };
}

it('wait until those of the same agent have exited, and keep nobody else waiting', async () => {
  const { admitted, take } = placesFor();
  const leave = await take('1');
  await take('2', { peerId: '2' });
  const third = take('3', { peerId: '3' });
  await take('other', { agentId: 'b' });
  await take('shared', { peerId: undefined });
  expect(admitted).toEqual(['1', '2', 'other', 'shared']);
  // Given back twice, it is one place.
  leave();
  leave();
  await third;
  expect(admitted).toEqual(['1', '2', 'other', 'shared', '3']);
});

it('are refused where none of all, or of the tenant, becomes free in time', async () => {
  const { take } = placesFor(false, 10);
  for (const agentId of ['a', 'b', 'c', 'd']) await take(agentId, { agentId });
  await expect(take('more', { agentId: 'e' })).rejects.toMatchObject({
    kind: 'busy',
    message: expect.stringContaining('SERVICE_UPSTREAM_MAX_PROCESSES)'),
  });
  const several = placesFor(true, 10);
  for (const agentId of ['a', 'b']) await several.take(agentId, { agentId });
  await expect(several.take('more', { agentId: 'c' })).rejects.toThrow('half of the processes');
  await several.take('other', { tenantId: 'other' });
});

it('are closed when the last process has exited', async () => {
  const { places, take } = placesFor();
  await places.close();
  const leaves = [await take('1'), await take('2')];
  let isClosed = false;
  const closing = places.close().then(() => {
    isClosed = true;
  });
  leaves[0]?.();
  await Promise.resolve();
  expect(isClosed).toBe(false);
  leaves[1]?.();
  await closing;
});
