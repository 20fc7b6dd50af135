import { RiskTier } from '@governance/shared/ledger-record';
import { Id, Text } from '@governance/shared/text';
import { z } from 'zod';

export const LoginRequest = z.object({
  username: Text.min(1).max(200),
  password: Text.min(1).max(1000),
});

export const LoginAnswer = z.object({
  access_token: z.string(),
  token_type: z.literal('Bearer'),
  username: z.string(),
});

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
