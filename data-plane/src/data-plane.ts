/**
 * A whole data plane without its listener and the connection to its control planes: the part that
 * standalone and the mode `data-plane` share.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { GatewayConfig } from './config.ts';
import type { FindDenial } from './contracts.ts';
import { createCoreMetrics } from './core/core-metrics.ts';
import { createDataPlaneCore } from './core/data-plane-core.ts';
import { findRefusal, isTenantWell } from './core/tenant-wellness.ts';
import { HELD_PLACES_FILE, openHeldPlaces } from './holds/held-places.ts';
import { asTokenKeys, ownTokenKey } from './local-api/token-issuer.ts';
import { watchLocalSwitch } from './local-control/local-kill-switch.ts';
import { createEnforcement } from './plane/enforcement.ts';
import { createEnforcementPlane } from './plane/enforcement-plane.ts';
import type { EnforcementPlaneDeps } from './plane/plane-deps.ts';
import { type OpenedParts, openParts } from './storage/opened-parts.ts';

export type DataPlane = Awaited<ReturnType<typeof createDataPlane>>;

interface DataPlaneOptions
  extends Pick<EnforcementPlaneDeps, 'publicUrl' | 'version' | 'workers' | 'registry' | 'log'> {
  /** The folder that only this process writes to. */
  dataDir: string;
  /** SERVICE_DATA_DIR, where it differs: the token key and the local kill switch. */
  sharedDir?: string;
  region: string | null;
  gateway: GatewayConfig;
  /** The number of tenants that its settings name; more may come. */
  expectedTenants?: number;
  /** Whether it issues tokens of its own, in addition to its control plane's. */
  issuesTokens: boolean;
  /** How long records are collected before they are shipped, in milliseconds. */
  shipDelayMs?: number;
  /** Called once when nothing can be recorded any more: the process has to end. */
  onFatal(): void;
}

/**
 * Opens the data folder and composes the plane. No tenant is served yet: see `core.addTenant`.
 *
 * @throws when a file of the folder is damaged, or another process uses it
 */
export function createDataPlane(options: DataPlaneOptions) {
  return openParts(
    (parts) => composeDataPlane(options, parts),
    (err) => options.log.warn({ err }, 'a part of the data plane was not closed'),
  );
}

