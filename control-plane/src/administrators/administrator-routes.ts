/** /api/v1/admin/users: the users of a tenant. Routes added to the specification's. */
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { ErrorBody, NoContent } from '../platform/http/schemas.ts';
import {
  NewUserBody,
  toUserView,
  UserList,
  UserParams,
  UserPatchBody,
  UserQuery,
  UserView,
} from './administrator-schemas.ts';
import type { AdministratorService } from './administrator-service.ts';

const tags = ['users'];

export const administratorRoutes =
  (users: AdministratorService): FastifyPluginAsyncZod =>
  async (app) => {
    app.get(
      '/api/v1/admin/users',
      {
        config: { guard: 'admin', use: 'read' },
        schema: {
          summary: 'The users of the tenant, the oldest first',
          tags,
          querystring: UserQuery,
          response: { 200: UserList },
        },
      },
      async ({ scope, query }) => {
        const page = await users.list(scope, query);
        return { users: page.users.map(toUserView), total: page.total };
      },
    );

    app.post(
      '/api/v1/admin/users',
      {
        config: { guard: 'admin', use: 'manage' },
        schema: {
          summary: 'Make a user of the tenant',
          description: 'Names are unique across tenants, ignoring case, and stored in lower case.',
          tags,
          body: NewUserBody,
          response: { 201: UserView, 409: ErrorBody, 429: ErrorBody },
        },
      },
      async ({ scope, body }, reply) =>
        reply.code(201).send(toUserView(await users.create(scope, body))),
    );

    app.patch(
      '/api/v1/admin/users/:id',
      {
        config: { guard: 'admin', use: 'manage' },
        schema: {
          summary: 'Change another user’s role, status or password',
          description: 'A change ends the user’s sessions at their next request.',
          tags,
          params: UserParams,
          body: UserPatchBody,
          response: { 200: UserView, 409: ErrorBody, 429: ErrorBody },
        },
      },
      async ({ scope, params, body }) => toUserView(await users.change(scope, params.id, body)),
    );

    app.delete(
      '/api/v1/admin/users/:id',
      {
        config: { guard: 'admin', use: 'manage' },
        schema: {
          summary: 'Delete another user; what they did stays recorded',
          tags,
          params: UserParams,
          response: { 204: NoContent, 409: ErrorBody },
        },
      },
      async ({ scope, params }, reply) => {
        await users.remove(scope, params.id);
        return reply.code(204).send();
      },
    );

    app.delete(
      '/api/v1/admin/users/:id/sessions',
      {
        config: { guard: 'admin', use: 'manage' },
        schema: {
          summary: 'End a user’s sessions',
          tags,
          params: UserParams,
          response: { 204: NoContent },
        },
      },
      async ({ scope, params }, reply) => {
        await users.endSessions(scope, params.id);
        return reply.code(204).send();
      },
    );
  };
