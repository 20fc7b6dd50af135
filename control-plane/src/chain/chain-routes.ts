import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { BreakService } from './break-service.ts';
import {
  AcknowledgeBody,
  BreakList,
  BreakParams,
  BreakQuery,
  BreakView,
  toBreakView,
  toVerificationView,
  VerificationView,
  VerifyQuery,
} from './chain-schemas.ts';
import type { ChainVerifier } from './chain-verification.ts';

const tags = ['audit'];

export interface ChainRoutesDeps {
  breaks: BreakService;
  verifier: ChainVerifier;
}

export const chainRoutes =
  ({ breaks, verifier }: ChainRoutesDeps): FastifyPluginAsyncZod =>
  async (app) => {
    app.get(
      '/api/v1/audit/verify',
      {
        config: { guard: 'admin', use: 'read' },
        schema: {
          summary: 'Verify every chain of the tenant from its stored bytes',
          tags,
          querystring: VerifyQuery,
          response: { 200: VerificationView },
        },
      },
      async (request) => {
        const { tenantId } = request.scope;
        const { verification, cached } = await verifier.verify(tenantId, request.query);
        const progress = await verifier.readProgress(tenantId);
        return toVerificationView(verification, cached, progress);
      },
    );

    app.get(
      '/api/v1/audit/chain/breaks',
      {
        config: { guard: 'admin', use: 'read' },
        schema: {
          summary: 'List recorded chain breaks, newest first',
          tags,
          querystring: BreakQuery,
          response: { 200: BreakList },
        },
      },
      async ({ scope, query: { acknowledged, ...page } }) => {
        const { breaks: found, total } = await breaks.list(scope, { acknowledged }, page);
        return { breaks: found.map(toBreakView), total };
      },
    );

    app.post(
      '/api/v1/audit/chain/breaks/:id/acknowledge',
      {
        config: { guard: 'admin' },
        schema: {
          summary: 'Acknowledge a chain break',
          tags,
          params: BreakParams,
          body: AcknowledgeBody,
          response: { 200: BreakView },
        },
      },
      async (request) => {
        const { id } = request.params;
        return toBreakView(await breaks.acknowledge(request.scope, id, request.body.notes));
      },
    );
  };
