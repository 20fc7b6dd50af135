/** /api/v1/admin/settings: a route added to those of the specification. */
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { TenantSettingsPatch, TenantSettingsView } from '../tenants/tenant-settings.ts';
import type { TenantSettingsService } from './tenant-settings-service.ts';

const tags = ['inbound'];
const config = { guard: 'admin' } as const;

export const tenantSettingsRoutes =
  (settings: TenantSettingsService): FastifyPluginAsyncZod =>
  async (app) => {
    app.get(
      '/api/v1/admin/settings',
      {
        config: { ...config, use: 'read' },
        schema: {
          summary: 'The settings of the tenant',
          tags,
          response: { 200: TenantSettingsView },
        },
      },
      async ({ scope }) => settings.get(scope),
    );

    app.patch(
      '/api/v1/admin/settings',
      {
        config,
        schema: {
          summary: 'Change settings of the tenant',
          description:
            'Only the given fields change. The answer comes once the local data plane enforces it.',
          tags,
          body: TenantSettingsPatch,
          response: { 200: TenantSettingsView },
        },
      },
      async ({ scope, body }) => settings.change(scope, body),
    );
  };
