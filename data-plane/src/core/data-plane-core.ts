/**
 * The half of a data plane that serves no agents: ledger, replica and rules, and for each tenant
 * the loops that synchronise them with its control plane. One ledger file and one replica file
 * serve all tenants. An outage of one tenant's control plane does not stop the other tenants.
 */
import type { RulesProvider } from '../contracts.ts';
import { createHeldCalls } from '../holds/held-calls.ts';
import type { HeldPlaces } from '../holds/held-places.ts';
import { startLedgerChecker } from '../ledger/ledger-checker.ts';
import { createListeners } from '../storage/listeners.ts';
import { createAppliedBarrier } from '../sync/feed/applied-barrier.ts';
import type { TenantSyncStatus } from '../sync/tenant-sync.ts';
import { type DataFolderOptions, openDataFolder } from './data-folder.ts';
import { createServedTenants } from './served-tenants.ts';
import { createTenantDenials } from './tenant-denials.ts';
import { createTenantStart, type TenantStartOptions } from './tenant-start.ts';

const DEFAULT_STOP_MS = 5_000;

export interface DataPlaneCoreOptions extends DataFolderOptions, TenantStartOptions {
  /** With several workers: which of them holds calls of which agent. */
  heldPlaces?: HeldPlaces | undefined;
  /** How many tenants it will serve, by its settings. */
  expectedTenants?: number;
  /** Unix milliseconds. */
  now?: () => number;
}

export interface TenantStatus extends TenantSyncStatus {
  tenant_id: string;
  deployment_id: string;
  /** The token for the control plane; null where both planes are one process. */
  token: TokenStatus | null;
}

export interface TokenStatus {
  expires_at: string | null;
  /** Since the start. */
  renewals: number;
}

export type DataPlaneCore = Awaited<ReturnType<typeof createDataPlaneCore>>;

/**
 * Opens ledger, replica and identity in a data folder, which must exist.
 *
 * @throws when a file is damaged or another process uses the folder
 */
export async function createDataPlaneCore(options: DataPlaneCoreOptions) {
  const { log } = options;
  const now = options.now ?? Date.now;
  const folder = await openDataFolder(options, now);
  const { identity, ledger, payloadSpool, replica, heldResults, standing } = folder;
  const places = options.heldPlaces;
  const held = createHeldCalls({ ledger, replica, results: heldResults, places, now });
  const tokens = new Map<string, TokenStatus>();
  const unknownKeys = createListeners<[tenantId: string]>();
  const statements = createListeners<[tenantId: string, stated: number, generation: number]>();
  const startSync = createTenantStart(options, folder, held, now, {
    forked: (tenantId, message) => denials.fork(tenantId, message),
    unknownKey: unknownKeys.notify,
    stated: statements.notify,
  });
  const tenants = createServedTenants({ identity, ledger, replica, held, log, startSync });
  const findSync = (tenantId: string) => tenants.find(tenantId)?.sync;
  const denials = createTenantDenials({ standing, replica, findSync });

  const checker = startLedgerChecker({
    ledger,
    listTenants: () => tenants.list().map(([tenantId]) => tenantId),
    onDamage: (tenantId, message) => {
      log.error({ tenantId, reason: message }, 'stored records differ from what was recorded');
      folder.alerts.ledgerDamaged(tenantId, message);
    },
    log,
    now,
  });

  const rules: RulesProvider = {
    findActiveRules: (tenantId) => findSync(tenantId)?.bundle.activeRules() ?? null,
  };

  return {
    identity,
    ledger,
    payloadSpool,
    replica,
    held,
    heldResults,
    rules,
    /** Unix milliseconds by a clock that never runs back, not even over a restart. */
    planeNow: folder.clock.read,
    /** The same, but a jump ahead counts only once it has lasted. */
    settledNow: folder.clock.settled,
    /** Resolves when a change is enforced here. */
    applied: createAppliedBarrier((id) => findSync(id)?.progress, log),
    findDeploymentId: (tenantId: string) => tenants.find(tenantId)?.deploymentId,
    /** The region as the tenant's list of deployments shows it; undefined where not stated. */
    findRegion: (tenantId: string) => tenants.find(tenantId)?.region,
    /** The number of tenants served, including those being added. */
    countTenants: tenants.count,
    /**
     * Whether it serves, has served since its start, or will serve more than one tenant. An entry
     * of the servers file that names no tenants then belongs to none.
     */
    servesSeveral: () => tenants.countEver() > 1 || (options.expectedTenants ?? 0) > 1,
    /**
     * Begins to serve a tenant: its stream gets a new epoch, the last good bundle is activated, and
     * the loops start. It does not wait until the control plane's changes are applied: see
     * `applied`. For a tenant that is already served, it takes over the keys of the newer answer.
     *
     * @throws when the tenant's stream is damaged or cannot be opened durably
     */
    addTenant: tenants.add,
    /** Stops serving a tenant: its agents are unknown from then on. Its records stay. */
    removeTenant: tenants.remove,
    ...denials,
    /** Reads the feed at once, for a caller about whom the replica cannot decide. */
    askForNews: (tenantId: string, agentId: string | null) =>
      findSync(tenantId)?.feed.askForNews(agentId) ?? null,
    /** Tenants whose feed is still expected to catch up after the start. */
    countCatchingUp: () => tenants.list().filter(([, { sync }]) => sync.feed.isCatchingUp()).length,
    /** Stores the status of the tenant's token, for `status`. */
    noteToken: (tenantId: string, token: TokenStatus): void => {
      tokens.set(tenantId, token);
    },
    /** Sends a tenant's heartbeat soon, before it is due. */
    reportSoon: (tenantId: string) => findSync(tenantId)?.report(),
    /** Retries all loops of a tenant at once. */
    kick: (tenantId: string) => findSync(tenantId)?.kick(),
    /** Calls back when a tenant's data was signed by an unknown key; returns the unsubscribe. */
    onUnknownKey: unknownKeys.add,
    /** Calls back with the time of each statement that was verified; returns the unsubscribe. */
    onStatement: statements.add,

    status: () => ({
      ledger: ledger.status(),
      ledgerCheck: checker.status(),
      tenants: tenants.list().map(
        ([tenantId, { deploymentId, sync }]): TenantStatus => ({
          tenant_id: tenantId,
          deployment_id: deploymentId,
          token: tokens.get(tenantId) ?? null,
          ...sync.status(),
        }),
      ),
    }),
    /** Ships what it can within `ms`, makes everything durable and closes the files. */
    stop: async (ms = DEFAULT_STOP_MS): Promise<void> => {
      checker.stop();
      held.stop();
      // Payloads sealed now can still be sent.
      await payloadSpool.flush();
      await tenants.stop(ms);
      await folder.close();
    },
  };
}
