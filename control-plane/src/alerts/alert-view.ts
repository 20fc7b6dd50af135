import { Severity } from '@governance/shared/ledger/ledger-record';
import { z } from 'zod';
import type { Alert } from '../platform/generated/client.ts';
import { DELIVERY_STATUSES, deliveryStatusOf } from './delivery-status.ts';

export const AlertStatus = z.enum(['open', 'acknowledged', 'resolved']);
export type AlertStatus = z.infer<typeof AlertStatus>;

export const AlertView = z
  .object({
    id: z.string(),
    alert_type: z.string(),
    severity: Severity,
    status: AlertStatus,
    agent_id: z.string().nullable(),
    title: z.string(),
    details: z.record(z.string(), z.unknown()),
    resolved_by: z.string().nullable(),
    resolved_at: z.string().nullable(),
    created_at: z.string(),
    updated_at: z.string(),
  })
  .meta({ id: 'Alert' });

export type AlertView = z.infer<typeof AlertView>;

export function toAlertView(alert: Alert): AlertView {
  return {
    id: alert.id,
    alert_type: alert.alertType,
    severity: alert.severity as Severity,
    status: alert.status as AlertStatus,
    agent_id: alert.agentId,
    title: alert.title,
    details: parseDetails(alert.details),
    resolved_by: alert.resolvedBy,
    resolved_at: alert.resolvedAt?.toISOString() ?? null,
    created_at: alert.createdAt.toISOString(),
    updated_at: alert.updatedAt.toISOString(),
  };
}

/** The delivery state of an alert posted to SERVICE_WEBHOOK_URL. */
export const DeliveryView = z
  .object({
    alert_id: z.string(),
    alert_type: z.string(),
    severity: Severity,
    status: z.enum(DELIVERY_STATUSES),
    attempts: z.int(),
    last_attempt_at: z.string(),
    last_error: z.string().nullable(),
    /** Null when there is no further attempt. */
    next_attempt_at: z.string().nullable(),
    delivered_at: z.string().nullable(),
  })
  .meta({ id: 'AlertDelivery' });

export function toDeliveryView(alert: Alert, now: Date): z.infer<typeof DeliveryView> {
  const status = deliveryStatusOf(alert, now);
  return {
    alert_id: alert.id,
    alert_type: alert.alertType,
    severity: alert.severity as Severity,
    status,
    attempts: alert.deliveryAttempts,
    last_attempt_at: (alert.attemptedAt ?? alert.createdAt).toISOString(),
    last_error: alert.deliveryError,
    next_attempt_at: status === 'retrying' ? alert.deliverAfter.toISOString() : null,
    delivered_at: alert.deliveredAt?.toISOString() ?? null,
  };
}

/** Canonical JSON that this service wrote. Anything else is shown as an empty object. */
function parseDetails(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return z.record(z.string(), z.unknown()).parse(value);
  } catch {
    return {};
  }
}
