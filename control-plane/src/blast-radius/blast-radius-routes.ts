/** /api/v1/admin/blast-radius: how far one call may reach. */
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { BlastRadiusPatch, BlastRadiusView, toView } from './blast-radius-schemas.ts';
import type { BlastRadiusService } from './blast-radius-service.ts';

const tags = ['blast radius'];
const config = { guard: 'admin' } as const;

export const blastRadiusRoutes =
  (blastRadius: BlastRadiusService): FastifyPluginAsyncZod =>
  async (app) => {
    app.get(
      '/api/v1/admin/blast-radius',
      {
        config: { ...config, use: 'read' },
        schema: {
          summary: 'How far one call may reach; the defaults where the tenant changed nothing',
          tags,
          response: { 200: BlastRadiusView },
        },
      },
      async ({ scope }) => toView(await blastRadius.get(scope)),
    );

    app.patch(
      '/api/v1/admin/blast-radius',
      {
        config,
        schema: {
          summary: 'Change how far one call may reach',
          description:
            'Only what is named changes; a list replaces the whole list. Connected data planes enforce it before the answer.',
          tags,
          body: BlastRadiusPatch,
          response: { 200: BlastRadiusView },
        },
      },
      async ({ scope, body }) => toView(await blastRadius.change(scope, body)),
    );
  };
