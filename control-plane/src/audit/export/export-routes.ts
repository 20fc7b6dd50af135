/** Specification 2, section 4: GET /api/v1/audit/export. */
import { Readable } from 'node:stream';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ErrorBody, listOf, QueryTime, queryInt } from '../../platform/http/schemas.ts';
import { closeAfter } from './close-after.ts';
import { EventMetadata } from './event-metadata.ts';
import { MAX_CURSOR_CHARS } from './export-cursor.ts';
import type { ExportService } from './export-service.ts';
import { toCef, toLeef } from './log-lines.ts';

const EXPORT_PAGE = { default: 1_000, max: 10_000 } as const;

/** How long reading a page may take: whoever reads more slowly asks for fewer events. */
const EXPORT_PAGE_MS = 5 * 60_000;

const ExportQuery = z
  .object({
    format: z.enum(['json', 'cef', 'leef']).default('json'),
    from: QueryTime.optional(),
    to: QueryTime.optional(),
    cursor: z.string().min(1).max(MAX_CURSOR_CHARS).optional(),
    limit: queryInt({ min: 1, max: EXPORT_PAGE.max })
      .default(EXPORT_PAGE.default)
      .meta({ default: EXPORT_PAGE.default }),
  })
  .refine(({ from, to }) => !from || !to || from <= to, {
    message: 'must not be before from',
    path: ['to'],
  });

const ExportView = listOf('events', EventMetadata);

const CONTENT_TYPES = {
  json: 'application/json; charset=utf-8',
  cef: 'text/plain; charset=utf-8',
  leef: 'text/plain; charset=utf-8',
};

export const exportRoutes =
  (exports: ExportService): FastifyPluginAsyncZod =>
  async (app) => {
    app.get(
      '/api/v1/audit/export',
      {
        config: { guard: 'admin', use: 'read' },
        schema: {
          summary: 'The audit trail as JSON, CEF or LEEF, oldest first, a page at a time',
          description:
            'Event metadata only. `X-Total-Events` is the number of events in the whole export; `X-Next-Cursor` continues it and is absent from the last page. Each page is recorded.',
          tags: ['audit'],
          querystring: ExportQuery,
          response: {
            200: {
              description: 'One page.',
              headers: z.object({
                'X-Total-Events': z.string(),
                'X-Next-Cursor': z.string().optional(),
              }),
              content: {
                'application/json': { schema: ExportView },
                'text/plain': { schema: z.string() },
              },
            },
            429: ErrorBody,
          },
        },
      },
      async ({ scope, query }, reply) => {
        const { format, from, to, cursor, limit } = query;
        const page = await exports.open(scope, { format, from, to, cursor, limit });
        reply.raw.once('close', page.release);
        closeAfter(reply.raw, EXPORT_PAGE_MS);
        // The client may have disconnected while the page was planned.
        if (reply.raw.destroyed) page.release();
        // The first step is read before the headers are sent: an error until then gets its status.
        const events = await begin(page.events());
        reply
          .header('x-total-events', String(page.total))
          .header('content-type', CONTENT_TYPES[format])
          .header('cache-control', 'no-store');
        if (page.nextCursor !== undefined) reply.header('x-next-cursor', page.nextCursor);
        const text =
          format === 'json' ? jsonOf(page.total, events) : linesOf(events, LINES[format]);
        const body = Readable.from(text, { objectMode: false, highWaterMark: 64 * 1024 });
        // Streams are sent as they are; the schema describes their content.
        return reply.send(body as unknown as z.infer<typeof ExportView>);
      },
    );
  };

const LINES = { cef: toCef, leef: toLeef };

type Events = AsyncGenerator<EventMetadata>;

async function begin(events: Events): Promise<Events> {
  const first = await events.next();
  return (async function* () {
    if (first.done) return;
    yield first.value;
    yield* events;
  })();
}

async function* linesOf(events: Events, toLine: (event: EventMetadata) => string) {
  for await (const event of events) yield `${toLine(event)}\n`;
}

/** One document, written as the events arrive. */
async function* jsonOf(total: number, events: Events) {
  yield `{"total":${total},"events":[`;
  let separator = '';
  for await (const event of events) {
    yield `${separator}${JSON.stringify(event)}`;
    separator = ',\n';
  }
  yield ']}';
}
