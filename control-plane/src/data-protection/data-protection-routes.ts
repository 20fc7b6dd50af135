/**
 * /api/v1/admin/data-protection: which data of calls is kept, under which keys, and for how long.
 */
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { ErrorBody } from '../platform/http/schemas.ts';
import { DataProtectionPatch, DataProtectionView, toView } from './data-protection-schemas.ts';
import type { DataProtectionService } from './data-protection-service.ts';

const tags = ['data protection'];
const config = { guard: 'admin' } as const;

export const dataProtectionRoutes =
  (protection: DataProtectionService): FastifyPluginAsyncZod =>
  async (app) => {
    app.get(
      '/api/v1/admin/data-protection',
      {
        config: { ...config, use: 'read' },
        schema: {
          summary: 'The data protection policy; the defaults unless the tenant set its own',
          tags,
          response: { 200: DataProtectionView },
        },
      },
      async ({ scope }) => toView(await protection.get(scope)),
    );

    app.patch(
      '/api/v1/admin/data-protection',
      {
        config,
        schema: {
          summary: 'Change the data protection policy',
          description:
            'Only the given fields change. Another kms_provider needs its own kms_key_id. With test_kms_connectivity the provider encrypts and decrypts once before anything is stored. A key id is never shown again.',
          tags,
          body: DataProtectionPatch,
          response: { 200: DataProtectionView, 400: ErrorBody },
        },
      },
      async ({ scope, body }) => toView(await protection.change(scope, body)),
    );
  };
