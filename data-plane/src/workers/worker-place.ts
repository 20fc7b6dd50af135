/** What a process of several is told when it is started, and what it tells back. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';

/** The variable that carries the place; it is no setting, and removed as soon as it was read. */
const PLACE_VARIABLE = 'GOVERNANCE_WORKER';

export const WorkerPlace = z.strictObject({
  /** `serve` takes calls; `drain` ships what a worker that is no longer wanted left behind. */
  task: z.enum(['serve', 'drain']),
  /** From 1. */
  worker: z.int().min(1),
  /** SERVICE_WORKERS: with 1, the process is on its own. */
  count: z.int().min(1),
  /** The folder of the sockets by which workers reach each other; theirs alone. */
  socketDir: z.string(),
});
export type WorkerPlace = z.infer<typeof WorkerPlace>;

/** From a worker to its supervisor. */
export const WorkerReport = z.discriminatedUnion('kind', [
  /** It takes connections. */
  z.strictObject({ kind: z.literal('ready') }),
  /** It cannot start; `isConfiguration` where the operator has to change a setting. */
  z.strictObject({
    kind: z.literal('failed'),
    message: z.string(),
    isConfiguration: z.boolean(),
  }),
  /** What became of a connection that it was handed. */
  z.strictObject({ kind: z.enum(['taken', 'refused']), id: z.int() }),
]);
export type WorkerReport = z.infer<typeof WorkerReport>;

/**
 * From the supervisor to a worker. The end is a message and no signal, since a terminal signals all
 * of them by itself; the socket goes along with a connection.
 */
export const WorkerOrder = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('stop') }),
  z.strictObject({ kind: z.literal('connection'), id: z.int() }),
]);
export type WorkerOrder = z.infer<typeof WorkerOrder>;

/** The variables a worker is started with, beside the service's own. */
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

/** The path of a Unix socket has 108 bytes on Linux and 104 on macOS, its end included. */
const MAX_SOCKET_PATH = 100;
const LONGEST_NAME = 'worker-64.sock';

/** A worker's private socket. */
export function socketPath(socketDir: string, worker: number): string {
  return join(socketDir, `worker-${worker}.sock`);
}

/**
 * Makes the folder of the sockets, which nobody but this user may enter.
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
  // Of mode 0700, under a name that nobody can have made before.
  const temporary = mkdtempSync(join(tmpdir(), 'governance-'));
  return { path: temporary, remove: () => rmSync(temporary, { recursive: true, force: true }) };
}
