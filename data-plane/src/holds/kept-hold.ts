/**
 * A hold in memory: the requests that wait for it, its resolution, and its state. How long it lasts
 * is measured by a monotonic clock, so that a machine's clock that is wrong for a moment neither
 * removes a hold for good nor prolongs an approval.
 */
import type { EscalationFact, ResultRelease } from '@governance/shared/channel/facts';
import { GRANT_MS } from '@governance/shared/settings/hold-settings';
import type { HoldChange } from '../contracts.ts';
import type { AskedReasons } from './asked-reasons.ts';
import type { Hold } from './hold.ts';

/** How long after its time-out the control plane's resolution is still awaited. */
export const GRACE_MS = 5_000;
/** How long an ended hold is kept, so that a client that asks again learns the end. */
const KEPT_MS = GRANT_MS;

/** An approval, valid for one call. */
export interface Approval {
  readonly id: string;
  readonly escalationId: string;
  readonly asked: AskedReasons;
  /** For a result: how its agent may see it. Null for a call. */
  readonly releaseAs: ResultRelease | null;
  /** To be committed with the decision that uses it. */
  readonly changes: readonly HoldChange[];
  /** To be called when the approval was used. */
  used(): void;
  /** Returns an unused approval, for the next request. No effect once it was used. */
  release(): void;
}

export type HoldEnd =
  | { readonly kind: 'approved'; readonly approval: Approval }
  /** Another request for the same call has the approval, or the approval went unused. */
  | { readonly kind: 'taken' }
  /** It was approved, and is or was used at the worker or data plane that holds it. */
  | { readonly kind: 'elsewhere' }
  | { readonly kind: 'denied' }
  | { readonly kind: 'timed_out' }
  | { readonly kind: 'pending' };

export interface HoldClock {
  /** Unix milliseconds, by the machine's clock. */
  now(): number;
  /** Milliseconds of a clock that is never set. */
  elapsed(): number;
}

export interface KeptHold {
  readonly hold: Hold;
  /** When its time is over, by `elapsed`. */
  readonly endsAt: number;
  /** The waiting requests, the newest last. */
  readonly waiting: Set<(end: HoldEnd) => void>;
  resolution: EscalationFact | null;
  /** When the resolution arrived here, by `elapsed`. */
  resolvedAt: number;
  /** Whether a request has its approval and may use it. */
  isClaimed: boolean;
}

/** Its state now, regardless of who has its approval. */
export function stateOf(
  { endsAt, resolution, resolvedAt }: KeptHold,
  { now, elapsed }: HoldClock,
): HoldEnd['kind'] {
  if (resolution === null) return elapsed() < endsAt + GRACE_MS ? 'pending' : 'timed_out';
  const { grant } = resolution;
  if (resolution.resolution !== 'approved') return resolution.resolution;
  // Both clocks have to agree: the control plane's may be ahead, and the machine's may be set back.
  const isGood =
    grant !== null && now() < Date.parse(grant.expires_at) && elapsed() < resolvedAt + GRANT_MS;
  return isGood ? 'approved' : 'taken';
}

/** Until when it is kept, by `elapsed`. */
export function keptUntil({ endsAt, resolution, resolvedAt }: KeptHold): number {
  return (resolution === null ? endsAt + GRACE_MS : resolvedAt) + KEPT_MS;
}
