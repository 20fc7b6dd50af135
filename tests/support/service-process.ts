/**
 * Runs the built service as a separate process, on a free port and in its own folder: for the demo,
 * the journeys, the durability run and the bench, which all need what a user would start. Started by
 * the suite it optimises as little as the suite does: that halves the CPU of a start.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { suiteFlagsOf } from './suite-flags.ts';

const root = join(import.meta.dirname, '../..');

export interface ServiceProcess {
  url: string;
  dataDir: string;
  adminPassword: string;
  child: ChildProcess;
  /** Everything the service wrote, for a failure's message. */
  output(): string;
  /** Stops it gracefully; the data folder stays. */
  stop(): Promise<void>;
  /** kill -9. */
  kill(): Promise<void>;
  /** Stops it and removes its folder. */
  dispose(): Promise<void>;
}

export interface StartOptions {
  env?: Record<string, string>;
  dataDir?: string;
  port?: number;
  adminPassword?: string;
  /** Folder of the build to run; built on first use when absent. */
  build?: string;
  /** Put before `node`, for example strace and its arguments. */
  wrapper?: string[];
  readyTimeoutMs?: number;
  /** Resolves as soon as the output shows this, for a service that does not become ready. */
  untilShown?: RegExp;
}

async function makeDataDir(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'governance-'));
  // When running as root, PostgreSQL's own user needs access, or its files would stay in /var/lib.
  await chmod(folder, 0o711);
  return folder;
}

/** Starts the service and resolves once /ready answers 200. */
export async function startService(options: StartOptions = {}): Promise<ServiceProcess> {
  const build = options.build ?? (await builtService());
  const dataDir = options.dataDir ?? (await makeDataDir());
  const port = options.port ?? (await freePort());
  const adminPassword = options.adminPassword ?? randomBytes(12).toString('hex');
  const url = `http://127.0.0.1:${port}`;
  const main = `import(${JSON.stringify(pathToFileURL(join(build, 'service.js')).href)}).then((m) => m.main(process.env))`;
  const command = [
    ...(options.wrapper ?? []),
    process.execPath,
    ...suiteFlagsOf(process.execArgv),
    '--enable-source-maps',
    '--input-type=module',
    '-e',
    main,
  ];
  const child = spawn(command[0] as string, command.slice(1), {
    cwd: root,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      SERVICE_HOST: '127.0.0.1',
      SERVICE_PORT: String(port),
      SERVICE_DATA_DIR: dataDir,
      SERVICE_PUBLIC_URL: url,
      SERVICE_ADMIN_PASSWORD: adminPassword,
      ...options.env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const chunks: string[] = [];
  const keep = (chunk: Buffer) => {
    chunks.push(chunk.toString());
    if (chunks.length > 2_000) chunks.splice(0, 1_000);
  };
  child.stdout?.on('data', keep);
  child.stderr?.on('data', keep);
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));

  const service: ServiceProcess = {
    url,
    dataDir,
    adminPassword,
    child,
    output: () => chunks.join(''),
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        process.kill(options.wrapper ? wrappedPid(child) : (child.pid as number), 'SIGTERM');
      }
      await exited;
    },
    async kill() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
      await exited;
    },
    async dispose() {
      await service.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
  await waitUntilReady(service, options);
  return service;
}

/** A tracer does not forward signals, so the service itself is signalled. Linux only. */
function wrappedPid(wrapper: ChildProcess): number {
  const pid = wrapper.pid as number;
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')[0]);
}

async function waitUntilReady(service: ServiceProcess, options: StartOptions): Promise<void> {
  const { readyTimeoutMs: timeoutMs = 60_000, untilShown } = options;
  const deadline = Date.now() + timeoutMs;
  while (Date.now() < deadline) {
    if (service.child.exitCode !== null || service.child.signalCode !== null) {
      throw new Error(`the service ended before it was ready:\n${service.output()}`);
    }
    const ready = untilShown
      ? untilShown.test(service.output())
      : await fetch(`${service.url}/ready`).then(
          (response) => response.ok,
          () => false,
        );
    if (ready) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await service.kill();
  throw new Error(`the service was not ready in ${timeoutMs} ms:\n${service.output()}`);
}

let built: Promise<string> | undefined;

/** Builds once a process, beside the repository's packages so that imports resolve. */
export function builtService(): Promise<string> {
  built ??= (async () => {
    const outdir = join(root, '.tmp', `build-${process.pid}`);
    // The build script is plain JavaScript, so that it runs before anything was built.
    // @ts-expect-error: no declarations
    const { buildService } = await import('../../scripts/build.mjs');
    await buildService({ outdir });
    process.once('exit', () => {
      // Synchronous, since no asynchronous code runs any more.
      rmSync(outdir, { recursive: true, force: true });
    });
    return outdir;
  })();
  return built;
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise<void>((resolve) => server.close(() => resolve()));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
