/**
 * Opens what was sealed to this data plane: a compact JWE by ECDH-ES on X25519 with A256GCM (RFC
 * 7516, 7518, 8037), and nothing else. Synchronous, unlike jose's, since a key may be looked up
 * within a call that does not wait. Proven by identity.test.ts against jose.
 */
import { createDecipheriv, createPublicKey, diffieHellman, type KeyObject } from 'node:crypto';
import { deriveContentKey } from '@governance/shared/keys/ecdh-es';
import { SEALING } from '@governance/shared/mcp/upstream-credential';
import { z } from 'zod';

const FORM = /^([\w-]+)\.\.([\w-]{16})\.([\w-]+)\.([\w-]{22})$/;

/** Anything more, such as `zip`, `crit` or an agreed party, is refused. */
const Header = z.strictObject({
  alg: z.literal(SEALING.alg),
  enc: z.literal(SEALING.enc),
  kid: z.string().optional(),
  epk: z.strictObject({
    kty: z.literal('OKP'),
    crv: z.literal('X25519'),
    x: z.string().regex(/^[\w-]{43}$/),
  }),
});

/**
 * @param privateKey X25519
 * @returns the plaintext, which is UTF-8
 * @throws when it was sealed to another key, changed on its way, or is not such a JWE
 */
export function openJwe(jwe: string, privateKey: KeyObject): string {
  const [, header = '', nonce = '', text = '', tag = ''] = FORM.exec(jwe) ?? [];
  const { epk } = Header.parse(JSON.parse(bytesOf(header).toString('utf8')));
  const publicKey = createPublicKey({ key: epk, format: 'jwk' });
  const decipher = createDecipheriv(
    'aes-256-gcm',
    deriveContentKey(diffieHellman({ privateKey, publicKey })),
    bytesOf(nonce),
    { authTagLength: 16 },
  );
  decipher.setAAD(Buffer.from(header, 'ascii'));
  decipher.setAuthTag(bytesOf(tag));
  const plaintext = Buffer.concat([decipher.update(bytesOf(text)), decipher.final()]);
  return new TextDecoder('utf-8', { fatal: true }).decode(plaintext);
}

/** @throws where another text decodes to the same bytes: a sealed text has exactly one spelling */
function bytesOf(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.toString('base64url') !== text) throw new TypeError('not canonical base64url');
  return bytes;
}
