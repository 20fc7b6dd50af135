/**
 * The one listener. Both planes register their routes on it as plugins, each with its own body
 * parsers and hooks, so that neither pays for the other's.
 */
import cors from '@fastify/cors';
import { uuidv7 } from '@governance/shared/ids';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import type { Logger } from 'pino';
import { handleError, handleNotFound } from './error-handler.ts';

/** Of a body, unless a route says otherwise. */
const BODY_LIMIT_BYTES = 1024 * 1024;

export interface HttpServerOptions {
  log: Logger;
  /** SERVICE_CORS_ORIGINS_STR, split. */
  corsOrigins: string[];
}

/** An empty server: what every route shares, whichever plane it belongs to. */
export function createHttpServer({ log, corsOrigins }: HttpServerOptions): FastifyInstance {
  const app: FastifyInstance = Fastify({
    loggerInstance: log as FastifyBaseLogger,
    // A line a request is each plane's own choice.
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => uuidv7(),
    bodyLimit: BODY_LIMIT_BYTES,
    exposeHeadRoutes: false,
    // Slow senders of headers or bodies; answers (streams, long polls) may take as long as they like.
    requestTimeout: 130_000,
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: 200 },
    frameworkErrors: (error, request, reply) => handleError(error, request, reply),
  });
  app.setErrorHandler(handleError);
  app.setNotFoundHandler(handleNotFound);
  if (corsOrigins.length > 0) {
    void app.register(cors, {
      origin: corsOrigins,
      methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
      maxAge: 600,
    });
  }
  return app;
}
