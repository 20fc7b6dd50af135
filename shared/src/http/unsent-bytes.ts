/**
 * Connections whose other side does not read. Unsent data waits in this process's memory; Node
 * closes no connection for it, however long it waits.
 */
import type { Server, Socket } from 'node:net';

/** How long a connection with unsent data may go without progress. */
export const STALL_MS = 30_000;

/**
 * Bytes handed to the system but not yet accepted by it. Unlike `writableLength` they decrease
 * within one large write, as the other side reads.
 */
function unsentBytes(socket: Socket): number {
  const { _handle: handle } = socket as Socket & { _handle?: { writeQueueSize?: unknown } | null };
  return typeof handle?.writeQueueSize === 'number' ? handle.writeQueueSize : socket.writableLength;
}

/** Tracks how long a connection has made no progress. */
export class StallClock {
  #unsent = 0;
  #since: number;

  /** @param now monotonic milliseconds, as everywhere here */
  constructor(now: number) {
    this.#since = now;
  }

  /** @returns the milliseconds for which the waiting bytes have made no progress */
  look(socket: Socket, now: number): number {
    const unsent = unsentBytes(socket);
    if (unsent === 0 || unsent !== this.#unsent) this.#since = now;
    this.#unsent = unsent;
    return now - this.#since;
  }
}

/**
 * Closes the connections of a server on which nothing moves although something waits to be sent.
 *
 * @returns ends it
 */
export function closeStalled(server: Server, stallMs: number = STALL_MS): () => void {
  const open = new Map<Socket, StallClock>();
  server.on('connection', (socket) => {
    open.set(socket, new StallClock(performance.now()));
    socket.once('close', () => open.delete(socket));
  });
  const timer = setInterval(() => {
    const now = performance.now();
    for (const [socket, clock] of open) if (clock.look(socket, now) >= stallMs) socket.destroy();
  }, stallMs / 10);
  timer.unref();
  return () => clearInterval(timer);
}
