import type { Socket } from 'node:net';
import { beforeEach, describe, expect, it } from 'vitest';
import { createDistributor, type Distributor, type Receiver } from './distributor.ts';

/** Only its closing is observed. */
interface FakeSocket {
  destroyed: boolean;
}

let distributor: Distributor;
beforeEach(() => {
  distributor = createDistributor();
});

function give(): FakeSocket {
  const socket = {
    destroyed: false,
    destroy() {
      this.destroyed = true;
    },
  };
  distributor.give(socket as unknown as Socket);
  return socket;
}

function worker(): Receiver & { handed: number[] } {
  const handed: number[] = [];
  return { handed, ...distributor.join((id) => handed.push(id)) };
}

describe('connections', () => {
  it('go to the workers in turn', () => {
    const workers = [worker(), worker(), worker()];
    for (let round = 1; round <= 4; round++) {
      for (let n = 0; n < 3; n++) give();
      expect(workers.map(({ handed }) => handed.length)).toEqual([round, round, round]);
      for (const { handed, taken } of workers) taken(handed.at(-1) as number);
    }
  });

  it('do not wait for a worker that accepts no connections', () => {
    const [busy, quick] = [worker(), worker()];
    for (let n = 0; n < 10; n++) {
      give();
      const last = quick.handed.at(-1);
      if (last !== undefined) quick.taken(last);
    }
    expect(busy.handed).toHaveLength(1);
    expect(quick.handed).toHaveLength(9);
  });

  it('are closed here once a worker accepted them, and not before', () => {
    const { handed, taken } = worker();
    const socket = give();
    expect(socket.destroyed).toBe(false);
    taken(handed[0] as number);
    expect(socket.destroyed).toBe(true);
  });

  it('that a dying or stopping worker did not accept go to another', () => {
    const [dying, stopping, last] = [worker(), worker(), worker()];
    const sockets = [give(), give(), give()];
    last.taken(last.handed[0] as number);
    dying.leave();
    // The stopping one may have received it, and says so.
    for (const id of stopping.handed) stopping.refused(id);
    expect(last.handed).toHaveLength(3);
    expect(sockets.map(({ destroyed }) => destroyed)).toEqual([false, false, true]);
    stopping.leave();
    expect(last.handed).toHaveLength(3);
    give();
    expect(last.handed).toHaveLength(4);
  });

  it('are closed when there is no worker', () => {
    expect(give().destroyed).toBe(true);
    const only = worker();
    const waiting = give();
    only.leave();
    expect(waiting.destroyed).toBe(true);
    expect(only.handed).toHaveLength(1);
  });
});
