/** Secrets that are shown once: 256 random bits, of which only the SHA-256 is kept. */
import { createHash, randomBytes } from 'node:crypto';

/** @param prefix one that secret scanners recognise */
export function createSecret(prefix = ''): { secret: string; hash: string } {
  const secret = `${prefix}${randomBytes(32).toString('base64url')}`;
  return { secret, hash: hashSecret(secret) };
}

/** No salt and no slow hash, since 256 random bits cannot be guessed. */
export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}
