import { Readable } from 'node:stream';
import { AppError } from '@governance/shared/errors';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ErrorBody, NoContent } from '../../platform/http/schemas.ts';
import { readByteRange } from './byte-range.ts';
import {
  DownloadQuery,
  NewPackageBody,
  PackageList,
  PackageParams,
  PackageQuery,
  PackageView,
  toPackageView,
} from './package-schemas.ts';
import type { PackageService } from './package-service.ts';

const tags = ['evidence'];
const PACKAGES = '/api/v1/evidence/packages';
const GZIP = 'application/gzip';

const Archive = (description: string) => ({
  description,
  content: { [GZIP]: { schema: z.instanceof(Readable).meta({ description: 'A tar.gz.' }) } },
});

export const packageRoutes =
  (packages: PackageService): FastifyPluginAsyncZod =>
  async (app) => {
    app.post(
      PACKAGES,
      {
        config: { guard: 'admin', use: 'read' },
        schema: {
          summary: 'Ask for an evidence package',
          description:
            'It is made in the background. Only the role admin may set `include_payloads`.',
          tags,
          body: NewPackageBody,
          response: { 202: PackageView, 409: ErrorBody },
        },
      },
      async ({ scope, body }, reply) => {
        const requested = await packages.request(scope, {
          from: body.from,
          to: body.to,
          agentIds: [...new Set(body.agent_ids)],
          workflowSessionId: body.workflow_session_id ?? null,
          includePayloads: body.include_payloads,
          anchorSizes: [...new Set(body.anchor_sizes)],
        });
        reply.header('location', `${PACKAGES}/${requested.id}`);
        return reply.code(202).send(toPackageView(requested));
      },
    );

    app.get(
      PACKAGES,
      {
        config: { guard: 'admin', use: 'read' },
        schema: {
          summary: 'Evidence packages, newest first',
          tags,
          querystring: PackageQuery,
          response: { 200: PackageList },
        },
      },
      async ({ scope, query }) => {
        const { packages: found, total } = await packages.list(scope, query);
        return { packages: found.map(toPackageView), total };
      },
    );

    app.get(
      `${PACKAGES}/:id`,
      {
        config: { guard: 'admin', use: 'read' },
        schema: {
          summary: 'An evidence package: its progress, and its volumes',
          tags,
          params: PackageParams,
          response: { 200: PackageView },
        },
      },
      async ({ scope, params }) => toPackageView(await packages.get(scope, params.id)),
    );

    app.delete(
      `${PACKAGES}/:id`,
      {
        config: { guard: 'admin', use: 'manage' },
        schema: {
          summary: 'Delete an evidence package, also one in progress',
          tags,
          params: PackageParams,
          response: { 204: NoContent },
        },
      },
      async ({ scope, params }, reply) => {
        await packages.remove(scope, params.id);
        return reply.code(204).send();
      },
    );

    app.get(
      `${PACKAGES}/:id/download`,
      {
        config: { guard: 'admin', use: 'read' },
        schema: {
          summary: 'A volume of an evidence package',
          description: 'A range can be asked for, with If-Range and the entity tag.',
          tags,
          params: PackageParams,
          querystring: DownloadQuery,
          response: {
            200: Archive('The volume.'),
            206: Archive('A range of it.'),
            304: z.undefined().meta({ description: 'Not modified.' }),
            409: ErrorBody,
            416: ErrorBody,
          },
        },
      },
      async ({ scope, params, query, headers }, reply) => {
        const { found, volume } = await packages.findVolume(scope, params.id, query.volume);
        const { number, size, sha256 } = volume;
        const tag = `"${sha256}"`;
        const describe = () =>
          reply
            .header('etag', tag)
            .header('accept-ranges', 'bytes')
            .header('cache-control', 'private, no-cache');
        if (headers['if-none-match'] === tag) return describe().code(304).send();
        // caller-controlled
        const isSame = headers['if-range'] === undefined || headers['if-range'] === tag;
        const range = findRange(isSame ? headers.range : undefined, size, reply);
        const { first, last } = range ?? { first: 0, last: size - 1 };
        const bytes = await packages.download(scope, found, volume, { first, last });
        const name = `evidence-${found.id}-${number}-of-${found.volumes.length}.tar.gz`;
        describe().header('content-disposition', `attachment; filename="${name}"`);
        reply.header('content-length', last - first + 1).header('content-type', GZIP);
        if (range) reply.header('content-range', `bytes ${first}-${last}/${size}`);
        return reply.code(range ? 206 : 200).send(Readable.from(bytes, { objectMode: false }));
      },
    );
  };

function findRange(
  header: string | undefined,
  size: number,
  reply: { header(name: string, value: string): unknown },
) {
  try {
    return readByteRange(header, size);
  } catch (error) {
    if (error instanceof AppError) reply.header('content-range', `bytes */${size}`);
    throw error;
  }
}
