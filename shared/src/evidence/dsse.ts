/**
 * DSSE v1 envelopes (secure-systems-lab/dsse): a payload, its type, and Ed25519 signatures over both
 * (the pre-authentication encoding), so that a signature for one type never holds for another.
 */
import { type KeyObject, sign } from 'node:crypto';
import { z } from 'zod';
import { isSignedBy, type PublicJwk } from './ed25519.ts';

export const DsseEnvelope = z.strictObject({
  payloadType: z.string().max(200),
  /** base64. */
  payload: z.string(),
  signatures: z
    .array(z.strictObject({ keyid: z.string().max(200), sig: z.string().max(200) }))
    .min(1)
    .max(10),
});
export type DsseEnvelope = z.infer<typeof DsseEnvelope>;

/** PAE(type, body) = "DSSEv1" SP LEN(type) SP type SP LEN(body) SP body. */
function preAuthEncoding(type: string, body: Uint8Array): Buffer {
  const head = `DSSEv1 ${Buffer.byteLength(type)} ${type} ${body.byteLength} `;
  return Buffer.concat([Buffer.from(head), body]);
}

/**
 * Puts a payload into a signed envelope.
 *
 * @param signer an Ed25519 private key and the id of its public half
 */
export function signEnvelope(
  payloadType: string,
  payload: Uint8Array,
  { kid, key }: { kid: string; key: KeyObject },
): DsseEnvelope {
  const sig = sign(null, preAuthEncoding(payloadType, payload), key).toString('base64');
  return {
    payloadType,
    payload: Buffer.from(payload).toString('base64'),
    signatures: [{ keyid: kid, sig }],
  };
}

/**
 * The payload's bytes.
 *
 * @throws SyntaxError when the base64 has another spelling
 */
export function payloadOf({ payload }: DsseEnvelope): Buffer {
  const bytes = Buffer.from(payload, 'base64');
  if (bytes.toString('base64') !== payload) throw new SyntaxError('the payload is no base64');
  return bytes;
}

/**
 * The ids of the keys whose signatures are valid. Never throws.
 *
 * @param findKey the public key by its id
 */
export function verifyEnvelope(
  envelope: DsseEnvelope,
  findKey: (kid: string) => PublicJwk | undefined,
): string[] {
  const bytes = preAuthEncoding(envelope.payloadType, Buffer.from(envelope.payload, 'base64'));
  return envelope.signatures.flatMap(({ keyid, sig }) => {
    const jwk = findKey(keyid);
    const raw = Buffer.from(sig, 'base64');
    if (!jwk || raw.toString('base64') !== sig) return [];
    return isSignedBy(jwk, bytes, raw.toString('base64url')) ? [keyid] : [];
  });
}
