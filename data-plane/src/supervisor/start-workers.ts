/** Starts the processes of a data plane: one, unless more are wanted or a folder has to be drained. */
import { type ChildProcess, fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { listeningUrl } from '@governance/shared/http/http-server';
import { tryPlace } from '@governance/shared/process/data-folder';
import { createLog } from '@governance/shared/process/log';
import { readVersion } from '@governance/shared/process/version';
import { parseTogether } from '@governance/shared/settings';
import type { Logger } from 'pino';
import { type DataPlaneConfig, readDataPlaneConfig, readGatewayConfig } from '../config.ts';
import { ensureTokenKey } from '../identity/identity.ts';
import type { IdentityLock } from '../identity/identity-lock.ts';
import { enterIdentity } from '../identity/rotate-own-keys.ts';
import { type RunningDataPlane, showBanner, startDataPlane, warnOfUnknown } from '../main.ts';
import { findUndrained } from '../workers/worker-folders.ts';
import {
  makeSocketFolder,
  placeVariables,
  type WorkerOrder,
  type WorkerPlace,
  WorkerReport,
} from '../workers/worker-place.ts';
import { createDistributor, type Distributor, type Receiver } from './distributor.ts';
import { listenPublicly } from './public-listener.ts';
import { type Share, startSupervisor, type WorkerProcess } from './supervisor.ts';

/**
 * Starts a data plane as the environment says, in one process or in several.
 *
 * @param hooks.onFatal called when the ledger can no longer record: the process must exit
 * @throws ConfigurationError naming every setting that is wrong
 * @throws WorkersFailed when no worker can start
 */
export async function startWorkers(
  env: NodeJS.ProcessEnv,
  hooks: { onFatal: () => void },
): Promise<RunningDataPlane> {
  // Reports invalid settings here, once for all workers.
  const [parsed] = parseTogether(
    () => readDataPlaneConfig(env),
    () => readGatewayConfig(env),
  );
  const { dataDir, workers } = parsed;
  const left = findUndrained(dataDir, workers);
  if (workers === 1 && left.length === 0) return startDataPlane(env, hooks);

  const config = { ...parsed, ...(await tryPlace(parsed)) };
  // Workers put the port into tokens and metadata, so they must not read a port of 0.
  const workerEnv = { ...env, SERVICE_PORT: String(config.port) };
  const log = createLog({ debug: config.debug });
  warnOfUnknown(env, log);
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  // Its workers do the same. What is left to be finished has to be before any of them starts.
  const identityLock = enterIdentity(dataDir, log);
  try {
    return await superviseWorkers({ config, left, env: workerEnv, log }, identityLock);
  } catch (error) {
    identityLock.release();
    throw error;
  }
}

async function superviseWorkers(
  given: {
    config: DataPlaneConfig;
    /** Workers that are no longer wanted, whose folders have to be drained. */
    left: number[];
    env: NodeJS.ProcessEnv;
    log: Logger;
  },
  identityLock: IdentityLock,
): Promise<RunningDataPlane> {
  const { config, left, env, log } = given;
  const { dataDir, workers: count } = config;
  // Before any worker looks for it.
  ensureTokenKey(dataDir);
  const distributor = createDistributor();
  const listener = await listenPublicly(config, distributor.give);
  const sockets = makeSocketFolder(dataDir);
  const common = { count, socketDir: sockets.path };
  const supervisor = startSupervisor({
    places: [
      ...Array.from(
        { length: count },
        (_, index): WorkerPlace => ({ task: 'serve', worker: index + 1, ...common }),
      ),
      ...left.map((worker): WorkerPlace => ({ task: 'drain', worker, ...common })),
    ],
    start: (place) => startProcess(place, env),
    onReady: (process) => join(distributor, process as ServiceWorker),
    log,
  });
  const stop = async (): Promise<void> => {
    log.info('stopping the workers');
    listener.close();
    await supervisor.stop();
    sockets.remove();
    identityLock.release();
    log.info('stopped');
  };
  try {
    await supervisor.started;
  } catch (error) {
    await stop();
    throw error;
  }
  const url = listeningUrl(listener, config);
  showBanner({ version: readVersion(), config });
  return { url, stop };
}

interface ServiceWorker extends WorkerProcess {
  child: ChildProcess;
}

function startProcess(place: WorkerPlace, env: NodeJS.ProcessEnv): ServiceWorker {
  const source = new URL('./data-plane-worker.ts', import.meta.url);
  const isSource = import.meta.url.endsWith('.ts') && existsSync(fileURLToPath(source));
  const entry = isSource ? source : new URL('./data-plane-worker.js', import.meta.url);
  const child = fork(fileURLToPath(entry), [], {
    env: { ...env, ...placeVariables(place) },
    // The TypeScript loader is a development dependency, resolved only where sources run.
    execArgv: isSource ? ['--import', loaderUrl()] : ['--enable-source-maps'],
  });
  // A message to a process that is ending fails; its exit is handled elsewhere.
  child.on('error', () => undefined);
  const send = (order: WorkerOrder) => {
    if (child.connected) child.send(order);
  };
  return {
    child,
    pid: child.pid,
    onReport: (listener) => {
      child.on('message', (message: unknown) => {
        const report = WorkerReport.safeParse(message);
        if (report.success) listener(report.data);
      });
    },
    onExit: (listener) => {
      child.once('exit', (code, signal) => listener(signal ?? code ?? 1));
    },
    askToStop: () => send({ kind: 'stop' }),
    ping: () => send({ kind: 'ping' }),
    kill: () => void child.kill('SIGKILL'),
  };
}

function loaderUrl(): string {
  return pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
}

/** Hands a worker its share of the connections. */
function join(distributor: Distributor, { child, onReport }: ServiceWorker): Share {
  const receiver: Receiver = distributor.join((id, socket) => {
    const order: WorkerOrder = { kind: 'connection', id };
    // Kept open here until the worker confirms it. An error means that the process ended.
    child.send(order, socket, { keepOpen: true }, () => undefined);
  });
  onReport((report) => {
    if (report.kind === 'taken') receiver.taken(report.id);
    if (report.kind === 'refused') receiver.refused(report.id);
  });
  return receiver;
}
