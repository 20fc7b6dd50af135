import { basicAuthorization } from '@governance/shared/http/basic-credentials';
import { clientEntry, ENTRY_NAME } from '@governance/shared/mcp/mcp-clients';
import { forbidCaching } from '@governance/shared/tokens/token-routes';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { AgentParams } from '../agents/agent-schemas.ts';
import { ErrorBody, NoContent } from '../platform/http/schemas.ts';
import {
  InstallerList,
  InstallerParams,
  InstallerQuery,
  IssuedInstaller,
  NewInstallerBody,
  RedeemBody,
  Redeemed,
  toInstallerView,
} from './installer-schemas.ts';
import type { InstallerService } from './installer-service.ts';

const tags = ['enrollment'];
const TOKENS = '/api/v1/agents/:id/installer-tokens';

/** @param gatewayUrl where agents reach the gateway */
export const installerRoutes =
  (installers: InstallerService, gatewayUrl: string): FastifyPluginAsyncZod =>
  async (app) => {
    app.get(
      TOKENS,
      {
        config: { guard: 'admin', use: 'read' },
        schema: {
          summary: 'The installer tokens of an agent, newest first',
          tags,
          params: AgentParams,
          querystring: InstallerQuery,
          response: { 200: InstallerList },
        },
      },
      async ({ scope, params, query }) => {
        const { tokens, total } = await installers.list(scope, params.id, query);
        return { tokens: tokens.map(toInstallerView), total };
      },
    );

    app.post(
      TOKENS,
      {
        config: { guard: 'admin' },
        schema: {
          summary:
            'Issue a token for one client of an agent: 15 minutes, one use; it is shown only in this answer',
          tags,
          params: AgentParams,
          body: NewInstallerBody,
          response: { 201: IssuedInstaller, 409: ErrorBody },
        },
      },
      async ({ scope, params, body }, reply) => {
        const { client, label = client } = body;
        const issued = await installers.issue(scope, { agentId: params.id, label, client });
        forbidCaching(reply);
        return reply.code(201).send({ ...toInstallerView(issued.token), token: issued.secret });
      },
    );

    app.delete(
      `${TOKENS}/:token_id`,
      {
        config: { guard: 'admin' },
        schema: {
          summary: 'Revoke an installer token; a credential obtained with it stays',
          tags,
          params: InstallerParams,
          response: { 204: NoContent },
        },
      },
      async ({ scope, params }, reply) => {
        await installers.revoke(scope, params.id, params.token_id);
        return reply.code(204).send();
      },
    );

    app.post(
      '/api/v1/enroll/installer',
      {
        config: { guard: 'public' },
        bodyLimit: 16_384,
        schema: {
          summary: 'Exchange an installer token for a credential of the client’s own',
          description: 'Only this answer has the credential and the client’s configuration entry.',
          tags,
          body: RedeemBody,
          response: {
            201: Redeemed,
            401: ErrorBody,
            403: ErrorBody,
            409: ErrorBody,
            429: ErrorBody,
          },
        },
      },
      async (request, reply) => {
        const { installer_token: secret, client } = request.body;
        const {
          credential,
          secret: client_secret,
          agentName,
        } = await installers.redeem(
          { secret, client },
          { address: request.clientAddress, id: request.id },
        );
        const { id, agentId, clientId } = credential;
        const authorization = basicAuthorization(clientId, client_secret);
        const entry = clientEntry(client, { url: gatewayUrl, authorization });
        forbidCaching(reply);
        return reply.code(201).send({
          ...{ agent_id: agentId, agent_name: agentName, credential_id: id, client },
          ...{ client_id: clientId, client_secret, gateway_url: gatewayUrl },
          config: { mcpServers: { [ENTRY_NAME]: entry } },
        });
      },
    );
  };
