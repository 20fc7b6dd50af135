/** The process of a stdio server: how it starts, what its group gets, and why it could not start. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { UpstreamFailure } from '../upstream.ts';
import type { StdioServer } from './servers-file.ts';

export type ServerProcess = ChildProcessByStdio<Writable, Readable, Readable>;

/** A service that gives up stopping (process.exit) leaves none of them behind. */
const running = new Set<ServerProcess>();
process.once('exit', () => {
  for (const child of running) signal(child, 'SIGKILL');
});

/** @throws UpstreamFailure; most failures come as an event `error` */
export function spawnServer(server: StdioServer): ServerProcess {
  try {
    const child = spawn(server.command, server.args, {
      cwd: server.cwd,
      // The service's own environment holds its secrets.
      env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...server.env },
      stdio: ['pipe', 'pipe', 'pipe'],
      // A process group of its own, so that its child processes end with it.
      detached: process.platform !== 'win32',
    });
    if (child.pid !== undefined) {
      running.add(child);
      child.once('exit', () => running.delete(child));
    }
    return child;
  } catch (error) {
    throw whyNotStarted(error, server);
  }
}

/** Why a process did not start. Node names the command also where its folder is at fault. */
export function whyNotStarted(error: unknown, { cwd }: StdioServer): UpstreamFailure {
  const fault = cwd === undefined ? null : faultOfFolder(cwd);
  const why = fault === null ? describe(error) : `its folder (cwd) cannot be used: ${fault}`;
  return new UpstreamFailure('unreachable', why);
}

function faultOfFolder(path: string): string | null {
  try {
    if (!statSync(path).isDirectory()) return `${path} is no folder`;
    accessSync(path, constants.X_OK);
    return null;
  } catch (error) {
    return describe(error);
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function hasExited({ exitCode, signalCode }: ServerProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

/** A process that left the group of this one may hold them open. */
export function closePipes({ stdin, stdout, stderr }: ServerProcess): void {
  for (const pipe of [stdin, stdout, stderr]) pipe.destroy();
}

/** Sends a signal to the process and its group. */
export function signal(child: ServerProcess, name: 'SIGTERM' | 'SIGKILL'): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform === 'win32') child.kill(name);
    else process.kill(-child.pid, name);
  } catch {
    // It has exited by itself.
  }
}
