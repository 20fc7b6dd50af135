/**
 * Shares of what data planes send, also per sender, so that none takes its tenant's whole share and
 * keeps the records of the others out. Tokens that have ended count as one sender: whoever stole
 * several still delivers with them, and revoking them is all that an administrator can do. Proven by
 * plane-shares.test.ts.
 */

import { createShares } from '../shares.ts';
import type { DataPlaneIdentity } from './route-table.ts';

export interface PlaneShareLimits {
  total: number;
  perTenant: number;
  perSender: number;
}

type Sender = Pick<DataPlaneIdentity, 'tenantId' | 'tokenId' | 'deploymentId' | 'hasEnded'>;

export interface PlaneShares {
  /** @returns a function that releases it (once), or undefined when not enough is left */
  take(sender: Sender, amount: number): (() => void) | undefined;
  taken(): number;
}

export function createPlaneShares({ perSender, ...limits }: PlaneShareLimits): PlaneShares {
  const shares = createShares(limits);
  const senders = createShares({ total: limits.total, perTenant: perSender });
  return {
    take: (sender, amount) => {
      const ofSender = senders.take(nameOf(sender), amount);
      if (!ofSender) return undefined;
      const ofTenant = shares.take(sender.tenantId, amount);
      if (!ofTenant) ofSender();
      return (
        ofTenant &&
        (() => {
          ofSender();
          ofTenant();
        })
      );
    },
    taken: shares.taken,
  };
}

/** A deployment's tokens count together. */
function nameOf({ tenantId, tokenId, deploymentId, hasEnded }: Sender): string {
  return `${tenantId}/${hasEnded ? 'ended' : (deploymentId ?? tokenId)}`;
}
