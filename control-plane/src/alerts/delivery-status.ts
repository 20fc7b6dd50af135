import type { Alert } from '../platform/generated/client.ts';

/** The last attempt comes about three hours after the first. */
export const MAX_ATTEMPTS = 11;
/** An alert that was not posted for so long is not posted any more; it stays in the list. */
export const GIVE_UP_MS = 24 * 60 * 60_000;
/**
 * One that was tried is given up after longer: its next attempt may have been planned by a clock that
 * was days behind.
 */
export const GIVE_UP_TRIED_MS = 7 * GIVE_UP_MS;

/** `failed`: no further attempt; `retrying`: another attempt follows while the alert is open. */
export const DELIVERY_STATUSES = ['delivered', 'retrying', 'failed'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/**
 * The delivery state of a posted alert.
 *
 * @param now by the database's clock
 */
export function deliveryStatusOf(alert: Alert, now: Date): DeliveryStatus {
  if (alert.deliveredAt !== null) return 'delivered';
  const isOver = alert.status !== 'open' || alert.deliveryAttempts >= MAX_ATTEMPTS;
  const isTooOld = alert.deliverAfter.getTime() <= now.getTime() - GIVE_UP_TRIED_MS;
  return isOver || isTooOld ? 'failed' : 'retrying';
}
