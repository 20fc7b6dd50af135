/**
 * A data plane as a process of its own: it needs only an address and a token. It starts when the
 * control plane is away, and serves what it served before.
 */
import type { Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { createHttpServer, listeningUrl } from '@governance/shared/http/http-server';
import { tryPlace } from '@governance/shared/process/data-folder';
import { listenAt } from '@governance/shared/process/listening-address';
import { createLog } from '@governance/shared/process/log';
import { readVersion } from '@governance/shared/process/version';
import { findUnknownSettings, parseTogether } from '@governance/shared/settings';
import type { Logger } from 'pino';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { type DataPlaneConfig, readDataPlaneConfig, readGatewayConfig } from './config.ts';
import { createDataPlane, type DataPlane } from './data-plane.ts';
import { localRoutes } from './local-api/local-routes.ts';
import { createLocalTokens } from './local-api/token-issuer.ts';
import { findTenantProblem } from './opa-server/opa-address.ts';
import {
  type Connections,
  type ConnectOptions,
  connectControlPlane,
} from './registration/connect.ts';
import type { RegistrationStatus } from './registration/registration.ts';
import { REMOTE_DATA_PLANE_SETTINGS } from './settings.ts';
import { joinWorkers } from './workers/join-workers.ts';
import { unmarkDrained, workerFolder } from './workers/worker-folders.ts';
import type { WorkerPlace } from './workers/worker-place.ts';
import { ownViews } from './workers/worker-views.ts';

/**
 * How far the heap grows, in percent of what lives in it, before V8 collects all of it. V8's own
 * choice is up to 300, which left 70 to 90 MiB more of garbage under load for no CPU (ADR 102).
 */
const HEAP_GROWTH_PERCENT = 150;

/** Connects to its control planes. Never rejects because they are away. */
export type Connect = (
  options: ConnectOptions,
) => Promise<Pick<Connections, 'status' | 'stopRegistering' | 'stop'>>;

export interface RunningDataPlane {
  url: string;
  stop(): Promise<void>;
}

/** A plane that may be a worker: its supervisor hands it connections. */
export interface RunningPlane extends RunningDataPlane {
  /** Serves a connection; false where it is stopping. */
  accept(socket: Socket): boolean;
}

/**
 * Starts a data plane as the environment says, in this process.
 *
 * @param hooks.connect the way to its control planes; over HTTP unless given
 * @param hooks.place where it is one of several processes; its supervisor then speaks for all
 * @param hooks.onFatal called when the ledger can record nothing any more: the process has to end
 * @throws ConfigurationError naming every setting that is wrong
 */
export async function startDataPlane(
  env: NodeJS.ProcessEnv,
  hooks: { connect?: Connect; place?: WorkerPlace; onFatal: () => void },
): Promise<RunningPlane> {
  const { place } = hooks;
  const { config, gateway } = await readSettings(env, place);
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH_PERCENT}`);
  const { cpUrl, publicUrl, region } = config;
  const base = createLog({ debug: config.debug });
  const log = place ? base.child({ worker: place.worker }) : base;
  if (!place) warnOfUnknown(env, log);
  const roots = new Set(config.cpTokens.map((token) => token.reveal()));
  const problem = findTenantProblem(gateway.opa?.address, roots.size);
  if (problem) log.error(`SERVICE_OPA_URL ${problem}; the calls of the others are denied`);

  const version = readVersion();
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const dataDir = workerFolder(config.dataDir, place?.worker ?? 1);
  const workers = place ? joinWorkers(place, { bodyBytes: gateway.messageBytes }) : null;
  const plane = await createDataPlane({
    dataDir,
    sharedDir: config.dataDir,
    publicUrl,
    version,
    region,
    gateway,
    ...(workers?.sessions && { workers: workers.sessions }),
    expectedTenants: new Set(config.cpTokens.map((token) => token.reveal())).size,
    issuesTokens: true,
    registry,
    log,
    onFatal: hooks.onFatal,
  });
  const app = createHttpServer({
    log,
    corsOrigins: config.corsOrigins,
    trustedProxies: config.trustedProxies,
  });
  let connections: Awaited<ReturnType<Connect>> | undefined;
  const stop = async (): Promise<void> => {
    log.info('stopping');
    await workers?.close();
    await app.closeGently();
    await connections?.stopRegistering();
    await plane.stop();
    // Only now: the plane ships its last records while it stops.
    await connections?.stop();
    log.info('stopped');
  };
  try {
    unmarkDrained(dataDir);
    const { core, tokenKey, findDenial } = plane;
    const tokens = createLocalTokens({
      key: tokenKey,
      publicUrl,
      replica: core.replica,
      findDenial,
    });
    const findUnserved = () => listUnserved(plane, connections?.status() ?? []);
    const own = ownView({ plane, version, registry, tokens: roots.size, findUnserved });
    await app.register(
      localRoutes({
        publicUrl,
        version,
        tokens,
        tokenKey,
        metricsToken: config.metricsToken,
        isProduction: config.isProduction,
        views: workers?.views(own) ?? ownViews(own),
      }),
    );
    await app.register(plane.routes);
    const connect = hooks.connect ?? connectControlPlane;
    const { host } = new URL(publicUrl);
    connections = await connect({
      core,
      dataDir,
      cpUrl,
      tokens: config.cpTokens.map((token) => token.reveal()),
      region,
      version,
      label: place && place.count > 1 ? `${host} worker ${place.worker}` : host,
      log,
    });
    if (workers) await workers.listen(app);
    else await listenAt(app, config);
  } catch (error) {
    await stop();
    throw error;
  }
  const url = place ? publicUrl : listeningUrl(app, config);
  if (!place) showBanner({ version, config });
  return { url, stop, accept: (socket) => workers?.accept(socket) ?? false };
}

async function readSettings(env: NodeJS.ProcessEnv, place: WorkerPlace | undefined) {
  const [parsed, gateway] = parseTogether(
    () => readDataPlaneConfig(env),
    () => readGatewayConfig(env),
  );
  // The supervisor did it for its workers.
  const config = place ? parsed : { ...parsed, ...(await tryPlace(parsed)) };
  return { config, gateway };
}

/** What this process says of itself. @param of.tokens how many tenants should be served */
function ownView(of: {
  plane: DataPlane;
  version: string;
  registry: Registry;
  tokens: number;
  findUnserved: () => ReturnType<typeof listUnserved>;
}) {
  const { plane, findUnserved } = of;
  const servesNobody = () => plane.core.status().tenants.length === 0;
  return {
    registries: [of.registry],
    health: () => health(plane, of.version, findUnserved()),
    findUnready: async () => ({
      ...(servesNobody() && {
        tenants: ['none is served yet', ...codesOf(findUnserved())].join(': '),
      }),
      ...(await plane.findUnready()),
    }),
    findWarnings: () => {
      const codes = codesOf(servesNobody() ? [] : findUnserved());
      const tenants = `of ${of.tokens} tokens some serve no tenant: ${codes}`;
      return { ...plane.findWarnings(), ...(codes.length > 0 && { tenants }) };
    },
  };
}

/** Logs variables that look like settings but are not. */
export function warnOfUnknown(env: NodeJS.ProcessEnv, log: Pick<Logger, 'warn'>): void {
  const unknown = findUnknownSettings(env, REMOTE_DATA_PLANE_SETTINGS);
  if (unknown.length > 0) log.warn({ unknown }, 'variables that the data plane does not read');
}

/** Prints the data plane's address for the operator. */
export function showBanner({
  version,
  config,
}: {
  version: string;
  config: DataPlaneConfig;
}): void {
  const url = config.publicUrl;
  const workers = config.workers > 1 ? `\n    workers         ${config.workers}` : '';
  console.log(`
  Agent Governance Service ${version}: data plane

    address         ${url}
    control plane   ${config.cpUrl}
    data            ${config.dataDir}${workers}

    ${`${url}/mcp/v1`.padEnd(31)} where MCP clients connect
    ${`${url}/health`.padEnd(31)} how it stands to its control plane
    npm run data-plane -- kill-switch engage --reason <text>
`);
}

/** The tokens whose tenants are not served: their agents are unknown here. */
function listUnserved({ core }: DataPlane, registrations: readonly RegistrationStatus[]) {
  const served = new Set(core.status().tenants.map(({ tenant_id }) => tenant_id));
  return registrations.filter(({ tenant_id }) => tenant_id === null || !served.has(tenant_id));
}

function codesOf(unserved: readonly RegistrationStatus[]): string[] {
  return [...new Set(unserved.flatMap(({ failure }) => failure?.code ?? []))];
}

/** 200 while calls can be judged and recorded; the body reports other faults. */
function health(
  plane: DataPlane,
  version: string,
  unserved: readonly RegistrationStatus[],
): Record<string, unknown> {
  const { ledger, ledgerCheck, tenants } = plane.core.status();
  const shown = tenants.map((tenant) => ({
    ...(withoutMessages(tenant) as typeof tenant),
    denied: plane.findDenial(tenant.tenant_id)?.reason ?? null,
  }));
  const isWell = plane.isWell() && unserved.every(({ failure }) => failure === null);
  return {
    status: isWell ? 'ok' : 'degraded',
    service: 'agent-governance',
    version,
    mode: 'data-plane',
    local_kill_switch: plane.localSwitch.status(),
    ledger: ledger.condition,
    ledger_check: withoutMessages(ledgerCheck),
    tenants: shown,
    ...(unserved.length > 0 && { unserved: withoutMessages(unserved) }),
  };
}

/** Anybody may ask: codes tell an operator enough, while messages may name internals. */
function withoutMessages(status: unknown): unknown {
  const text = JSON.stringify(status, (key, value) => (key === 'message' ? undefined : value));
  return JSON.parse(text);
}
