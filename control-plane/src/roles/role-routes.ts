import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { ErrorBody } from '../platform/http/schemas.ts';
import { NewRoleBody, NewRoleView, RoleList, RoleQuery, toRoleView } from './role-schemas.ts';
import type { RoleService } from './role-service.ts';

const tags = ['roles'];

export const roleRoutes =
  (roles: RoleService): FastifyPluginAsyncZod =>
  async (app) => {
    app.get(
      '/api/v1/roles',
      {
        config: { guard: 'admin', use: 'read' },
        schema: {
          summary: 'List roles by name',
          tags,
          querystring: RoleQuery,
          response: { 200: RoleList },
        },
      },
      async (request) => {
        const page = await roles.list(request.scope, request.query);
        return { roles: page.roles.map(toRoleView), total: page.total };
      },
    );

    app.post(
      '/api/v1/roles',
      {
        config: { guard: 'admin' },
        schema: {
          summary: 'Create a role',
          description:
            'Permissions and scopes that match no registered MCP server are not refused: `warnings` names them.',
          tags,
          body: NewRoleBody,
          response: { 201: NewRoleView, 409: ErrorBody },
        },
      },
      async (request, reply) => {
        const { name, description, permissions, resource_scopes: resourceScopes } = request.body;
        const { role, warnings } = await roles.create(request.scope, {
          name,
          description,
          permissions,
          resourceScopes,
        });
        return reply.code(201).send({ ...toRoleView(role), warnings });
      },
    );
  };
