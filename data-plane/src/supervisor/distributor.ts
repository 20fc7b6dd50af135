/**
 * Distributes clients' connections over the workers in turn. A connection that a worker has not
 * accepted when it dies goes to another: nothing of it was read. (node:cluster's round robin leaves
 * such a connection open and unanswered, since the primary keeps it until the dead worker replies.)
 */
import type { Socket } from 'node:net';

export type Distributor = ReturnType<typeof createDistributor>;
/** A worker's end of the hand-over. */
export type Receiver = ReturnType<Distributor['join']>;

export function createDistributor() {
  interface Worker {
    hand: (id: number, socket: Socket) => void;
    /** Handed over and not yet accepted. */
    pending: Map<number, Socket>;
  }
  /** The worker whose turn it is comes first. */
  const workers = new Set<Worker>();
  let nextId = 1;

  /** The worker with the fewest open hand-overs, so that a busy one is not waited for. */
  function next(): Worker | undefined {
    let chosen: Worker | undefined;
    for (const worker of workers) {
      if (chosen === undefined || worker.pending.size < chosen.pending.size) chosen = worker;
    }
    return chosen;
  }

  function give(socket: Socket): void {
    if (socket.destroyed) return;
    const worker = next();
    if (worker === undefined) {
      socket.destroy();
      return;
    }
    workers.delete(worker);
    workers.add(worker);
    const id = nextId++;
    worker.pending.set(id, socket);
    worker.hand(id, socket);
  }

  return {
    /** A new connection, paused. Without a worker it is closed at once. */
    give,
    /** @param hand sends a connection to the worker, and keeps it open here */
    join: (hand: (id: number, socket: Socket) => void) => {
      const worker: Worker = { hand, pending: new Map() };
      workers.add(worker);
      const take = (id: number): Socket | undefined => {
        const socket = worker.pending.get(id);
        worker.pending.delete(id);
        return socket;
      };
      return {
        /** The worker serves the connection: the copy here is closed. */
        taken: (id: number): void => void take(id)?.destroy(),
        /** The worker is stopping: another one gets the connection. */
        refused: (id: number): void => {
          workers.delete(worker);
          const socket = take(id);
          if (socket) give(socket);
        },
        /** Stops handing over; connections that it has not accepted go to others. */
        leave: (): void => {
          workers.delete(worker);
          const left = [...worker.pending.values()];
          worker.pending.clear();
          for (const socket of left) give(socket);
        },
      };
    },
  };
}
