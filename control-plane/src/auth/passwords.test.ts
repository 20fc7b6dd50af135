import { hash } from '@node-rs/argon2';
import { expect, it } from 'vitest';
import { hashPassword, isPassword } from './passwords.ts';

const NFC = 'p\u00e4ssw\u00f6rt-01';
const NFD = 'pa\u0308sswo\u0308rt-01';

it.each([
  [NFC, NFD],
  [NFD, NFC],
])('a password is right in each form of Unicode: %j, %j', async (set, given) => {
  const passwordHash = await hashPassword(set);
  expect(await isPassword(passwordHash, set)).toBe(true);
  expect(await isPassword(passwordHash, given)).toBe(true);
  expect(await isPassword(passwordHash, 'passwort-01')).toBe(false);
});

it('a hash of an earlier version is that of the text as it was given', async () => {
  const passwordHash = await hash(NFD, { memoryCost: 8, timeCost: 1, parallelism: 1 });
  expect(await isPassword(passwordHash, NFD)).toBe(true);
});

it('an unreadable hash is that of no password', async () => {
  expect(await isPassword('no hash', NFC)).toBe(false);
});
