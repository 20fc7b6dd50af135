/** Child processes that answer requests over their IPC channel. */
import { type ChildProcess, fork } from 'node:child_process';
import { z } from 'zod';

const Reply = z.object({ id: z.int(), result: z.unknown(), error: z.string().optional() });
const Request = z.object({ id: z.int(), name: z.string(), argument: z.unknown() });

export interface Child {
  readonly pid: number;
  /** @throws Error what the child's handler threw, or that the child ended */
  ask<T>(name: string, argument?: unknown): Promise<T>;
  /** Asks the child to end, and waits until it has. */
  end(): Promise<void>;
}

export function startChild(file: string, env: Record<string, string> = {}): Child {
  const child: ChildProcess = fork(file, [], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    execArgv: ['--enable-source-maps'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  interface Waiting {
    resolve(value: unknown): void;
    reject(error: Error): void;
  }
  const waiting = new Map<number, Waiting>();
  let next = 0;
  let hasEnded = false;
  child.on('message', (message) => {
    const { id, result, error } = Reply.parse(message);
    const asked = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) asked?.resolve(result);
    else asked?.reject(new Error(error));
  });
  const ended = new Promise<void>((resolve) => {
    child.once('exit', (code) => {
      hasEnded = true;
      for (const { reject } of waiting.values()) reject(new Error(`a child ended with ${code}`));
      waiting.clear();
      resolve();
    });
  });
  return {
    pid: child.pid as number,
    ask: <T>(name: string, argument: unknown = null) =>
      new Promise<T>((resolve, reject) => {
        if (hasEnded) return reject(new Error('the child has ended'));
        const id = next++;
        waiting.set(id, { resolve: resolve as (value: unknown) => void, reject });
        child.send({ id, name, argument });
      }),
    end: async () => {
      if (!hasEnded) child.disconnect();
      await ended;
    },
  };
}

/**
 * In a child: answers requests, and ends when the parent disconnects.
 *
 * @param handlers by name; their arguments and results are JSON
 */
export function serveParent(
  // The parent is part of the same program: each handler knows what it is sent.
  handlers: Record<string, (argument: never) => unknown>,
  onEnd: () => Promise<void>,
): void {
  process.on('message', async (message) => {
    const { id, name, argument } = Request.parse(message);
    try {
      const handler = handlers[name];
      if (!handler) throw new Error(`no handler ${name}`);
      process.send?.({ id, result: (await handler(argument as never)) ?? null });
    } catch (error) {
      process.send?.({ id, result: null, error: String(error) });
    }
  });
  process.once('disconnect', () => {
    onEnd().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  });
}
