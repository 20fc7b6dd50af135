import { Severity } from '@governance/shared/ledger/ledger-record';
import { GivenId } from '@governance/shared/text';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ErrorBody, listOf, Name, pageQuery } from '../platform/http/schemas.ts';
import type { AlertService } from './alert-service.ts';
import { AlertStatus, AlertView, DeliveryView, toAlertView, toDeliveryView } from './alert-view.ts';
import { DELIVERY_STATUSES } from './delivery-status.ts';

const tags = ['alerts'];

const AlertQuery = z.object({
  status: AlertStatus.optional(),
  severity: Severity.optional(),
  agent_id: GivenId.optional(),
  ...pageQuery({ default: 100, max: 1000 }),
});

const DeliveryQuery = z.object({
  status: z.enum(DELIVERY_STATUSES).optional(),
  ...pageQuery({ default: 100, max: 1000 }),
});

const DeliveryList = listOf('deliveries', DeliveryView);

const AlertParams = z.object({ id: GivenId });

const AlertPatchBody = z
  .strictObject({
    status: AlertStatus.optional(),
    resolved_by: Name.optional().meta({
      description:
        'Who resolved it; the caller unless given. Ignored unless the alert is resolved.',
    }),
  })
  .refine((body) => Object.keys(body).length > 0, 'names no member to change');

const AlertList = listOf('alerts', AlertView);

export const alertRoutes =
  (alerts: AlertService): FastifyPluginAsyncZod =>
  async (app) => {
    app.get(
      '/api/v1/monitor/alerts',
      {
        config: { guard: 'admin', use: 'read' },
        schema: {
          summary: 'List alerts, newest first',
          tags,
          querystring: AlertQuery,
          response: { 200: AlertList },
        },
      },
      async ({ scope, query: { status, severity, agent_id: agentId, ...page } }) => {
        const { alerts: found, total } = await alerts.list(
          scope,
          { status, severity, agentId },
          page,
        );
        return { alerts: found.map(toAlertView), total };
      },
    );

    app.get(
      '/api/v1/monitor/alert-deliveries',
      {
        config: { guard: 'admin', use: 'read' },
        schema: {
          summary: 'List alerts that were posted to the webhook, newest first',
          tags,
          querystring: DeliveryQuery,
          response: { 200: DeliveryList },
        },
      },
      async ({ scope, query: { status, ...page } }) => {
        const { alerts: found, total, at } = await alerts.deliveries(scope, status, page);
        return { deliveries: found.map((alert) => toDeliveryView(alert, at)), total };
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
          response: { 200: AlertView, 409: ErrorBody },
        },
      },
      async (request) => {
        const { status, resolved_by: resolvedBy } = request.body;
        const change = { status, resolvedBy };
        return toAlertView(await alerts.patch(request.scope, request.params.id, change));
      },
    );
  };
