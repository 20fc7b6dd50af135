/**
 * The one entry point: reads the mode, starts the planes and stops them in order. It is the only
 * file that sees both planes; standalone joins them by function calls behind the interfaces of
 * shared/src/channel/channels.ts, which a network joins otherwise.
 */
import { fileURLToPath } from 'node:url';
import {
  CONTROL_PLANE_USAGE,
  isControlPlaneCommand,
  runControlPlaneCommand,
} from '@governance/control-plane/commands';
import { CONTROL_PLANE_SETTINGS, type ControlPlaneConfig } from '@governance/control-plane/config';
import { createControlPlane, parseControlPlaneConfig } from '@governance/control-plane/main';
import { systemScope } from '@governance/control-plane/platform/database/tenant-scope';
import { readGatewayConfig, requireOneProcess } from '@governance/data-plane/config';
import { createServeEach } from '@governance/data-plane/core/serve-each';
import { createDataPlane, type DataPlane } from '@governance/data-plane/data-plane';
import { USAGE as COMMANDS, runCommand } from '@governance/data-plane/local-control/commands';
import { findTenantProblem } from '@governance/data-plane/opa-server/opa-address';
import { CONNECTION_SETTINGS, DATA_PLANE_SETTINGS } from '@governance/data-plane/settings';
import { isMendable } from '@governance/data-plane/supervisor/mendable';
import { startWorkers } from '@governance/data-plane/supervisor/start-workers';
import { WorkersFailed } from '@governance/data-plane/supervisor/supervisor';
import type { AppliedBarrier } from '@governance/shared/channel/channels';
import { AppError } from '@governance/shared/errors';
import {
  createHttpServer,
  type HttpServerOptions,
  listeningUrl,
} from '@governance/shared/http/http-server';
import { tryPlace } from '@governance/shared/process/data-folder';
import { listenAt } from '@governance/shared/process/listening-address';
import { createLog } from '@governance/shared/process/log';
import { SERVICE_SETTINGS } from '@governance/shared/service-settings';
import { findUnknownSettings, parseSettings, parseTogether } from '@governance/shared/settings';
import type { Logger } from 'pino';
import { Registry } from 'prom-client';

/** In standalone a record is shown as soon as it is made: batches wait just for their neighbours. */
const STANDALONE_SHIP_DELAY_MS = 50;

/** Read in every mode, if only to refuse more than one. */
const WORKERS = { workers: CONNECTION_SETTINGS.workers };

/** How long a stop may take before the process ends all the same. */
const STOP_WITHIN_MS = 30_000;

export interface RunningService {
  url: string;
  stop(): Promise<void>;
}

const USAGE = `Agent Governance Service

  npm start                        start it: both planes in one process, unless SERVICE_DEPLOYMENT_MODE says otherwise
  npm run data-plane               start a data plane alone (SERVICE_CP_URL and SERVICE_CP_TOKEN say of which control plane)
  npm run data-plane -- <command>  act on the data plane's folder (below)
  npm start -- announce-restore    say that the control plane's database was restored (below)
  npm start -- accept-clock        say that the machine's clock is right, after one was far ahead (below)
  npm run demo                     an agent, two policies and real MCP servers, shown in half a minute
  npm test                         every test

Settings are environment variables, all listed in docs/configuration.md and .env.example. The first ones to know:
  SERVICE_PORT                     the port to listen on (8080; 0 takes a free one)
  SERVICE_DATA_DIR                 the folder for everything that is kept (./.data)
  SERVICE_ADMIN_PASSWORD           the password of the user admin (made at the first start)
  DATABASE_URL                     a PostgreSQL of your own (one of its own in the data folder)
  SERVICE_PUBLIC_URL               where clients reach it, behind a proxy
`;

const ASKS_FOR_HELP = new Set(['--help', '-h', 'help']);

/**
 * Starts the service as the environment says and keeps it until a signal.
 *
 * @param env usually `process.env`
 * @param args a command of one of the planes' command lines, or `--help`; none starts the service.
 *   `--data-plane` before them is what `npm run data-plane` gives along
 */
export async function main(given: NodeJS.ProcessEnv, args: string[] = []): Promise<void> {
  const isDataPlane = args[0] === '--data-plane';
  const command = isDataPlane ? args.slice(1) : args;
  if (command.some((arg) => ASKS_FOR_HELP.has(arg))) {
    console.log(`${USAGE}\n${COMMANDS}\n\n${CONTROL_PLANE_USAGE}`);
    return;
  }
  if (isControlPlaneCommand(command)) {
    process.exitCode = await runControlPlaneCommand(command, given);
    return;
  }
  if (command.length > 0) {
    process.exitCode = await runCommand(command, given);
    return;
  }
  const env = isDataPlane ? { ...given, SERVICE_DEPLOYMENT_MODE: 'data-plane' } : given;
  const stop = { asked: false };
  let service: RunningService | undefined;
  const end = (code: number) => {
    if (stop.asked) process.exit(1);
    stop.asked = true;
    setTimeout(() => process.exit(1), STOP_WITHIN_MS).unref();
    Promise.resolve(service?.stop()).then(
      () => process.exit(code),
      () => process.exit(1),
    );
  };
  process.on('SIGINT', () => end(0));
  process.on('SIGTERM', () => end(0));
  try {
    service = await start(env, { onFatal: () => end(1) });
  } catch (error) {
    // What an operator can mend is said in words; anything else with its stack.
    const isExplained = isMendable(error) || error instanceof WorkersFailed;
    console.error(isExplained ? error.message : error);
    process.exit(1);
  }
}

