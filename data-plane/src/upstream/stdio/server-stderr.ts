/** What a process writes to its standard error goes to the log, in bounded amounts. */
import { MINUTE_MS } from '@governance/shared/time/durations';
import type { Logger } from 'pino';
import { createAllowance } from '../pacing.ts';
import { LineReader } from './line-reader.ts';
import { readPaced } from './paced-pipe.ts';
import type { ServerProcess } from './server-process.ts';

/** Lines that are logged a minute, and characters of each. */
export const STDERR_LINES = 20;
const STDERR_CHARACTERS = 2000;

/** @param exited aborted when the process has exited */
export function logStderr(
  child: ServerProcess,
  { name, log }: { name: string; log: Pick<Logger, 'info'> },
  exited: AbortSignal,
): void {
  let left = STDERR_LINES;
  const refill = setInterval(() => {
    left = STDERR_LINES;
  }, MINUTE_MS);
  refill.unref();
  child.once('close', () => clearInterval(refill));
  const lines = new LineReader(STDERR_CHARACTERS, {
    onLine: (line) => {
      if (line === '' || left === 0) return;
      left--;
      log.info({ server: name, stderr: line }, 'MCP server says');
    },
    onTooLong: () => undefined,
    onDropped: () => undefined,
  });
  const take = (chunk: Buffer) => {
    if (left > 0) lines.push(chunk);
  };
  void readPaced(child.stderr, take, exited, createAllowance());
}
