/** The native OPA, an independent judge of what we build; only on development machines. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './service-process.ts';

/** Why a test that needs it was skipped. */
export const NO_NATIVE_OPA =
  'there is no opa here: go install github.com/open-policy-agent/opa@v1.22.0';

/** The path of a native `opa`, from OPA_BINARY, PATH or Go's own folder; undefined without one. */
export function findNativeOpa(): string | undefined {
  const goBin = join(process.env.GOPATH ?? join(homedir(), 'go'), 'bin/opa');
  for (const candidate of [process.env.OPA_BINARY, 'opa', goBin]) {
    if (!candidate) continue;
    try {
      execFileSync(candidate, ['version'], { stdio: 'ignore' });
      return candidate;
    } catch {
      // Try the next place.
    }
  }
  return undefined;
}

export interface NativeOpa {
  /** Where it listens. */
  url: string;
  /** Asks for `data.governance.decision`. */
  decide(input: unknown): Promise<unknown>;
  /** What the process wrote, which says why it refused a bundle. */
  output(): string;
  stop(): Promise<void>;
}

/**
 * Runs `opa run --server` and resolves once it listens.
 *
 * @param args after `run --server`; the address is chosen here
 * @param port a free one by default
 * @throws Error with the process's output when it ends instead, as for a bundle that it refuses
 */
export async function startNativeOpa(
  opa: string,
  args: string[],
  port?: number,
): Promise<NativeOpa> {
  const address = `127.0.0.1:${port ?? (await freePort())}`;
  const url = `http://${address}`;
  const child = spawn(opa, ['run', '--server', '--addr', address, ...args]);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  while (!(await isHealthy(url))) {
    if (child.exitCode !== null) throw new Error(`opa ended with ${child.exitCode}: ${output}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return {
    url,
    decide: async (input) => {
      const answer = await fetch(`${url}/v1/data/governance/decision`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ input }),
      });
      return ((await answer.json()) as { result?: unknown }).result;
    },
    output: () => output,
    stop: () => end(child),
  };
}

async function isHealthy(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/health`)).ok;
  } catch {
    return false;
  }
}

function end(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once('exit', () => resolve());
    child.kill();
  });
}
