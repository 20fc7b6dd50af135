import { randomBytes } from 'node:crypto';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

// A pool, since a system call for every id would be most of its cost; as text, since ids are text.
const POOL_BYTES = 4096;
const ID_BYTES = 10;
let pool = randomBytes(POOL_BYTES);
let digits = pool.toString('hex');
let used = 0;

let lastTime = Number.NaN;
let timeText = '';

/**
 * A new UUID of version 7 (RFC 9562 section 5.7): 48 bits of Unix milliseconds, then random bits.
 *
 * @param now Unix milliseconds, given by callers with an injected clock
 */
export function uuidv7(now: number = Date.now()): string {
  if (used + ID_BYTES > POOL_BYTES) {
    pool = randomBytes(POOL_BYTES);
    digits = pool.toString('hex');
    used = 0;
  }
  if (now !== lastTime) {
    const hex = Math.floor(now).toString(16).padStart(12, '0');
    timeText = `${hex.slice(0, 8)}-${hex.slice(8)}-7`;
    lastTime = now;
  }
  const at = used * 2;
  // The variant's two bits, and two of the first random byte.
  const variant = '89ab'[(pool[used] ?? 0) & 3];
  used += ID_BYTES;
  return `${timeText}${digits.slice(at + 2, at + 5)}-${variant}${digits.slice(at + 5, at + 8)}-${digits.slice(at + 8, at + 20)}`;
}

/** Whether a text is a lower-case UUID of any version. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
