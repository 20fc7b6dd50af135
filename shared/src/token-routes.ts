/**
 * `POST /api/v1/auth/token` and `GET /.well-known/jwks.json` (specification 1, section 4): one
 * implementation, mounted by whichever plane issues tokens.
 */
import formbody from '@fastify/formbody';
import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { AgentTokens } from './agent-token-issue.ts';
import { parseBasic } from './basic-credentials.ts';
import { AppError } from './errors.ts';
import { ErrorBody } from './http-errors.ts';
import { RiskTier } from './ledger-record.ts';
import { Id, Text } from './text.ts';

/** JSON or a form; the client may stand in an Authorization: Basic header instead. */
export const TokenRequestBody = z.object({
  grant_type: Text.min(1).max(200),
  client_id: Text.min(1).max(200).optional(),
  client_secret: Text.min(1).max(1000).optional(),
  resource: Text.max(2000).optional(),
  scope: Text.max(2000)
    .optional()
    .meta({ description: 'Accepted and ignored: an agent may do what its roles permit.' }),
});

export const TokenAnswer = z.object({
  access_token: z.string(),
  token_type: z.literal('Bearer'),
  expires_in: z.int().meta({ description: 'Seconds.' }),
  agent_id: Id,
  risk_tier: RiskTier,
});

export const JwkSet = z.object({
  keys: z.array(
    z.looseObject({
      kty: z.string(),
      kid: z.string(),
      alg: z.string(),
      use: z.literal('sig'),
    }),
  ),
});

export interface TokenRoutesDeps {
  tokens: AgentTokens;
  /** The keys that this plane signs tokens with: public RSA JWKs. */
  keys: z.infer<typeof JwkSet>['keys'];
  /** What the plane's own hooks want to read at a route. */
  config?: FastifyContextConfig;
}

/**
 * Adds the two routes to a scope that reads requests by zod schemas (`readStrictRequests`). The
 * scope gets a parser of forms, which OAuth clients send and nobody else does.
 */
export async function addTokenRoutes(
  app: FastifyInstance,
  { tokens, keys, config = {} }: TokenRoutesDeps,
): Promise<void> {
  await app.register(formbody, { bodyLimit: 16_384 });

  app.post<{ Body: z.infer<typeof TokenRequestBody> }>(
    '/api/v1/auth/token',
    {
      config,
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
        tokens.issue({ ...readClient(request, request.body), resource, ip: request.ip }),
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
      config,
      schema: {
        summary: 'The keys that tokens are signed with',
        tags: ['auth'],
        response: { 200: JwkSet },
      },
    },
    async (_request, reply) => {
      reply.header('cache-control', 'public, max-age=60');
      return { keys };
    },
  );
}

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
export function forbidCaching(reply: FastifyReply): void {
  reply.header('cache-control', 'no-store').header('pragma', 'no-cache');
}
