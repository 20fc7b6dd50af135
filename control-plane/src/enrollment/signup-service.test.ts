import { expect, it } from 'vitest';
import { createSignupService } from './signup-service.ts';

const BODY = { organization: 'o', admin: { username: 'u', password: 'long enough' } };
const from = (address: string) => ({ address, id: 'request' });

it('is closed unless the operator opens it, and then counts and creates nothing', async () => {
  const create = () => Promise.reject(new Error('must not be asked'));
  const { signUp } = createSignupService({
    tenants: { create },
    isOpen: false,
    now: () => new Date(0),
    limitClock: () => 0,
  });
  for (let i = 0; i < 10; i++) {
    await expect(signUp(BODY, from('192.0.2.1'))).rejects.toMatchObject({ code: 'SIGNUP_CLOSED' });
  }
});

it('is bounded for all addresses together', async () => {
  const create = () => Promise.reject(new Error('no database'));
  const { signUp } = createSignupService({
    tenants: { create },
    isOpen: true,
    now: () => new Date(0),
    limitClock: () => 0,
  });
  const codes = [];
  for (let i = 0; i < 101; i++) {
    codes.push(await signUp(BODY, from(`192.0.2.${i}`)).catch((error) => error.code ?? 'failed'));
  }
  expect(codes.slice(0, 100).every((code) => code === 'failed')).toBe(true);
  expect(codes[100]).toBe('RATE_LIMITED');
});

it('is for five requests of an address in any hour', async () => {
  let minutes = 59;
  const create = () => Promise.reject(new Error('no database'));
  const { signUp } = createSignupService({
    tenants: { create },
    isOpen: true,
    now: () => new Date(0),
    limitClock: () => minutes * 60_000,
  });
  const ask = () => signUp(BODY, from('192.0.2.1')).catch((error) => error.code ?? 'failed');
  for (let i = 0; i < 5; i++) expect(await ask()).toBe('failed');
  for (minutes of [60.1, 90, 118.9]) expect(await ask()).toBe('RATE_LIMITED');
  minutes = 119;
  expect(await ask()).toBe('failed');
});
