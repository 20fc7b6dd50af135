/**
 * A credential that the control plane seals for one data plane: a compact JWE (ECDH-ES on X25519,
 * A256GCM) whose plaintext is this JSON. It names its place, so that one sealed for another server
 * or tenant cannot replace it.
 */
import { z } from 'zod';
import { Id, isStorableText } from '../text.ts';

/** The `alg` and `enc` of the JWE; no others are accepted. */
export const SEALING = { alg: 'ECDH-ES', enc: 'A256GCM' } as const;

// Printable ASCII: the value becomes a header field, where a line break would start another one.
const HeaderValue = z.string().regex(/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/);

/** How the gateway authenticates to an MCP server. */
export const UpstreamCredential = z.discriminatedUnion('type', [
  /** `Authorization: Bearer <token>`. */
  z.strictObject({ type: z.literal('bearer'), token: HeaderValue.max(8_192) }),
  /** A header of its own, such as an API key. */
  z.strictObject({
    type: z.literal('header'),
    name: z
      .string()
      .max(100)
      .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/),
    value: HeaderValue.max(8_192),
  }),
]);
export type UpstreamCredential = z.infer<typeof UpstreamCredential>;

/** The plaintext of the JWE. */
export const SealedUpstreamCredential = z.strictObject({
  tenant_id: Id,
  deployment_id: Id,
  server_id: z.string().refine(isStorableText),
  /**
   * The server's origin when it was sealed: the address comes by another channel, and a credential
   * must not go to an origin that it was not given for. Those sealed before 0.2 do not say.
   */
  origin: z.string().optional(),
  credential: UpstreamCredential,
});
