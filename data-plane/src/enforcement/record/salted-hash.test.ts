import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { saltedHash } from './audit.ts';

it.each([
  ['nothing', ''],
  ['what fits at once', 'ä€😀 text'],
  ['as many bytes as fit', 'x'.repeat(16 * 1024 - 16)],
  ['one byte more', 'x'.repeat(16 * 1024 - 15)],
  ['characters of several bytes', '€'.repeat(100_000)],
])('hashes the salt and %s', (_what, text) => {
  const salt = new Uint8Array(16).map((_, i) => i * 7);
  const whole = createHash('sha256').update(salt).update(text).digest('hex');
  expect(saltedHash(salt, text)).toBe(whole);
  // Of a longer text before it nothing is left.
  expect(saltedHash(salt, 'short')).toBe(
    createHash('sha256').update(salt).update('short').digest('hex'),
  );
});
