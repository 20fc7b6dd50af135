/** /api/v1/inbound/holds: results that wait for a person, and people's decisions about them. */
import { GivenId, Text } from '@governance/shared/text';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ErrorBody, listOf, pageQuery } from '../platform/http/schemas.ts';
import type { EscalationService } from './escalation-service.ts';
import {
  DECISIONS,
  InboundHoldStatus,
  InboundHoldView,
  InboundResolution,
  STORED,
  toHoldView,
} from './inbound-hold.ts';
import { InboundHoldDetail, type InboundHoldDetails } from './inbound-hold-details.ts';

const tags = ['inbound'];
const read = { guard: 'admin', use: 'read' } as const;

const HoldQuery = z.object({
  status: InboundHoldStatus.optional(),
  ...pageQuery({ default: 50, max: 200 }),
});
const HoldList = listOf('holds', InboundHoldView);
const Params = z.object({ id: GivenId });
const ResolveBody = z.strictObject({
  resolution: InboundResolution,
  notes: Text.max(2_000).optional(),
});

/** @param holds the service for results */
export const inboundHoldRoutes =
  (holds: EscalationService, details: InboundHoldDetails): FastifyPluginAsyncZod =>
  async (app) => {
    app.get(
      '/api/v1/inbound/holds',
      {
        config: read,
        schema: {
          summary: 'Results that wait, or waited, for a person, newest first',
          tags,
          querystring: HoldQuery,
          response: { 200: HoldList },
        },
      },
      async ({ scope, query: { status, ...page } }) => {
        const filter = status ? STORED[status] : {};
        const { escalations, total } = await holds.list(scope, filter, page);
        return { holds: escalations.map(toHoldView), total };
      },
    );

    app.get(
      '/api/v1/inbound/holds/:id',
      {
        config: read,
        schema: {
          summary: 'What a person needs to know to decide about a held result',
          description:
            'The call, what was found and where, the result as far as data protection shows it, and what the agent did in the minutes before. Each look at a stored result is recorded as payload_read.',
          tags,
          params: Params,
          response: { 200: InboundHoldDetail, 404: ErrorBody },
        },
      },
      async ({ scope, params }) => details.get(scope, params.id),
    );

    app.post(
      '/api/v1/inbound/holds/:id/resolve',
      {
        config: { guard: 'admin', use: 'resolve' },
        schema: {
          summary: 'Release or block a held result',
          description:
            'A released result is handed over once, within ten minutes, to a client that waits for it or repeats the call. The server is not called again; the call is evaluated again, and a denial wins.',
          tags,
          params: Params,
          body: ResolveBody,
          response: { 200: InboundHoldView, 404: ErrorBody, 409: ErrorBody },
        },
      },
      async ({ scope, params, body: { resolution, notes = null } }) =>
        toHoldView(await holds.decide(scope, params.id, { ...DECISIONS[resolution], notes })),
    );
  };
