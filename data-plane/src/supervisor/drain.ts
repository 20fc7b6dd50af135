/**
 * Ships the records that a removed worker left in its folder, and ends. It takes no calls; like any
 * start, it opens an epoch and records outcomes that the last one left open.
 */

import type { DataPlaneCore, TenantStatus } from '../core/data-plane-core.ts';
import { createPause } from '../sync/link/backoff.ts';

const LOOK_MS = 200;

/**
 * Waits until every record of the folder is at its control plane.
 *
 * @returns `drained`, `stuck` where a stream ended for good or a tenant has no token any more, and
 *   `stopped` where `signal` came first
 */
export async function drain(
  core: Pick<DataPlaneCore, 'identity' | 'status'>,
  connections: { status(): { state: string }[] },
  signal: AbortSignal,
): Promise<'drained' | 'stuck' | 'stopped'> {
  const pause = createPause();
  signal.addEventListener('abort', pause.wake);
  while (!signal.aborted) {
    const states = core.identity.listRegistrations().map(({ tenant_id: tenantId }) => {
      const tenant = core.status().tenants.find((one) => one.tenant_id === tenantId);
      if (tenant !== undefined) return stateOf(tenant);
      // Not served yet, or the list has no token for it.
      const isAsking = connections.status().some(({ state }) => state === 'registering');
      return isAsking ? 'shipping' : 'stuck';
    });
    if (!states.includes('shipping')) return states.includes('stuck') ? 'stuck' : 'drained';
    await pause.wait(LOOK_MS);
  }
  return 'stopped';
}

function stateOf({ shipper }: TenantStatus): 'drained' | 'shipping' | 'stuck' {
  const { state, backlog, stop } = shipper;
  if (state === 'idle' && backlog === 0) return 'drained';
  return stop === null ? 'shipping' : 'stuck';
}
