/** Stored payloads of calls: how many there are, and their content. */
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ErrorBody } from '../platform/http/schemas.ts';
import type { PayloadService } from './payload-service.ts';

const tags = ['audit'];
const config = { guard: 'admin' } as const;

const RetentionStatus = z
  .object({
    /** Events with a stored payload. */
    events_with_payload: z.int(),
    /** Events whose payload was purged in the last 24 hours. */
    purged_last_24h: z.int(),
  })
  .meta({ id: 'RetentionStatus' });

/** Any text: a request for what is no id is recorded like that for an unknown event. */
const EventParams = z.object({ event_id: z.string().toLowerCase() });

/** The policy input and the result; a part that is not stored is absent. */
const PayloadView = z.object({ input: z.unknown().optional(), result: z.unknown().optional() });

export const payloadRoutes =
  (payloads: PayloadService): FastifyPluginAsyncZod =>
  async (app) => {
    app.get(
      '/api/v1/audit/retention-status',
      {
        config: { ...config, use: 'read' },
        schema: {
          summary: 'How many events have a payload, and how many lost it in the last day',
          tags,
          response: { 200: RetentionStatus },
        },
      },
      async ({ scope }) => {
        const { eventsWithPayload, purgedLast24h } = await payloads.retentionStatus(scope);
        return { events_with_payload: eventsWithPayload, purged_last_24h: purgedLast24h };
      },
    );

    app.post(
      '/api/v1/audit/events/:event_id/decrypt',
      {
        config,
        schema: {
          summary: 'The content of an event’s encrypted payload',
          description:
            'Each request is recorded as PAYLOAD_DECRYPTED with its result, even when it failed.',
          tags,
          params: EventParams,
          response: {
            200: z.object({ event_id: z.string(), decrypted: PayloadView }),
            400: ErrorBody,
            404: ErrorBody,
            500: ErrorBody,
          },
        },
      },
      async ({ scope, params: { event_id } }) => ({
        event_id,
        decrypted: await payloads.decrypt(scope, event_id),
      }),
    );

    app.get(
      '/api/v1/audit/events/:event_id/payload',
      {
        config,
        schema: {
          summary: 'The stored payload of an event, where the policy does not encrypt it',
          description: 'Each request is recorded as payload_read with its result.',
          tags,
          params: EventParams,
          response: {
            200: z.object({ event_id: z.string(), payload: PayloadView }),
            400: ErrorBody,
            404: ErrorBody,
            500: ErrorBody,
          },
        },
      },
      async ({ scope, params: { event_id } }) => ({
        event_id,
        payload: await payloads.show(scope, { eventId: event_id }),
      }),
    );
  };
