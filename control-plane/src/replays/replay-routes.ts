/**
 * The routes of replays: recorded decisions are evaluated again, to show what a policy change would
 * have changed.
 */
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { TenantScope } from '../platform/database/tenant-scope.ts';
import { mayManage } from '../platform/http/role-table.ts';
import { ErrorBody, NoContent } from '../platform/http/schemas.ts';
import { PolicyParams } from '../policies/policy-schemas.ts';
import {
  NewReplayBody,
  ReplayList,
  ReplayListQuery,
  ReplayParams,
  ReplayView,
  toReplaySummary,
  toReplayView,
} from './replay-schemas.ts';
import type { ReplayService } from './replay-service.ts';

const tags = ['policies'];

export const replayRoutes =
  (replays: ReplayService): FastifyPluginAsyncZod =>
  async (app) => {
    app.post(
      '/api/v1/policies/:id/replay',
      {
        config: { guard: 'admin', use: 'manage' },
        schema: {
          summary: 'Evaluate recorded decisions with another text of this policy',
          description:
            'Within the active set. Answered at once; it runs in the background, one of a tenant at a time.',
          tags,
          params: PolicyParams,
          body: NewReplayBody,
          response: { 202: ReplayView, 409: ErrorBody },
        },
      },
      async ({ scope, params, body }, reply) => {
        const replay = await replays.start(scope, params.id, body);
        return reply.code(202).send(toReplayView(replay, true));
      },
    );

    app.get(
      '/api/v1/policies/:id/replays',
      {
        config: { guard: 'admin', use: 'read' },
        schema: {
          summary: 'The replays of a policy, newest first',
          tags,
          params: PolicyParams,
          querystring: ReplayListQuery,
          response: { 200: ReplayList },
        },
      },
      async ({ scope, params, query }) => {
        const { found, total } = await replays.list(scope, params.id, query);
        return { replays: found.map(toReplaySummary), total };
      },
    );

    app.get(
      '/api/v1/policies/:id/replays/:replay_id',
      {
        config: { guard: 'admin', use: 'read' },
        schema: {
          summary: 'A replay: its progress, and what would change',
          tags,
          params: ReplayParams,
          response: { 200: ReplayView },
        },
      },
      async ({ scope, params: { id, replay_id } }) =>
        toReplayView(await replays.get(scope, id, replay_id), seesPayloads(scope)),
    );

    app.delete(
      '/api/v1/policies/:id/replays/:replay_id',
      {
        config: { guard: 'admin', use: 'manage' },
        schema: {
          summary: 'Cancel a replay that has not ended',
          tags,
          params: ReplayParams,
          response: { 204: NoContent, 409: ErrorBody },
        },
      },
      async ({ scope, params: { id, replay_id } }, reply) => {
        await replays.cancel(scope, id, replay_id);
        return reply.code(204).send();
      },
    );
  };

/** The same roles as for the routes that show payloads. */
const seesPayloads = ({ actor }: TenantScope): boolean => mayManage(actor);
