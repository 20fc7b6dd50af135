/** Keys of a service whose clock was ahead, was set back, or was said to be right by accept-clock. */
import { randomBytes } from 'node:crypto';
import { followHistory } from '@governance/shared/channel/follow-keys';
import { Secret } from '@governance/shared/settings';
import { beforeEach, describe, expect, it } from 'vitest';
import { testDatabase } from '../../../../tests/support/test-database.ts';
import { readFollowedHistory } from './key-history.ts';
import { createServiceKeys, type ServiceKeys } from './keys.ts';
import { createMasterKey } from './master-key.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;
const PURPOSE = 'feed-signing';
const actor = { id: 'superadmin', username: 'superadmin', role: 'super_admin' as const };
const routine = { revoke: false, reason: null, actor, requestId: 'r' };
const stolen = { ...routine, revoke: true, reason: 'stolen' };

const { db, superuser } = await testDatabase();
const masterKey = createMasterKey(new Secret(randomBytes(32)));
let time: number;
let keys: ServiceKeys;
/** What a data plane that registered at the beginning trusts. */
let registered: { bundle_keys: never[]; feed_keys: { kid: string; kty: string; alg: string }[] };

beforeEach(async () => {
  await superuser.query('DELETE FROM service_key_rotations; DELETE FROM service_keys');
  time = Date.parse('2026-05-01T00:00:00.000Z');
  keys = createServiceKeys({ db, masterKey, now: () => new Date(time) });
  registered = { bundle_keys: [], feed_keys: await keys.feedVerificationKeys() };
});

const signing = async () => (await keys.signingKey(PURPOSE)).kid;
const rotate = async (order: typeof routine | typeof stolen) =>
  (await keys.rotate(PURPOSE, order)).newKid;
const known = async () => {
  const history = await readFollowedHistory(keys);
  return followHistory(registered, history).feed.map(({ kid }) => kid);
};
const revoked = async () =>
  (await keys.listKeys([PURPOSE])).flatMap((key) => (key.revokedAt ? [key.kid] : []));

describe('a key that follows a revoked one', () => {
  it('signs where the clock is set back to before it, and can be revoked as well', async () => {
    await rotate(routine);
    time += 30 * DAY;
    const next = await rotate(stolen);
    time -= HOUR;
    expect(await signing()).toBe(next);
    expect(await keys.findSigners()).toEqual([{ purpose: PURPOSE, kid: next, beginsInMs: HOUR }]);
    const after = await rotate(stolen);
    expect([await signing(), await revoked()]).toEqual([after, expect.arrayContaining([next])]);
    time += YEAR;
    expect(await signing()).toBe(after);
    expect(await known()).toContain(after);
  });

  it('signs where it was made while the clock was a year ahead, until the next begins', async () => {
    await rotate(routine);
    time += 30 * DAY + YEAR;
    const ahead = await rotate(stolen);
    time -= YEAR;
    expect(await signing()).toBe(ahead);
    const next = await rotate(routine);
    await expect(keys.rotate(PURPOSE, routine)).rejects.toMatchObject({
      code: 'KEY_ROTATION_PENDING',
    });
    expect(await signing()).toBe(ahead);
    for (const ms of [30_000, DAY, 2 * YEAR]) {
      time += ms;
      expect(await signing()).toBe(next);
    }
    expect(await known()).toContain(next);
  });
});

describe('a key that was made while the clock was a year ahead', () => {
  let first: string;
  let ahead: string;
  beforeEach(async () => {
    first = await signing();
    time += YEAR;
    ahead = await rotate(routine);
    time -= YEAR;
  });

  it('does not keep another from following the one in use, and never signs then', async () => {
    expect(await signing()).toBe(first);
    const { newKid: next, oldKid, signed } = await keys.rotate(PURPOSE, routine);
    // Whoever took an anchor meanwhile knows the superseded key as the last.
    expect([oldKid, signed.statement.old_kid]).toEqual([first, ahead]);
    expect(await signing()).toBe(first);
    for (const ms of [30_000, DAY, YEAR, YEAR]) {
      time += ms;
      expect(await signing()).toBe(next);
    }
    expect(await known()).toEqual([first, ahead, next]);
  });

  it('does not keep the one in use from being revoked, and is revoked with it', async () => {
    const next = await rotate(stolen);
    expect([await signing(), (await revoked()).sort()]).toEqual([next, [first, ahead].sort()]);
    time += 2 * YEAR;
    expect(await signing()).toBe(next);
    expect(await known()).toEqual([next]);
  });

  it('is revoked by a later revocation where another took its place', async () => {
    await rotate(routine);
    time += HOUR;
    await rotate(stolen);
    expect(await revoked()).toContain(ahead);
    // One that was followed in time stays good for what it signed.
    expect(await revoked()).not.toContain(first);
  });

  it('is revoked although its row is damaged', async () => {
    const harm = `UPDATE service_keys SET private_ciphertext = '\\x00' WHERE kid = $1`;
    await superuser.query(harm, [ahead]);
    keys.forget();
    const next = await rotate(stolen);
    expect(await signing()).toBe(next);
    expect(await known()).toEqual([next]);
  });
});

it('the first key of a service that began a year ahead is revoked where another took its place', async () => {
  await superuser.query('DELETE FROM service_keys');
  time += YEAR;
  keys = createServiceKeys({ db, masterKey, now: () => new Date(time) });
  const first = await signing();
  time -= YEAR;
  await rotate(routine);
  time += HOUR;
  await rotate(stolen);
  expect(await revoked()).toContain(first);
});

it('a revocation does not wait for a key that is about to sign', async () => {
  const first = await signing();
  const pending = await rotate(routine);
  const next = await rotate(stolen);
  expect([await signing(), (await revoked()).sort()]).toEqual([next, [first, pending].sort()]);
  time += HOUR;
  expect(await signing()).toBe(next);
  expect(await known()).toEqual([next]);
});

it('a rotation waits until a jump of the clock has settled, and a revocation does not', async () => {
  const jumped = createServiceKeys({
    ...{ db, masterKey, now: () => new Date(time) },
    isClockAhead: () => true,
  });
  await expect(jumped.rotate(PURPOSE, routine)).rejects.toMatchObject({
    ...{ code: 'KEY_ROTATION_PENDING', message: expect.stringMatching('jumped ahead') },
  });
  const { newKid } = await jumped.rotate(PURPOSE, stolen);
  expect((await jumped.signingKey(PURPOSE)).kid).toBe(newKid);
});

it('with the clock set back by years, a revocation takes the key that was in use', async () => {
  await rotate(routine);
  time += YEAR;
  const used = await rotate(routine);
  time += YEAR;
  expect(await signing()).toBe(used);
  time -= 2 * YEAR - HOUR;
  const next = await rotate(stolen);
  expect(await revoked()).toContain(used);
  expect(await known()).toContain(next);
  time += 3 * YEAR;
  expect(await signing()).toBe(next);
});

it('says where nothing can be signed', async () => {
  const current = await signing();
  await superuser.query('UPDATE service_keys SET revoked_at = now() WHERE kid = $1', [current]);
  keys.forget();
  expect(await keys.findSigners()).toEqual([{ purpose: PURPOSE, kid: null, beginsInMs: 0 }]);
  await superuser.query(
    `UPDATE service_keys SET revoked_at = NULL, private_ciphertext = '\\x00' WHERE kid = $1`,
    [current],
  );
  keys.forget();
  expect(await keys.findSigners()).toEqual([{ purpose: PURPOSE, kid: null, beginsInMs: 0 }]);
});
