/** Specification 1, section 4: POST /api/v1/signup. */
import { forbidCaching } from '@governance/shared/tokens/token-routes';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { ErrorBody } from '../platform/http/schemas.ts';
import { SignupAnswer, SignupBody } from './enrollment-schemas.ts';
import { clientConfig } from './enrollment-token.ts';
import type { SignupService } from './signup-service.ts';

/** Placeholder for the credentials of an enrolled agent. */
const CREDENTIALS = 'Basic <base64 of client_id:client_secret>';

export const signupRoutes =
  (signup: SignupService, gatewayUrl: string): FastifyPluginAsyncZod =>
  async (app) => {
    app.post(
      '/api/v1/signup',
      {
        config: { guard: 'public' },
        bodyLimit: 16_384,
        schema: {
          summary: 'Create your own tenant',
          description:
            'Creates a tenant with its administrator, an enrollment token and a client’s configuration entry. Five requests per hour and address. Closed unless SERVICE_SIGNUP is set.',
          tags: ['enrollment'],
          body: SignupBody,
          response: { 201: SignupAnswer, 403: ErrorBody, 409: ErrorBody, 429: ErrorBody },
        },
      },
      async (request, reply) => {
        const { tenant, username, token, secret } = await signup.signUp(request.body, {
          address: request.clientAddress,
          id: request.id,
        });
        forbidCaching(reply);
        return reply.code(201).send({
          tenant: { id: tenant.id, name: tenant.name },
          admin: { username, role: 'admin' as const },
          enrollment_token: {
            token: secret,
            expires_at: token.expiresAt.toISOString(),
            max_uses: token.maxUses,
          },
          config: clientConfig(gatewayUrl, CREDENTIALS),
        });
      },
    );
  };
