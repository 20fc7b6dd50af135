/** The start parameters of a worker process, and its messages to the supervisor. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';

/** The variable that carries the place; it is not a setting, and is removed once read. */
const PLACE_VARIABLE = 'GOVERNANCE_WORKER';

export const WorkerPlace = z.strictObject({
  /** `serve` takes calls; `drain` ships what a removed worker left behind. */
  task: z.enum(['serve', 'drain']),
  /** From 1. */
  worker: z.int().min(1),
  /** SERVICE_WORKERS: with 1, the process is the only one. */
  count: z.int().min(1),
  /** The folder of the sockets by which workers reach each other, and nobody else does. */
  socketDir: z.string(),
});
export type WorkerPlace = z.infer<typeof WorkerPlace>;

/** From a worker to its supervisor. */
export const WorkerReport = z.discriminatedUnion('kind', [
  /** It accepts connections. */
  z.strictObject({ kind: z.literal('ready') }),
  /** Its event loop runs: the answer to a ping. */
  z.strictObject({ kind: z.literal('alive') }),
  /** It cannot start; `isConfiguration` if the operator has to change a setting. */
  z.strictObject({
    kind: z.literal('failed'),
    message: z.string(),
    isConfiguration: z.boolean(),
  }),
  /** What became of a connection that was handed over. */
  z.strictObject({ kind: z.enum(['taken', 'refused']), id: z.int() }),
]);
export type WorkerReport = z.infer<typeof WorkerReport>;

/**
 * From the supervisor to a worker. The end is a message instead of a signal, since a terminal
 * signals all of them itself; the socket accompanies a connection.
 */
export const WorkerOrder = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('stop') }),
  z.strictObject({ kind: z.literal('ping') }),
  z.strictObject({ kind: z.literal('connection'), id: z.int() }),
]);
export type WorkerOrder = z.infer<typeof WorkerOrder>;

/** The variables a worker is started with, in addition to the service's own. */
export function placeVariables(place: WorkerPlace): Record<string, string> {
  return { [PLACE_VARIABLE]: JSON.stringify(place) };
}

/** @throws when the process was not started by a supervisor */
export function takePlace(env: NodeJS.ProcessEnv): WorkerPlace {
  const text = env[PLACE_VARIABLE];
  if (text === undefined) throw new Error('a worker is started by its supervisor');
  delete env[PLACE_VARIABLE];
  return WorkerPlace.parse(JSON.parse(text));
}

/** The path of a Unix socket may have 108 bytes on Linux and 104 on macOS, including its end. */
const MAX_SOCKET_PATH = 100;
const LONGEST_NAME = 'worker-64.sock';

/** A worker's private socket. */
export function socketPath(socketDir: string, worker: number): string {
  return join(socketDir, `worker-${worker}.sock`);
}

/**
 * Makes the folder of the sockets, which only this user may enter.
 *
 * @param dataDir SERVICE_DATA_DIR; where its path is too long for a socket, the folder is a
 *   temporary one of this start
 * @returns `remove` takes a temporary one away
 */
export function makeSocketFolder(dataDir: string): { path: string; remove(): void } {
  const path = resolve(dataDir, 'sockets');
  if (Buffer.byteLength(join(path, LONGEST_NAME)) <= MAX_SOCKET_PATH) {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    chmodSync(path, 0o700);
    return { path, remove: () => {} };
  }
  // Of mode 0700, under a name that nobody can have created before.
  const temporary = mkdtempSync(join(tmpdir(), 'governance-'));
  return { path: temporary, remove: () => rmSync(temporary, { recursive: true, force: true }) };
}
