/**
 * The params of the judged reads. Only what is named here is judged, so only that is forwarded:
 * `_meta` and unknown members stay at the gateway.
 */
import { isStorableText } from '@governance/shared/text';
import { z } from 'zod';
import type { JudgedRead } from '../enforcement/call/call-kinds.ts';
import { LOG_LEVELS } from '../upstream/message.ts';
import { badParams } from './call-routing.ts';

const MAX_URI = 8192;
const MAX_NAME = 256;

const Uri = z.string().min(1).max(MAX_URI).refine(isStorableText);
const Name = z.string().min(1).max(MAX_NAME).refine(isStorableText);
const Texts = z.record(z.string(), z.string());

const Ref = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ref/prompt'), name: Name }),
  z.object({ type: z.literal('ref/resource'), uri: Uri }),
]);

const WithUri = z.object({ uri: Uri });
const PARAMS = {
  'resources/read': WithUri,
  'resources/subscribe': WithUri,
  'resources/unsubscribe': WithUri,
  'prompts/get': z.object({ name: Name, arguments: Texts.optional() }),
  'completion/complete': z.object({
    ref: Ref,
    argument: z.object({ name: z.string(), value: z.string() }),
    context: z.object({ arguments: Texts.optional() }).optional(),
  }),
  'logging/setLevel': z.object({ level: z.enum(LOG_LEVELS) }),
} as const satisfies Record<JudgedRead, z.ZodType>;

/**
 * Reads the params of a method.
 *
 * @param params caller-controlled
 * @throws GatewayError -32602
 */
export function parseReadParams<M extends JudgedRead>(
  method: M,
  params: Record<string, unknown>,
): z.infer<(typeof PARAMS)[M]> {
  const parsed = PARAMS[method].safeParse(params);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw badParams(`${issue?.path.join('.') || 'params'}: ${issue?.message ?? 'malformed'}`);
  }
  return parsed.data as z.infer<(typeof PARAMS)[M]>;
}
