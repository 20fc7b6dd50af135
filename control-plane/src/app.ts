/** The control plane: its features, each listed once, and the server they are registered on. */
import type { ControlPlaneLink } from '@governance/shared/channel/channels';
import { addFrontPage } from '@governance/shared/http/front-page';
import { readVersion } from '@governance/shared/process/version';
import type { Secret } from '@governance/shared/settings';
import type { FastifyPluginAsync } from 'fastify';
import type { Registry } from 'prom-client';
import { administratorsFeature } from './administrators/administrators-feature.ts';
import { agentCredentialsFeature } from './agent-credentials/agent-credentials-feature.ts';
import { agentsFeature } from './agents/agents-feature.ts';
import { alertsFeature } from './alerts/alerts-feature.ts';
import { auditFeature } from './audit/audit-feature.ts';
import { authFeature } from './auth/auth-feature.ts';
import { blastRadiusFeature } from './blast-radius/blast-radius-feature.ts';
import { bundlesFeature } from './bundles/bundles-feature.ts';
import { chainFeature } from './chain/chain-feature.ts';
import { type Core, type CoreDeps, createCore } from './core.ts';
import { dataPlanesFeature } from './data-planes/data-planes-feature.ts';
import { createLocalLink } from './data-planes/local-link.ts';
import { dataProtectionFeature } from './data-protection/data-protection-feature.ts';
import { delegationsFeature } from './delegations/delegations-feature.ts';
import { dispositionsFeature } from './dispositions/dispositions-feature.ts';
import { dlpFeature } from './dlp/dlp-feature.ts';
import { enrollmentFeature } from './enrollment/enrollment-feature.ts';
import { escalationsFeature } from './escalations/escalations-feature.ts';
import { evidenceFeature } from './evidence/evidence-feature.ts';
import { exceptionsFeature } from './exceptions/exceptions-feature.ts';
import { feedFeature } from './feed/feed-feature.ts';
import { inboundFeature } from './inbound/inbound-feature.ts';
import { ingestFeature } from './ingest/ingest-feature.ts';
import { installersFeature } from './installers/installers-feature.ts';
import { killSwitchFeature } from './kill-switch/kill-switch-feature.ts';
import { mcpServersFeature } from './mcp-servers/mcp-servers-feature.ts';
import { payloadsFeature } from './payloads/payloads-feature.ts';
import { checkWritable } from './platform/database/database.ts';
import type { Feature } from './platform/feature.ts';
import { createFeatureList, type FeatureList } from './platform/feature-list.ts';
import { prepareApi } from './platform/http/api.ts';
import type { RouteEntry } from './platform/http/route-table.ts';
import {
  type HealthDetails,
  type ReadinessCheck,
  type ReadinessWarnings,
  systemRoutes,
} from './platform/http/system-routes.ts';
import { SERVICE_KEY_PURPOSES } from './platform/keys/key-kinds.ts';
import { prepareServiceKeys } from './platform/keys/prepare-keys.ts';
import { policiesFeature } from './policies/policies-feature.ts';
import { rateLimitsFeature } from './rate-limits/rate-limits-feature.ts';
import { replaysFeature } from './replays/replays-feature.ts';
import { rolesFeature } from './roles/roles-feature.ts';
import { findKeyHealth, findKeyWarnings } from './service-keys/key-warnings.ts';
import { serviceKeysFeature } from './service-keys/service-keys-feature.ts';
import { sessionsFeature } from './sessions/sessions-feature.ts';
import { tenantsFeature } from './tenants/tenants-feature.ts';
import { workflowsFeature } from './workflows/workflows-feature.ts';

export type FeatureMaker = (core: Core) => Feature | Promise<Feature>;

/** All features. Their tasks, projections and steps of a tenant's creation run in this order. */
export const FEATURES: readonly FeatureMaker[] = [
  authFeature,
  serviceKeysFeature,
  tenantsFeature,
  administratorsFeature,
  agentsFeature,
  agentCredentialsFeature,
  installersFeature,
  rolesFeature,
  killSwitchFeature,
  policiesFeature,
  mcpServersFeature,
  inboundFeature,
  dlpFeature,
  dataPlanesFeature,
  bundlesFeature,
  feedFeature,
  ingestFeature,
  auditFeature,
  chainFeature,
  alertsFeature,
  dataProtectionFeature,
  payloadsFeature,
  replaysFeature,
  blastRadiusFeature,
  rateLimitsFeature,
  exceptionsFeature,
  escalationsFeature,
  enrollmentFeature,
  workflowsFeature,
  delegationsFeature,
  sessionsFeature,
  evidenceFeature,
  dispositionsFeature,
];

