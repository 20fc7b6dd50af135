/**
 * The one entry point: reads the mode, starts the planes and stops them in order. It is the only
 * file that sees both planes; standalone joins them by function calls behind the interfaces of
 * shared/src/channels.ts, which a network joins otherwise.
 */
import { mkdir } from 'node:fs/promises';
import { CONTROL_PLANE_SETTINGS } from '@governance/control-plane/config';
import { createControlPlane, parseControlPlaneConfig } from '@governance/control-plane/main';
import { systemScope } from '@governance/control-plane/platform/tenant-scope';
import { createEnforcementPlane } from '@governance/data-plane/app';
import { DATA_PLANE_SETTINGS, readGatewayConfig } from '@governance/data-plane/config';
import { createCoreMetrics } from '@governance/data-plane/core-metrics';
import { watchLocalSwitch } from '@governance/data-plane/local-control/local-kill-switch';
import { findTenantProblem } from '@governance/data-plane/opa-server/opa-address';
import { createDataPlaneCore } from '@governance/data-plane/tenant-runtime';
import type { AppliedBarrier } from '@governance/shared/channels';
import { AppError } from '@governance/shared/errors';
import { createHttpServer } from '@governance/shared/http-server';
import { createLog } from '@governance/shared/log';
import { ConfigurationError, findUnknownSettings } from '@governance/shared/settings';
import { Registry } from 'prom-client';

/** In standalone a record is shown as soon as it is made: batches wait just for their neighbours. */
const STANDALONE_SHIP_DELAY_MS = 50;

/** How long a stop may take before the process ends all the same. */
const STOP_WITHIN_MS = 30_000;

export interface RunningService {
  url: string;
  stop(): Promise<void>;
}

/**
 * Starts the service as the environment says and keeps it until a signal.
 *
 * @param env usually `process.env`
 */
