/**
 * Shares of what data planes send, also per sender, so that none takes its tenant's whole share and
 * keeps the records of the others out. Data planes that registered within the last day leave half of
 * the tenant's share to the older ones, while these send: whoever steals a root registers as many
 * senders as they like, and an alert says so (registration-service.ts). Tokens that have ended count
 * as one sender: whoever stole several still delivers with them, and revoking them is all that an
 * administrator can do. Proven by plane-shares.test.ts.
 */

import { isWithin } from '@governance/shared/time/durations';
import { LRUCache } from 'lru-cache';
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

const NEW_FOR_MS = 24 * 60 * 60_000;
/** An older data plane that sent something so recently has to be left room. */
const SENDS_FOR_MS = 10 * 60_000;
/** Tenants of which it is remembered: the oldest is forgotten first, which only takes their room. */
const MAX_TENANTS = 10_000;

export function createPlaneShares(
  { perSender, ...limits }: PlaneShareLimits,
  now: () => number = Date.now,
): PlaneShares {
  const { total, perTenant } = limits;
  const shares = createShares(limits);
  const senders = createShares({ total, perTenant: perSender });
  const newcomers = createShares({ total, perTenant: Math.max(perSender, perTenant / 2) });
  /** When an older data plane of the tenant asked for a share. */
  const olderAskedAt = new LRUCache<string, number>({ max: MAX_TENANTS });

  /** One from far ahead registered under a clock that was put right since. */
  const isNew = ({ deploymentId }: Sender): boolean =>
    deploymentId !== null && isWithin(registeredAt(deploymentId), NEW_FOR_MS, now());

  return {
    take: (sender, amount) => {
      const { tenantId } = sender;
      const isNewcomer = isNew(sender);
      if (!isNewcomer) olderAskedAt.set(tenantId, now());
      const hasOlder = isWithin(olderAskedAt.get(tenantId) ?? 0, SENDS_FOR_MS, now());
      return takeAll([
        () => senders.take(nameOf(sender), amount),
        ...(isNewcomer && hasOlder ? [() => newcomers.take(tenantId, amount)] : []),
        () => shares.take(tenantId, amount),
      ]);
    },
    taken: shares.taken,
  };
}

/** Takes all of them or none. */
function takeAll(takes: readonly (() => (() => void) | undefined)[]): (() => void) | undefined {
  const taken: (() => void)[] = [];
  const giveBack = () => {
    for (const one of taken) one();
  };
  for (const take of takes) {
    const one = take();
    if (!one) {
      giveBack();
      return undefined;
    }
    taken.push(one);
  }
  return giveBack;
}

/** The control plane makes these ids, of UUID version 7: 48 bits of Unix milliseconds come first. */
function registeredAt(deploymentId: string): number {
  return Number.parseInt(deploymentId.replaceAll('-', '').slice(0, 12), 16);
}

/** A deployment's tokens count together. */
function nameOf({ tenantId, tokenId, deploymentId, hasEnded }: Sender): string {
  return `${tenantId}/${hasEnded ? 'ended' : (deploymentId ?? tokenId)}`;
}
