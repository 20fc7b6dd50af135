/** A stock OPA that serves one signed bundle. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createServer } from 'node:net';

/** The version that `opa` reports, or undefined without one on the path. */
export function findOpa(): string | undefined {
  try {
    return /^Version: (\S+)/.exec(execFileSync('opa', ['version'], { encoding: 'utf8' }))?.[1];
  } catch {
    return undefined;
  }
}

export interface OpaServer {
  /** Asks `data.governance.decision`; returns the result's JSON value, undefined when there is none. */
  decide(inputJson: string): Promise<unknown>;
  stop(): Promise<void>;
}

export interface OpaServerOptions {
  bundlePath: string;
  /** A PEM file with the public key of the bundle's signer. */
  verificationKeyPath: string;
  verificationKeyId: string;
  algorithm: string;
  scope: string;
}

const START_TIMEOUT_MS = 30_000;

/**
 * Starts `opa run --server` on a free port of the loopback address. Throws, with what OPA wrote,
 * when it exits or does not answer, for example because a bundle does not verify.
 */
export async function startOpaServer(options: OpaServerOptions): Promise<OpaServer> {
  const port = await freePort();
  const address = `127.0.0.1:${port}`;
  const child = spawn(
    'opa',
    [
      'run',
      '--server',
      '--addr',
      address,
      '--log-level',
      'error',
      '--disable-telemetry',
      '--bundle',
      options.bundlePath,
      '--verification-key',
      options.verificationKeyPath,
      '--verification-key-id',
      options.verificationKeyId,
      '--signing-alg',
      options.algorithm,
      '--scope',
      options.scope,
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString('utf8')).slice(-4_000);
    });
  }
  await untilReady(child, `http://${address}/health`, () => output);
  return {
    async decide(inputJson) {
      const response = await fetch(`http://${address}/v1/data/governance/decision`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: `{"input":${inputJson}}`,
      });
      const body = (await response.json()) as { result?: unknown };
      if (!response.ok) throw new Error(`OPA answered ${response.status}: ${JSON.stringify(body)}`);
      return body.result;
    },
    stop: () => end(child),
  };
}

async function untilReady(child: ChildProcess, url: string, output: () => string): Promise<void> {
  let ended = false;
  child.once('exit', () => {
    ended = true;
  });
  for (const started = Date.now(); Date.now() - started < START_TIMEOUT_MS; ) {
    if (ended) throw new Error(`opa ended: ${output()}`);
    const response = await fetch(url).catch(() => undefined);
    if (response?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
  await end(child);
  throw new Error(`opa did not start: ${output()}`);
}

function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
    child.kill('SIGKILL');
  });
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
