import { Id, Timestamp } from '@governance/shared/text';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { NewPassword, NewUsername } from '../auth/usernames.ts';
import { ErrorBody, listOf, Name, pageQuery } from '../platform/http/schemas.ts';
import type { Tenant, TenantService } from './tenant-service.ts';

const TenantView = z
  .object({
    id: Id,
    name: z.string(),
    status: z.string(),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'Tenant' });

const NewTenant = z.object({
  name: Name,
  admin: z.object({ username: NewUsername, password: NewPassword }),
});

export const tenantRoutes =
  (tenants: Pick<TenantService, 'list' | 'create'>): FastifyPluginAsyncZod =>
  async (app) => {
    app.get(
      '/api/v1/tenants',
      {
        config: { guard: 'super-admin' },
        schema: {
          summary: 'List all tenants',
          tags: ['tenants'],
          querystring: z.object(pageQuery({ default: 50, max: 1000 })),
          response: { 200: listOf('tenants', TenantView) },
        },
      },
      async (request) => {
        const { tenants: found, total } = await tenants.list(request.actor, request.query);
        return { tenants: found.map(toView), total };
      },
    );

    app.post(
      '/api/v1/tenants',
      {
        config: { guard: 'super-admin' },
        schema: {
          summary: 'Create a tenant with its first administrator and the baseline policies',
          tags: ['tenants'],
          body: NewTenant,
          response: { 201: TenantView, 409: ErrorBody, 429: ErrorBody },
        },
      },
      async (request, reply) => {
        const tenant = await tenants.create(request.actor, request.body, request.id);
        return reply.code(201).send(toView(tenant));
      },
    );
  };

function toView(tenant: Tenant): z.infer<typeof TenantView> {
  return {
    id: tenant.id,
    name: tenant.name,
    status: tenant.status,
    created_at: tenant.createdAt.toISOString(),
    updated_at: tenant.updatedAt.toISOString(),
  };
}
