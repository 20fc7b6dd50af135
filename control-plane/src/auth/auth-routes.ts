import type { AgentTokens } from '@governance/shared/tokens/agent-token-issue';
import { addTokenRoutes, forbidCaching } from '@governance/shared/tokens/token-routes';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { ErrorBody } from '../platform/http/schemas.ts';
import type { PublicJwk } from '../platform/keys/keys.ts';
import type { AdminLogin } from './admin-login.ts';
import { LoginAnswer, LoginRequest } from './auth-schemas.ts';

export interface AuthRoutesDeps {
  adminLogin: AdminLogin;
  agentTokens: AgentTokens;
  /** The issuer. */
  publicUrl: string;
  /** The keys that tokens may be signed with. */
  keys(): Promise<PublicJwk[]>;
}

export const authRoutes =
  ({ adminLogin, agentTokens, publicUrl, keys }: AuthRoutesDeps): FastifyPluginAsyncZod =>
  async (app) => {
    app.post(
      '/api/v1/auth/admin/login',
      {
        config: { guard: 'public' },
        bodyLimit: 16_384,
        schema: {
          summary: 'Log in as an administrator',
          tags: ['auth'],
          body: LoginRequest,
          response: { 200: LoginAnswer, 401: ErrorBody, 429: ErrorBody },
        },
      },
      async (request, reply) => {
        const { token, username } = await adminLogin.login({
          ...request.body,
          address: request.clientAddress,
          requestId: request.id,
        });
        forbidCaching(reply);
        return { access_token: token, token_type: 'Bearer' as const, username };
      },
    );

    // A scope of its own, since only OAuth clients send forms.
    await app.register((scope) =>
      addTokenRoutes(scope, {
        publicUrl,
        tokens: agentTokens,
        keys,
        config: { guard: 'public' },
      }),
    );
  };
