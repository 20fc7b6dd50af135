import { forbidCaching } from '@governance/shared/tokens/token-routes';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { AgentParams } from '../agents/agent-schemas.ts';
import { ErrorBody, NoContent } from '../platform/http/schemas.ts';
import {
  CreatedCredential,
  CredentialList,
  CredentialParams,
  NewCredentialBody,
  RotatedCredential,
  toCredentialView,
} from './credential-schemas.ts';
import type { CredentialService } from './credential-service.ts';

const tags = ['agents'];
const CREDENTIALS = '/api/v1/agents/:id/credentials';

export const credentialRoutes =
  (credentials: CredentialService): FastifyPluginAsyncZod =>
  async (app) => {
    app.get(
      CREDENTIALS,
      {
        config: { guard: 'admin', use: 'read' },
        schema: {
          summary: 'The credentials that an agent has beside its first one, oldest first',
          tags,
          params: AgentParams,
          response: { 200: CredentialList },
        },
      },
      async ({ scope, params }) => {
        const found = await credentials.list(scope, params.id);
        return { credentials: found.map(toCredentialView), total: found.length };
      },
    );

    app.post(
      CREDENTIALS,
      {
        config: { guard: 'admin' },
        schema: {
          summary:
            'Give an agent one more credential, for one client; its secret is shown this once',
          tags,
          params: AgentParams,
          body: NewCredentialBody,
          response: { 201: CreatedCredential, 409: ErrorBody },
        },
      },
      async ({ scope, params, body }, reply) => {
        const { label, client } = body;
        const made = await credentials.create(scope, { agentId: params.id, label, client });
        forbidCaching(reply);
        const view = toCredentialView(made.credential);
        return reply.code(201).send({ ...view, client_secret: made.secret });
      },
    );

    app.delete(
      `${CREDENTIALS}/:credential_id`,
      {
        config: { guard: 'admin' },
        schema: {
          summary: 'Revoke a credential; its tokens and sessions end at once, the others stay',
          tags,
          params: CredentialParams,
          response: { 204: NoContent },
        },
      },
      async ({ scope, params }, reply) => {
        await credentials.revoke(scope, params.id, params.credential_id);
        return reply.code(204).send();
      },
    );

    app.post(
      `${CREDENTIALS}/:credential_id/rotate`,
      {
        config: { guard: 'admin' },
        schema: {
          summary: 'Issue a new secret for a credential; the old one and its tokens end at once',
          tags,
          params: CredentialParams,
          response: { 200: RotatedCredential, 409: ErrorBody },
        },
      },
      async ({ scope, params }, reply) => {
        const { id, credential_id } = params;
        const { credential, secret, rotatedAt } = await credentials.rotate(
          scope,
          id,
          credential_id,
        );
        forbidCaching(reply);
        return {
          id: credential.id,
          client_id: credential.clientId,
          client_secret: secret,
          rotated_at: rotatedAt.toISOString(),
        };
      },
    );
  };
