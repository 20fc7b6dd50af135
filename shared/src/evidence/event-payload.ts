/**
 * Payloads of a call on their way to the control plane: each part sealed to its key (a compact
 * JWE), and bound to the chain by a salted digest in its record.
 */
import { hash } from 'node:crypto';
import { z } from 'zod';
import { PayloadMode } from '../settings/data-protection-settings.ts';
import { GivenId } from '../text.ts';

/** `input`: what policy was asked; `result`: what came back. */
export const PayloadPart = z.enum(['input', 'result']);
export type PayloadPart = z.infer<typeof PayloadPart>;

/** Bytes of a part's text; a larger one is not stored. */
export const MAX_PAYLOAD_BYTES = 1024 * 1024;

export const PAYLOAD_LIMITS = { parts: 50, bytes: 8 * 1024 * 1024 } as const;

/** As SEALING of credentials: nothing else is opened. */
export const PAYLOAD_SEALING = { alg: 'ECDH-ES', enc: 'A256GCM' } as const;

/** 16 bytes, base64url, in their only encoding: the last character has spare bits. */
export const PayloadSalt = z.string().regex(/^[\w-]{21}[AQgw]$/);

/** A lone surrogate has no UTF-8: no line of a package can have it. */
export const PayloadText = z.string().refine((text) => text.isWellFormed());

/** The plaintext of the JWE. It names its place, so that none can replace another. */
export const PayloadContent = z.strictObject({
  tenant_id: GivenId,
  deployment_id: GivenId,
  /** The call's. */
  event_id: GivenId,
  part: PayloadPart,
  mode: PayloadMode.exclude(['metadata_only']),
  /** For this event's payload only. */
  salt: PayloadSalt,
  /** JSON. */
  text: PayloadText,
});
export type PayloadContent = z.infer<typeof PayloadContent>;

/** POST …/payloads. */
export const PayloadUpload = z.strictObject({
  payloads: z
    .array(
      z.strictObject({
        event_id: GivenId,
        part: PayloadPart,
        jwe: z
          .string()
          .max(4 * MAX_PAYLOAD_BYTES)
          .regex(/^[\w-]+\.[\w-]*\.[\w-]+\.[\w-]+\.[\w-]+$/, 'must be a compact JWE'),
      }),
    )
    .min(1)
    .max(PAYLOAD_LIMITS.parts),
});
export type PayloadUpload = z.infer<typeof PayloadUpload>;
export type SealedPayload = PayloadUpload['payloads'][number];

/**
 * The result for each part, in the order of the upload. `waiting`: its record has not arrived yet,
 * send it again; `refused`: it does not match the record, or cannot be opened.
 */
export const PayloadReceipt = z.object({
  results: z.array(z.enum(['stored', 'waiting', 'refused'])).max(PAYLOAD_LIMITS.parts),
});
export type PayloadReceipt = z.infer<typeof PayloadReceipt>;

/** SHA-256(salt || text), lower-case hexadecimal: the chain's digest of a payload. */
export function payloadDigest(salt: Uint8Array, text: string): string {
  return hash('sha256', Buffer.concat([salt, Buffer.from(text)]), 'hex');
}
