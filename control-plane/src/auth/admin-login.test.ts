/** The limits of logins, with waits that the test sees and need not wait for. */
import { hash } from '@node-rs/argon2';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Login } from '../platform/database/lookups.ts';
import { type AdminLogin, createAdminLogin, LONGEST_DELAY_MS } from './admin-login.ts';

const PASSWORD = 'the right one';
// Cheap: what is tested is who gets to be verified.
const passwordHash = await hash(PASSWORD, { memoryCost: 8, timeCost: 1, parallelism: 1 });

let time: number;
let delays: number[];
let logins: AdminLogin;
let stored: Login | undefined;
let login: (from: string, password?: string, username?: string) => Promise<string>;
beforeEach(async () => {
  time = 0;
  delays = [];
  stored = undefined;
  logins = await createAdminLogin({
    lookups: { findLogin: async () => stored },
    db: { inTenant: () => Promise.reject(new Error('a super-admin has no tenant')) },
    tokens: { issue: async () => 'token' },
    superAdmin: {
      account: { role: 'super_admin', id: 'superadmin', username: 'superadmin', version: '1' },
      passwordHash,
    },
    limitClock: () => time,
    delay: async (ms) => void delays.push(ms),
  });
  login = (address, password = PASSWORD, username = 'superadmin') =>
    logins.login({ username, password, address, requestId: 'request' }).then(
      () => 'in',
      (error: { code: string }) => error.code,
    );
});

describe('wrong passwords', () => {
  it('delay a user’s log-ins from everywhere, by five seconds at most, and refuse none', async () => {
    for (let i = 0; i < 40; i++) expect(await login(`192.0.2.${i}`, 'x')).toBe('BAD_CREDENTIALS');
    expect(delays.slice(0, 3)).toEqual([200, 400, 800]);
    expect(Math.max(...delays)).toBe(LONGEST_DELAY_MS);
    expect(await login('203.0.113.1')).toBe('in');
    expect(delays.at(-1)).toBe(LONGEST_DELAY_MS);
    time += 120_000;
    delays = [];
    expect(await login('203.0.113.1')).toBe('in');
    expect(delays).toEqual([]);
  });

  it('delay no other user', async () => {
    for (let i = 0; i < 40; i++) await login(`192.0.2.${i}`, 'x');
    delays = [];
    await login('203.0.113.1', 'x', 'somebody else');
    expect(delays).toEqual([]);
  });

  it('count by the /64 of an IPv6 address, and by IPv4 in any notation', async () => {
    for (let i = 0; i < 10; i++) await login(`2001:db8:0:1::${i}`, 'x');
    expect(await login('2001:db8:0:1:ffff::1')).toBe('RATE_LIMITED');
    expect(await login('2001:db8:0:2::1')).toBe('in');
    for (let i = 0; i < 10; i++) await login('::ffff:192.0.2.1', 'x');
    expect(await login('192.0.2.1')).toBe('RATE_LIMITED');
  });

  it('count before any of them is verified', async () => {
    const sent = Array.from({ length: 100 }, (_, i) => login('192.0.2.1', `guess ${i}`));
    const answers = await Promise.all(sent);
    expect(answers.filter((answer) => answer === 'BAD_CREDENTIALS')).toHaveLength(10);
    expect(answers.filter((answer) => answer === 'RATE_LIMITED')).toHaveLength(90);
  });

  it('of one address are limited over all users', async () => {
    const answers = [];
    for (let i = 0; i < 61; i++) answers.push(await login('192.0.2.1', 'x', `user ${i}`));
    expect(answers.slice(0, 60).every((answer) => answer === 'BAD_CREDENTIALS')).toBe(true);
    expect(answers[60]).toBe('RATE_LIMITED');
  });
});

it('counts no right password, however many there are', async () => {
  for (let i = 0; i < 200; i++) expect(await login('192.0.2.1')).toBe('in');
});

it('finds nobody by a spelling that is counted apart', async () => {
  // PostgreSQL's lower() makes one name of all these.
  const [tenantId, id] = ['a tenant', 'an id'];
  const row = { tenantId, id, passwordHash, role: 'auditor', tokenVersion: 1 } as const;
  stored = { ...row, username: 'irene', status: 'active' };
  const find = (username: string) =>
    logins.verify({ username, password: PASSWORD, address: '192.0.2.1' });
  expect(await find('irene')).toMatchObject({ username: 'irene' });
  expect(await find('IRENE')).toMatchObject({ username: 'irene' });
  expect(await find('İrene')).toBeUndefined();
});