export interface ControlPlaneDeps extends CoreDeps {
  adminPassword: Secret;
  /** Standalone: what the data plane adds to /metrics and /ready. */
  metrics?: Registry[];
  readiness?: ReadinessCheck[];
  /** Standalone: warnings of the data plane that /ready shows. */
  warnings?: ReadinessWarnings;
  /** Standalone: what the data plane adds to /health. */
  health?: HealthDetails;
}

export type ControlPlane = Awaited<ReturnType<typeof buildControlPlane>>;

/** @param makers FEATURES; tests add some */
export async function buildControlPlane(deps: ControlPlaneDeps, makers: readonly FeatureMaker[]) {
  const features = createFeatureList();
  const core = await createCore(deps, features);
  for (const make of makers) features.add(await make(core));
  for (const { tasks } of features.all()) for (const task of tasks ?? []) core.leaderWork.add(task);

  const { serviceKeys, leaderWork, tenants, changes, bundles, compiler } = core;
  const { feedReader, bundleSource, dataPlanes, ingest, payloadIngest, logViews } = core;
  const version = readVersion();
  const routes: RouteEntry[] = [];
  return {
    plugin: createPlugin({ ...deps, core, features, version, routes }),
    /** Every route with its guard, once the server is ready. */
    routes,
    version,
    ...core,
    /** Standalone: one tenant's channels to the data plane of this process. */
    createLocalLink: (tenantId: string, deploymentId: string): ControlPlaneLink =>
      createLocalLink({
        tenantId,
        deploymentId,
        feedReader,
        bundleSource,
        heartbeats: dataPlanes,
        ingest,
        payloads: payloadIngest,
        readLog: logViews.read,
      }),

    /** Makes what must exist before the first request, and starts the periodic work. */
    start: async () => {
      await core.standingClock?.start();
      await core.ledgerPartitions.run(new AbortController().signal);
      const purposes = SERVICE_KEY_PURPOSES.filter(
        (purpose) => purpose !== 'token-signing' || !core.tokenKeys.isConfigured,
      );
      await prepareServiceKeys(serviceKeys, purposes, core.log);
      await tenants.ensureDefaultTenant(deps.adminPassword);
      await features.publishFacts();
      await changes.start();
      leaderWork.start();
    },

    /** Ends the periodic work; whoever opened the connections closes them. */
    stop: async () => {
      await leaderWork.stop();
      await core.standingClock?.stop();
      await bundles.close();
      await compiler.close();
      await changes.stop();
    },
  };
}

interface PluginParts extends ControlPlaneDeps {
  core: Core;
  features: FeatureList;
  version: string;
  /** Filled when the server is ready. */
  routes: RouteEntry[];
}

function createPlugin(parts: PluginParts): FastifyPluginAsync {
  const { core, features, version, config, connections } = parts;
  const readiness: ReadinessCheck[] = [
    { name: 'database', check: () => checkWritable(connections.pool) },
    ...(parts.readiness ?? []),
  ];
  return async (app) => {
    const table = await prepareApi(app, { guards: core.guards, version });
    await app.register(
      systemRoutes({
        version,
        readiness,
        warnings: async () => ({
          ...(await findKeyWarnings(core.serviceKeys)),
          ...core.standingClock?.findWarnings(),
          ...core.findBundleWarnings(),
          ...parts.warnings?.(),
        }),
        health: async () => ({
          ...(await parts.health?.()),
          ...(await findKeyHealth(core.serviceKeys)),
        }),
        metrics: [core.registry, ...(parts.metrics ?? [])],
        namesTenants: config.metricsToken !== undefined,
      }),
    );
    addFrontPage(app, {
      publicUrl: config.publicUrl,
      version,
      mode: config.deploymentMode,
      config: { guard: 'public' },
    });
    for (const feature of features.all()) {
      for (const routes of feature.routes ?? []) await app.register(routes);
    }
    // Long polls end before the listener waits for its connections.
    app.addHook('preClose', async () => {
      core.bundleSource.close();
      core.feedReader.close();
    });
    app.addHook('onReady', async () => void parts.routes.push(...table));
  };
}
