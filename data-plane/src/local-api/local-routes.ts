/**
 * What a data plane serves beside the gateway: health, readiness, metrics, and tokens for agents.
 * Liveness stays 200 while the process can enforce; the body reports what is wrong.
 */

import { AppError } from '@governance/shared/errors';
import { addFrontPage } from '@governance/shared/http/front-page';
import { createErrorHandler } from '@governance/shared/http/http-errors';
import { bearerToken, readStrictRequests } from '@governance/shared/http/http-requests';
import { withoutTenants } from '@governance/shared/http/metrics-text';
import { equalSecrets } from '@governance/shared/keys/equal-secrets';
import type { AgentTokens } from '@governance/shared/tokens/agent-token-issue';
import { addTokenRoutes } from '@governance/shared/tokens/token-routes';
import type { FastifyPluginAsync } from 'fastify';
import type { z } from 'zod';
import type { Views } from '../workers/worker-views.ts';
import type { OwnTokenKey } from './token-issuer.ts';

export const localRoutes =
  (deps: {
    /** The issuer of the tokens. */
    publicUrl: string;
    version: string;
    tokens: AgentTokens;
    tokenKey: OwnTokenKey;
    /** SERVICE_METRICS_TOKEN; without it /metrics is open in development, and names no tenant. */
    metricsToken: string | undefined;
    isProduction: boolean;
    views: Views;
  }): FastifyPluginAsync =>
  async (app) => {
    const { publicUrl, version, tokens, tokenKey, views } = deps;
    app.setErrorHandler(createErrorHandler());
    readStrictRequests(app);
    app.setSerializerCompiler(
      ({ schema }) =>
        (data) =>
          JSON.stringify((schema as unknown as z.ZodType).parse(data)),
    );
    app.addHook('onSend', async (request, reply) => {
      reply.header('x-request-id', request.id);
    });

    addFrontPage(app, { publicUrl, version, mode: 'data-plane' });
    await addTokenRoutes(app, { publicUrl, tokens, keys: () => tokenKey.listAccepted() });

    app.get('/health', { logLevel: 'warn', exposeHeadRoute: true }, async ({ raw }) =>
      views.health(raw),
    );

    app.get('/ready', { logLevel: 'warn', exposeHeadRoute: true }, async ({ raw }, reply) => {
      const { isReady, body } = await views.ready(raw);
      return reply.code(isReady ? 200 : 503).send(body);
    });

    app.get('/metrics', { logLevel: 'warn' }, async (request, reply) => {
      const { raw, headers } = request;
      const isGranted =
        views.isPrivate(raw) || isMetricsToken(headers.authorization, deps.metricsToken);
      if (!isGranted && deps.metricsToken) throw new AppError('METRICS_TOKEN_INVALID');
      if (!isGranted && deps.isProduction) throw new AppError('METRICS_CLOSED');
      const { type, text } = await views.metrics(raw);
      return reply.header('content-type', type).send(isGranted ? text : withoutTenants(text));
    });
  };

function isMetricsToken(header: string | undefined, expected: string | undefined): boolean {
  const given = bearerToken(header);
  return given !== undefined && expected !== undefined && equalSecrets(given, expected);
}
