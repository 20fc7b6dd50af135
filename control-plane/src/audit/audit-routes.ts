import { Readable } from 'node:stream';
import { AppError } from '@governance/shared/errors';
import type { FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { bearerOf } from '../platform/http/guards.ts';
import { ErrorBody } from '../platform/http/schemas.ts';
import { EventList, EventQuery } from './audit-schemas.ts';
import type { AuditService } from './audit-service.ts';
import type { AuditStream } from './audit-stream.ts';

const tags = ['audit'];

export interface AuditRoutesDeps {
  audit: AuditService;
  stream: AuditStream;
  /** The guard's check, repeated while a stream is open; rejects a token that has ended. */
  authenticateAdmin(token: string): Promise<unknown>;
}

export const auditRoutes =
  ({ audit, stream, authenticateAdmin }: AuditRoutesDeps): FastifyPluginAsyncZod =>
  async (app) => {
    app.get(
      '/api/v1/audit/events',
      {
        config: { guard: 'admin', use: 'read' },
        schema: {
          summary: 'List audit events, newest first',
          tags,
          querystring: EventQuery,
          response: { 200: EventList },
        },
      },
      async ({ scope, query }) => {
        const { agent_id: agentId, policy_result: policyResult, from, to, ...page } = query;
        const filter = { agentId, policyResult, from, to };
        const { events, total, isExact } = await audit.listEvents(scope, filter, page);
        return { events, total, total_is_exact: isExact };
      },
    );

    app.get(
      '/api/v1/audit/stream',
      {
        config: { guard: 'admin', use: 'read' },
        schema: {
          summary: 'The live stream, as server-sent events; resumes by Last-Event-ID',
          tags,
          produces: ['text/event-stream'],
          response: {
            200: z.unknown().meta({ type: 'string', description: 'Server-sent events.' }),
            406: ErrorBody,
            422: ErrorBody,
            429: ErrorBody,
          },
        },
      },
      async (request, reply) => {
        requireEventStream(request.headers.accept);
        const gone = new AbortController();
        const token = bearerOf(request) ?? '';
        const events = stream.open({
          scope: request.scope,
          lastEventId: parseLastEventId(request),
          signal: gone.signal,
          drop: () => reply.raw.destroy(),
          authorize: () => authenticateAdmin(token),
        });
        reply.raw.once('close', () => gone.abort());
        // The client may have disconnected while the guard ran.
        if (reply.raw.destroyed) gone.abort();
        const body = Readable.from(events, { objectMode: false, highWaterMark: 64 * 1024 });
        return reply
          .headers({
            'content-type': 'text/event-stream; charset=utf-8',
            'cache-control': 'no-cache, no-transform',
            // A buffering proxy would delay the events.
            'x-accel-buffering': 'no',
          })
          .send(body);
      },
    );
    // Runs before the listener closes, which waits for open streams.
    app.addHook('preClose', () => stream.stop('The service is stopping: connect again shortly.'));
  };

function requireEventStream(accept: string | undefined): void {
  // caller-controlled
  const types = (accept ?? '*/*')
    .split(',')
    .map((part) => part.split(';')[0]?.trim().toLowerCase());
  if (types.some((type) => type === 'text/event-stream' || type === '*/*' || type === 'text/*')) {
    return;
  }
  throw new AppError('NOT_ACCEPTABLE', 'This route answers with text/event-stream.');
}

function parseLastEventId(request: FastifyRequest): number | undefined {
  // caller-controlled
  const value = request.headers['last-event-id'];
  if (value === undefined || value === '') return undefined;
  if (typeof value === 'string' && /^\d{1,15}$/.test(value)) return Number(value);
  const msg = 'must be the id of an event of this stream';
  throw new AppError('VALIDATION_FAILED', `Last-Event-ID: ${msg}`, {
    errors: [{ loc: ['header', 'last-event-id'], msg, type: 'invalid_format' }],
  });
}
