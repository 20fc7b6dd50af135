/**
 * GET /api/v1/opa/bundle/{tenant_id}: OPA's bundle service protocol, with entity tags and long
 * polling. A stock OPA keeps long polling only if the answer's content type permits it.
 */
import { REVISION_HEADER } from '@governance/shared/channel/channel-routes';
import { AppError } from '@governance/shared/errors';
import { GivenId } from '@governance/shared/text';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { orBusy } from '../platform/http/or-busy.ts';
import type { Guards } from '../platform/http/route-table.ts';
import { ErrorBody } from '../platform/http/schemas.ts';
import type { BundleSource } from './bundle-source.ts';
import { namesEntityTag, preferredWaitSeconds } from './prefer-wait.ts';

/** Longer waits are cut to this: some proxies end a silent connection after a minute. */
const MAX_WAIT_SECONDS = 55;

const LONG_POLL_TYPE = 'application/vnd.openpolicyagent.bundles';

const BundleFile = z.instanceof(Uint8Array).meta({ description: 'The bundle, a tar.gz.' });

export interface BundleRoutesDeps {
  bundles: Pick<BundleSource, 'findCurrent' | 'pullBundle'>;
  /** Runs the route's guard again: the token may have been revoked during the poll. */
  recheck: Guards['data-plane'];
}

export const bundleRoutes =
  ({ bundles, recheck }: BundleRoutesDeps): FastifyPluginAsyncZod =>
  async (app) => {
    app.get(
      '/api/v1/opa/bundle/:tenant_id',
      {
        config: { guard: 'data-plane' },
        schema: {
          summary: 'The policy bundle of a tenant',
          description:
            'A tar.gz in the layout of OPA. With If-None-Match the answer is 304 while nothing changed; `Prefer: wait=N` delays it up to N seconds.',
          tags: ['data planes'],
          produces: ['application/gzip', LONG_POLL_TYPE],
          params: z.object({ tenant_id: GivenId }),
          response: {
            200: BundleFile,
            304: z.undefined().meta({ description: 'Not modified.' }),
            503: ErrorBody,
          },
        },
      },
      async (request, reply) => {
        const { tenantId, deploymentId: bound } = request.dataPlane;
        if (request.params.tenant_id !== tenantId) throw new AppError('TENANT_NOT_FOUND');
        // caller-controlled
        const { prefer, 'if-none-match': ifNoneMatch } = request.headers;
        const waitSeconds = preferredWaitSeconds(prefer?.toString());
        const known = await bundles.findCurrent(tenantId);
        const isCurrent = known !== undefined && namesEntityTag(ifNoneMatch, known.digest);

        let download = isCurrent ? null : (known ?? null);
        if (download === null && waitSeconds > 0) {
          const waitMs = Math.min(waitSeconds, MAX_WAIT_SECONDS) * 1_000;
          const digest = known?.digest ?? null;
          const gone = new AbortController();
          reply.raw.once('close', () => gone.abort());
          // The client may have disconnected while the guard ran.
          if (reply.raw.destroyed) gone.abort();
          const deploymentId = bound ?? undefined;
          const wanted = { tenantId, deploymentId, digest, waitMs, signal: gone.signal };
          download = await orBusy(reply, bundles.pullBundle(wanted));
          await recheck.call(app, request, reply);
        }
        if (download === null && known === undefined) throw new AppError('BUNDLE_NOT_FOUND');

        const { digest } = download ?? known ?? { digest: '' };
        reply.header('etag', `"${digest}"`).header('cache-control', 'private, no-cache');
        if (download === null) return reply.code(304).send();
        return reply
          .header(REVISION_HEADER, String(download.revision))
          .header('content-type', waitSeconds > 0 ? LONG_POLL_TYPE : 'application/gzip')
          .send(viewOf(download.bytes));
      },
    );
  };

/** Not copied: all readers of a new bundle share its bytes. */
function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer<ArrayBuffer> {
  // Database buffers are never shared memory.
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);
}
