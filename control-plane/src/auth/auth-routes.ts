import formbody from '@fastify/formbody';
import { AppError } from '@governance/shared/errors';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { z } from 'zod';
import { ErrorBody } from '../platform/http/schemas.ts';
import type { PublicJwk } from '../platform/keys.ts';
import type { AdminLogin } from './admin-login.ts';
import type { AgentTokens } from './agent-tokens.ts';
import {
  JwkSet,
  LoginAnswer,
  LoginRequest,
  TokenAnswer,
  TokenRequestBody,
} from './auth-schemas.ts';
import { parseBasic } from './basic-credentials.ts';

export interface AuthRoutesDeps {
  adminLogin: AdminLogin;
  agentTokens: AgentTokens;
  /** The keys that tokens may be signed with. */
  tokenKeys: PublicJwk[];
}

export const authRoutes =
  ({ adminLogin, agentTokens, tokenKeys }: AuthRoutesDeps): FastifyPluginAsyncZod =>
  async (app) => {
    // In this scope alone: OAuth clients send forms, nobody else does.
    await app.register(formbody, { bodyLimit: 16_384 });

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
          ip: request.ip,
          requestId: request.id,
        });
        forbidCaching(reply);
        return { access_token: token, token_type: 'Bearer' as const, username };
      },
    );

    app.post(
      '/api/v1/auth/token',
      {
        config: { guard: 'public' },
        bodyLimit: 16_384,
        schema: {
          summary: 'Exchange client credentials for an agent token',
          description:
            'JSON or application/x-www-form-urlencoded; the client in the body or as HTTP Basic.',
          tags: ['auth'],
          body: TokenRequestBody,
          response: { 200: TokenAnswer, 401: ErrorBody, 403: ErrorBody, 429: ErrorBody },
        },
      },
      async (request, reply) => {
        forbidCaching(reply);
        const { grant_type, resource } = request.body;
        if (grant_type !== 'client_credentials') throw new AppError('UNSUPPORTED_GRANT');
        const issued = await challengeInKind(request, reply, () =>
          agentTokens.issue({ ...readClient(request, request.body), resource, ip: request.ip }),
        );
        return {
          access_token: issued.token,
          token_type: 'Bearer' as const,
          expires_in: issued.expiresIn,
          agent_id: issued.agentId,
          risk_tier: issued.riskTier,
        };
      },
    );

    app.get(
      '/.well-known/jwks.json',
      {
        config: { guard: 'public' },
        schema: {
          summary: 'The keys that tokens are signed with',
          tags: ['auth'],
          response: { 200: JwkSet },
        },
      },
      async (_request, reply) => {
        reply.header('cache-control', 'public, max-age=60');
        return { keys: tokenKeys };
      },
    );
  };

/** RFC 6749 section 5.2: a client that tried HTTP Basic is challenged with the same. */
async function challengeInKind<T>(
  request: FastifyRequest,
  reply: FastifyReply,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isUnauthorized = error instanceof AppError && error.status === 401;
    if (isUnauthorized && /^Basic\b/i.test(request.headers.authorization ?? '')) {
      reply.header('www-authenticate', 'Basic realm="agents"');
    }
    throw error;
  }
}

function readClient(
  request: FastifyRequest,
  body: z.infer<typeof TokenRequestBody>,
): { clientId: string; clientSecret: string } {
  const fromHeader = parseBasic(request.headers.authorization);
  if (fromHeader) return fromHeader;
  const missing = (['client_id', 'client_secret'] as const).filter((field) => !body[field]);
  const { client_id: clientId, client_secret: clientSecret } = body;
  if (!clientId || !clientSecret) {
    throw new AppError('VALIDATION_FAILED', `body.${missing.join(', body.')}: is required`, {
      errors: missing.map((field) => ({
        loc: ['body', field],
        msg: 'is required',
        type: 'missing',
      })),
    });
  }
  return { clientId, clientSecret };
}

/** RFC 6749 section 5.1. */
function forbidCaching(reply: FastifyReply): void {
  reply.header('cache-control', 'no-store').header('pragma', 'no-cache');
}
