/**
 * Composes the control plane: the only file that knows which parts there are. Every feature is one
 * folder, made here and registered here.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { baselinePack } from '@governance/policies/baseline-pack';
import { createRegoCompiler } from '@governance/policies/compiler/rego-compiler';
import type { RegoCompiler } from '@governance/policies/contract';
import { createAgentTokens } from '@governance/shared/agent-token-issue';
import { projectRoot } from '@governance/shared/assets';
import type { AppliedBarrier, ControlPlaneLink } from '@governance/shared/channels';
import { addFrontPage } from '@governance/shared/front-page';
import type { Secret } from '@governance/shared/settings';
import type { FastifyPluginAsync } from 'fastify';
import type { Logger } from 'pino';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { agentRoutes } from './agents/agent-routes.ts';
import { createAgentService } from './agents/agent-service.ts';
import { alertRoutes } from './alerts/alert-routes.ts';
import { createAlertService } from './alerts/alert-service.ts';
import { createAlertWebhook } from './alerts/alert-webhook.ts';
import { createAdminHeadCheck } from './audit/admin-head-check.ts';
import { auditRoutes } from './audit/audit-routes.ts';
import { createAuditService } from './audit/audit-service.ts';
import { createAuditStream } from './audit/audit-stream.ts';
import { createChainBreakRecorder } from './audit/chain-breaks.ts';
import { createChainVerifier } from './audit/chain-verification.ts';
import { createChainWatch } from './audit/chain-watch.ts';
import { createAdminLogin, createSuperAdmin } from './auth/admin-login.ts';
import { createAdminTokens } from './auth/admin-tokens.ts';
import { createFindAgentCredentials } from './auth/agent-credentials.ts';
import { authRoutes } from './auth/auth-routes.ts';
import { createBundleBuilder } from './bundles/bundle-builder.ts';
import { createBundleObserver } from './bundles/bundle-observer.ts';
import { bundleRoutes } from './bundles/bundle-routes.ts';
import { createBundleSource } from './bundles/bundle-source.ts';
import type { ControlPlaneConfig } from './config.ts';
import { auditBatchRoutes } from './data-planes/audit-batch-routes.ts';
import { dataPlaneRoutes } from './data-planes/data-plane-routes.ts';
import { createDataPlaneService } from './data-planes/data-plane-service.ts';
import { createDataPlaneTokenService } from './data-planes/data-plane-token-service.ts';
import { createLocalLink } from './data-planes/local-link.ts';
import { registrationRoutes } from './data-planes/registration-routes.ts';
import { createRegistrationService } from './data-planes/registration-service.ts';
import { createSilenceWatch } from './data-planes/silence-watch.ts';
import { createTokenPurge } from './data-planes/token-purge.ts';
import { createFeedCompaction } from './feed/feed-compaction.ts';
import { createFeedReader } from './feed/feed-reader.ts';
import { createReadingPlaces } from './feed/feed-reading-places.ts';
import { feedRoutes } from './feed/feed-routes.ts';
import { appendTokenKeys, publishTokenKeysToAll } from './feed/token-keys.ts';
import { createIngestService } from './ingest/ingest-service.ts';
import { createViolationAlerts } from './ingest/violations.ts';
import { killSwitchRoutes } from './kill-switch/kill-switch-routes.ts';
import { createKillSwitchService } from './kill-switch/kill-switch-service.ts';
import { mcpServerRoutes } from './mcp-servers/mcp-server-routes.ts';
import { createMcpServerService } from './mcp-servers/mcp-server-service.ts';
import { createServerHealth } from './mcp-servers/server-health.ts';
import type { Connections } from './platform/database.ts';
import { prepareApi } from './platform/http/api.ts';
import { createGuards } from './platform/http/guards.ts';
import type { RouteEntry } from './platform/http/route-table.ts';
import {
  type HealthDetails,
  type ReadinessCheck,
  type ReadinessWarnings,
  systemRoutes,
} from './platform/http/system-routes.ts';
import { createServiceKeys, createTokenKey } from './platform/keys.ts';
import { createLeaderWork } from './platform/leader.ts';
import { createLookups } from './platform/lookups.ts';
import { createMasterKey } from './platform/master-key.ts';
import { createReplicaChanges } from './platform/replica-changes.ts';
import { createTenantDatabase } from './platform/tenant-scope.ts';
import { insertBaselinePack } from './policies/baseline-pack.ts';
import { policyRoutes } from './policies/policy-routes.ts';
import { createPolicyService } from './policies/policy-service.ts';
import { roleRoutes } from './roles/role-routes.ts';
import { createRoleService } from './roles/role-service.ts';
import { tenantRoutes } from './tenants/tenant-routes.ts';
import { createTenantService } from './tenants/tenant-service.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const BUNDLES_EVERY_MS = 5 * 60 * 1000;
const FLEET_ORDERS_EVERY_MS = 5_000;

/** Partitions of the ledger that exist before they are needed. */
const MONTHS_AHEAD = 2;

