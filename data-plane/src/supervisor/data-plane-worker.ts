/**
 * A worker process (start-workers.ts): serves calls, or drains a folder that a worker left behind.
 * It ends with its supervisor; all records are on disk by then.
 */
import { Socket } from 'node:net';
import { createLog } from '@governance/shared/process/log';
import { readVersion } from '@governance/shared/process/version';
import { ConfigurationError } from '@governance/shared/settings';
import { readDataPlaneConfig, readGatewayConfig } from '../config.ts';
import { createDataPlaneCore } from '../core/data-plane-core.ts';
import { type RunningPlane, startDataPlane } from '../main.ts';
import { connectControlPlane } from '../registration/connect.ts';
import { markDrained, workerFolder } from '../workers/worker-folders.ts';
import {
  takePlace,
  WorkerOrder,
  type WorkerPlace,
  type WorkerReport,
} from '../workers/worker-place.ts';
import { drain } from './drain.ts';
import { isMendable } from './mendable.ts';
import { CANNOT_DRAIN } from './supervisor.ts';

/** How long a stop may take before the process exits anyway: less than the supervisor waits. */
const STOP_WITHIN_MS = 22_000;

const place = takePlace(process.env);
const ending = new AbortController();
let running: { stop(): Promise<void> } | undefined;
let plane: RunningPlane | undefined;

function end(code: number): void {
  // A terminal and the supervisor may both send the signal.
  if (ending.signal.aborted) return;
  ending.abort();
  setTimeout(() => process.exit(1), STOP_WITHIN_MS).unref();
  Promise.resolve(running?.stop()).then(
    () => process.exit(code),
    () => process.exit(1),
  );
}

function report(message: WorkerReport): Promise<void> {
  return new Promise((resolve) => {
    if (process.send) process.send(message, undefined, undefined, () => resolve());
    else resolve();
  });
}

process.on('SIGINT', () => end(0));
process.on('SIGTERM', () => end(0));
// Another supervisor may use these folders at any moment.
process.on('disconnect', () => process.exit(1));
process.on('message', (message, socket) => {
  const order = WorkerOrder.safeParse(message);
  if (!order.success) return;
  if (order.data.kind === 'stop') end(0);
  else if (order.data.kind === 'ping') void report({ kind: 'alive' });
  else take(order.data.id, socket);
});

/** Reports before it reads from the connection: until then another worker may get it. */
function take(id: number, socket: unknown): void {
  const isOurs = plane !== undefined && !ending.signal.aborted;
  void report({ kind: isOurs ? 'taken' : 'refused', id });
  // Undefined where the client has left.
  if (!(socket instanceof Socket)) return;
  if (!isOurs || !plane?.accept(socket)) socket.destroy();
}

try {
  if (place.task === 'drain') {
    await drainFolder(place);
  } else {
    plane = await startDataPlane(process.env, { place, onFatal: () => end(1) });
    running = plane;
    await report({ kind: 'ready' });
  }
} catch (error) {
  const isConfiguration = error instanceof ConfigurationError;
  const message = error instanceof Error ? error.message : String(error);
  // The supervisor prints the message; what nobody but us can mend is printed with its stack.
  if (!isMendable(error)) console.error(error);
  await report({ kind: 'failed', message, isConfiguration });
  process.exit(1);
}

async function drainFolder({ worker }: WorkerPlace): Promise<void> {
  const config = readDataPlaneConfig(process.env);
  const gateway = readGatewayConfig(process.env);
  const log = createLog({ debug: config.debug }).child({ worker });
  const dataDir = workerFolder(config.dataDir, worker);
  const version = readVersion();
  const core = await createDataPlaneCore({
    dataDir,
    sharedDir: config.dataDir,
    version,
    log,
    ledgerLimitBytes: gateway.ledgerLimitBytes,
    ledgerKeepDays: gateway.ledgerKeepDays,
    offlineMaxAgeSeconds: gateway.offlineMaxAgeSeconds,
    onFatal: () => process.exit(1),
  });
  const connections = await connectControlPlane({
    core,
    dataDir,
    cpUrl: config.cpUrl,
    tokens: config.cpTokens.map((token) => token.reveal()),
    region: config.region,
    version,
    label: `${new URL(config.publicUrl).host} worker ${worker}`,
    log,
  });
  running = {
    stop: async () => {
      await connections.stopRegistering();
      await core.stop();
      await connections.stop();
    },
  };
  log.info('ships what a worker that is no longer wanted left behind');
  const outcome = await drain(core, connections, ending.signal);
  // `end` finishes the rest.
  if (outcome === 'stopped') return;
  await running.stop();
  if (outcome === 'drained') {
    markDrained(dataDir);
    log.info('everything was shipped: the folder is no longer needed');
  } else {
    log.error('not everything can be shipped: an operator must look at this folder');
  }
  process.exit(outcome === 'drained' ? 0 : CANNOT_DRAIN);
}
