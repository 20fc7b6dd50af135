/**
 * POST /api/v1/data-planes/{deployment_id}/payloads: takes payloads of data planes. The bytes in
 * memory are bounded before a body is read; a caller that gets no share is asked to retry, and
 * loses nothing.
 */
import { randomInt } from 'node:crypto';
import { AppError } from '@governance/shared/errors';
import {
  PAYLOAD_LIMITS,
  PayloadReceipt,
  PayloadUpload,
} from '@governance/shared/evidence/event-payload';
import { GivenId } from '@governance/shared/text';
import type { FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { createPlaneShares } from '../platform/http/plane-shares.ts';
import { ErrorBody } from '../platform/http/schemas.ts';
import type { PayloadIngest } from './payload-ingest.ts';

const MIB = 1024 * 1024;
/** Bytes of bodies that are being read or stored. */
const SHARES = { total: 64 * MIB, perTenant: 16 * MIB, perSender: PAYLOAD_LIMITS.bytes };

export const payloadUploadRoute =
  (payloads: PayloadIngest): FastifyPluginAsyncZod =>
  async (app) => {
    const shares = createPlaneShares(SHARES);
    const held = new WeakMap<FastifyRequest, () => void>();
    /** Those that are being stored: who hangs up meanwhile frees no memory. */
    const stored = new WeakSet<FastifyRequest>();
    app.addHook('onResponse', async (request) => held.get(request)?.());

    app.post(
      '/api/v1/data-planes/:deployment_id/payloads',
      {
        config: { guard: 'data-plane-backlog' },
        logLevel: 'warn',
        bodyLimit: PAYLOAD_LIMITS.bytes,
        schema: {
          summary: 'Payloads that a data plane kept, sealed to the control plane',
          description:
            'One result for each part, in order: stored, waiting (its record has not arrived: send it again) or refused (it differs from its record). 503 with Retry-After: send all of it again.',
          tags: ['data planes'],
          params: z.object({ deployment_id: GivenId }),
          body: PayloadUpload,
          response: { 200: PayloadReceipt, 404: ErrorBody, 413: ErrorBody, 503: ErrorBody },
        },
        onRequest: async (request, reply) => {
          // The caller disconnected while the guard ran: no `close` event would give the share
          // back.
          const giveBack = reply.raw.destroyed
            ? undefined
            : shares.take(request.dataPlane, PAYLOAD_LIMITS.bytes);
          if (!giveBack) {
            const detail = 'Too many payloads are in progress: send these again.';
            return reply
              .code(503)
              .header('retry-after', String(randomInt(1, 6)))
              .send({ detail });
          }
          held.set(request, giveBack);
          // A caller that disconnects during the body gets no response.
          reply.raw.once('close', () => {
            if (!stored.has(request)) giveBack();
          });
        },
      },
      async (request) => {
        const { dataPlane, params, body } = request;
        const { tenantId, deploymentId: bound } = dataPlane;
        const { deployment_id: deploymentId } = params;
        if (bound !== null && bound !== deploymentId) throw new AppError('DATA_PLANE_NOT_FOUND');
        stored.add(request);
        try {
          return await payloads.ingest(tenantId, deploymentId, body);
        } finally {
          held.get(request)?.();
        }
      },
    );
  };