/** Starts what SERVICE_DEPLOYMENT_MODE names. */
async function start(
  env: NodeJS.ProcessEnv,
  hooks: { onFatal: () => void },
): Promise<RunningService> {
  const deploymentMode = readMode(env);
  switch (deploymentMode) {
    case 'standalone':
      return startStandalone(env, hooks);
    case 'control-plane':
      return startControlPlane(env);
    case 'data-plane':
      return startWorkers(env, hooks);
  }
}

/** @throws ConfigurationError naming every setting that is wrong in the mode that is the default, too */
function readMode(env: NodeJS.ProcessEnv): 'standalone' | 'control-plane' | 'data-plane' {
  const { deploymentMode } = SERVICE_SETTINGS;
  try {
    return parseSettings({ deploymentMode }, env).deploymentMode;
  } catch (error) {
    readStandaloneConfig(env);
    throw error;
  }
}

function readStandaloneConfig(env: NodeJS.ProcessEnv) {
  return parseTogether(
    () => parseControlPlaneConfig(env),
    () => readGatewayConfig(env),
    () => requireOneProcess(env, 'standalone'),
  );
}

/**
 * The control plane alone: no gateway, no ledger, nothing waits for a data plane.
 *
 * @throws ConfigurationError naming every setting that is wrong
 */
export async function startControlPlane(env: NodeJS.ProcessEnv): Promise<RunningService> {
  const [parsed] = parseTogether(
    () => parseControlPlaneConfig(env),
    () => requireOneProcess(env, 'control-plane'),
  );
  const config = { ...parsed, ...(await tryPlace(parsed)) };
  const log = createLog({ debug: config.debug });
  const unknown = findUnknownSettings(env, CONTROL_PLANE_SETTINGS, WORKERS);
  if (unknown.length > 0) log.warn({ unknown }, 'variables that the control plane does not read');
  const controlPlane = await createControlPlane(config, { log });
  const app = createHttpServer(httpOptions(config, log));
  const stop = async (): Promise<void> => {
    log.info('stopping');
    await app.closeGently();
    await controlPlane.stop();
    log.info('stopped');
  };
  try {
    await app.register(controlPlane.plugin);
    await controlPlane.start();
    await listenAt(app, config);
  } catch (error) {
    await stop();
    throw error;
  }
  const { publicUrl } = config;
  showBanner({
    publicUrl,
    version: controlPlane.version,
    dataDir: config.dataDir,
    admin: controlPlane.adminPassword,
    next: `    add a data plane                POST ${publicUrl}/api/v1/admin/data-plane-tokens, then where the agents are:
      SERVICE_CP_URL=${publicUrl} SERVICE_CP_TOKEN=<token> npm run data-plane`,
  });
  return { url: listeningUrl(app, config), stop };
}

/**
 * Both planes in one process on one listener.
 *
 * @param hooks.onFatal told when the ledger can record nothing any more: the process has to end
 * @throws ConfigurationError naming every setting that is wrong
 */