export async function main(env: NodeJS.ProcessEnv): Promise<void> {
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
    service = await startStandalone(env, { onFatal: () => end(1) });
  } catch (error) {
    // What an operator can mend is said in words; anything else with its stack.
    const isMendable = error instanceof ConfigurationError;
    console.error(isMendable ? error.message : error);
    process.exit(1);
  }
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
  const config = parseControlPlaneConfig(env);
  const gatewayConfig = readGatewayConfig(env);
  if (config.deploymentMode !== 'standalone') {
    throw new ConfigurationError([
      {
        name: 'SERVICE_DEPLOYMENT_MODE',
        message: `${config.deploymentMode} is not part of this version; standalone is`,
      },
    ]);
  }
  const log = createLog({ debug: config.debug });
  const unknown = findUnknownSettings(env, CONTROL_PLANE_SETTINGS, DATA_PLANE_SETTINGS);
  if (unknown.length > 0) log.warn({ unknown }, 'variables that this version does not read');

  // The planes need each other: what the control plane waits for is the data plane made after it.
  const plane: { core?: Awaited<ReturnType<typeof createDataPlaneCore>> } = {};
  const applied: AppliedBarrier = {
    wait: async (tenantId, target) => plane.core?.applied.wait(tenantId, target),
  };
  const registry = new Registry();
  const controlPlane = await createControlPlane(config, {
    log,
    applied,
    onTenantCreated: serveTenant,
    metrics: [registry],
    readiness: [{ name: 'data plane', check: checkDataPlane }],
    health: async () => {
      const tenants = plane.core?.status().tenants ?? [];
      const health = await enforcement.policyEngine(tenants.map(({ tenant_id: id }) => id));
      return { policy_engine: health.healthy ? health.engine : `${health.engine}: unhealthy` };
    },
  });

  // With an embedded database it is there already, and open to the database's own user.
  await mkdir(config.dataDir, { recursive: true, mode: 0o700 });
  const { version } = controlPlane;
  const coreMetrics = createCoreMetrics(registry);
  const core = await createDataPlaneCore({
    dataDir: config.dataDir,
    version,
    log,
    shipDelayMs: STANDALONE_SHIP_DELAY_MS,
    ledgerLimitBytes: gatewayConfig.ledgerLimitBytes,
    findTenantProblem: (tenants) => findTenantProblem(gatewayConfig.opa?.address, tenants),
    callsPerMinute: (tenantId) => enforcement.callsPerMinute(tenantId),
    observer: coreMetrics.observer,
    onFatal: (error) => {
      log.fatal({ err: error }, 'the ledger failed: nothing can be recorded, so nothing may run');
      hooks.onFatal();
    },
  });
  plane.core = core;
  coreMetrics.watch(core);
  const localSwitch = watchLocalSwitch({
    dataDir: config.dataDir,
    ownDir: config.dataDir,
    ledger: core.ledger,
    listTenants: () => core.status().tenants.map((tenant) => tenant.tenant_id),
    log,
  });
  const enforcement = createEnforcementPlane({
    config: gatewayConfig,
    publicUrl: config.publicUrl,
    version,
    region: null,
    ledger: core.ledger,
    replica: core.replica,
    rules: core.rules,
    findDeploymentId: core.findDeploymentId,
    findDenial: localSwitch.findDenial,
    openSealed: core.identity.openSealed,
    registry,
    log,
  });

  async function serveTenant(tenantId: string): Promise<void> {
    if (!plane.core) throw new AppError('UNAVAILABLE', 'the data plane is starting');
    const request = plane.core.identity.registrationRequest({
      region: null,
      version,
      label: 'standalone',
    });
    const answer = await controlPlane.dataPlanes.registerLocalDataPlane(
      systemScope(tenantId),
      request,
    );
    const link = controlPlane.createLocalLink(answer.tenant_id, answer.deployment_id);
    await plane.core.addTenant(answer, link);
  }

  /** Whether every tenant has rules and the ledger can record. */
  async function checkDataPlane(): Promise<void> {
    if (!plane.core) throw new AppError('UNAVAILABLE', 'the data plane is starting');
    const { ledger, tenants } = plane.core.status();
    if (ledger.condition === 'full' || ledger.condition === 'failed') {
      throw new AppError('UNAVAILABLE', `the ledger is ${ledger.condition}`);
    }
    const without = tenants.filter(
      ({ tenant_id: id }) => plane.core?.rules.findActiveRules(id) === null,
    );
    if (without.length > 0) {
      throw new AppError('UNAVAILABLE', `${without.length} tenants have no active rules`);
    }
    const engine = await enforcement.policyEngine(tenants.map(({ tenant_id: id }) => id));
    if (engine.denies) throw new AppError('UNAVAILABLE', engine.message);
  }

  const app = createHttpServer({ log, corsOrigins: config.corsOrigins });
  await app.register(controlPlane.plugin);
  await app.register(enforcement.routes);

  const stop = async (): Promise<void> => {
    log.info('stopping');
    // Streams are told, then no new request comes in and those under way end; what they recorded
    // is shipped before the control plane goes.
    await app.close();
    await enforcement.stop();
    await localSwitch.stop();
    await core.stop();
    await controlPlane.stop();
    log.info('stopped');
  };

  try {
    await controlPlane.start();
    const tenantIds = await controlPlane.tenants.listIds();
    const problem = findTenantProblem(gatewayConfig.opa?.address, tenantIds.length);
    if (problem) throw new ConfigurationError([{ name: 'SERVICE_OPA_URL', message: problem }]);
    for (const tenantId of tenantIds) {
      // A tenant that this start made is served already.
      if (!core.findDeploymentId(tenantId)) await serveTenant(tenantId);
    }
    await app.listen({ host: config.host, port: config.port });
  } catch (error) {
    await stop();
    throw error;
  }
  const address = app.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : config.port;
  const url = `http://${config.host === '0.0.0.0' ? 'localhost' : config.host}:${port}`;
  showBanner({ url, version, dataDir: config.dataDir, admin: controlPlane.adminPassword });
  return { url, stop };
}

function showBanner(shown: {
  url: string;
  version: string;
  dataDir: string;
  admin: Awaited<ReturnType<typeof createControlPlane>>['adminPassword'];
}): void {
  const { url, admin } = shown;
  const password = admin.isGenerated
    ? admin.password.reveal()
    : 'the one in SERVICE_ADMIN_PASSWORD';
  console.log(`
  Agent Governance Service ${shown.version}

    address    ${url}
    user       admin
    password   ${password}
    data       ${shown.dataDir}

  What to try next
    npm run demo                    an agent, two policies and real MCP servers, shown in half a minute
    ${`${url}/docs`.padEnd(31)} every route, with its schemas
    ${`${url}/mcp/v1`.padEnd(31)} where MCP clients connect
    README.md                       a tutorial with curl
`);
}
