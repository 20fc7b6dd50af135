import { Heartbeat, HeartbeatReceipt } from '@governance/shared/channel/channels';
import { AppError } from '@governance/shared/errors';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { ErrorBody, NoContent } from '../platform/http/schemas.ts';
import {
  DataPlaneList,
  DataPlaneQuery,
  HeartbeatParams,
  IssuedToken,
  NewTokenBody,
  TokenList,
  TokenParams,
  TokenQuery,
  toDataPlaneView,
  toTokenView,
  toUnregisteredView,
} from './data-plane-schemas.ts';
import type { DataPlaneService } from './data-plane-service.ts';
import type { DataPlaneTokenService } from './data-plane-token-service.ts';

const tags = ['data planes'];

/**
 * Bounded, since the last heartbeat is stored. Data planes send less: earlier versions accepted
 * only 16 or 32 KiB.
 */
const HEARTBEAT_BODY_LIMIT = 65_536;

export interface DataPlaneRoutesDeps {
  dataPlanes: Pick<DataPlaneService, 'list' | 'receiveHeartbeat'>;
  tokens: DataPlaneTokenService;
}

export const dataPlaneRoutes =
  ({ dataPlanes, tokens }: DataPlaneRoutesDeps): FastifyPluginAsyncZod =>
  async (app) => {
    app.post(
      '/api/v1/admin/data-plane-tokens',
      {
        config: { guard: 'tenant-admin' },
        schema: {
          summary: 'Issue a token for a data plane; it is shown only in this answer',
          tags,
          body: NewTokenBody,
          response: { 200: IssuedToken },
        },
      },
      async (request, reply) => {
        const { label, region, expires_days: expiresDays } = request.body;
        const input = { label, region, expiresDays };
        const { token, secret } = await tokens.issue(request.scope, input);
        reply.header('cache-control', 'no-store');
        return { ...toTokenView(request.scope.tenantId, token), token: secret };
      },
    );

    app.get(
      '/api/v1/admin/data-plane-tokens',
      {
        config: { guard: 'admin', use: 'read' },
        schema: {
          summary: 'List the tokens of data planes, newest first',
          tags,
          querystring: TokenQuery,
          response: { 200: TokenList },
        },
      },
      async (request) => {
        const page = await tokens.list(request.scope, request.query);
        const view = page.tokens.map((token) => toTokenView(request.scope.tenantId, token));
        return { tokens: view, total: page.total };
      },
    );

    app.delete(
      '/api/v1/admin/data-plane-tokens/:id',
      {
        config: { guard: 'admin' },
        schema: {
          summary: 'Revoke a token; the next request with it gets 401',
          description:
            'An issued token ends together with all tokens derived from it; the token of a deployment ends that deployment.',
          tags,
          params: TokenParams,
          response: { 204: NoContent, 404: ErrorBody },
        },
      },
      async (request, reply) => {
        await tokens.revoke(request.scope, request.params.id);
        return reply.code(204).send();
      },
    );

    app.post(
      '/api/v1/data-planes/:deployment_id/heartbeat',
      {
        config: { guard: 'data-plane' },
        logLevel: 'warn',
        bodyLimit: HEARTBEAT_BODY_LIMIT,
        schema: {
          summary: 'A heartbeat of a data plane, with its state',
          description:
            'A deployment’s token speaks for that deployment. An issued token speaks for the deployments that registered with it; with any other deployment_id the sender is listed as unregistered.',
          tags,
          params: HeartbeatParams,
          body: Heartbeat,
          response: { 200: HeartbeatReceipt, 404: ErrorBody, 409: ErrorBody },
        },
      },
      async (request) => {
        const { deployment_id: deploymentId } = request.params;
        const { deploymentId: bound, tokenId } = request.dataPlane;
        if (bound !== null && bound !== deploymentId) throw new AppError('DATA_PLANE_NOT_FOUND');
        if (request.body.deployment_id !== deploymentId) throw otherDeployment();
        const rootId = bound === null ? tokenId : null;
        return dataPlanes.receiveHeartbeat(request.scope, request.body, rootId);
      },
    );

    app.get(
      '/api/v1/data-planes',
      {
        config: { guard: 'admin', use: 'read' },
        schema: {
          summary: 'List the data planes, and senders of heartbeats that never registered',
          tags,
          querystring: DataPlaneQuery,
          response: { 200: DataPlaneList },
        },
      },
      async (request) => {
        const page = await dataPlanes.list(request.scope, request.query);
        const others = page.unregistered.map(toUnregisteredView);
        return { data_planes: [...page.planes.map(toDataPlaneView), ...others], total: page.total };
      },
    );
  };

function otherDeployment(): AppError {
  const msg = 'must be the deployment_id of the path';
  return new AppError('VALIDATION_FAILED', `body.deployment_id: ${msg}`, {
    errors: [{ loc: ['body', 'deployment_id'], msg, type: 'custom' }],
  });
}
