import { Text } from '@governance/shared/text';
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
