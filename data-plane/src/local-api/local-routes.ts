/**
 * What a data plane answers beside the gateway: health, readiness, metrics, and tokens for agents.
 * Liveness stays 200 while the process can enforce; what is wrong is said in the body.
 */
import type { AgentTokens } from '@governance/shared/agent-token-issue';
import { equalSecrets } from '@governance/shared/equal-secrets';
import { AppError } from '@governance/shared/errors';
import { createErrorHandler } from '@governance/shared/http-errors';
import { bearerToken, readStrictRequests } from '@governance/shared/http-requests';
import { addTokenRoutes } from '@governance/shared/token-routes';
import type { FastifyPluginAsync } from 'fastify';
import { Registry } from 'prom-client';
import type { z } from 'zod';
import type { OwnTokenKey } from './token-issuer.ts';

export interface LocalRoutesDeps {
  tokens: AgentTokens;
  tokenKey: OwnTokenKey;
  metrics: Registry[];
  /** SERVICE_METRICS_TOKEN; /metrics is open without. */
  metricsToken: string | undefined;
  health(): Record<string, unknown>;
  /** What keeps the data plane from its work, by name; empty when nothing does. */
  findUnready(): Promise<Record<string, string>>;
}

export const localRoutes =
  (deps: LocalRoutesDeps): FastifyPluginAsync =>
  async (app) => {
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

    await addTokenRoutes(app, { tokens: deps.tokens, keys: [deps.tokenKey.publicJwk] });

    app.get('/health', { logLevel: 'warn' }, async () => deps.health());

    app.get('/ready', { logLevel: 'warn' }, async (_request, reply) => {
      const problems = await deps.findUnready();
      const isReady = Object.keys(problems).length === 0;
      return reply
        .code(isReady ? 200 : 503)
        .send({ status: isReady ? 'ready' : 'not_ready', problems });
    });

    app.get('/metrics', { logLevel: 'warn' }, async (request, reply) => {
      const given = bearerToken(request.headers.authorization);
      if (deps.metricsToken && (!given || !equalSecrets(given, deps.metricsToken))) {
        throw new AppError('METRICS_TOKEN_INVALID');
      }
      reply.header('content-type', Registry.PROMETHEUS_CONTENT_TYPE);
      return Registry.merge(deps.metrics).metrics();
    });
  };