export interface ControlPlaneDeps {
  config: ControlPlaneConfig;
  connections: Connections;
  /** Of the configuration, or made by development for itself. */
  masterKey: Secret<Buffer>;
  adminPassword: Secret;
  log: Logger;
  now?: () => Date;
  /** Ends with the control plane; one of its own unless given. */
  compiler?: RegoCompiler;
  /** Standalone: resolves when the local data plane has applied a change. */
  applied?: AppliedBarrier;
  /** Standalone: lets the local data plane serve a tenant that was just made. */
  onTenantCreated?: (tenantId: string) => Promise<void>;
  /** Standalone: the stdio servers that a tenant may use at the local data plane. */
  listStdioNames?: (tenantId: string) => readonly string[] | undefined;
  /** Standalone: why the local data plane cannot serve so many tenants. */
  findTenantProblem?: (tenants: number) => string | undefined;
  /** Standalone: what the data plane adds to /metrics and /ready. */
  metrics?: Registry[];
  readiness?: ReadinessCheck[];
  /** Standalone: what of the data plane /ready tells beside. */
  warnings?: ReadinessWarnings;
  /** Standalone: what the data plane adds to /health. */
  health?: HealthDetails;
}

export type ControlPlane = Awaited<ReturnType<typeof buildControlPlane>>;

const NOTHING_TO_WAIT_FOR: AppliedBarrier = { wait: async () => {} };

