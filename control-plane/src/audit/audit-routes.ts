import { Readable } from 'node:stream';
import { AppError } from '@governance/shared/errors';
import type { FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { bearerToken } from '../platform/http/guards.ts';
import { ErrorBody } from '../platform/http/schemas.ts';
import {
  AcknowledgeBody,
  BreakList,
  BreakParams,
  BreakQuery,
  BreakView,
  EventList,
  EventQuery,
  toBreakView,
  toVerificationView,
  VerificationView,
  VerifyQuery,
} from './audit-schemas.ts';
import type { AuditService } from './audit-service.ts';
import type { AuditStream } from './audit-stream.ts';
import type { ChainVerifier } from './chain-verification.ts';

const tags = ['audit'];

export interface AuditRoutesDeps {
  audit: AuditService;
  stream: AuditStream;
  verifier: ChainVerifier;
  /** The guard's own check, repeated while a stream is open. Rejects a token that ended. */
  authenticateAdmin(token: string): Promise<unknown>;
}

export const auditRoutes =
  ({ audit, stream, verifier, authenticateAdmin }: AuditRoutesDeps): FastifyPluginAsyncZod =>
  async (app) => {
    app.get(
      '/api/v1/audit/events',
      {
        config: { guard: 'admin' },
        schema: {
          summary: 'List audit events, newest first',
          tags,
          querystring: EventQuery,
          response: { 200: EventList },
        },
      },
      async (request) => {
        const { agent_id, policy_result, from, to, limit, offset } = request.query;
        const filter = { agentId: agent_id, policyResult: policy_result, from, to };
        const page = await audit.listEvents(request.scope, filter, { limit, offset });
        return { events: page.events, total: page.total, total_is_exact: page.isExact };
      },
    );

    app.get(
      '/api/v1/audit/stream',
      {
        config: { guard: 'admin' },
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
        const token = bearerToken(request) ?? '';
        const events = stream.open({
          scope: request.scope,
          lastEventId: parseLastEventId(request),
          signal: gone.signal,
          drop: () => reply.raw.destroy(),
          authorize: () => authenticateAdmin(token),
        });
        reply.raw.once('close', () => gone.abort());
        // It may have gone while the guard looked the caller up.
        if (reply.raw.destroyed) gone.abort();
        const body = Readable.from(events, { objectMode: false, highWaterMark: 64 * 1024 });
        return reply
          .headers({
            'content-type': 'text/event-stream; charset=utf-8',
            'cache-control': 'no-cache, no-transform',
            // A proxy that collects the answer would hold the events back.
            'x-accel-buffering': 'no',
          })
          .send(body);
      },
    );
    // Before the listener closes: it waits for the streams to end.
    app.addHook('preClose', () => stream.stop('The service is stopping: connect again shortly.'));

    app.get(
      '/api/v1/audit/verify',
      {
        config: { guard: 'admin' },
        schema: {
          summary: 'Verify every chain of the tenant from its stored bytes',
          tags,
          querystring: VerifyQuery,
          response: { 200: VerificationView },
        },
      },
      async (request) => {
        const { tenantId } = request.scope;
        const { verification, cached } = await verifier.verify(tenantId, request.query);
        const progress = await verifier.readProgress(tenantId);
        return toVerificationView(verification, cached, progress);
      },
    );

    app.get(
      '/api/v1/audit/chain/breaks',
      {
        config: { guard: 'admin' },
        schema: {
          summary: 'List recorded chain breaks, newest first',
          tags,
          querystring: BreakQuery,
          response: { 200: BreakList },
        },
      },
      async (request) => {
        const { acknowledged, limit, offset } = request.query;
        const page = await audit.listBreaks(request.scope, { acknowledged }, { limit, offset });
        return { breaks: page.breaks.map(toBreakView), total: page.total };
      },
    );

    app.post(
      '/api/v1/audit/chain/breaks/:id/acknowledge',
      {
        config: { guard: 'admin' },
        schema: {
          summary: 'Acknowledge a chain break',
          tags,
          params: BreakParams,
          body: AcknowledgeBody,
          response: { 200: BreakView },
        },
      },
      async (request) => {
        const { id } = request.params;
        return toBreakView(await audit.acknowledgeBreak(request.scope, id, request.body.notes));
      },
    );
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
