/** The tenants that a data plane serves, each with its synchronisation loops. */
import type { ControlPlaneLink, RegistrationAnswer } from '@governance/shared/channel/channels';
import { followRegistration } from '@governance/shared/channel/follow-keys';
import type { HeldCalls } from '../holds/held-calls.ts';
import type { DataPlaneIdentity } from '../identity/identity.ts';
import type { DurableLedger } from '../ledger/ledger.ts';
import type { LocalReplica } from '../replica/replica.ts';
import type { SyncLog } from '../sync/link/sync-failure.ts';
import type { TenantSync } from '../sync/tenant-sync.ts';

export interface ServedTenant {
  deploymentId: string;
  /** Undefined where the control plane did not say. */
  region: string | null | undefined;
  sync: TenantSync;
}

/** How long shipping the records of a removed tenant may take. */
const REMOVE_MS = 5_000;
const MAX_NAMED_KEYS = 10;

export function createServedTenants(deps: {
  identity: Pick<DataPlaneIdentity, 'findRegistration' | 'saveRegistration'>;
  ledger: Pick<DurableLedger, 'open'>;
  replica: Pick<LocalReplica, 'removeTenant'>;
  held: Pick<HeldCalls, 'load'>;
  log: SyncLog;
  startSync(answer: RegistrationAnswer, link: ControlPlaneLink): Promise<TenantSync>;
}) {
  const { identity, ledger, replica, log } = deps;
  const served = new Map<string, ServedTenant>();
  const starting = new Map<string, Promise<void>>();
  const everServed = new Set<string>();

  function add(answer: RegistrationAnswer, link: ControlPlaneLink): Promise<void> {
    const tenantId = answer.tenant_id;
    const begun = starting.get(tenantId);
    if (begun) return begun;
    const tenant = served.get(tenantId);
    if (tenant) return Promise.resolve(renew(tenant, answer));
    everServed.add(tenantId);
    const start = begin(answer, link).finally(() => starting.delete(tenantId));
    starting.set(tenantId, start);
    return start;
  }

  async function begin(answered: RegistrationAnswer, link: ControlPlaneLink): Promise<void> {
    const answer = keep(answered);
    const { tenant_id: tenantId, deployment_id: deploymentId, region } = answer;
    const { outcomesUnknown } = await ledger.open(tenantId, deploymentId);
    if (outcomesUnknown > 0) {
      log.warn({ tenantId, outcomesUnknown }, 'calls were under way when the data plane stopped');
    }
    const sync = await deps.startSync(answer, link);
    // The replica serves the tenant from here on, and may already have resolutions of its holds.
    deps.held.load(tenantId);
    served.set(tenantId, { deploymentId, region, sync });
  }

  /** Stores those keys of an answer that are trusted. An untrusted key does not stop the rest. */
  function keep(answered: RegistrationAnswer): RegistrationAnswer {
    const tenantId = answered.tenant_id;
    const kept = identity.findRegistration(tenantId);
    const { answer, untrusted } = followRegistration(kept, answered);
    if (untrusted.length > 0) {
      const about = { tenantId, keys: untrusted.slice(0, MAX_NAMED_KEYS) };
      log.warn(about, 'keys were not accepted: no known key names them as its successors');
    }
    identity.saveRegistration(answer);
    return answer;
  }

  function renew(tenant: ServedTenant, answered: RegistrationAnswer): void {
    const answer = keep(answered);
    tenant.region = answer.region;
    tenant.sync.trust(answer);
  }

  async function remove(tenantId: string): Promise<void> {
    const tenant = served.get(tenantId);
    if (!tenant) return;
    served.delete(tenantId);
    replica.removeTenant(tenantId);
    await tenant.sync.stop(REMOVE_MS);
  }

  return {
    add,
    remove,
    find: (tenantId: string) => served.get(tenantId),
    list: () => [...served],
    /** Includes those being added. */
    count: () => served.size + starting.size,
    /** How many it has served since its start. */
    countEver: () => everServed.size,
    async stop(ms: number): Promise<void> {
      await Promise.all([...served.values()].map(({ sync }) => sync.stop(ms)));
      served.clear();
    },
  };
}
