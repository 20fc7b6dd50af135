/** /api/v1/admin/rate-limits: how often an agent may call, by its risk tier. */
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import {
  RateLimitPatch,
  RateLimitView,
  RefusedList,
  RefusedQuery,
  toRefusedView,
  toView,
} from './rate-limit-schemas.ts';
import type { RateLimitService } from './rate-limit-service.ts';

const tags = ['rate limits'];
const config = { guard: 'admin' } as const;

export const rateLimitRoutes =
  (rateLimits: RateLimitService): FastifyPluginAsyncZod =>
  async (app) => {
    app.get(
      '/api/v1/admin/rate-limits',
      {
        config: { ...config, use: 'read' },
        schema: {
          summary: 'How often an agent may call; the defaults where the tenant changed nothing',
          tags,
          response: { 200: RateLimitView },
        },
      },
      async ({ scope }) => toView(await rateLimits.get(scope)),
    );

    app.get(
      '/api/v1/admin/rate-limits/refused',
      {
        config: { guard: 'admin', use: 'read' },
        schema: {
          summary: 'Calls that rate limits refused, by agent and hour',
          description:
            'The newest hours first, of the last 30 days, from the records of all data planes. An hour’s number grows while records arrive.',
          tags,
          querystring: RefusedQuery,
          response: { 200: RefusedList },
        },
      },
      async ({ scope, query }) => {
        const { agent_id: agentId, from, to, ...page } = query;
        const { hours, total } = await rateLimits.listRefused(scope, { agentId, from, to }, page);
        return { hours: hours.map(toRefusedView), total };
      },
    );

    app.patch(
      '/api/v1/admin/rate-limits',
      {
        config,
        schema: {
          summary: 'Change how often an agent may call, or switch the limits off',
          description:
            'Only the given fields change. A higher risk tier may be allowed neither more a second than the one below it nor more requests in its window.',
          tags,
          body: RateLimitPatch,
          response: { 200: RateLimitView },
        },
      },
      async ({ scope, body }) => toView(await rateLimits.change(scope, body)),
    );
  };
