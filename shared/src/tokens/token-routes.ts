/**
 * `POST /api/v1/auth/token` and `GET /.well-known/jwks.json` (specification 1, section 4), and
 * their metadata for OAuth clients (RFC 8414): one implementation, mounted by whichever plane
 * issues tokens.
 */
import formbody from '@fastify/formbody';
import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { AppError } from '../errors.ts';
import { parseBasic } from '../http/basic-credentials.ts';
import { TokenErrorBody } from '../http/http-errors.ts';
import { RiskTier } from '../ledger/ledger-record.ts';
import { addressFor } from '../outbound/own-addresses.ts';
import { Id, Text } from '../text.ts';
import { gatewayAudience } from './agent-token.ts';
import type { AgentTokens } from './agent-token-issue.ts';

/** JSON or a form; the client may be in an Authorization: Basic header instead. */
const TokenRequestBody = z.object({
  grant_type: Text.min(1)
    .max(200)
    // Any other is answered with OAuth's codes, which a failed schema does not have.
    .meta({ enum: ['client_credentials'] }),
  client_id: Text.min(1).max(200).optional(),
  client_secret: Text.min(1).max(1000).optional(),
  resource: Text.max(2000).optional(),
  scope: Text.max(2000)
    .optional()
    .meta({ description: 'Accepted and ignored: an agent may do what its roles permit.' }),
});

const TokenAnswer = z.object({
  access_token: z.string(),
  token_type: z.literal('Bearer'),
  expires_in: z.int().meta({ description: 'Seconds.' }),
  agent_id: Id,
  risk_tier: RiskTier,
});

const JwkSet = z.object({
  keys: z.array(
    z.looseObject({
      kty: z.string(),
      kid: z.string(),
      alg: z.string(),
      use: z.literal('sig'),
    }),
  ),
});

/** RFC 8414, for the client-credentials grant only. */
const AuthorizationServerMetadata = z.object({
  issuer: z.string(),
  authorization_endpoint: z.string(),
  token_endpoint: z.string(),
  jwks_uri: z.string(),
  grant_types_supported: z.array(z.string()),
  response_types_supported: z.array(z.string()),
  token_endpoint_auth_methods_supported: z.array(z.string()),
  code_challenge_methods_supported: z.array(z.string()),
  protected_resources: z.array(z.string()),
});

const METADATA_PATH = '/.well-known/oauth-authorization-server';
const TOKEN_PATH = '/api/v1/auth/token';
const KEYS_PATH = '/.well-known/jwks.json';

type JwkList = z.infer<typeof JwkSet>['keys'];

export interface TokenRoutesDeps {
  /** The issuer of the tokens, without a slash at its end. */
  publicUrl: string;
  tokens: AgentTokens;
  /** The public RSA JWKs that sign this plane's valid tokens, or will. */
  keys(): Promise<JwkList> | JwkList;
  /** Configuration for the plane's own hooks. */
  config?: FastifyContextConfig;
}

/**
 * Adds the routes to a scope that reads requests by zod schemas (`readStrictRequests`). The
 * scope gets a parser of forms, which OAuth clients send and nobody else does.
 */
export async function addTokenRoutes(
  app: FastifyInstance,
  { publicUrl, tokens, keys, config = {} }: TokenRoutesDeps,
): Promise<void> {
  await app.register(formbody, { bodyLimit: 16_384 });

  app.post<{ Body: z.infer<typeof TokenRequestBody> }>(
    TOKEN_PATH,
    {
      config: { ...config, oauthErrors: true },
      bodyLimit: 16_384,
      schema: {
        summary: 'Exchange client credentials for an agent token',
        description:
          'JSON or application/x-www-form-urlencoded; the client in the body or as HTTP Basic.',
        tags: ['auth'],
        consumes: ['application/json', 'application/x-www-form-urlencoded'],
        body: TokenRequestBody,
        response: {
          200: TokenAnswer,
          400: TokenErrorBody,
          401: TokenErrorBody,
          403: TokenErrorBody,
          422: TokenErrorBody,
          429: TokenErrorBody,
        },
      },
    },
    async (request, reply) => {
      forbidCaching(reply);
      const { grant_type, resource } = request.body;
      if (grant_type !== 'client_credentials') throw new AppError('UNSUPPORTED_GRANT');
      const issued = await challengeInKind(request, reply, () =>
        tokens.issue({
          ...readClient(request, request.body),
          resource,
          address: request.clientAddress,
        }),
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
    KEYS_PATH,
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
      return { keys: await keys() };
    },
  );

  // RFC 8414 section 3.1 puts a path of the issuer behind the well-known one.
  const { pathname } = new URL(publicUrl);
  for (const url of new Set([METADATA_PATH, `${METADATA_PATH}${pathname.replace(/\/+$/, '')}`])) {
    app.get(
      url,
      {
        config,
        schema: {
          summary: 'What an OAuth client has to know to get a token (RFC 8414)',
          tags: ['auth'],
          response: { 200: AuthorizationServerMetadata },
        },
      },
      async (request, reply) => {
        reply.header('cache-control', 'public, max-age=60').header('vary', 'Host');
        return authorizationServer(addressFor(publicUrl, request.headers.host));
      },
    );
  }
}

function authorizationServer(address: string): z.infer<typeof AuthorizationServerMetadata> {
  return {
    issuer: address,
    // There is none, and RFC 8414 allows leaving it out. Both versions of the MCP SDK refuse a
    // document without it: so it names the only endpoint, and the response types are empty.
    authorization_endpoint: `${address}${TOKEN_PATH}`,
    token_endpoint: `${address}${TOKEN_PATH}`,
    jwks_uri: `${address}${KEYS_PATH}`,
    grant_types_supported: ['client_credentials'],
    response_types_supported: [],
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    // No grant here uses a code. MCP clients refuse a server that does not name S256 (MCP,
    // authorization), even for grants without one.
    code_challenge_methods_supported: ['S256'],
    protected_resources: [gatewayAudience(address)],
  };
}

/** RFC 6749 section 5.2: a client that tried HTTP Basic is challenged with it. */
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
