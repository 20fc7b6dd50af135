/** Sets up what all routes share: strict bodies, schemas, guards, one form of error. */
import helmet from '@fastify/helmet';
import { createErrorHandler } from '@governance/shared/http/http-errors';
import { readStrictRequests } from '@governance/shared/http/http-requests';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { namingSerializer } from '../database/damaged-rows.ts';
import { isDatabaseAway } from '../database/database.ts';
import { registerOpenApi } from './openapi.ts';
import { findHolder, type Guards, guardRoutes, type RouteEntry } from './route-table.ts';

export interface ApiOptions {
  guards: Guards;
  version: string;
}

/**
 * Prepares a scope for the control plane's routes; register them on it afterwards.
 *
 * @param app a scope of its own (inside `register`): what is set here does not reach its parent
 * @returns the table of routes, filled as they are registered
 */
export async function prepareApi(
  app: FastifyInstance,
  { guards, version }: ApiOptions,
): Promise<RouteEntry[]> {
  app.setErrorHandler(createErrorHandler(isDatabaseAway, isOfDataPlane));
  readStrictRequests(app, findHolder);
  app.setSerializerCompiler(namingSerializer);

  await app.register(helmet, {
    // Only JSON and the documentation's pages are served; those set a policy of their own.
    contentSecurityPolicy: { directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
    // Only the proxy that terminates TLS knows whether the address is https.
    hsts: false,
  });

  app.addHook('onSend', async (request, reply) => {
    reply.header('x-request-id', request.id);
  });
  app.addHook('onResponse', async (request, reply) => {
    // An idle data plane polls its bundle every 25 seconds.
    const level = reply.statusCode === 304 ? 'debug' : 'info';
    request.log[level](
      {
        method: request.method,
        route: request.routeOptions.url,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime),
      },
      'request',
    );
  });

  const table = guardRoutes(app, guards);
  await registerOpenApi(app, version);
  return table;
}

/** Data planes come back after growing pauses, and at once when the service answers another of theirs. */
function isOfDataPlane({ routeOptions }: FastifyRequest): boolean {
  const { guard } = routeOptions.config;
  return guard === 'data-plane' || guard === 'data-plane-backlog';
}
