/** Verifies a set of volumes with the command, as an auditor runs it, and with the library. */
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
// @ts-expect-error: the build script is plain JavaScript
import { buildVerifier } from '../../scripts/build-verifier.mjs';
import { cpuSeconds, peakMiB } from '../../tests/support/process-cpu.ts';

export interface Verified {
  verdict: string;
  seconds: number;
  cpu_seconds: number;
  peak_mib: number;
}

/** Between two samples of the process; the last one counts. */
const LOOK_MS = 20;

/** @param outdir where the command is built */
export async function verifyByCommand(
  paths: readonly string[],
  anchor: string,
  outdir: string,
): Promise<Verified> {
  const command: string = await buildVerifier({ outdir });
  const started = performance.now();
  const args = [command, ...paths, '--trust-anchor', anchor];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const { pid } = child as { pid: number };
  let output = '';
  child.stdout.on('data', (text) => {
    output += text;
  });
  const used = { cpu_seconds: 0, peak_mib: 0 };
  const ended = once(child, 'close');
  while (child.exitCode === null) {
    try {
      Object.assign(used, { cpu_seconds: cpuSeconds(pid), peak_mib: peakMiB(pid) });
    } catch {
      break;
    }
    await sleep(LOOK_MS);
  }
  await ended;
  const seconds = (performance.now() - started) / 1_000;
  const verdict = /^(?:SET|VERDICT): (\w+)$/gm;
  return { verdict: [...output.matchAll(verdict)].at(-1)?.[1] ?? output, seconds, ...used };
}

/** In a separate process, whose start is not counted. */
export async function verifyByLibrary(paths: readonly string[], anchor: string): Promise<Verified> {
  const child = fork(new URL('./verify-library.ts', import.meta.url), [anchor, ...paths]);
  const [verified] = (await once(child, 'message')) as [Verified];
  return verified;
}
