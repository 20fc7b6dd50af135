/**
 * POST /api/v1/data-planes/{deployment_id}/audit-batches: receives batches of data planes' records.
 * Bodies are held in memory, so their bytes are bounded before they are read. Storing a batch takes
 * a database connection, so the number of batches is bounded too. A caller without a share is asked
 * to retry; nothing is lost, since a data plane keeps whatever was not acknowledged.
 */
import { randomInt } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { BATCH_LIMITS, decodeBatch, NDJSON } from '@governance/shared/channel/channel-routes';
import { AppError } from '@governance/shared/errors';
import { readRequestBody } from '@governance/shared/http/request-body';
import { Id } from '@governance/shared/text';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { Registry } from 'prom-client';
import { z } from 'zod';
import type { IngestService } from '../ingest/ingest-service.ts';
import { createPlaneShares, type PlaneShareLimits } from '../platform/http/plane-shares.ts';
import { ErrorBody } from '../platform/http/schemas.ts';
import { createBatchMetrics } from './batch-metrics.ts';
import { DeploymentParams } from './data-plane-schemas.ts';

export interface AuditBatchLimits {
  /** Batches stored concurrently. */
  inWork: PlaneShareLimits;
  /** Bytes of bodies being read or stored. */
  bytes: PlaneShareLimits;
}

const MIB = 1024 * 1024;
/** A data plane ships one batch at a time; the one before may still be stored. */
const LIMITS: AuditBatchLimits = {
  inWork: { total: 16, perTenant: 8, perSender: 2 },
  bytes: { total: 128 * MIB, perTenant: 32 * MIB, perSender: BATCH_LIMITS.bytes },
};

/** Random, so that refused callers do not all retry at once. */
const RETRY_SECONDS = { least: 1, most: 5 } as const;

export interface AuditBatchRoutesDeps {
  ingest: Pick<IngestService, 'ingestBatch'>;
  registry: Registry;
  limits?: AuditBatchLimits;
}

const Receipt = z
  .object({
    status: z.enum(['accepted', 'already_stored']),
    stream: Id,
    epoch: z.int(),
    last_seq: z.int(),
    head: z.string(),
  })
  .meta({ id: 'BatchReceipt' });

export const auditBatchRoutes = (deps: AuditBatchRoutesDeps): FastifyPluginAsyncZod => {
  const { ingest, registry, limits = LIMITS } = deps;
  const bodies = createPlaneShares(limits.bytes);
  const work = createPlaneShares(limits.inWork);
  const metrics = createBatchMetrics(registry, work.taken);
  const held = new WeakMap<FastifyRequest, () => void>();

  const answerBusy = (reply: FastifyReply) => {
    metrics.rejected('busy');
    // Answered without an error, which would be logged for each refused batch.
    return reply
      .code(503)
      .header('retry-after', String(randomInt(RETRY_SECONDS.least, RETRY_SECONDS.most + 1)))
      .send({ detail: 'Too many batches are in progress: ship this one again.' });
  };

  return async (app) => {
    app.removeAllContentTypeParsers();
    app.addContentTypeParser(NDJSON, (request: FastifyRequest, payload: IncomingMessage) =>
      readRequestBody(request, payload),
    );
    app.addHook('onResponse', async (request, reply) => {
      held.get(request)?.();
      const { statusCode } = reply;
      if (statusCode >= 400 && statusCode !== 503) metrics.rejected(String(statusCode));
    });

    app.post(
      '/api/v1/data-planes/:deployment_id/audit-batches',
      {
        config: { guard: 'data-plane-backlog' },
        logLevel: 'warn',
        bodyLimit: BATCH_LIMITS.bytes,
        schema: {
          summary: 'Records of a data plane’s ledger, for the audit trail',
          description:
            'NDJSON: the signed header, then each record verbatim. Answered after the commit. A token that was revoked or expired at most 7 days ago is accepted here, for records made before. 503 with Retry-After: ship the same batch again.',
          tags: ['data planes'],
          consumes: [NDJSON],
          params: DeploymentParams,
          response: {
            200: Receipt,
            404: ErrorBody,
            409: ErrorBody,
            413: ErrorBody,
            415: ErrorBody,
            422: ErrorBody,
            503: ErrorBody,
          },
        },
        onRequest: async (request, reply) => {
          // The caller disconnected while the guard ran: no `close` event would give the share
          // back.
          if (reply.raw.destroyed) return answerBusy(reply);
          const giveBack = bodies.take(request.dataPlane, announcedBytes(request));
          if (!giveBack) return answerBusy(reply);
          held.set(request, giveBack);
          // A caller that disconnects during the body gets no response.
          reply.raw.once('close', giveBack);
        },
      },
      async (request, reply) => {
        const { tenantId, deploymentId: bound } = request.dataPlane;
        const { deployment_id: deploymentId } = request.params;
        if (bound !== null && bound !== deploymentId) throw new AppError('DATA_PLANE_NOT_FOUND');
        const done = work.take(request.dataPlane, 1);
        if (!done) return answerBusy(reply);
        try {
          const batch = readBatch(request.body);
          const receipt = await ingest.ingestBatch(tenantId, deploymentId, batch);
          metrics.accepted(batch.records.length);
          return receipt;
        } finally {
          done();
        }
      },
    );
  };
};

/** A chunked body has no length: assume the largest allowed. */
function announcedBytes({ headers }: FastifyRequest): number {
  const announced = Number(headers['content-length'] ?? Number.NaN);
  return Number.isSafeInteger(announced) && announced >= 0
    ? Math.min(announced, BATCH_LIMITS.bytes)
    : BATCH_LIMITS.bytes;
}

/** caller-controlled: only the form is read here; ingest checks the content. */
function readBatch(body: unknown) {
  try {
    if (!Buffer.isBuffer(body)) throw new TypeError('the body is missing');
    return decodeBatch(body);
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    const detail = 'The batch must be a header line and one line for each record.';
    throw new AppError('VALIDATION_FAILED', detail, { cause });
  }
}
