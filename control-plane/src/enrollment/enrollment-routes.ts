import { basicAuthorization } from '@governance/shared/http/basic-credentials';
import { forbidCaching } from '@governance/shared/tokens/token-routes';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { ErrorBody, NoContent } from '../platform/http/schemas.ts';
import {
  EnrollBody,
  EnrolledAgent,
  IssuedToken,
  NewTokenBody,
  TokenList,
  TokenParams,
  TokenQuery,
  toTokenView,
} from './enrollment-schemas.ts';
import type { EnrollmentService } from './enrollment-service.ts';
import { clientConfig } from './enrollment-token.ts';

const tags = ['enrollment'];
const TOKENS = '/api/v1/admin/enrollment-tokens';

export const enrollmentRoutes =
  (enrollment: EnrollmentService, gatewayUrl: string): FastifyPluginAsyncZod =>
  async (app) => {
    app.get(
      TOKENS,
      {
        config: { guard: 'admin', use: 'read' },
        schema: {
          summary: 'The tokens that register agents, newest first',
          tags,
          querystring: TokenQuery,
          response: { 200: TokenList },
        },
      },
      async ({ scope, query }) => {
        const { tokens, total } = await enrollment.list(scope, query);
        return { tokens: tokens.map(toTokenView), total };
      },
    );

    app.post(
      TOKENS,
      {
        config: { guard: 'admin', use: 'manage' },
        schema: {
          summary: 'Issue a token that registers agents; it is shown only in this answer',
          tags,
          body: NewTokenBody,
          response: { 201: IssuedToken, 404: ErrorBody, 409: ErrorBody },
        },
      },
      async ({ scope, body }, reply) => {
        const { token, secret } = await enrollment.issue(scope, {
          label: body.label,
          roleIds: body.role_ids,
          maxUses: body.max_uses,
          expiresInHours: body.expires_in_hours,
        });
        forbidCaching(reply);
        return reply.code(201).send({ ...toTokenView(token), token: secret });
      },
    );

    app.delete(
      `${TOKENS}/:id`,
      {
        config: { guard: 'admin', use: 'manage' },
        schema: {
          summary: 'Revoke a token; agents registered with it stay',
          tags,
          params: TokenParams,
          response: { 204: NoContent },
        },
      },
      async ({ scope, params }, reply) => {
        await enrollment.revoke(scope, params.id);
        return reply.code(204).send();
      },
    );

    app.post(
      '/api/v1/enroll',
      {
        config: { guard: 'public' },
        bodyLimit: 65_536,
        schema: {
          summary: 'Register an agent by a token',
          description: 'Only this answer has the credentials and the client’s configuration entry.',
          tags,
          body: EnrollBody,
          response: { 201: EnrolledAgent, 401: ErrorBody, 429: ErrorBody },
        },
      },
      async (request, reply) => {
        const { enrollment_token, agent_type: agentType, ...agent } = request.body;
        const enrolled = await enrollment.enroll(
          enrollment_token,
          { ...agent, agentType },
          { address: request.clientAddress, id: request.id },
        );
        const { id, name, clientId, status, createdAt } = enrolled.agent;
        forbidCaching(reply);
        return reply.code(201).send({
          ...{ id, name, client_id: clientId, client_secret: enrolled.secret, status },
          created_at: createdAt.toISOString(),
          config: clientConfig(gatewayUrl, basicAuthorization(clientId, enrolled.secret)),
        });
      },
    );
  };
