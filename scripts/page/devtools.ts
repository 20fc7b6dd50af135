/** The Chrome DevTools protocol over a pipe: JSON messages, each followed by a NUL. */
import type { Readable, Writable } from 'node:stream';
import { z } from 'zod';

const Message = z.looseObject({
  id: z.number().optional(),
  method: z.string().optional(),
  params: z.record(z.string(), z.unknown()).optional(),
  sessionId: z.string().optional(),
  result: z.record(z.string(), z.unknown()).optional(),
  error: z.looseObject({ message: z.string() }).optional(),
});

export type Params = Record<string, unknown>;

export interface Connection {
  /** @throws Error with the browser's message, or if it has ended */
  send(method: string, params?: Params, sessionId?: string): Promise<Params>;
  /** Listens to a session's events. */
  on(sessionId: string, method: string, hear: (params: Params) => void): void;
  /** Rejects everything that is pending. */
  fail(error: Error): void;
}

const TIMEOUT_MS = 60_000;

export function connect(writable: Writable, readable: Readable): Connection {
  const waiting = new Map<number, { resolve(value: Params): void; reject(error: Error): void }>();
  const listeners = new Map<string, ((params: Params) => void)[]>();
  let last = 0;
  let failure: Error | undefined;
  const held: Buffer[] = [];

  function hear(text: string): void {
    const message = Message.parse(JSON.parse(text));
    const { id, method, params = {}, sessionId, result = {}, error } = message;
    for (const one of listeners.get(`${sessionId}/${method}`) ?? []) one(params);
    const asked = id === undefined ? undefined : waiting.get(id);
    if (id === undefined || !asked) return;
    waiting.delete(id);
    if (error) asked.reject(new Error(error.message));
    else asked.resolve(result);
  }

  function fail(error: Error): void {
    failure ??= error;
    for (const { reject } of waiting.values()) reject(failure);
    waiting.clear();
  }

  readable.on('data', (chunk: Buffer) => {
    let rest = chunk;
    for (let end = rest.indexOf(0); end >= 0; end = rest.indexOf(0)) {
      const text = Buffer.concat([...held.splice(0), rest.subarray(0, end)]).toString('utf8');
      rest = rest.subarray(end + 1);
      hear(text);
    }
    if (rest.length > 0) held.push(rest);
  });
  writable.on('error', fail);

  return {
    fail,
    on: (sessionId, method, listener) => {
      const name = `${sessionId}/${method}`;
      listeners.set(name, [...(listeners.get(name) ?? []), listener]);
    },
    send: (method, params = {}, sessionId) =>
      new Promise((resolve, reject) => {
        if (failure) {
          reject(failure);
          return;
        }
        const id = ++last;
        const timer = setTimeout(() => {
          waiting.delete(id);
          reject(new Error(`${method} was not answered`));
        }, TIMEOUT_MS);
        const settle =
          <T>(end: (value: T) => void) =>
          (value: T) => {
            clearTimeout(timer);
            end(value);
          };
        waiting.set(id, { resolve: settle(resolve), reject: settle(reject) });
        writable.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
      }),
  };
}
