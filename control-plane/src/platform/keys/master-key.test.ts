import { randomBytes } from 'node:crypto';
import { Secret } from '@governance/shared/settings';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createMasterKey } from './master-key.ts';

const masterKey = createMasterKey(new Secret(randomBytes(32)));
const context = { purpose: 'upstream-credential', tenant_id: 'a', key: 'files' };

it('opens what it closed, in the same context', () => {
  fc.assert(
    fc.property(fc.uint8Array(), (plaintext) => {
      const opened = masterKey.decrypt(masterKey.encrypt(plaintext, context), context);
      expect(new Uint8Array(opened)).toEqual(plaintext);
    }),
  );
});

it('never makes the same ciphertext twice', () => {
  const one = masterKey.encrypt(Buffer.from('x'), context);
  expect(masterKey.encrypt(Buffer.from('x'), context)).not.toEqual(one);
});

it.each([
  { ...context, tenant_id: 'b' },
  { ...context, key: 'other' },
  { purpose: 'bundle-signing', tenant_id: 'a', key: 'files' },
  { purpose: context.purpose, key: context.key },
])('does not open in the context %j', (other) => {
  const sealed = masterKey.encrypt(Buffer.from('x'), context);
  expect(() => masterKey.decrypt(sealed, other)).toThrow();
});

it('does not open with any byte changed or cut off', () => {
  const sealed = masterKey.encrypt(Buffer.from('a secret'), context);
  for (let i = 0; i < sealed.length; i++) {
    const changed = sealed.slice();
    changed[i] = (changed[i] ?? 0) ^ 1;
    expect(() => masterKey.decrypt(changed, context)).toThrow();
    expect(() => masterKey.decrypt(sealed.slice(0, i), context)).toThrow();
  }
});

it('says so when it was closed under another key', () => {
  const other = createMasterKey(new Secret(randomBytes(32)));
  expect(() => other.decrypt(masterKey.encrypt(Buffer.from('x'), context), context)).toThrow(
    `another SERVICE_MASTER_KEY (its id is ${masterKey.keyId}) than the one given (${other.keyId})`,
  );
});

it('knows a text that it handed out again, in its context and under earlier keys', () => {
  const keys = [randomBytes(32), randomBytes(32)] as const;
  const before = createMasterKey(new Secret(keys[0]));
  const after = createMasterKey(new Secret(keys[1]), new Secret([keys[0]]));
  const tag = before.tag('text', context);
  for (const key of [before, after]) {
    expect(key.isTag(tag, 'text', context)).toBe(true);
    expect(key.isTag(tag, 'text', { ...context, tenant_id: 'b' })).toBe(false);
    expect(key.isTag(tag, 'other', context)).toBe(false);
    expect(key.isTag('', 'text', context)).toBe(false);
  }
  expect(before.isTag(after.tag('text', context), 'text', context)).toBe(false);
});
