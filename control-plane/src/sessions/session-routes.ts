/** /api/v1/sessions: the sessions of agents, and their decisions. */
import { AppError } from '@governance/shared/errors';
import { GivenId } from '@governance/shared/text';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { TenantDatabase } from '../platform/database/tenant-scope.ts';
import { ErrorBody, listOf, pageQuery, pageTooLarge } from '../platform/http/schemas.ts';
import { agentSessionStore } from './session-store.ts';
import {
  AgentSessionView,
  SessionEventView,
  SessionStatus,
  toSessionEvent,
  toSessionView,
} from './session-view.ts';

const tags = ['sessions'];
const config = { guard: 'admin', use: 'read' } as const;

const SessionQuery = z.object({
  status: SessionStatus.optional(),
  agent_id: GivenId.optional(),
  ...pageQuery({ default: 50, max: 200 }),
});
const SessionList = listOf('sessions', AgentSessionView);
const EventQuery = z.object(pageQuery({ default: 100, max: 500 }));
const EventList = listOf('events', SessionEventView);

export interface SessionRoutesDeps {
  db: Pick<TenantDatabase, 'inTenant'>;
  now: () => Date;
}

export const agentSessionRoutes =
  ({ db, now }: SessionRoutesDeps): FastifyPluginAsyncZod =>
  async (app) => {
    app.get(
      '/api/v1/sessions',
      {
        config,
        schema: {
          summary: 'Sessions of agents, newest first',
          tags,
          querystring: SessionQuery,
          response: { 200: SessionList },
        },
      },
      async ({ scope, query: { status, agent_id: agentId, ...page } }) => {
        const at = now();
        const { sessions, total } = await db.inTenant(scope, (tx) =>
          agentSessionStore(tx).list({ status, agentId }, page, at),
        );
        return { sessions: sessions.map((row) => toSessionView(row, at)), total };
      },
    );

    app.get(
      '/api/v1/sessions/:id/events',
      {
        config,
        schema: {
          summary: 'The decisions of a session, ordered by time',
          tags,
          params: z.object({ id: GivenId }),
          querystring: EventQuery,
          response: { 200: EventList, 404: ErrorBody },
        },
      },
      async ({ scope, params, query: page }) => {
        const { rows, total } = await db.inTenant(scope, async (tx) => {
          const store = agentSessionStore(tx);
          const session = await store.find(params.id);
          if (!session) throw new AppError('SESSION_NOT_FOUND');
          return { rows: await store.events(session.id, page), total: session.events };
        });
        if (typeof rows === 'number') throw pageTooLarge(rows);
        return { events: rows.map(toSessionEvent), total };
      },
    );
  };
