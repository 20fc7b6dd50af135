import { createHmac, hkdfSync, type KeyObject, timingSafeEqual } from 'node:crypto';

const SEAL_BYTES = 16;

/** Characters of a seal. */
export const SEAL_LENGTH = 22;

/**
 * Builds seals for texts that clients keep and send back.
 *
 * @param secret this data plane's own, which all its workers have; the seals end with it
 * @param purpose seals of one purpose are none of another
 */
export function createSeals(secret: KeyObject, purpose: string) {
  const bytes = secret.export({ type: 'pkcs8', format: 'der' });
  const key = Buffer.from(hkdfSync('sha256', bytes, '', purpose, 32));
  const sealOf = (content: readonly unknown[]): string =>
    createHmac('sha256', key)
      .update(JSON.stringify(content))
      .digest()
      .subarray(0, SEAL_BYTES)
      .toString('base64url');
  return {
    sealOf,
    /** @param given caller-controlled */
    isSealed(content: readonly unknown[], given: string): boolean {
      const [seal, expected] = [Buffer.from(given), Buffer.from(sealOf(content))];
      return seal.length === expected.length && timingSafeEqual(seal, expected);
    },
  };
}
