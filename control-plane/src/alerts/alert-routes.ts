import { Severity } from '@governance/shared/ledger-record';
import { Id } from '@governance/shared/text';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Alert } from '../platform/generated/client.ts';
import { Name, pageQuery } from '../platform/http/schemas.ts';
import type { AlertService } from './alert-service.ts';
import type { AlertStatus as Status } from './alert-store.ts';

const tags = ['alerts'];

const AlertStatus = z.enum(['open', 'acknowledged', 'resolved']);

const AlertQuery = z.object({
  status: AlertStatus.optional(),
  severity: Severity.optional(),
  agent_id: Id.optional(),
  ...pageQuery({ default: 100, max: 1000 }),
});

const AlertParams = z.object({ id: Id });

const AlertPatchBody = z
  .strictObject({
    status: AlertStatus,
    /** Who resolved it; whoever asks, unless given. */
    resolved_by: Name.optional(),
  })
  .refine(({ status, resolved_by }) => resolved_by === undefined || status === 'resolved', {
    message: 'goes with the status resolved',
    path: ['resolved_by'],
  });

const AlertView = z
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

const AlertList = z.object({ alerts: z.array(AlertView), total: z.int() });

export const alertRoutes =
  (alerts: AlertService): FastifyPluginAsyncZod =>
  async (app) => {
    app.get(
      '/api/v1/monitor/alerts',
      {
        config: { guard: 'admin' },
        schema: {
          summary: 'List alerts, newest first',
          tags,
          querystring: AlertQuery,
          response: { 200: AlertList },
        },
      },
      async (request) => {
        const { status, severity, agent_id: agentId, limit, offset } = request.query;
        const filter = { status, severity, agentId };
        const page = await alerts.list(request.scope, filter, { limit, offset });
        return { alerts: page.alerts.map(toView), total: page.total };
      },
    );

    app.patch(
      '/api/v1/monitor/alerts/:id',
      {
        config: { guard: 'admin' },
        schema: {
          summary: 'Acknowledge, resolve or reopen an alert',
          tags,
          params: AlertParams,
          body: AlertPatchBody,
          response: { 200: AlertView },
        },
      },
      async (request) => {
        const { status, resolved_by: resolvedBy } = request.body;
        return toView(await alerts.patch(request.scope, request.params.id, { status, resolvedBy }));
      },
    );
  };

function toView(alert: Alert): z.input<typeof AlertView> {
  return {
    id: alert.id,
    alert_type: alert.alertType,
    severity: alert.severity as Severity,
    status: alert.status as Status,
    agent_id: alert.agentId,
    title: alert.title,
    details: parseDetails(alert.details),
    resolved_by: alert.resolvedBy,
    resolved_at: alert.resolvedAt?.toISOString() ?? null,
    created_at: alert.createdAt.toISOString(),
    updated_at: alert.updatedAt.toISOString(),
  };
}

/** Canonical JSON of an object, written by this service; shown empty should it not be that. */
export function parseDetails(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return z.record(z.string(), z.unknown()).parse(value);
  } catch {
    return {};
  }
}
