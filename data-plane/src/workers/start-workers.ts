/** The processes of a data plane: one, as long as one is wanted and nothing is left to be drained. */
import cluster, { type Worker } from 'node:cluster';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { createLog } from '@governance/shared/log';
import { readVersion } from '@governance/shared/version';
import { readDataPlaneConfig, readGatewayConfig } from '../config.ts';
import { ensureTokenKey } from '../identity/identity.ts';
import { type RunningDataPlane, showBanner, startDataPlane, warnOfUnknown } from '../main.ts';
import { startSupervisor, type WorkerProcess } from './supervisor.ts';
import { findUndrained } from './worker-folders.ts';
import {
  makeSocketFolder,
  placeVariables,
  STOP,
  type WorkerPlace,
  WorkerReport,
} from './worker-place.ts';

/**
 * Starts a data plane as the environment says, in one process or in several.
 *
 * @param hooks.onFatal told when nothing can be recorded any more: the process has to end
 * @throws ConfigurationError naming every setting that is wrong
 * @throws WorkersFailed when no worker can start
 */
export async function startWorkers(
  env: NodeJS.ProcessEnv,
  hooks: { onFatal: () => void },
): Promise<RunningDataPlane> {
  const config = readDataPlaneConfig(env);
  const { dataDir, workers: count } = config;
  const left = findUndrained(dataDir, count);
  if (count === 1 && left.length === 0) return startDataPlane(env, hooks);

  // What is wrong with the settings is said here, once.
  readGatewayConfig(env);
  const log = createLog({ debug: config.debug });
  warnOfUnknown(env, log);
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  // Before any of them looks for it.
  ensureTokenKey(dataDir);
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
    start: createStarter(),
    log,
  });
  const stop = async (): Promise<void> => {
    log.info('stopping the workers');
    await supervisor.stop();
    sockets.remove();
    log.info('stopped');
  };
  try {
    const url = await supervisor.started;
    showBanner({ url, version: readVersion(), config });
    return { url, stop };
  } catch (error) {
    sockets.remove();
    throw error;
  }
}

/** Starts processes by node:cluster: they share one listener, and connections go round. */
function createStarter(): (place: WorkerPlace) => WorkerProcess {
  const source = new URL('./data-plane-worker.ts', import.meta.url);
  const isSource = import.meta.url.endsWith('.ts') && existsSync(fileURLToPath(source));
  const entry = isSource ? source : new URL('./data-plane-worker.js', import.meta.url);
  cluster.schedulingPolicy = cluster.SCHED_RR;
  cluster.setupPrimary({
    exec: fileURLToPath(entry),
    args: [],
    // The loader of TypeScript is a development dependency, looked for only where sources run.
    execArgv: isSource ? ['--import', loaderUrl()] : ['--enable-source-maps'],
  });
  return (place) => asProcess(cluster.fork(placeVariables(place)));
}

function loaderUrl(): string {
  return pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
}

function asProcess(worker: Worker): WorkerProcess {
  return {
    pid: worker.process.pid,
    onReport: (listener) => {
      worker.on('message', (message: unknown) => {
        const report = WorkerReport.safeParse(message);
        if (report.success) listener(report.data);
      });
    },
    onExit: (listener) => {
      worker.once('exit', (code: number, signal: string | null) => listener(signal || code));
      // Of a message to a process that is ending; its exit tells the rest.
      worker.on('error', () => undefined);
    },
    askToStop: () => {
      if (worker.isConnected()) worker.send(STOP);
    },
  };
}
