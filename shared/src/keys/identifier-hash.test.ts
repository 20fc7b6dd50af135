import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createIdentifierHash } from './identifier-hash.ts';

const tenantId = '0190aaaa-0000-7000-8000-000000000001';
const key = randomBytes(32);
const hash = createIdentifierHash(tenantId, key);

it('the same identifier has the same hash, by tenant and key', () => {
  expect(hash('user-7')).toBe(createIdentifierHash(tenantId, key)('user-7'));
  expect(hash('Anna@Corp.example')).toBe(hash('anna@corp.example'));
  expect(hash('User-7')).not.toBe(hash('user-7'));
  const others = [
    createIdentifierHash('0190aaaa-0000-7000-8000-000000000002', key),
    createIdentifierHash(tenantId, randomBytes(32)),
  ];
  for (const other of others) expect(other('user-7').slice(12)).not.toBe(hash('user-7').slice(12));
  expect(() => createIdentifierHash(tenantId, randomBytes(16))).toThrow('32 bytes');
});

it('what looks like a hash is hashed like everything', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const once = hash(text);
      expect(once).toMatch(/^hid1:[\w-]{6}:[\w-]{22}$/);
      expect(hash(once)).not.toBe(once);
    }),
  );
});
