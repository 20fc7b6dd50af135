import { z } from 'zod';

/**
 * What the gateway shows an MCP server instead of the agent's own Authorization. Opened from the
 * sealed form that the feed carries.
 */
export const UpstreamCredential = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('bearer'),
    token: z.string().regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces'),
  }),
  z.strictObject({
    type: z.literal('header'),
    name: z
      .string()
      .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'must be a header name')
      .refine((name) => !isReserved(name), 'is a header that the gateway sets itself'),
    value: z.string().regex(/^[\t\x20-\x7e]*$/, 'must be printable ASCII'),
  }),
]);
export type UpstreamCredential = z.infer<typeof UpstreamCredential>;

const RESERVED = new Set([
  'accept',
  'connection',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'last-event-id',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

function isReserved(name: string): boolean {
  const lower = name.toLowerCase();
  return RESERVED.has(lower) || lower.startsWith('mcp-');
}

/** The credential as a header's name and value. */
export function credentialHeader(credential: UpstreamCredential): [string, string] {
  return credential.type === 'bearer'
    ? ['authorization', `Bearer ${credential.token}`]
    : [credential.name.toLowerCase(), credential.value];
}