export async function buildControlPlane(deps: ControlPlaneDeps) {
  const { config, connections, log } = deps;
  const now = deps.now ?? (() => new Date());
  const applied = deps.applied ?? NOTHING_TO_WAIT_FOR;

  // Platform
  const version = readVersion();
  const metrics = new Registry();
  collectDefaultMetrics({ register: metrics });
  const changes = createReplicaChanges({
    connections,
    onListenerError: (error) => log.error({ err: error }, 'a listener failed'),
    log,
    registry: metrics,
  });
  const db = createTenantDatabase({ connections, changes, now });
  const lookups = createLookups(connections);
  const masterKey = createMasterKey(deps.masterKey);
  const serviceKeys = createServiceKeys({ db, masterKey });
  // Periodic work that one of the replicas does.
  const leaderWork = createLeaderWork({ connections, log, registry: metrics });

  // Who may do what
  const { jwtPrivateKey, jwtPublicKey, publicUrl } = config;
  const tokenKey = await createTokenKey(
    jwtPrivateKey && jwtPublicKey
      ? { privateKey: jwtPrivateKey, publicKey: jwtPublicKey }
      : undefined,
  );
  const superAdmin = await createSuperAdmin(config.superAdminPassword, deps.masterKey);
  const adminTokens = createAdminTokens({
    key: tokenKey,
    publicUrl,
    lookups,
    superAdmin: superAdmin?.account,
    now,
  });
  const adminLogin = await createAdminLogin({ lookups, db, tokens: adminTokens, superAdmin, now });
  const findAgentCredentials = createFindAgentCredentials(db);
  const agentTokens = createAgentTokens({
    key: tokenKey,
    publicUrl,
    findClient: async (clientId) => {
      const owner = await lookups.findClient(clientId);
      if (!owner) return undefined;
      const { secretHash, tenantId, agentId } = owner;
      return { secretHash, read: () => findAgentCredentials(tenantId, agentId) };
    },
    now,
  });
  const guards = createGuards({
    authenticateAdmin: adminTokens.authenticate,
    lookups,
    db,
    metricsToken: config.metricsToken?.reveal(),
    isProduction: config.env === 'production',
    now,
  });

  // What goes down to the data planes
  const compiler = deps.compiler ?? createRegoCompiler();
  const bundles = createBundleBuilder({
    db,
    compiler,
    signer: serviceKeys.bundleSigningKey,
    now,
    observer: createBundleObserver({ db, registry: metrics, log, now }),
  });
  const bundleSource = createBundleSource({ db, changes });
  const feedReader = createFeedReader({
    db,
    changes,
    signer: serviceKeys.feedSigningKey,
    now,
  });
  const tokenKeys = { issuer: publicUrl, keys: [tokenKey.publicJwk] };

  // What comes up from them
  const breaks = createChainBreakRecorder({ db, now });
  const ingest = createIngestService({
    ingestPool: connections.ingestPool,
    changes,
    breaks,
    violations: createViolationAlerts({ db, now }),
    markForked: (tenantId, deploymentId) => dataPlanes.markForked(tenantId, deploymentId),
  });

  // Features
  const agents = createAgentService({ db, applied, now });
  const roles = createRoleService({ db, applied, now });
  const killSwitch = createKillSwitchService({ db, applied, now });
  const policies = createPolicyService({
    db,
    compiler,
    bundles,
    applied,
    maxActive: config.maxActivePolicies,
    now,
  });
  const mcpServers = createMcpServerService({
    db,
    masterKey,
    bundles,
    applied,
    listStdioNames: deps.listStdioNames,
    now,
  });
  const adminHeads = createAdminHeadCheck({
    db,
    breaks,
    feedKeys: serviceKeys.feedVerificationKeys,
  });
  const dataPlanes = createDataPlaneService({
    db,
    bundleKeys: serviceKeys.bundleVerificationKeys,
    feedKeys: serviceKeys.feedVerificationKeys,
    sealCredentialsFor: mcpServers.sealCredentialsFor,
    changes,
    takeBackCredentials: mcpServers.takeBackCredentials,
    onNewerRules: bundles.heardOfNewer,
    onAdminHeads: adminHeads.check,
    now,
  });
  const dataPlaneTokens = createDataPlaneTokenService({
    db,
    changes,
    takeBackCredentials: mcpServers.takeBackCredentials,
    now,
  });
  const registrations = createRegistrationService({ db, dataPlanes, now });
  const audit = createAuditService({ db, now });
  const verifier = createChainVerifier({ db, breaks, ingest, now });
  const auditStream = createAuditStream({
    db,
    changes,
    keepaliveMs: config.sseKeepaliveSeconds * 1000,
    now,
  });
  const alerts = createAlertService({ db, now });
  const { webhookUrl, webhookSecret, webhookMinSeverity: minSeverity } = config;
  const webhook =
    webhookUrl && webhookSecret
      ? createAlertWebhook({
          db,
          changes,
          url: webhookUrl,
          secret: webhookSecret,
          minSeverity,
          log,
          now,
        })
      : undefined;
  const baseline = baselinePack();
  const tenants = createTenantService({
    db,
    lookups,
    beginnings: [
      (tx) => insertBaselinePack(tx, baseline, now()),
      (tx) => appendTokenKeys(tx, tokenKeys),
      killSwitch.begin,
    ],
    findTenantProblem: deps.findTenantProblem,
    afterCreation: async (tenantId, feedSeq) => {
      const { revision } = await bundles.requestBuild(tenantId);
      await deps.onTenantCreated?.(tenantId);
      await applied.wait(tenantId, { feedSeq, bundleRevision: revision });
    },
  });

  const readiness: ReadinessCheck[] = [
    { name: 'database', check: async () => void (await connections.pool.query('SELECT 1')) },
    ...(deps.readiness ?? []),
  ];

  const routes: RouteEntry[] = [];
  const plugin: FastifyPluginAsync = async (app) => {
    const table = await prepareApi(app, { guards, version });
    await app.register(
      systemRoutes({
        version,
        readiness,
        warnings: deps.warnings,
        health: deps.health,
        metrics: [metrics, ...(deps.metrics ?? [])],
        namesTenants: config.metricsToken !== undefined,
      }),
    );
    addFrontPage(app, {
      publicUrl,
      version,
      mode: config.deploymentMode,
      config: { guard: 'public' },
    });
    await app.register(
      authRoutes({ adminLogin, agentTokens, publicUrl, tokenKeys: [tokenKey.publicJwk] }),
    );
    await app.register(tenantRoutes(tenants));
    await app.register(agentRoutes(agents));
    await app.register(roleRoutes(roles));
    await app.register(killSwitchRoutes(killSwitch));
    await app.register(policyRoutes(policies));
    await app.register(mcpServerRoutes(mcpServers, createServerHealth({ db, now })));
    await app.register(dataPlaneRoutes({ dataPlanes, tokens: dataPlaneTokens }));
    await app.register(registrationRoutes(registrations));
    await app.register(auditBatchRoutes({ ingest, registry: metrics }));
    await app.register(bundleRoutes({ bundles: bundleSource, recheck: guards['data-plane'] }));
    await app.register(
      feedRoutes({
        feed: feedReader,
        places: createReadingPlaces({ db, log, now }),
        recheck: guards['data-plane'],
      }),
    );
    await app.register(
      auditRoutes({
        audit,
        stream: auditStream,
        verifier,
        authenticateAdmin: adminTokens.authenticate,
      }),
    );
    await app.register(alertRoutes(alerts));
    // Long polls end before the listener waits for its connections.
    app.addHook('preClose', async () => {
      await auditStream.stop('The service is stopping.');
      bundleSource.close();
      feedReader.close();
    });
    app.addHook('onReady', async () => void routes.push(...table));
  };

  const makePartitions = async () => {
    await connections.pool.query('SELECT ensure_ledger_partitions($1)', [MONTHS_AHEAD]);
  };
  leaderWork.add({ name: 'ledger_partitions', everyMs: DAY_MS, run: makePartitions });
  // What is missing (a replica that died between a change and its bundle, a newer compiler): data
  // planes go on with what they have meanwhile.
  leaderWork.add({ name: 'bundles', everyMs: BUNDLES_EVERY_MS, run: bundles.buildAll });
  leaderWork.add({
    name: 'fleet_kill_switch',
    everyMs: FLEET_ORDERS_EVERY_MS,
    run: killSwitch.finishAll,
  });
  leaderWork.add(createSilenceWatch({ db, now }));
  leaderWork.add(createTokenPurge({ db, now }));
  leaderWork.add(createFeedCompaction({ db, now }));
  for (const task of createChainWatch({ db, breaks, ingest, log, now })) leaderWork.add(task);
  if (webhook) leaderWork.add({ name: 'alert_webhook', everyMs: 1_000, run: webhook.run });

  return {
    plugin,
    /** Every route with its guard, once the server is ready. */
    routes,
    version,
    db,
    lookups,
    changes,
    leaderWork,
    masterKey,
    serviceKeys,
    tokenKey,
    adminTokens,
    tenants,
    bundles,
    bundleSource,
    feedReader,
    ingest,
    mcpServers,
    dataPlanes,
    /** Standalone: one tenant's channels to the data plane of this process. */
    createLocalLink: (tenantId: string, deploymentId: string): ControlPlaneLink =>
      createLocalLink({
        tenantId,
        deploymentId,
        feedReader,
        bundleSource,
        heartbeats: dataPlanes,
        ingest,
      }),

    /** Makes what has to be there before the first request, and begins the periodic work. */
    start: async () => {
      await makePartitions();
      await serviceKeys.bundleSigningKey();
      await serviceKeys.feedSigningKey();
      await tenants.ensureDefaultTenant(deps.adminPassword);
      await publishTokenKeysToAll(db, tokenKeys);
      await changes.start();
      leaderWork.start();
    },

    /** Ends the periodic work; the connections are their maker's to close. */
    stop: async () => {
      await leaderWork.stop();
      await bundles.close();
      await compiler.close();
      await changes.stop();
    },
  };
}

function readVersion(): string {
  const manifest = readFileSync(join(projectRoot, 'package.json'), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}
