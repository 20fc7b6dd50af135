import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { ErrorBody } from '../platform/http/schemas.ts';
import {
  CheckpointList,
  CheckpointQuery,
  LogEpochList,
  LogEpochQuery,
  ProofQuery,
  ProofView,
  TrustAnchorView,
  toCheckpointView,
} from './log-schemas.ts';
import type { LogService } from './log-service.ts';
import type { TrustAnchors } from './trust-anchor.ts';

const tags = ['evidence'];

export const logRoutes =
  (log: LogService, anchors: TrustAnchors): FastifyPluginAsyncZod =>
  async (app) => {
    app.get(
      '/api/v1/evidence/trust-anchor',
      {
        config: { guard: 'admin', use: 'read' },
        schema: {
          summary: 'The keys and the place of the log that evidence is verified against',
          description: 'Fetch it before you need it, and keep it: it exposes a rewritten log.',
          tags,
          response: { 200: TrustAnchorView },
        },
      },
      ({ scope }) => anchors.issue(scope),
    );

    app.get(
      '/api/v1/evidence/checkpoints',
      {
        config: { guard: 'admin', use: 'read' },
        schema: {
          summary: 'Signed checkpoints of the tenant’s log, the newest first',
          tags,
          querystring: CheckpointQuery,
          response: { 200: CheckpointList },
        },
      },
      async ({ scope, query: { size, ...page } }) => {
        const { checkpoints, total } = await log.listCheckpoints(scope, size, page);
        return { checkpoints: checkpoints.map(toCheckpointView), total };
      },
    );

    app.get(
      '/api/v1/evidence/log-epochs',
      {
        config: { guard: 'admin', use: 'read' },
        schema: {
          summary: 'How the log continued after announced restores, the newest first',
          description: 'Signed statements. None: the log is in its first epoch.',
          tags,
          querystring: LogEpochQuery,
          response: { 200: LogEpochList },
        },
      },
      ({ scope, query }) => log.listEpochs(scope, query),
    );

    app.get(
      '/api/v1/evidence/proofs',
      {
        config: { guard: 'admin', use: 'read' },
        schema: {
          summary: 'The proof that one size of the log continues another',
          tags,
          querystring: ProofQuery,
          response: { 200: ProofView, 404: ErrorBody },
        },
      },
      async ({ scope, query: { from, to } }) => ({
        from,
        to,
        path: await log.prove(scope, from, to),
      }),
    );
  };
