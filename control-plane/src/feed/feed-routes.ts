/**
 * The feed over HTTP (shared/src/channel/channel-routes.ts): pages by long polls, and snapshots as NDJSON.
 */
import { Readable } from 'node:stream';
import { FeedPageBody, NDJSON, type SnapshotLine } from '@governance/shared/channel/channel-routes';
import type { FeedPage } from '@governance/shared/channel/channels';
import type { FeedEntry } from '@governance/shared/channel/facts';
import type { DatedSnapshotEnd } from '@governance/shared/channel/signed-statement';
import { AppError } from '@governance/shared/errors';
import { GivenId, Sha256Hex } from '@governance/shared/text';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { orBusy } from '../platform/http/or-busy.ts';
import type { Guards } from '../platform/http/route-table.ts';
import { ErrorBody, queryInt } from '../platform/http/schemas.ts';
import type { ClockReading } from './dated-statements.ts';
import { FEED_LIMITS, type FeedReader, type RecognitionParts } from './feed-reader.ts';
import type { ReadingPlaces } from './feed-reading-places.ts';

const tags = ['data planes'];

const FeedParams = z.object({ deployment_id: GivenId });

const count = queryInt({ min: 0 });

const FeedQuery = z.object({
  cursor: count.describe('The seq of the newest entry that the data plane has; 0 has none.'),
  digest: Sha256Hex.describe('The feed’s digest there.'),
  limit: queryInt({ min: 1, max: FEED_LIMITS.page })
    .default(FEED_LIMITS.page)
    .meta({ default: FEED_LIMITS.page }),
  wait: queryInt({ min: 0, max: FEED_LIMITS.waitMs / 1_000 })
    .default(0)
    .meta({ default: 0, description: 'Seconds to wait for the first entry.' }),
  backlog: count.optional().describe('Records that wait to be shipped, for the list.'),
});

export interface FeedRoutesDeps {
  feed: Pick<FeedReader, 'readFeed' | 'readSnapshot' | 'recognise' | 'readClock'>;
  places: ReadingPlaces;
  /** Runs the routes' guard again: the token may have been revoked while the feed was read. */
  recheck: Guards['data-plane'];
}

export const feedRoutes =
  ({ feed, places, recheck }: FeedRoutesDeps): FastifyPluginAsyncZod =>
  async (app) => {
    app.addHook('onClose', () => places.settled());

    app.get(
      '/api/v1/data-planes/:deployment_id/feed',
      {
        config: { guard: 'data-plane' },
        logLevel: 'warn',
        schema: {
          summary: 'What changed for a data plane since its cursor',
          description:
            'Facts in order, with a signed statement of the tenant’s state, and with a data plane’s own token one that it is recognised. Waits up to `wait` seconds for the first one. 410: the feed cannot be continued from this cursor (older than what is kept, beyond the head, or another digest); read a snapshot.',
          tags,
          params: FeedParams,
          querystring: FeedQuery,
          response: {
            200: FeedPageBody,
            404: ErrorBody,
            409: ErrorBody,
            410: ErrorBody,
            503: ErrorBody,
          },
        },
      },
      async (request, reply) => {
        const deploymentId = await requireReader(request, request.params.deployment_id);
        const { cursor, digest, limit, wait, backlog } = request.query;
        places.note(request.scope, deploymentId, { cursor, backlog });
        const { tenantId } = request.dataPlane;
        const place = { tenantId, deploymentId, cursor, digest, limit };
        const signal = untilGone(reply);
        const page = await orBusy(reply, feed.readFeed({ ...place, waitMs: wait * 1_000, signal }));
        const readAt = feed.readClock();
        await recheck.call(app, request, reply);
        const recognition = await recognise(request, readAt);
        return reply
          .header('content-type', 'application/json; charset=utf-8')
          .header('cache-control', 'no-store')
          .serializer(() => writePage(page, recognition))
          .send(page);
      },
    );

    app.get(
      '/api/v1/data-planes/:deployment_id/feed/snapshot',
      {
        config: { guard: 'data-plane' },
        schema: {
          summary: 'All current facts, as of one moment',
          description:
            'NDJSON: a line `{entry}` for each fact, by kind and key, and last a line `{end}`, signed. Without it the answer is incomplete.',
          tags,
          produces: [NDJSON],
          params: FeedParams,
          response: {
            200: z.unknown().meta({ type: 'string', description: 'Lines of NDJSON.' }),
            404: ErrorBody,
            409: ErrorBody,
            503: ErrorBody,
          },
        },
      },
      async (request, reply) => {
        await requireReader(request, request.params.deployment_id);
        const { tenantId } = request.dataPlane;
        const pages = feed.readSnapshot({ tenantId, signal: untilGone(reply) });
        // The first page is read before the headers are sent, so that an error until then still
        // gets its status code.
        const first = await orBusy(reply, pages.next());
        try {
          await recheck.call(app, request, reply);
        } catch (error) {
          // Its transaction must not stay open.
          await pages.return(undefined as never);
          throw error;
        }
        return reply
          .header('content-type', NDJSON)
          .header('cache-control', 'no-store')
          .send(Readable.from(snapshotLines(first, pages), { objectMode: false }));
      },
    );

    /** An issued token is good for any deployment, and says nothing of this one. */
    async function recognise(
      { dataPlane: { tenantId, deploymentId } }: FastifyRequest,
      at: ClockReading,
    ): Promise<RecognitionParts | null> {
      return deploymentId === null ? null : feed.recognise(tenantId, deploymentId, at);
    }

    /** @returns the deployment's id, after checking that the caller may read for it */
    async function requireReader(request: FastifyRequest, deploymentId: string): Promise<string> {
      const bound = request.dataPlane.deploymentId;
      if (bound !== null && bound !== deploymentId) throw new AppError('DATA_PLANE_NOT_FOUND');
      // A deployment's own token ends with it, which the guard has checked.
      if (bound === null) await places.requireReader(request.scope, deploymentId);
      return deploymentId;
    }
  };

/** Aborts when the connection closes. */
function untilGone(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  // The client may have disconnected while the guard ran.
  if (reply.raw.destroyed) gone.abort();
  return gone.signal;
}

const written = new WeakMap<FeedPage, string>();

/** A page goes to all who waited for it, and is serialised once. */
function writePage(page: FeedPage, recognition: RecognitionParts | null): string {
  const text = written.get(page) ?? JSON.stringify(page);
  written.set(page, text);
  if (!recognition) return text;
  return `${text.slice(0, -1)},${JSON.stringify(recognition).slice(1)}`;
}

type SnapshotStep = IteratorResult<FeedEntry[], DatedSnapshotEnd>;

async function* snapshotLines(
  first: SnapshotStep,
  pages: AsyncGenerator<FeedEntry[], DatedSnapshotEnd, undefined>,
): AsyncGenerator<Buffer> {
  try {
    let step = first;
    for (; !step.done; step = await pages.next()) {
      yield Buffer.from(step.value.map((entry) => writeLine({ entry })).join(''));
    }
    const { clock, ...end } = step.value;
    yield Buffer.from(writeLine({ end, ...(clock && { clock }) }));
  } finally {
    // Also runs when the reader is gone, so that the transaction does not stay open.
    await pages.return(undefined as never);
  }
}

function writeLine(line: SnapshotLine): string {
  return `${JSON.stringify(line)}\n`;
}