async function composeDataPlane(options: DataPlaneOptions, parts: OpenedParts) {
  const { dataDir, version, region, gateway, registry, log } = options;
  const sharedDir = options.sharedDir ?? dataDir;
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const heldPlaces =
    options.workers &&
    openHeldPlaces(join(sharedDir, HELD_PLACES_FILE), {
      worker: options.workers.worker,
      now: Date.now,
      log,
    });
  if (heldPlaces) parts.add(heldPlaces.close);
  const metrics = createCoreMetrics(registry);
  const core = await createDataPlaneCore({
    dataDir,
    sharedDir,
    version,
    log,
    ledgerLimitBytes: gateway.ledgerLimitBytes,
    ledgerKeepDays: gateway.ledgerKeepDays,
    payloadLimitBytes: gateway.payloadLimitBytes,
    offlineMaxAgeSeconds: gateway.offlineMaxAgeSeconds,
    callsPerMinute: (tenantId) => enforcement.callsPerMinute(tenantId),
    serverReport: (tenantId) => enforcement.serverReport(tenantId),
    pinReports: () => enforcement.pinReports,
    heldPlaces,
    expectedTenants: options.expectedTenants ?? 0,
    observer: metrics.observer,
    onFatal: (error) => {
      log.fatal({ err: error }, 'the ledger failed: nothing can be recorded, so nothing may run');
      options.onFatal();
    },
    ...(options.shipDelayMs !== undefined && { shipDelayMs: options.shipDelayMs }),
  });
  parts.add(() => core.stop());
  metrics.watch(core);
  const tenantIds = () => core.status().tenants.map((tenant) => tenant.tenant_id);
  const localSwitch = watchLocalSwitch({
    dataDir: sharedDir,
    ownDir: dataDir,
    ledger: core.ledger,
    listTenants: tenantIds,
    findDeploymentId: core.findDeploymentId,
    log,
  });
  parts.add(localSwitch.stop);
  metrics.watchSwitch(localSwitch);
  const findDenial: FindDenial = (tenantId) =>
    localSwitch.findDenial(tenantId) ?? core.findDenial(tenantId);
  const { identity } = core;
  const tokenKey = await ownTokenKey(identity.tokenKey, identity.earlierTokenKeys);
  const enforcement = createEnforcementPlane(createEnforcement, {
    ...core,
    ...identity,
    config: gateway,
    publicUrl: options.publicUrl,
    version,
    findRegion: (tenantId) => {
      const listed = core.findRegion(tenantId);
      return listed === undefined ? region : listed;
    },
    findDenial,
    ...(options.issuesTokens && { ownTokenKeys: asTokenKeys(tokenKey, options.publicUrl) }),
    onServerReport: core.reportSoon,
    ...(options.workers && { workers: options.workers }),
    sharedDir,
    ...(heldPlaces && { heldPlaces }),
    registry,
    log,
  });
  parts.add(enforcement.stop);
  const policyEngine = () => enforcement.policyEngine(tenantIds());

  return {
    core,
    routes: enforcement.routes,
    policyEngine,
    /** The stdio servers of this host that a tenant may register. */
    listStdioNames: enforcement.listStdioNames,
    localSwitch,
    findDenial,
    tokenKey,
    /** Why it is not ready, by name; empty when it is. */
    async findUnready(): Promise<Record<string, string>> {
      const problems: Record<string, string> = {};
      const { condition } = core.status().ledger;
      if (condition === 'full' || condition === 'failed') problems.ledger = condition;
      const without = tenantIds().filter((id) => core.rules.findActiveRules(id) === null);
      if (without.length > 0) problems.rules = `${without.length} tenants have no active rules`;
      const behind = core.countCatchingUp();
      if (behind > 0) problems.feed = `${behind} tenants catch up with their control plane`;
      const denied = tenantIds().flatMap((id) => core.findDenial(id)?.reason ?? []);
      if (denied.length > 0) problems.standing = [...new Set(denied)].join(', ');
      const engine = await policyEngine();
      if (engine.denies) problems.policy_engine = engine.message;
      return problems;
    },
    /** Whether every tenant's calls are judged by its newest rules, and recorded. */
    isWell(): boolean {
      const { ledger, ledgerCheck, tenants } = core.status();
      return (
        ledgerCheck.state !== 'damaged' &&
        ledger.condition === 'ok' &&
        tenants.every((tenant) =>
          isTenantWell(tenant, findDenial(tenant.tenant_id)?.reason ?? null),
        )
      );
    },
    /**
     * What an operator has to look at although calls continue, by name; empty when there is
     * nothing.
     */
    findWarnings(): Record<string, string> {
      // Calls continue and are recorded here: taking the plane out of service would not help.
      const { tenants } = core.status();
      const warnings: Record<string, string> = {};
      for (const channel of ['feed', 'bundle'] as const) {
        const codes = tenants.flatMap((tenant) => findRefusal(tenant[channel])?.code ?? []);
        const named = [...new Set(codes)].join(', ');
        if (named) warnings[channel] = `of ${codes.length} tenants refused: ${named}`;
      }
      const stopped = tenants.filter(({ stream }) => stream.is_stopped);
      if (stopped.length > 0) {
        const states = [...new Set(stopped.map(({ stream }) => stream.state))].join(', ');
        warnings.audit_stream = `of ${stopped.length} tenants stopped: ${states}`;
      }
      const other = tenants.filter(({ log_watch: watch }) => (watch?.contradictions ?? 0) > 0);
      if (other.length > 0) {
        warnings.evidence_log = `of ${other.length} tenants contradicts what was seen of it`;
      }
      return warnings;
    },
    /** Call it after the listener was closed. */
    stop: (): Promise<void> => parts.close(),
  };
}
