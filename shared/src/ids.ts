import { randomBytes } from 'node:crypto';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

// A pool, since one call to the system for every id is most of an id's cost.
const POOL_BYTES = 4096;
let pool = randomBytes(POOL_BYTES);
let used = 0;

/**
 * A new UUID of version 7 (RFC 9562 section 5.7): 48 bits of Unix milliseconds, then random bits.
 *
 * @param now Unix milliseconds, given by callers with an injected clock
 */
export function uuidv7(now: number = Date.now()): string {
  if (used + 10 > POOL_BYTES) {
    pool = randomBytes(POOL_BYTES);
    used = 0;
  }
  const random = pool.subarray(used, used + 10);
  used += 10;
  const bytes = Buffer.allocUnsafe(16);
  bytes.writeUIntBE(now, 0, 6);
  random.copy(bytes, 6);
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** Whether a text is a lower-case UUID of any version. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