export async function startStandalone(
  env: NodeJS.ProcessEnv,
  hooks: { onFatal: () => void },
): Promise<RunningService> {
  const [parsed, gatewayConfig] = readStandaloneConfig(env);
  const config = { ...parsed, ...(await tryPlace(parsed)) };
  const log = createLog({ debug: config.debug });
  const unknown = findUnknownSettings(env, CONTROL_PLANE_SETTINGS, DATA_PLANE_SETTINGS, WORKERS);
  if (unknown.length > 0) log.warn({ unknown }, 'variables that this version does not read');

  // The planes need each other: what the control plane waits for is the data plane made after it.
  const plane: { current?: DataPlane } = {};
  const applied: AppliedBarrier = {
    wait: async (tenantId, target) => plane.current?.core.applied.wait(tenantId, target),
  };
  const registry = new Registry();
  const controlPlane = await createControlPlane(config, {
    log,
    applied,
    onTenantCreated: serveTenant,
    findTenantProblem: (tenants) => findTenantProblem(gatewayConfig.opa?.address, tenants),
    listStdioNames: (tenantId) => plane.current?.listStdioNames(tenantId),
    metrics: [registry],
    readiness: [{ name: 'data plane', check: checkDataPlane }],
    warnings: () => plane.current?.findWarnings() ?? {},
    health: async (): Promise<Record<string, string>> => {
      const health = await plane.current?.policyEngine();
      if (!health || !plane.current) return { policy_engine: 'starting' };
      return {
        status: plane.current.isWell() ? 'ok' : 'degraded',
        policy_engine: health.healthy ? health.engine : `${health.engine}: unhealthy`,
        ledger_check: plane.current.core.status().ledgerCheck.state,
        ...plane.current.findWarnings(),
      };
    },
  });

  const { version } = controlPlane;
  const created = await createDataPlane({
    dataDir: config.dataDir,
    publicUrl: config.publicUrl,
    version,
    region: null,
    gateway: gatewayConfig,
    // The control plane beside it does.
    issuesTokens: false,
    registry,
    log,
    shipDelayMs: STANDALONE_SHIP_DELAY_MS,
    onFatal: hooks.onFatal,
  });
  plane.current = created;
  const { core } = created;

  async function serveTenant(tenantId: string): Promise<void> {
    if (!plane.current) throw new AppError('UNAVAILABLE', 'the data plane is starting');
    const { identity, addTenant } = plane.current.core;
    const request = identity.registrationRequest({ region: null, version, label: 'standalone' });
    const answer = await controlPlane.dataPlanes.registerLocalDataPlane(
      systemScope(tenantId),
      request,
    );
    await addTenant(answer, controlPlane.createLocalLink(answer.tenant_id, answer.deployment_id));
  }

  const serveEach = createServeEach({ serve: serveTenant, log });

  // What a new key of the control plane signed: over a network a data plane asks registration, too.
  core.onUnknownKey((tenantId) => {
    serveTenant(tenantId).then(
      () => core.kick(tenantId),
      (error) =>
        log.warn({ err: error, tenantId }, 'the keys of the control plane were not learnt'),
    );
  });

  async function checkDataPlane(): Promise<void> {
    const problems = await plane.current?.findUnready();
    if (!problems) throw new AppError('UNAVAILABLE', 'the data plane is starting');
    const named = Object.entries(problems).map(([name, problem]) => `${name}: ${problem}`);
    const unserved = serveEach.findProblem();
    if (unserved) named.push(unserved);
    if (named.length > 0) throw new AppError('UNAVAILABLE', named.join('; '));
  }

  const app = createHttpServer(httpOptions(config, log));
  await app.register(controlPlane.plugin);
  await app.register(created.routes);

  const stop = async (): Promise<void> => {
    log.info('stopping');
    serveEach.stop();
    // First no new connection is accepted, streams end and requests in progress finish; what they
    // recorded is shipped before the control plane stops.
    await app.closeGently();
    await created.stop();
    await controlPlane.stop();
    log.info('stopped');
  };

  try {
    await controlPlane.start();
    const tenantIds = await controlPlane.tenants.listIds();
    const problem = findTenantProblem(gatewayConfig.opa?.address, tenantIds.length);
    if (problem) log.error(`SERVICE_OPA_URL ${problem}; the calls of the others are denied`);
    // A tenant that this start made is served already.
    await serveEach.start(tenantIds.filter((tenantId) => !core.findDeploymentId(tenantId)));
    await listenAt(app, config);
  } catch (error) {
    await stop();
    throw error;
  }
  const { publicUrl, dataDir } = config;
  const next = `    npm run demo                    an agent, two policies and real MCP servers, shown in half a minute
    ${`${publicUrl}/mcp/v1`.padEnd(31)} where MCP clients connect (docs/connect.md: each of them)`;
  showBanner({ publicUrl, version, dataDir, admin: controlPlane.adminPassword, next });
  return { url: listeningUrl(app, config), stop };
}

function httpOptions(config: ControlPlaneConfig, log: Logger): HttpServerOptions {
  const { corsOrigins, trustedProxies } = config;
  return { log, corsOrigins, trustedProxies };
}

function showBanner(shown: {
  publicUrl: string;
  version: string;
  dataDir: string;
  admin: Awaited<ReturnType<typeof createControlPlane>>['adminPassword'];
  /** Lines of what to try, for this mode. */
  next: string;
}): void {
  const { publicUrl, admin } = shown;
  const password = admin.isGenerated
    ? admin.password.reveal()
    : 'the one in SERVICE_ADMIN_PASSWORD';
  console.log(`
  Agent Governance Service ${shown.version}

    address    ${publicUrl}
    user       admin
    password   ${password}
    data       ${shown.dataDir}

  What to try next
${shown.next}
    ${`${publicUrl}/docs`.padEnd(31)} every route of the management API, with its schemas
    README.md                       a tutorial with curl
`);
}

// `node dist/service.js`, with or without a command; `npm start` imports it.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(process.env, process.argv.slice(2));
}
