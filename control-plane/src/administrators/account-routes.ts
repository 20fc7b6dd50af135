/** The caller's own account: routes added to the specification's. */
import { forbidCaching } from '@governance/shared/tokens/token-routes';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { LoginAnswer } from '../auth/auth-schemas.ts';
import type { Actor } from '../platform/database/tenant-scope.ts';
import { usesOf } from '../platform/http/role-table.ts';
import { findScope } from '../platform/http/route-table.ts';
import { ErrorBody, NoContent } from '../platform/http/schemas.ts';
import type { AccountService } from './account-service.ts';
import { MeView, PasswordBody } from './administrator-schemas.ts';

const tags = ['auth'];

export const accountRoutes =
  (accounts: AccountService): FastifyPluginAsyncZod =>
  async (app) => {
    app.get(
      '/api/v1/auth/me',
      {
        config: { guard: 'admin-or-platform', use: 'own' },
        schema: {
          summary: 'The caller, and what their role permits',
          tags,
          response: { 200: MeView },
        },
      },
      async (request) => {
        const { id, username } = request.actor;
        const role = roleOf(request.actor);
        const tenant_id = findScope(request)?.tenantId ?? null;
        return { id, username, role, tenant_id, may: usesOf(role) };
      },
    );

    app.post(
      '/api/v1/auth/password',
      {
        config: { guard: 'tenant-admin', use: 'own' },
        bodyLimit: 16_384,
        schema: {
          summary: 'Change your own password',
          description: 'Ends all sessions of the account; the answer has a new token.',
          tags,
          body: PasswordBody,
          response: { 200: LoginAnswer, 429: ErrorBody },
        },
      },
      async (request, reply) => {
        const { current_password: current, new_password: next } = request.body;
        const { scope, clientAddress: address } = request;
        const token = await accounts.changePassword(scope, { current, next, address });
        forbidCaching(reply);
        const { username } = scope.actor;
        return { access_token: token, token_type: 'Bearer' as const, username };
      },
    );

    app.post(
      '/api/v1/auth/logout',
      {
        config: { guard: 'tenant-admin', use: 'own' },
        schema: {
          summary: 'End all sessions of your own account',
          tags,
          response: { 204: NoContent },
        },
      },
      async ({ scope }, reply) => {
        await accounts.logOut(scope);
        return reply.code(204).send();
      },
    );
  };

/** Unreachable for other roles: the guard has refused them. */
function roleOf({ role }: Actor) {
  if (role === 'system' || role === 'data_plane') throw new Error(`${role} is no administrator`);
  return role;
}
