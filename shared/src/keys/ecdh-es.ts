/** The key of a JWE by ECDH-ES with A256GCM (RFC 7518, section 4.6.2), from what was agreed. */
import { hash } from 'node:crypto';

const ALGORITHM = Buffer.from('A256GCM');
const KEY_BYTES = 32;

/** Concat KDF: one round, no parties. @param agreed the secret of the key agreement */
export function deriveContentKey(agreed: Buffer): Buffer {
  const parts = [uint32(1), agreed, uint32(ALGORITHM.length), ALGORITHM];
  parts.push(uint32(0), uint32(0), uint32(KEY_BYTES * 8));
  return hash('sha256', Buffer.concat(parts), 'buffer');
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
