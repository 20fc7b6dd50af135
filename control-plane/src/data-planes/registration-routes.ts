/** The routes by which a remote data plane registers and renews its token. */
import {
  DeploymentToken,
  ProvenRegistration,
  RegistrationReply,
} from '@governance/shared/channel/channels';
import { AppError } from '@governance/shared/errors';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { bearerOf } from '../platform/http/guards.ts';
import { ErrorBody } from '../platform/http/schemas.ts';
import { DeploymentParams } from './data-plane-schemas.ts';
import type { RegistrationService } from './registration-service.ts';

const tags = ['data planes'];

/** Enough for three public keys and a few short fields. */
const REGISTRATION_BODY_LIMIT = 16_384;

export const registrationRoutes =
  (registrations: RegistrationService): FastifyPluginAsyncZod =>
  async (app) => {
    app.post(
      '/api/v1/data-planes/register',
      {
        config: { guard: 'data-plane' },
        bodyLimit: REGISTRATION_BODY_LIMIT,
        schema: {
          summary: 'A data plane registers with an issued token and gets its own',
          description:
            'The proof is the signing key’s signature over the registration and the token’s hash. The same signing key means the same data plane; its older tokens end after 24 hours.',
          tags,
          body: ProvenRegistration,
          response: { 200: RegistrationReply, 403: ErrorBody, 409: ErrorBody, 429: ErrorBody },
        },
      },
      async (request, reply) => {
        const secret = bearerOf(request);
        if (secret === undefined) throw new AppError('DATA_PLANE_TOKEN_INVALID');
        const shown = { identity: request.dataPlane, secret };
        reply.header('cache-control', 'no-store');
        return registrations.register(request.scope, shown, request.body);
      },
    );

    app.post(
      '/api/v1/data-planes/:deployment_id/token',
      {
        config: { guard: 'data-plane' },
        schema: {
          summary: 'A data plane renews its token; the old one stays valid for up to 24 hours',
          tags,
          params: DeploymentParams,
          response: { 200: DeploymentToken, 404: ErrorBody, 409: ErrorBody, 429: ErrorBody },
        },
      },
      async (request, reply) => {
        reply.header('cache-control', 'no-store');
        const { deployment_id: deploymentId } = request.params;
        return registrations.renew(request.scope, request.dataPlane, deploymentId);
      },
    );
  };
